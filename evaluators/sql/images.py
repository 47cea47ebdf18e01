"""A serialised SQLite database as plain data: rows by table, and a digest of all that it holds."""

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from hexathlon.evaluators.sql.compare import Row
from hexathlon.tasks.sql.backends.base import Value

__all__ = ["content_digest", "image_rows"]


def image_rows(image: bytes) -> dict[str, list[Row]]:
    """The rows of every table."""
    with _opened(image) as connection:
        return {name: _rows(connection, name) for name in _tables(connection)}


def content_digest(image: bytes) -> dict[str, str]:
    """Digests by table, and one of indexes, views and triggers under the name ``(other)``.

    A table's digest covers its columns in order (name and type affinity) and the bag of its rows.
    Constraints and defaults are left out: `CREATE TABLE ... AS` and `ADD COLUMN ... DEFAULT` are
    right ways to make a table or column that a task asks for, and a table that was there before
    cannot lose a constraint without being dropped.
    """
    with _opened(image) as connection:
        digests = {name: _table_digest(connection, name) for name in _tables(connection)}
        others = connection.execute(
            "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE type <> 'table' "
            "AND sql IS NOT NULL ORDER BY type, name"
        ).fetchall()
    digests["(other)"] = _hash(repr([(*row[:3], " ".join(row[3].split())) for row in others]))
    return digests


@contextmanager
def _opened(image: bytes) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(image)
        connection.text_factory = _lenient
        yield connection


def _lenient(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    )
    return [str(row[0]) for row in rows]


def _rows(connection: sqlite3.Connection, table: str) -> list[Row]:
    quoted = table.replace('"', '""')
    return connection.execute(f'SELECT * FROM "{quoted}"').fetchall()


def _table_digest(connection: sqlite3.Connection, table: str) -> str:
    quoted = table.replace('"', '""')
    columns = [
        (name, _affinity(kind))
        for _, name, kind, *_ in connection.execute(f'PRAGMA table_info("{quoted}")')
    ]
    rows = sorted(repr([_canonical(cell) for cell in row]) for row in _rows(connection, table))
    return _hash(repr(columns) + "\n" + "\n".join(rows))


def _affinity(kind: str) -> str:
    """The affinity that SQLite derives from a declared type, so that INT and INTEGER are one."""
    parts = (("INT", "INTEGER"), ("CHAR", "TEXT"), ("CLOB", "TEXT"), ("TEXT", "TEXT"),
             ("BLOB", "BLOB"), ("REAL", "REAL"), ("FLOA", "REAL"), ("DOUB", "REAL"))  # fmt: skip
    named = kind.upper()
    return next((family for part, family in parts if part in named), "NUMERIC" if kind else "BLOB")


def _canonical(cell: Value) -> Value:
    """A number that is whole in one form: 1 and 1.0 are the same value."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return int(cell)
    return cell


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]
