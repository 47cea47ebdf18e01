"""Replacements for the few SQLite functions whose cost per call is unbounded.

The progress handler runs between instructions, so no single instruction may take long. Two do:
`trim(x, y)` takes time proportional to the product of both lengths, and `printf('%.*c', n, 'x')`
counts to n, up to 2 billion, even after its result has become too large.
"""

import re
import sqlite3
from collections.abc import Callable

from hexathlon.tasks.sql.world.backends.base import StoredValue

__all__ = ["REPLACED", "Printer", "install_bounded"]

_TRIMS = {"trim": "strip", "ltrim": "lstrip", "rtrim": "rstrip"}
_PRINTS = ("printf", "format")
REPLACED = (*_TRIMS, *_PRINTS)
"""Names of the replaced functions; of the trims, only the two-argument form."""

_WIDTH = re.compile(r"\d{5,}")
_WIDEST = 9_999


def install_bounded(connection: sqlite3.Connection, cell_bytes: int) -> "Printer":
    """Install the replacements on a connection; close the returned printer with the connection."""
    for name, method in _TRIMS.items():
        connection.create_function(name, 2, _trimmer(method), deterministic=True)
    printer = Printer(cell_bytes)
    for name in _PRINTS:
        connection.create_function(name, -1, printer, deterministic=True)
    return printer


def _trimmer(method: str) -> Callable[[StoredValue, StoredValue], StoredValue]:
    def trim(value: StoredValue, characters: StoredValue) -> StoredValue:
        if value is None or characters is None:
            return None
        return str(getattr(_as_text(value), method)(_as_text(characters)))

    return trim


def _as_text(value: StoredValue) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


class Printer:
    """SQLite's own `printf`, with widths and precisions of at most four digits."""

    def __init__(self, cell_bytes: int) -> None:
        self._sqlite: sqlite3.Connection | None = None
        self._cell_bytes = cell_bytes

    def __call__(self, *arguments: StoredValue) -> StoredValue:
        """Return the formatted text, or raise if it would be too wide."""
        if not arguments or arguments[0] is None:
            return None
        pattern = _as_text(arguments[0])
        starred = "*" in pattern
        if _WIDTH.search(pattern) or (starred and any(map(_is_wide, arguments[1:]))):
            raise ValueError("string or blob too big")
        if self._sqlite is None:
            self._sqlite = sqlite3.connect(":memory:", check_same_thread=False)
            self._sqlite.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, self._cell_bytes)
        marks = ",".join("?" * len(arguments))
        row = self._sqlite.execute(f"SELECT printf({marks})", arguments).fetchone()
        value: StoredValue = row[0]
        return value

    def close(self) -> None:
        """Close the connection that formats the text."""
        if self._sqlite is not None:
            self._sqlite.close()
            self._sqlite = None


def _is_wide(value: StoredValue) -> bool:
    """Whether a value, read as an integer for `*`, could be a wide width or precision."""
    if isinstance(value, (int, float)):
        return not -_WIDEST <= value <= _WIDEST
    return value is not None and bool(_WIDTH.search(_as_text(value)))
