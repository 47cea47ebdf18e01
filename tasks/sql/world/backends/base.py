"""The interface of an engine: run one statement under limits and return rows of plain values.

Values are `int`, `float`, `str`, `bytes` or `None`, regardless of the engine's types, so that
neither observations nor the comparison of results depend on the engine.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Protocol

__all__ = [
    "DEFAULT_TODAY",
    "READ_ONLY",
    "WRITE_KINDS",
    "ColumnInfo",
    "Database",
    "DatabaseSnapshot",
    "QueryLimits",
    "QueryResult",
    "SqlError",
    "StoredRow",
    "StoredValue",
    "TableCatalogue",
    "TableInfo",
    "first_word",
    "plain_row",
]

StoredValue = int | float | str | bytes | None
StoredRow = tuple[StoredValue, ...]

DEFAULT_TODAY = "2024-01-01"
"""The date that 'now' denotes unless the task sets one."""

WRITE_KINDS = (
    "insert", "update", "delete", "create_table", "alter_table", "create_index", "drop_table",
)  # fmt: skip
"""Kinds of statement that a write task can permit."""

READ_ONLY: frozenset[str] = frozenset()


class SqlError(Exception):
    """A statement that failed or was refused: data for the agent, not an infrastructure failure.

    `kind` is one of `syntax`, `refused`, `time`, `steps`, `too_large`, `statement`, `database`, or
    `stalled` if the machine rather than the statement was too slow.
    """

    def __init__(self, kind: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.hint = hint

    def text(self) -> str:
        """Return the error as the agent sees it."""
        return f"Error: {self.message}" + (f"\nHint: {self.hint}" if self.hint else "")


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """Resource limits of one statement."""

    seconds: float = 10.0
    """Protects the machine; `steps` should stop a runaway statement first. CPU time on SQLite, so
    that a busy machine does not affect observations; wall-clock time on other engines."""

    steps: int = 300_000_000
    """Instructions of SQLite's virtual machine: unlike seconds, the same on every machine."""

    exact: bool = False
    """Whether `steps` is a limit of the task: instructions that can be slow then count once, as in
    `QueryResult.steps`. Otherwise they count threefold, so that this limit applies before the time
    limit."""

    rows: int = 1_000
    """Maximum rows fetched; the result states whether there were more."""

    result_bytes: int = 4_000_000
    """Maximum characters and bytes in all fetched text and blob cells."""

    spill_bytes: int = 128_000_000
    """Maximum bytes that the statement may write to temporary files."""


@dataclass(slots=True)
class QueryResult:
    """The rows returned by one statement."""

    columns: tuple[str, ...]
    """Empty if the statement by its nature returns no rows."""

    rows: list[StoredRow]
    more: bool = False
    """Whether rows beyond the limit were omitted."""

    changed: int | None = None
    """Rows inserted, updated or deleted; None for a read-only statement."""

    steps: int = 0
    """Instructions of SQLite's virtual machine, as counted by its progress handler; on databases
    opened with `counted`, the same however often the statement ran before. 0 on other engines."""


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """A column as reported by the engine."""

    name: str
    type: str
    nullable: bool
    key: bool
    references: tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class TableInfo:
    """A table or view."""

    name: str
    columns: tuple[ColumnInfo, ...]
    view: bool = False


TableCatalogue = Mapping[str, TableInfo]
"""Tables by name, in order of creation."""


@dataclass(frozen=True, slots=True)
class DatabaseSnapshot:
    """The state of a database: an image and the statements of an open transaction."""

    image: object
    pending: tuple[str, ...] = ()


class Database(Protocol):
    """A database, as the agent or the grader sees it."""

    dialect: str

    def run(self, sql: str, limits: QueryLimits) -> QueryResult:
        """Run one statement.

        Raises:
            SqlError: If the statement fails, is refused or exceeds a limit.
        """
        ...

    def catalogue(self) -> TableCatalogue:
        """Return the current tables."""
        ...

    def count(self, table: str) -> int:
        """Return the number of rows of a table listed in `catalogue`."""
        ...

    def snapshot(self) -> DatabaseSnapshot:
        """Capture the state; cheap enough to call at every step."""
        ...

    def restore(self, snapshot: DatabaseSnapshot) -> None:
        """Restore a captured state of this database or of another one with the same image."""
        ...

    def sqlite_image(self) -> bytes:
        """Return the committed content as a serialised SQLite database."""
        ...

    def close(self) -> None:
        """Release all resources; idempotent."""
        ...


_LEADING = re.compile(r"(?:\s+|--[^\n]*(?:\n|$)|/\*.*?(?:\*/|$)|\()*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z]+")


def first_word(sql: str) -> str:
    """Return the first keyword of a statement in lower case, skipping comments and parentheses."""
    word = _WORD.match(sql)
    if word is None:
        lead = _LEADING.match(sql)
        word = _WORD.match(sql, lead.end() if lead else 0)
    return word.group().lower() if word else ""


def plain_row(row: Iterable[object]) -> StoredRow:
    """Convert an engine's values to plain ones: decimals to numbers, dates to ISO text."""
    return tuple(_plain(value) for value in row)


def _plain(value: object) -> StoredValue:
    match value:
        case bool():
            return int(value)
        case None | int() | float() | str() | bytes():
            return value
        case Decimal():
            whole = value.is_finite() and value == value.to_integral_value()
            return int(value) if whole else float(value)
        case datetime():
            return value.isoformat(sep=" ")
        case date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case bytearray() | memoryview():
            return bytes(value)
        case _:
            return str(value)
