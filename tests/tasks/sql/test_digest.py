"""A digest distinguishes tables by their content and nothing else."""

import sqlite3

import pytest

from hexathlon.tasks.sql.world import digest
from hexathlon.tasks.sql.world.digest import differing, digest_rows, table_digests

ROWS = [(1, "a", 0.5), (2, None, 1.0), (2, None, 1.0)]
NAMES = ["id", "name", "price"]


def test_order_of_rows_and_columns_does_not_matter():
    other = [(row[2], row[0], row[1]) for row in reversed(ROWS)]
    assert digest_rows(["PRICE", "Id", "name"], other) == digest_rows(NAMES, ROWS)


@pytest.mark.parametrize("rows", [
    ROWS[:2], [*ROWS, ROWS[0]], [(1, "a", 0.5), (2, "", 1.0), (2, None, 1.0)],
    [("1", "a", 0.5), *ROWS[1:]], [(1, "a", 0.5000001), *ROWS[1:]], [(1, "A", 0.5), *ROWS[1:]],
    [(1, "a ", 0.5), *ROWS[1:]], [(1.0, "a", 0.5), *ROWS[1:]], [(1, b"a", 0.5), *ROWS[1:]],
])  # fmt: skip
def test_every_other_table_differs(rows):
    assert digest_rows(NAMES, rows) != digest_rows(NAMES, ROWS)


@pytest.mark.parametrize(("left", "right"), [
    ([("a\x1fb", "c")], [("a", "b\x1fc")]),
    ([("a", "b"), ("c", "d")], [("a", "b\x1ec\x1fd")]),
    ([("a\x1b", "b")], [("a", "\x1bb")]),
    ([("n", None)], [(None, "n")]),
])  # fmt: skip
def test_separators_in_texts_do_not_confuse(left, right):
    assert digest_rows(["x", "y"], left) != digest_rows(["x", "y"], right)


def test_two_ways_to_compute_a_float_agree():
    assert digest_rows(["x"], [(0.1 + 0.2,)]) == digest_rows(["x"], [(0.3,)])
    assert digest_rows(["x"], [(-0.0,)]) == digest_rows(["x"], [(0.0,)])


def test_all_tables_of_a_database():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE One (id INTEGER PRIMARY KEY AUTOINCREMENT, name)")
    before = table_digests(connection)
    connection.execute("INSERT INTO One (name) VALUES ('x')")
    connection.execute("CREATE TABLE Two (x)")
    after = table_digests(connection)
    assert list(before) == ["one"]
    assert differing(before, after) == ["one", "two"]
    assert differing(after, after) == []


def test_other_values_are_refused():
    with pytest.raises(TypeError, match="expected an SQLite value"):
        digest_rows(["x"], [(object(),)])


def test_remembered_digests_are_those_of_the_rows(monkeypatch):
    monkeypatch.setattr(digest, "_digests", {})
    monkeypatch.setattr(digest, "_MOST_DIGESTS", 3)
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (a, b)")
    seen = []
    for value in (1, 1.0, "1", b"1", None, 0.0, -0.0, "1", 2**62, "\u00e9", "1", 1):
        connection.execute("DELETE FROM t")
        connection.execute("INSERT INTO t VALUES (?, 'x')", (value,))
        seen.append(table_digests(connection)["t"])
        assert seen[-1] == digest_rows(["a", "b"], [(value, "x")])
    assert len(set(seen)) == 8  # 0.0 and -0.0 are equal
    assert len(digest._digests) == 3
    connection.close()
