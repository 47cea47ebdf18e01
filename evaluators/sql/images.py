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

    A table's digest covers its columns in order (name, type, NOT NULL, default, key) and the bag of
    its rows; how its CREATE statement was laid out does not matter, nor do row ids.
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
        (name, kind.upper(), required, default, key)
        for _, name, kind, required, default, key in connection.execute(
            f'PRAGMA table_info("{quoted}")'
        )
    ]
    references = sorted(
        row[2:7] for row in connection.execute(f'PRAGMA foreign_key_list("{quoted}")')
    )
    rows = sorted(repr([_canonical(cell) for cell in row]) for row in _rows(connection, table))
    return _hash(repr((columns, references)) + "\n" + "\n".join(rows))


def _canonical(cell: Value) -> Value:
    """A number that is whole in one form: 1 and 1.0 are the same value."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return int(cell)
    return cell


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]
