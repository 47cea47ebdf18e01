"""A seeded grammar of hostile SQL: statements that try to escape, crash, write or stall."""

from collections.abc import Callable, Iterator

import numpy as np

__all__ = ["hostile_statements"]

TABLES = ("customers", "orders", "sqlite_master", "sqlite_schema", "sqlite_temp_master")
PRAGMAS = (
    "writable_schema=1", "query_only=0", "hard_heap_limit=100000", "soft_heap_limit=1",
    "max_page_count=10", "journal_mode=wal", "temp_store_directory='/tmp'", "trusted_schema=on",
    "table_info(customers)", "database_list", "cache_size=-9999999", "integrity_check", "optimize",
    "wal_checkpoint", "user_version=9", "foreign_keys=on", "page_size=512", "shrink_memory",
    "schema_version=99", "mmap_size=1000000000", "threads=8", "busy_timeout=100000", "key='x'",
    "case_sensitive_like=on", "recursive_triggers=on", "reverse_unordered_selects=on",
)  # fmt: skip
FUNCTIONS = (
    "load_extension('/lib/x.so')", "load_extension('x','y')", "readfile('/etc/passwd')",
    "writefile('/tmp/hexathlon-witness','x')", "edit('x','rm')", "random()",
    "randomblob(100000000)",
    "zeroblob(2000000000)", "zeroblob(1000000)", "sqlite_version()", "sqlite_source_id()",
    "changes()", "total_changes()", "last_insert_rowid()", "fts3_tokenizer('simple')",
    "fts3_tokenizer('a', x'00')", "sqlite_compileoption_get(1)", "sqlite_log(1,'x')", "eval('x')",
    "sqlite_rename_column('a','b','c','d','e','f','g','h','i')", "sqlite_drop_column(0,'x',1)",
    "json_patch('{}','{}')", "printf('%.*c', 2000000000, 'x')", "printf('%2000000000d', 1)",
    "printf('%.99999999f', 1.5)", "char(0,0,0,1114111)", "unicode('')", "matchinfo(customers)",
    "snippet(customers)", "rtreecheck('customers')", "sha3('x')", "md5('x')", "getenv('PATH')",
    "strftime('%s','now','localtime')", "datetime('now','-1 day','utc')", "julianday()",
    "current_timestamp", "date(x'6e6f77')", "date('n'||'ow')", "time(char(110,111,119))",
)  # fmt: skip
MODULES = (
    "pragma_table_info('customers')", "pragma_database_list", "pragma_compile_options", "dbstat",
    "pragma_function_list", "pragma_module_list", "sqlite_stmt", "sqlite_dbpage", "bytecode('x')",
    "tables_used('x')", "generate_series(1,1000000000)", "fsdir('/')", "csv('/etc/passwd')",
    "sqlite_memstat", "completion('x')", "fts5vocab('a','row')", "fts3tokenize", "carray(1,2)",
    "pragma_user_version", "json_each('[' || hex(hex('x')) || ']')", "json_tree('{')",
)  # fmt: skip
WRITES = (
    "DELETE FROM customers", "UPDATE customers SET name = 'x'", "DROP TABLE customers",
    "INSERT INTO customers SELECT * FROM customers", "REPLACE INTO customers VALUES (1, 'x', 'y')",
    "INSERT INTO sqlite_master VALUES ('table','x','x',0,'create table x(a)')",
    "UPDATE sqlite_master SET sql = 'garbage'", "DELETE FROM sqlite_schema", "VACUUM", "REINDEX",
    "VACUUM INTO '/tmp/hexathlon-witness'", "ALTER TABLE customers RENAME TO c", "ANALYZE",
    "ALTER TABLE customers ADD COLUMN z", "CREATE TABLE z AS SELECT 1",
    "CREATE TEMP TABLE customers (id)",
    "CREATE TEMP VIEW orders AS SELECT 1", "CREATE VIEW v AS SELECT 1",
    "CREATE INDEX i ON orders(day)",
    "CREATE TRIGGER t AFTER INSERT ON orders BEGIN DELETE FROM customers; END",
    "CREATE VIRTUAL TABLE f USING fts5(x)", "CREATE VIRTUAL TABLE r USING rtree(a,b,c)",
    "CREATE VIRTUAL TABLE d USING dbstat", "BEGIN EXCLUSIVE", "SAVEPOINT x", "COMMIT", "ROLLBACK",
    "END",
    "ATTACH '/tmp/hexathlon-witness' AS w", "ATTACH ':memory:' AS temp2", "DETACH main",
    "ATTACH DATABASE 'file:/etc/passwd?mode=ro' AS p", "INSERT INTO customers_content VALUES (1)",
    "WITH x AS (SELECT 1) DELETE FROM customers",
    "WITH x AS (SELECT 1) UPDATE orders SET total = 0",
    "INSERT INTO orders DEFAULT VALUES RETURNING *", "DELETE FROM orders RETURNING *",
    "INSERT INTO customers(id) VALUES (1) ON CONFLICT DO UPDATE SET name = 'x'",
)  # fmt: skip


def hostile_statements(seed: int, count: int) -> Iterator[str]:
    """Yield statements, cycling through the kinds."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        statement = _KINDS[number % len(_KINDS)](rng)
        yield _disguised(statement, rng) if number % 3 else statement


def _pick(rng: np.random.Generator, options: tuple[str, ...]) -> str:
    return options[int(rng.integers(len(options)))]


def _disguised(statement: str, rng: np.random.Generator) -> str:
    """Return a variant of a statement: case, comments, whitespace, stacking or quoting changed."""
    match int(rng.integers(9)):
        case 0:
            return "".join(c.upper() if rng.random() < 0.5 else c.lower() for c in statement)
        case 1:
            return statement.replace(" ", "/*\n; DROP TABLE customers; */", 3)
        case 2:
            return "-- harmless\n/* SELECT */ " + statement.replace(" ", "\t\n\x0c", 4)
        case 3:
            return f"SELECT 1; {statement}"
        case 4:
            return f"{statement}; {statement};"
        case 5:
            return f"SELECT * FROM (SELECT 1) WHERE EXISTS ({statement})"
        case 6:
            return statement.replace("a", "а").replace("'", "’")
        case 7:
            return statement.replace(" ", "\0", 1) if rng.random() < 0.5 else statement + "\ud800"
        case _:
            return statement.replace("customers", '"customers"').replace("orders", "[orders]")


def _pragma(rng: np.random.Generator) -> str:
    schema = _pick(rng, ("", "main.", "temp.", "[main]."))
    return f"PRAGMA {schema}{_pick(rng, PRAGMAS)}"


def _function(rng: np.random.Generator) -> str:
    call = _pick(rng, FUNCTIONS)
    place = _pick(rng, ("SELECT {}", "SELECT id FROM orders ORDER BY {}",
                        "SELECT 1 FROM orders WHERE {} IS NOT NULL", "SELECT max({}) FROM orders",
                        "VALUES ({})", "WITH x AS (SELECT {} AS y) SELECT y FROM x"))  # fmt: skip
    return place.format(call)


def _module(rng: np.random.Generator) -> str:
    form = _pick(rng, ("SELECT * FROM {}", "SELECT count(*) FROM {}", "SELECT 1 FROM orders, {}"))
    return form.format(_pick(rng, MODULES))


def _write(rng: np.random.Generator) -> str:
    return _pick(rng, WRITES)


def _recursion(rng: np.random.Generator) -> str:
    step = _pick(rng, ("x + 1", "x || x", "x * 2", "hex(x)", "replace(x, 'a', 'aa')", "x"))
    start = _pick(rng, ("1", "'a'", "printf('%.*c', 60000, 'a')", "x'00'"))
    union = _pick(rng, ("UNION ALL", "UNION"))
    last = _pick(rng, ("SELECT count(*) FROM r", "SELECT * FROM r ORDER BY x DESC",
                       "SELECT DISTINCT x || x FROM r", "SELECT group_concat(x) FROM r",
                       "SELECT a.x FROM r a, r b, r c WHERE a.x < b.x", "SELECT max(x) FROM r",
                       "SELECT json_group_array(x) FROM r",
                       "SELECT sum(x) OVER (ORDER BY x ROWS BETWEEN UNBOUNDED PRECEDING AND "
                       "UNBOUNDED FOLLOWING) FROM r"))  # fmt: skip
    return f"WITH RECURSIVE r(x) AS (SELECT {start} {union} SELECT {step} FROM r) {last}"


def _cross_join(rng: np.random.Generator) -> str:
    tables = ", ".join(f"{_pick(rng, TABLES[:2])} t{i}" for i in range(int(rng.integers(3, 40))))
    what = _pick(rng, ("count(*)", "sum(t0.id)", "DISTINCT t0.id, t1.id, t2.id", "*", "t1.id"))
    order = _pick(rng, ("", " ORDER BY t0.id + t1.id", " GROUP BY t0.id", " ORDER BY random()"))
    return f"SELECT {what} FROM {tables}{order}"


def _huge_values(rng: np.random.Generator) -> str:
    size = int(rng.integers(10_000, 70_000))
    big = f"printf('%.*c', {size}, 'a')"
    form = _pick(rng, (
        "SELECT length(trim({0}, {0} || 'b'))", "SELECT replace({0}, {1} || 'b', 'c')",
        "SELECT instr({0}, {1} || 'b')", "SELECT {0} LIKE '%a%a%a%a%a%a%a%a%a%a%b'",
        "SELECT {0} GLOB '*a*a*a*a*a*a*a*a*a*b'",
        "SELECT replace(replace({0}, 'a', 'aaaa'), 'a', 'b')",
        "SELECT a.id, instr({0}, {1} || 'b') FROM orders a, orders b, orders c",
        "SELECT count(*) FROM orders a, orders b, orders c "
        "WHERE replace({0}, {1} || 'b', a.id) = 'x'",
        "SELECT count(*) FROM orders a, orders b, orders c WHERE {0} || a.id LIKE '%a%a%a%a%b%'",
        "SELECT group_concat({0}) FROM orders a, orders b", "SELECT json_array({0}, {0}, {0})",
        "SELECT json_extract('[' || {0} || ']', '$[0]')", "SELECT hex({0}), quote({0}), upper({0})",
        "SELECT {0} || {0} || {0} || {0}", "SELECT a.id, {0} FROM orders a, orders b",
        "SELECT DISTINCT {0} || a.id || b.id || c.id FROM orders a, orders b, orders c",
        "SELECT * FROM (SELECT {0} || a.id AS x FROM orders a, orders b, orders c) ORDER BY x",
        "SELECT ltrim({0}, {1}), rtrim({0}, 'a') FROM orders a, orders b",
        "SELECT json_valid(replace({0}, 'a', '['))",
        "SELECT soundex({0}), unicode({0}) FROM orders",
        "SELECT strftime({0} || '%Y', '2020-01-01') FROM orders a, orders b",
        "SELECT count(*) FROM orders a, orders b, orders c, json_each('[' || {0} || ']')",
    ))  # fmt: skip
    return form.format(big, f"printf('%.*c', {size // 2}, 'a')")


def _nesting(rng: np.random.Generator) -> str:
    depth = int(rng.integers(20, 900))
    return _pick(rng, (
        "SELECT " + "(" * depth + "1" + ")" * depth,
        "SELECT " + "-" * 2 + "1\n+" * depth + "1",
        "SELECT " + "1+" * depth + "1",
        "SELECT " + "NOT " * depth + "1",
        "SELECT " + "abs(" * depth + "1" + ")" * depth,
        "SELECT " + "CASE WHEN 1 THEN " * depth + "1" + " END" * depth,
        "SELECT * FROM " + "(SELECT * FROM " * min(depth, 400) + "orders" + ")" * min(depth, 400),
        "SELECT 1" + " UNION ALL SELECT 1" * depth,
        "SELECT 1 WHERE 1 IN (" + ",".join(["1"] * depth) + ")",
        "VALUES " + ",".join(["(1)"] * depth),
        "SELECT " + ",".join(["1"] * depth),
        "SELECT " + " AND ".join([f"id = {i}" for i in range(depth)]) + " FROM orders",
        "SELECT 1 FROM orders WHERE "
        + " OR ".join([f"id = {i} AND day > 'x'" for i in range(depth)]),
        "SELECT json('" + "[" * depth * 10 + "')",
    ))  # fmt: skip


def _compile_bomb(rng: np.random.Generator) -> str:
    levels = int(rng.integers(5, 40))
    times = int(rng.integers(2, 5))
    names = [f"c{i}" for i in range(levels)]
    parts = [f"{names[0]} AS (SELECT 1 AS v)"]
    for before, name in zip(names, names[1:], strict=False):
        froms = ", ".join(f"{before} {name}{k}" for k in range(times))
        body = _pick(rng, ("SELECT 1 AS v FROM {}", "SELECT count(*) AS v FROM {}"))
        keyword = _pick(rng, ("AS", "AS MATERIALIZED", "AS NOT MATERIALIZED"))
        parts.append(f"{name} {keyword} ({body.format(froms)})")
    if rng.random() < 0.3:
        parts.reverse()
    if rng.random() < 0.3:
        arms = ", ".join(
            f"(SELECT 1 AS k UNION ALL SELECT 2 UNION ALL SELECT {i}) u{i}" for i in range(levels)
        )
        return f"SELECT count(*) FROM {arms}"
    return f"WITH {', '.join(parts)} SELECT v FROM {names[-1]}"


def _joins_to_plan(rng: np.random.Generator) -> str:
    count = int(rng.integers(20, 66))
    tables = ", ".join(f"orders t{i}" for i in range(count))
    terms = " AND ".join(
        f"(t{i}.id = t{int(rng.integers(count))}.customer "
        f"OR t{i}.day = t{int(rng.integers(count))}.day)"
        for i in range(count)
    )
    return f"SELECT count(*) FROM {tables} WHERE {terms}"


def _names(rng: np.random.Generator) -> str:
    size = int(rng.integers(100, 25_000))
    return _pick(rng, (
        f'SELECT "{"x" * size}" FROM orders', f"SELECT 1 AS {'y' * size}", f"SELECT {'z' * size}()",
        f"SELECT * FROM {'t' * size}", "SELECT '" + "'" * size + "'", f'SELECT "{chr(34) * size}"',
        "SELECT `" * min(size, 99), "'", '"', ";", ";;;", "--", "/*", "(", ")", "SELECT", "\\",
        "\ufeff",
        "\u202eSELECT 1", "SELECT '\U0001f600'", "SELEСT 1", " ", "\0", "\ud800", "%s%n", "{}",
        "NULL",
        "SELECT ?1, :a, @b, $c", "SELECT x'", "SELECT x'zz'",
        "SELECT 1e999, -1e999, 0x7fffffffffffffff",
        "SELECT 9223372036854775807 + 1, -9223372036854775808 / -1, 1 / 0, 1 % 0",
        "EXPLAIN SELECT * FROM orders", "EXPLAIN QUERY PLAN SELECT 1",
        "/**/EXPLAIN DELETE FROM orders",
        "SELECT main.orders.id, temp.x FROM main.orders", "SELECT * FROM temp.orders",
        "SELECT rowid, _rowid_, oid FROM orders", "SELECT * FROM orders INDEXED BY nothing",
    ))  # fmt: skip


_KINDS: tuple[Callable[[np.random.Generator], str], ...] = (
    _pragma, _function, _module, _write, _recursion, _cross_join, _huge_values, _nesting,
    _compile_bomb, _joins_to_plan, _names,
)  # fmt: skip
