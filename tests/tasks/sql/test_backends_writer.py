"""The throw-away database of a write task: permissions, transactions, snapshots."""

import sqlite3

import pytest

from hexathlon.tasks.sql.world.backends.base import (
    WRITE_KINDS,
    DatabaseSnapshot,
    QueryLimits,
    SqlError,
)
from hexathlon.tasks.sql.world.backends.sqlite import open_sqlite
from hexathlon.tasks.sql.world.database import database_bytes
from support.sql_toy import shop

LIMITS = QueryLimits(seconds=60.0)
IMAGE = database_bytes({"database": shop()})
DML = ("insert", "update", "delete")


def writer(writes=DML):
    return open_sqlite(IMAGE, writes=writes)


def run(database, sql):
    return database.run(sql, LIMITS)


def value(database, sql):
    return run(database, sql).rows[0][0]


def refused(database, sql):
    with pytest.raises(SqlError) as caught:
        run(database, sql)
    return caught.value.kind == "refused"


def test_changes_are_counted_and_stay_in_their_own_copy():
    first, second = writer(), writer()
    assert run(first, "DELETE FROM orders WHERE id <= 10").changed == 10
    assert run(first, "UPDATE customers SET city = 'Rome'").changed == 30
    assert value(first, "SELECT count(*) FROM orders") == 190
    assert value(second, "SELECT count(*) FROM orders") == 200
    assert first.count("orders") == 190


def test_only_declared_kinds_of_writing_are_allowed():
    database = writer(("insert",))
    assert run(database, "INSERT INTO customers VALUES (100, 'x', NULL)").changed == 1
    for sql in ("DELETE FROM orders", "UPDATE orders SET total = 0", "CREATE TABLE t (a)",
                "ALTER TABLE orders ADD COLUMN x", "DROP TABLE orders"):  # fmt: skip
        assert refused(database, sql), sql


@pytest.mark.parametrize(
    "sql",
    [
        "PRAGMA writable_schema = 1", "ATTACH ':memory:' AS x", "CREATE TEMP TABLE t (a)",
        "CREATE TRIGGER t AFTER INSERT ON orders BEGIN SELECT 1; END", "CREATE VIEW v AS SELECT 1",
        "CREATE VIRTUAL TABLE f USING fts5(x)", "VACUUM", "SELECT random()",
        "EXPLAIN DELETE FROM orders",
    ],
)  # fmt: skip
def test_refused_even_where_everything_is_declared(sql):
    assert refused(writer(WRITE_KINDS), sql)


def test_the_schema_table_cannot_be_written():
    database = writer(WRITE_KINDS)
    for sql in ("DELETE FROM sqlite_master", "UPDATE sqlite_schema SET sql = 'x'",
                "INSERT INTO sqlite_master VALUES ('table', 'x', 'x', 0, 'x')"):  # fmt: skip
        with pytest.raises(SqlError, match="may not be modified|not allowed"):
            run(database, sql)
    assert list(database.catalogue()) == ["customers", "orders"]


def test_schema_changes_show_in_the_catalogue():
    database = writer(WRITE_KINDS)
    run(database, "CREATE TABLE notes (id INTEGER PRIMARY KEY, at TEXT DEFAULT CURRENT_DATE)")
    run(database, "INSERT INTO notes (id) VALUES (1)")
    run(database, "ALTER TABLE customers ADD COLUMN age INTEGER")
    run(database, "ALTER TABLE customers RENAME COLUMN city TO town")
    run(database, "CREATE INDEX by_day ON orders (day)")
    assert run(database, "SELECT * FROM notes").rows == [(1, "2024-01-01")]
    names = [column.name for column in database.catalogue()["customers"].columns]
    assert names == ["id", "name", "town", "age"]
    run(database, "DROP TABLE notes")
    assert "notes" not in database.catalogue()


def test_snapshots_are_detached_both_ways():
    database = writer()
    run(database, "DELETE FROM orders WHERE id = 1")
    held = database.snapshot()
    run(database, "DELETE FROM orders")
    other = writer()
    other.restore(held)
    assert value(other, "SELECT count(*) FROM orders") == 199
    run(other, "DELETE FROM customers")
    again = writer()
    again.restore(held)
    assert value(again, "SELECT count(*) FROM customers") == 30
    assert value(database, "SELECT count(*) FROM orders") == 0


def test_a_snapshot_inside_a_transaction_can_be_rolled_back_or_committed():
    database = writer()
    run(database, "DELETE FROM orders WHERE id = 1")
    run(database, "BEGIN")
    run(database, "DELETE FROM orders WHERE id = 2")
    held = database.snapshot()
    assert isinstance(held, DatabaseSnapshot) and len(held.pending) == 2
    outcomes = {}
    for ending in ("ROLLBACK", "COMMIT"):
        copy = writer()
        copy.restore(held)
        assert value(copy, "SELECT count(*) FROM orders") == 198
        run(copy, ending)
        outcomes[ending] = value(copy, "SELECT count(*) FROM orders")
    assert outcomes == {"ROLLBACK": 199, "COMMIT": 198}
    assert value(database, "SELECT count(*) FROM orders") == 198


def test_an_open_transaction_does_not_count_in_the_final_image():
    database = writer()
    run(database, "SAVEPOINT s")
    run(database, "DELETE FROM orders")
    image = database.sqlite_image()
    copy = sqlite3.connect(":memory:")
    copy.deserialize(image)
    assert copy.execute("SELECT count(*) FROM orders").fetchone() == (200,)
    copy.close()


def test_a_failed_statement_leaves_no_trace_in_the_snapshot():
    database = writer()
    with pytest.raises(SqlError):
        run(database, "INSERT INTO customers SELECT id, name, city FROM customers")
    copy = writer()
    copy.restore(database.snapshot())
    assert value(copy, "SELECT count(*) FROM customers") == 30


def test_the_database_cannot_grow_without_end():
    database = writer()
    with pytest.raises(SqlError) as caught:
        run(
            database,
            "INSERT INTO customers (name) WITH RECURSIVE r(x) AS (SELECT printf('%.*c', 9999, 'a') "
            "UNION ALL SELECT x FROM r) SELECT x FROM r",
        )
    assert "full" in caught.value.message
    assert value(database, "SELECT count(*) FROM customers") == 30


def test_closing_keeps_the_state_and_is_safe_twice():
    database = writer()
    run(database, "DELETE FROM orders WHERE id > 50")
    database.close()
    database.close()
    assert value(database, "SELECT count(*) FROM orders") == 50
