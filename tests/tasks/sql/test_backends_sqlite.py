"""The locked SQLite connection: allowed and denied statements, and the error texts."""

import sqlite3
import weakref
from time import thread_time

import pytest

from hexathlon.tasks.sql.world.backends import connection
from hexathlon.tasks.sql.world.backends.base import QueryLimits, SqlError
from hexathlon.tasks.sql.world.backends.connection import SqliteConnection
from hexathlon.tasks.sql.world.backends.sqlite import open_sqlite
from hexathlon.tasks.sql.world.database import database_bytes
from support.clocks import least_seconds
from support.sql_toy import shop

LIMITS = QueryLimits(seconds=2.0)
IMAGE = database_bytes({"database": shop()})


@pytest.fixture
def reader():
    return open_sqlite(IMAGE, today="2023-05-06")


def rows(database, sql, limits=LIMITS):
    return database.run(sql, limits).rows


def refusal(database, sql, limits=LIMITS):
    with pytest.raises(SqlError) as caught:
        database.run(sql, limits)
    return caught.value


def test_reads_rows_and_column_names(reader):
    result = reader.run("SELECT id, name FROM customers WHERE id < 3", LIMITS)
    assert result.columns == ("id", "name")
    assert result.rows == [(1, "name 1"), (2, "name 2")]
    assert not result.more and result.changed is None


def test_rows_beyond_the_limit_are_left_out_and_reported(reader):
    result = reader.run("SELECT id FROM orders", QueryLimits(rows=7))
    assert len(result.rows) == 7 and result.more
    assert not reader.run("SELECT id FROM orders", QueryLimits(rows=200)).more


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM customers",
        "INSERT INTO customers VALUES (99, 'x', 'y')",
        "UPDATE customers SET name = 'x'",
        "DROP TABLE customers",
        "CREATE TABLE t (a)",
        "CREATE TEMP TABLE customers AS SELECT 1",
        "CREATE TEMP VIEW customers AS SELECT 1",
        "CREATE VIEW v AS SELECT 1",
        "ALTER TABLE customers ADD COLUMN x",
        "PRAGMA query_only = 0",
        "/* a */ PrAgMa -- b\n table_info(customers)",
        "ATTACH ':memory:' AS other",
        "DETACH main",
        "VACUUM",
        "VACUUM INTO 'copy.db'",
        "BEGIN",
        "SAVEPOINT s",
        "ROLLBACK",
        "ANALYZE",
        "REINDEX",
        "EXPLAIN SELECT 1",
        "SELECT * FROM pragma_table_info('customers')",
        "SELECT count(*) FROM pragma_database_list",
        "SELECT * FROM sqlite_stmt",
        "SELECT count(*) FROM dbstat",
        "SELECT load_extension('x')",
        "SELECT random()",
        "SELECT hex(randomblob(4))",
        "SELECT sqlite_version()",
        "SELECT changes(), total_changes()",
        "SELECT fts3_tokenizer('simple')",
        "WITH x AS (SELECT 1) DELETE FROM customers",
        "DELETE FROM customers RETURNING id",
    ],
)
def test_refused_when_reading(reader, sql):
    error = refusal(reader, sql)
    assert error.kind == "refused"
    assert "not allowed" in error.message and error.hint
    assert rows(reader, "SELECT count(*) FROM customers") == [(30,)]


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("", "statement"),
        (";", "statement"),
        ("SELECT 1; SELECT 2", "statement"),
        ("SELECT ?", "statement"),
        ("SELECT 'a\0b'", "statement"),
        ("SELECT '\ud800'", "statement"),
        ("SELEC 1", "syntax"),
        ("SELECT * FROM nothing", "syntax"),
        ("SELECT nothing FROM orders", "syntax"),
        ("SELECT " + "1," * 15_000 + "1", "too_large"),
        ("SELECT 1" + " UNION SELECT 1" * 60, "too_large"),
    ],
)
def test_wrong_statements_come_back_as_text(reader, sql, kind):
    error = refusal(reader, sql)
    assert error.kind == kind
    assert error.text().startswith("Error: ")


def test_a_missing_table_comes_with_the_names_that_exist(reader):
    assert "customers, orders" in refusal(reader, "SELECT * FROM customer").hint


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM sqlite_master",
        "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r LIMIT 9) "
        "SELECT count(*) FROM r",
        "SELECT value FROM json_each('[1, 2]')",
        "SELECT city, row_number() OVER (PARTITION BY city ORDER BY id) FROM customers",
        "SELECT printf('%.2f', total), trim('xax', 'x'), replace(day, '-', '') FROM orders",
        "VALUES (1)",
    ],
)
def test_ordinary_queries_run(reader, sql):
    assert rows(reader, sql)


def test_the_clock_is_pinned(reader):
    got = rows(
        reader,
        "SELECT date('now'), current_date, current_timestamp, date(), strftime('%Y'), "
        "date('n' || 'ow'), date(x'6e6f77'), datetime('now', 'localtime'), "
        "date('now' || char(0) || 'x'), date('now', '+1 day')",
    )
    assert got == [
        ("2023-05-06", "2023-05-06", "2023-05-06 00:00:00", "2023-05-06", "2023",
         "2023-05-06", "2023-05-06", "2023-05-06 00:00:00", "2023-05-06", "2023-05-07")
    ]  # fmt: skip


def test_pinned_date_functions_agree_with_sqlite_on_real_dates(reader):
    plain = sqlite3.connect(":memory:")
    for expression in (
        "date('2020-02-29', '+1 year')", "strftime('%W %j', '2021-03-04')",
        "julianday('2000-01-01')", "date(2451545)", "date(2451545.0)",
        "datetime(1092941466, 'unixepoch')", "date('bad')",
        "date(NULL)", "time('12:30', '-1 hour')", "strftime(NULL, '2000-01-01')",
    ):  # fmt: skip
        expected = plain.execute(f"SELECT {expression}").fetchall()
        assert rows(reader, f"SELECT {expression}") == expected, expression
    plain.close()


def test_replaced_functions_agree_with_sqlite(reader):
    plain = sqlite3.connect(":memory:")
    for expression in (
        "trim('xxaxx', 'x')", "ltrim('xya', 'yx')", "rtrim('axy', '')", "trim(5, '5')",
        "trim(NULL, 'x')", "printf('%5.1f|%-4s|%04d|%%', 2.25, 'a', 7)", "printf('%*d', 5, 42)",
        "format('%s', NULL)", "printf('%,d', 1234567)", "printf(NULL)", "printf('%c', 'abc')",
    ):  # fmt: skip
        expected = plain.execute(f"SELECT {expression}").fetchall()
        assert rows(reader, f"SELECT {expression}") == expected, expression
    plain.close()


@pytest.mark.parametrize(
    "sql",
    [
        "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT count(*) FROM r",
        "SELECT count(*) FROM orders a, orders b, orders c, orders d",
        "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM r) SELECT x FROM r ORDER BY 1",
        "SELECT a.id FROM orders a, orders b, orders c, orders d ORDER BY a.id + b.id",
        "SELECT count(*) FROM orders a, orders b, orders c WHERE "
        "instr(printf('%.*c', 9999, 'a') || a.id || b.id || c.id, printf('%.*c', 5000, 'a'))=0",
    ],
)
def test_runaway_statements_end_within_a_tenth_of_the_deadline(reader, sql, monkeypatch):
    # The statement's own CPU time ends it, however busy the machine is.
    monkeypatch.setattr(connection, "_PATIENCE", 1e6)

    def run():
        assert refusal(reader, sql, QueryLimits(seconds=0.5)).kind in {"time", "steps"}

    assert least_seconds(run, 0.55, thread_time) < 0.55
    assert rows(reader, "SELECT 1") == [(1,)]


def test_a_statement_starved_of_cpu_time_is_reported_as_stalled(reader, monkeypatch):
    monkeypatch.setattr(connection, "thread_time", lambda: 0.0)
    sql = "SELECT count(*) FROM orders a, orders b, orders c, orders d"
    assert refusal(reader, sql, QueryLimits(seconds=0.02, steps=10**12)).kind == "stalled"
    assert rows(reader, "SELECT 1") == [(1,)]


def test_the_work_limit_is_the_same_everywhere(reader):
    recursion = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r LIMIT {}) "
    sql = recursion + "SELECT max(x) FROM r"
    limits = QueryLimits(steps=1_000_000)
    assert rows(reader, sql.format(20_000), limits) == [(20_000,)]
    assert refusal(reader, sql.format(200_000), limits).kind == "steps"


def test_no_single_instruction_counts_to_two_thousand_million(reader):
    def run():
        for call in ("printf('%.*c', 2000000000, 'x')", "format('%2000000000d', 1)",
                     "printf('%.2000000000c', 'x')", "printf('%*.*f', '999999999', 1e30, 1)",
                     ):  # fmt: skip
            assert refusal(reader, f"SELECT {call}").kind == "too_large"

    assert least_seconds(run, 0.2, thread_time) < 0.2


def test_compile_bombs_are_refused_before_they_are_compiled(reader):
    bodies = ["c0 AS (SELECT 1 AS v)"]
    bodies += [f"c{i} AS (SELECT 1 AS v FROM c{i - 1} a, c{i - 1} b)" for i in range(1, 30)]
    bomb = f"WITH {', '.join(bodies)} SELECT count(*) FROM c29"
    assert refusal(reader, bomb).kind == "steps"
    assert least_seconds(lambda: refusal(reader, bomb), 0.1, thread_time) < 0.1


def test_spilling_to_disk_is_bounded(reader):
    error = refusal(
        reader,
        "WITH RECURSIVE r(i, x) AS (SELECT 1, hex(printf('%.*c', 9999, 'a')) UNION ALL "
        "SELECT i + 1, x FROM r) SELECT count(*) FROM (SELECT DISTINCT i || x FROM r)",
        QueryLimits(seconds=20.0, spill_bytes=20_000_000),
    )
    assert error.kind == "too_large"


def test_large_results_are_stopped_while_fetching(reader):
    error = refusal(
        reader, "SELECT printf('%.*c', 9999, 'a') || printf('%.*c', 9999, 'b') FROM orders",
        QueryLimits(result_bytes=100_000),
    )  # fmt: skip
    assert error.kind == "too_large"


def test_text_that_is_not_utf_8_is_shown_with_replacement_characters(reader):
    assert rows(reader, "SELECT CAST(x'61ff62' AS TEXT)") == [("a\ufffdb",)]


def test_readers_of_one_image_share_a_connection_and_cannot_see_each_other():
    first, second = open_sqlite(IMAGE), open_sqlite(IMAGE)
    for database in (first, second, first):
        refusal(database, "CREATE TEMP TABLE t AS SELECT 1")
        assert rows(database, "SELECT count(*) FROM orders") == [(200,)]
    assert first.snapshot().image is IMAGE


def test_a_witness_connection_in_the_process_is_unharmed(reader):
    witness = sqlite3.connect(":memory:")
    witness.execute("CREATE TABLE w (a)")
    refusal(reader, "PRAGMA hard_heap_limit = 1000")
    refusal(reader, "SELECT * FROM pragma_hard_heap_limit(1000)")
    witness.executemany("INSERT INTO w VALUES (?)", [("x" * 100_000,)] * 50)
    assert witness.execute("SELECT sum(length(a)) FROM w").fetchone() == (5_000_000,)
    witness.close()


def test_views_of_the_schema_may_use_replaced_functions():
    source = sqlite3.connect(":memory:")
    source.execute("CREATE TABLE t (d TEXT)")
    source.execute("INSERT INTO t VALUES ('2020-07-01')")
    source.execute("CREATE VIEW v AS SELECT strftime('%m', d) AS m, trim(d, '1') AS x FROM t")
    source.commit()
    assert rows(open_sqlite(source.serialize()), "SELECT * FROM v") == [("07", "2020-07-0")]
    source.close()


def image_of(*statements):
    source = sqlite3.connect(":memory:")
    for statement in statements:
        source.execute(statement)
    source.commit()
    image = source.serialize()
    source.close()
    return image


def test_databases_with_one_schema_read_it_once(monkeypatch):
    monkeypatch.setattr(connection, "_schemas", {})
    create = "CREATE TABLE t (a INTEGER)"
    first, second = image_of(create), image_of(create, "INSERT INTO t VALUES (1)")
    view = image_of(create, "CREATE VIEW v AS SELECT a, trim(a, '1') AS b FROM t")
    opened = [SqliteConnection(image) for image in (first, second, view, second)]
    assert opened[1].catalogue() is opened[0].catalogue() is opened[3].catalogue()
    assert list(opened[2].catalogue()) == ["t", "v"]
    assert [each.run("SELECT count(*) FROM t", LIMITS).rows for each in opened] == [
        [(0,)], [(1,)], [(0,)], [(1,)],
    ]  # fmt: skip
    assert opened[2].run("SELECT * FROM v", LIMITS).rows == []
    for number in range(connection._MOST_SCHEMAS):
        SqliteConnection(image_of(f"CREATE TABLE u{number} (a)"))
    assert len(connection._schemas) == connection._MOST_SCHEMAS
    assert SqliteConnection(second).catalogue() == opened[0].catalogue()


def test_an_unreferenced_connection_is_closed_at_once():
    connection = SqliteConnection(IMAGE)
    connection.run("SELECT date('2020-01-01'), printf('%d', 1)", LIMITS)
    inner, gone = connection._connection, weakref.ref(connection)
    del connection
    assert gone() is None
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        inner.execute("SELECT 1")


def test_what_is_remembered_of_a_statement_depends_on_the_right_to_write(reader):
    image = reader.sqlite_image()
    table = next(iter(reader.catalogue()))
    statement = f'DELETE FROM "{table}"'
    writer = open_sqlite(image, writes=("delete",))
    for _ in range(2):
        writer.run(statement, QueryLimits())
        with pytest.raises(SqlError, match="DELETE is not allowed here"):
            reader.run(statement, QueryLimits())
    assert writer.count(table) == 0 < reader.count(table)
    writer.close()


@pytest.mark.parametrize("padding", [0, connection._REMEMBERED_CHARS])
def test_statements_with_slow_functions_are_watched_closely_every_time(reader, padding):
    plain, slow = "SELECT 1", f"SELECT replace('a', 'b', 'c') -- {'x' * padding}"
    held = SqliteConnection(reader.sqlite_image())
    for sql, step in ((slow, 20), (plain, 500), (slow, 20)):
        held.run(sql, QueryLimits())
        assert held._watch.step == step
    held.close()
