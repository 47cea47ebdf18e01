"""Columns and tables clean their own dirt, in SQL and in Python alike."""

import sqlite3

import pytest

from hexathlon.tasks.sql.dirt import Dirt
from hexathlon.tasks.sql.schema import Column, Edge, Schema, Table

CODES = (("female", "female"), ("f", "female"), ("1", "female"), ("male", "male"), ("2", "male"))
CASES = [
    (Dirt("case_padding", ""), " Gold  ", "gold"),
    (Dirt("case_padding", ""), None, None),
    (Dirt("codes", "", mapping=CODES), "F", "female"),
    (Dirt("codes", "", mapping=CODES), "2", "male"),
    (Dirt("codes", "", mapping=CODES), "MALE", "male"),
    (Dirt("codes", "", mapping=CODES), "x", None),
    (Dirt("two_date_formats", ""), "03/11/2023", "2023-11-03"),
    (Dirt("two_date_formats", ""), "2023-11-03", "2023-11-03"),
    (Dirt("currency_text", ""), "$1,234.50", 1234.5),
    (Dirt("currency_text", ""), "7.25", 7.25),
    (Dirt("missing_spellings", ""), "", None),
    (Dirt("missing_spellings", ""), "N/A", None),
    (Dirt("missing_spellings", ""), "none", "none"),
    (Dirt("orphans", ""), 17, 17),
]


@pytest.mark.parametrize(("dirt", "value", "wanted"), CASES)
def test_sql_and_python_clean_values_identically(dirt, value, wanted):
    column = Column("c", "TEXT", "category", "kind", dirt=dirt)
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (c)")
    connection.execute("INSERT INTO t VALUES (?)", (value,))
    found = connection.execute(f"SELECT {column.canonical_sql('a')} FROM t a").fetchone()
    assert found == (wanted,)
    assert column.canonical({"c": value}) == wanted


@pytest.mark.parametrize(("unit", "value", "wanted"), [("kg", 1.5, 1500.0), ("g", 250.0, 250.0)])
def test_units_of_rows_become_one(unit, value, wanted):
    dirt = Dirt("row_units", "", mapping=(("kg", 1000), ("g", 1)), partner="u")
    column = Column("w", "REAL", "amount", "weight", unit="g", dirt=dirt)
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (w REAL, u TEXT)")
    connection.execute("INSERT INTO t VALUES (?, ?)", (value, unit))
    assert connection.execute(f"SELECT {column.canonical_sql('t')} FROM t").fetchone() == (wanted,)
    assert column.canonical({"w": value, "u": unit}) == wanted


def _table(**fields):
    columns = (
        Column("id", "INTEGER", "key", "number", unique=True),
        Column("code", "TEXT", "code", "code"),
        Column("gone", "INTEGER", "soft_delete", "mark"),
    )
    return Table("t", "thing", "things", columns, primary_key=("id",), **fields)


ROWS = [(1, "a", 0), (2, "b", 1), (3, "a", 0), (4, "c", 0)]


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        ({}, [1, 2, 3, 4]),
        ({"soft_delete": "gone"}, [1, 3, 4]),
        ({"natural_key": "code"}, [1, 2, 4]),
        ({"soft_delete": "gone", "natural_key": "code"}, [1, 4]),
    ],
)
def test_the_rows_that_count(fields, kept):
    table = _table(**fields)
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (id, code, gone)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", ROWS)
    condition = table.live_sql("x") or "TRUE"
    found = connection.execute(f"SELECT id FROM t x WHERE {condition} ORDER BY id").fetchall()
    assert [key for (key,) in found] == kept
    assert [row[0] for row in table.live_rows(ROWS)] == kept


def test_edges_leave_out_decoys_and_other_departments():
    def child(name, **fields):
        link = Column("t_id", "INTEGER", "foreign_key", "thing", references=("t", "id"))
        return Table(name, "child", "children", (link,), primary_key=("t_id",), **fields)

    tables = (_table(), child("c"), child("c_bak", decoy=True), child("x_c", core=False))
    schema = Schema("d", "d-tiny-dev-0", tables)
    assert schema.edges() == (Edge("c", "t_id", "t", "id"),)
    assert [table.name for table in schema.asked()] == ["t", "c"]


@pytest.mark.parametrize("ask", ["table", "document"])
def test_unknown_names_are_reported(ask):
    with pytest.raises(KeyError, match="nothing"):
        getattr(Schema("d", "w", ()), ask)("nothing")
