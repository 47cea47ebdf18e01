"""Data files of the package: DBBench's tasks, the Chinook database and our questions about it.

`NOTICE` in this directory lists sources and licences.
"""

import gzip
import sqlite3
import tomllib
from contextlib import closing
from functools import lru_cache
from importlib.resources import files
from typing import Any

from hexathlon.tasks.errors import MissingData

__all__ = ["chinook_questions", "shipped_database", "shipped_lines"]

_DATABASES = {"chinook": "chinook.sqlite.gz"}


_VARIANTS = {
    "chinook": (
        "DELETE FROM InvoiceLine WHERE (InvoiceId * 31 + :k * 17) % 7 = 0",
        "DELETE FROM Invoice WHERE (InvoiceId * 31 + :k * 17) % 7 = 0",
        "DELETE FROM PlaylistTrack WHERE (TrackId * 13 + :k) % 9 = 0",
        "DELETE FROM Track WHERE (TrackId * 5 + :k) % 11 = 0 "
        "AND TrackId NOT IN (SELECT TrackId FROM InvoiceLine)",
        "DELETE FROM PlaylistTrack WHERE TrackId NOT IN (SELECT TrackId FROM Track)",
        "DELETE FROM Artist WHERE (ArtistId + :k) % 5 = 0 "
        "AND ArtistId NOT IN (SELECT ArtistId FROM Album)",
        "UPDATE Track SET Milliseconds = Milliseconds + (TrackId * 7919 * :k) % 60000",
        "UPDATE Customer SET Country = 'Brazil' WHERE CustomerId % 13 = :k",
        "UPDATE Customer SET Company = NULL WHERE CustomerId % 5 = :k",
        "UPDATE Customer SET City = 'Calgary' WHERE CustomerId = 20 + :k",
        "UPDATE Invoice SET Total = ROUND(Total + InvoiceId % (5 + :k), 2)",
        "UPDATE Employee SET ReportsTo = 2 + :k % 2 WHERE EmployeeId > 7",
        "UPDATE Employee SET HireDate = datetime(HireDate, '-' || 97 * :k || ' days')",
    ),
}
"""Statements that create the k-th variant of a database: same distributions, different answers."""


def shipped_database(name: str, variant: int = 0) -> bytes:
    """Return a shipped SQLite database or a variant of it.

    Args:
        name: The database.
        variant: 0 for the original; others differ in rows, never in tables or columns.

    Raises:
        MissingData: If no database of that name is shipped.
    """
    if name not in _DATABASES:
        raise MissingData(f"no database {name!r} is shipped; there is {', '.join(_DATABASES)}")
    original = gzip.decompress(_content(_DATABASES[name]))
    return _varied(original, _VARIANTS[name], variant) if variant else original


def _varied(original: bytes, statements: tuple[str, ...], variant: int) -> bytes:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(original)
        for statement in statements:
            connection.execute(statement, {"k": variant} if ":k" in statement else {})
        connection.commit()
        connection.execute("VACUUM")
        return connection.serialize()


def shipped_lines(name: str) -> list[str]:
    """Return the lines of a shipped compressed text file."""
    return gzip.decompress(_content(name)).decode().splitlines()


@lru_cache(maxsize=1)
def chinook_questions() -> tuple[dict[str, Any], ...]:
    """Return our questions about the Chinook database, each with two independent queries."""
    return tuple(tomllib.loads(_content("chinook.toml").decode())["question"])


def _content(name: str) -> bytes:
    return files(__name__).joinpath(name).read_bytes()
