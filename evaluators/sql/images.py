"""A serialised SQLite database as plain data: rows by table, and a comparable description."""

import hashlib
import sqlite3
from collections.abc import Callable, Container, Mapping
from contextlib import closing
from typing import Any, TypeVar

from hexathlon.tasks.sql.world.backends.base import StoredRow
from hexathlon.tasks.sql.world.digest import table_digests, table_rows

__all__ = ["OTHER", "changed_parts", "describe_content", "image_rows"]

T = TypeVar("T")

OTHER = "(indexes, views, triggers)"


def image_rows(image: bytes, only: Container[str] | None = None) -> dict[str, list[StoredRow]]:
    """Return the rows of all or selected tables, by lower-case name."""

    def rows_of(connection: sqlite3.Connection) -> dict[str, list[StoredRow]]:
        return {name: rows for name, (_, rows) in table_rows(connection, only).items()}

    return _read(image, rows_of)


def describe_content(image: bytes) -> dict[str, Any]:
    """Return a database's content as JSON: by table a digest of the rows, and column declarations.

    Indexes, views and triggers share one digest. Names of indexes, the layout of CREATE
    statements, row ids and the order of rows and columns are not included.
    """
    return _read(image, _described)


def _described(connection: sqlite3.Connection) -> dict[str, Any]:
    digests = table_digests(connection)
    tables = {
        name: {"rows": digest, "columns": _columns(connection, name)}
        for name, digest in digests.items()
    }
    return {"tables": tables, "other": _others(connection, list(digests))}


def changed_parts(
    expected: Mapping[str, Any], got: Mapping[str, Any], before: Mapping[str, Any]
) -> list[str]:
    """Return the names of tables that differ, and `(indexes, views, triggers)` if those do.

    Declarations (type, NOT NULL, default, key) are compared for columns that existed before; of new
    columns only names and values count, as there are several right ways to declare them.
    """
    names = sorted({*expected["tables"], *got["tables"]})
    differing = [
        name
        for name in names
        if not _same_table(
            expected["tables"].get(name), got["tables"].get(name), before["tables"].get(name)
        )
    ]
    return differing + ([OTHER] if expected["other"] != got["other"] else [])


def _same_table(expected: Any, got: Any, before: Any) -> bool:
    if expected is None or got is None or expected["rows"] != got["rows"]:
        return False
    old = before["columns"] if before is not None else {}
    return all(
        got["columns"].get(name) == declared
        for name, declared in expected["columns"].items()
        if name in old
    )


def _read(image: bytes, read: Callable[[sqlite3.Connection], T]) -> T:
    """Return what a function reads from a database, whose text may be arbitrary bytes.

    Nearly all text is UTF-8, which the sqlite3 module decodes several times as fast as `_lenient`.
    """
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(image)
        try:
            return read(connection)
        except sqlite3.OperationalError:  # text that is not UTF-8, or a fault that recurs
            connection.text_factory = _lenient
            return read(connection)


def _lenient(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _columns(connection: sqlite3.Connection, table: str) -> dict[str, str]:
    references = {
        row[3].lower(): f"{row[2]}.{row[4]}".lower()
        for row in connection.execute(f"PRAGMA foreign_key_list({_quoted(table)})")
    }
    return {
        name.lower(): f"{kind.upper()}|{required}|{default}|{key}|{references.get(name.lower())}"
        for _, name, kind, required, default, key in connection.execute(
            f"PRAGMA table_info({_quoted(table)})"
        )
    }


def _others(connection: sqlite3.Connection, tables: list[str]) -> str:
    descriptions = []
    for table in tables:
        for _, name, unique, origin, partial in connection.execute(
            f"PRAGMA index_list({_quoted(table)})"
        ).fetchall():
            if origin == "c":
                columns = connection.execute(f"PRAGMA index_info({_quoted(name)})").fetchall()
                descriptions.append((table, unique, partial, [row[2] for row in columns]))
    others = connection.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE type IN ('view', 'trigger')"
    )
    descriptions += [(kind, name, " ".join(sql.split()), []) for kind, name, sql in others]
    text = repr(sorted(map(repr, descriptions)))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
