"""Table digests, which verdicts on write tasks compare.

A digest covers a table's column names and the multiset of its rows, each value with its type; it
ignores the order of rows and columns and anything that no query returns. Floats are rounded to 12
digits, so that two correct ways to compute a value give the same digest.
"""

import hashlib
import marshal
import sqlite3
from collections.abc import Container, Mapping, Sequence
from typing import Any

__all__ = ["digest_rows", "table_digests", "table_rows"]


def digest_rows(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return the SHA-256 (hex) of a table, given its column names and rows."""
    names = [name.lower() for name in columns]
    order = sorted(range(len(names)), key=names.__getitem__)
    spelt = [_spelt_column([row[index] for row in rows]) for index in order]
    lines = sorted(map("\x1f".join, zip(*spelt, strict=True))) if order else [""] * len(rows)
    digest = hashlib.sha256("\x1f".join(names[index] for index in order).encode())
    digest.update(b"\x1d")
    digest.update("\x1e".join(lines).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def table_rows(
    connection: sqlite3.Connection, only: Container[str] | None = None
) -> dict[str, tuple[list[str], list[Any]]]:
    """Return column names and rows of all or selected user tables, by lower-case table name."""
    names = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' "
        "ESCAPE '\\' ORDER BY name"
    ).fetchall()
    content = {}
    for (name,) in names:
        if only is not None and name.lower() not in only:
            continue
        quoted = '"' + name.replace('"', '""') + '"'
        cursor = connection.execute(f"SELECT * FROM {quoted}")
        columns = [description[0] for description in cursor.description]
        content[name.lower()] = (columns, cursor.fetchall())
    return content


def table_digests(
    connection: sqlite3.Connection, only: Container[str] | None = None
) -> dict[str, str]:
    """Return the digests of all or selected user tables, by lower-case table name."""
    return {name: _digest(*content) for name, content in table_rows(connection, only).items()}


_MOST_DIGESTS = 4_096
_digests: dict[bytes, str] = {}
"""Digests by a hash of what was fetched, for the many tables that a trial leaves unchanged."""


def _digest(columns: Sequence[str], rows: Sequence[Any]) -> str:
    content: Any = (columns, rows)
    fetched = marshal.dumps(content, 2)  # in this version a function of the values alone
    key = hashlib.blake2b(fetched, digest_size=16).digest()
    digest = _digests.get(key)
    if digest is None:
        digest = digest_rows(columns, rows)
        while len(_digests) >= _MOST_DIGESTS:
            _digests.pop(next(iter(_digests), b""), None)  # the oldest; another thread may, too
        _digests[key] = digest
    return digest


def differing(expected: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """Return the tables that are changed, missing or unexpected, sorted."""
    names = sorted(set(expected) | set(found))
    return [name for name in names if expected.get(name) != found.get(name)]


def _spelt_column(values: Sequence[Any]) -> list[str]:
    """Spell values; the usual types inline, which takes half the time."""
    return [
        f"i{value}" if type(value) is int
        else "t" + value if type(value) is str and value.isprintable()
        else _spelt(value)
        for value in values
    ]  # fmt: skip


def _spelt(value: Any) -> str:
    if value is None:
        return "n"
    if isinstance(value, str):
        if value.isprintable():  # printable text contains none of the markers
            return "t" + value
        escaped = (
            value.replace("\x1b", "\x1b\x1b").replace("\x1e", "\x1b<").replace("\x1f", "\x1b=")
        )
        return "t" + escaped
    if isinstance(value, bool | int):
        return f"i{int(value)}"
    if isinstance(value, float):
        return f"r{value + 0.0:.12g}"
    if isinstance(value, bytes | memoryview):
        return "b" + bytes(value).hex()
    raise TypeError(f"a value of type {type(value).__name__} in a table: expected an SQLite value")
