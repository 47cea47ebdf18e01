"""What every engine offers: run one statement under limits, and give rows of plain values.

Values are `int`, `float`, `str`, `bytes` or `None`, whatever the engine's own types are, so the
texts that an agent sees and the comparison of results do not depend on the engine.
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
    "Catalogue",
    "ColumnInfo",
    "Database",
    "QueryLimits",
    "QueryResult",
    "Snapshot",
    "SqlError",
    "TableInfo",
    "Value",
    "first_word",
    "plain_row",
]

Value = int | float | str | bytes | None

DEFAULT_TODAY = "2024-01-01"
"""What 'now' means where a task does not say."""

WRITE_KINDS = (
    "insert", "update", "delete", "create_table", "alter_table", "create_index", "drop_table",
)  # fmt: skip
"""What a write task can permit."""

READ_ONLY: frozenset[str] = frozenset()


class SqlError(Exception):
    """A statement failed or was refused. This is data for the agent, not a fault.

    `kind` is one of `syntax`, `refused`, `time`, `steps`, `too_large`, `statement`, `database`,
    and `stalled` where the machine, not the statement, was too slow.
    """

    def __init__(self, kind: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.hint = hint

    def text(self) -> str:
        """The error as the agent reads it."""
        return f"Error: {self.message}" + (f"\nHint: {self.hint}" if self.hint else "")


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """What one statement may use up."""

    seconds: float = 10.0
    """Guards the machine; `steps` is meant to end a runaway statement before. On SQLite the
    processor's time, so that a busy machine does not change what is seen; else the wall clock's."""

    steps: int = 300_000_000
    """Instructions of SQLite's virtual machine: the same on every machine, unlike seconds."""

    rows: int = 1_000
    """Rows fetched; the result says whether there were more."""

    result_bytes: int = 4_000_000
    """Characters and bytes in all text and blob cells fetched."""

    spill_bytes: int = 128_000_000
    """Bytes that the statement may write to temporary files."""


@dataclass(slots=True)
class QueryResult:
    """Rows of one statement."""

    columns: tuple[str, ...]
    """Empty when the statement returns no rows by nature."""

    rows: list[tuple[Value, ...]]
    more: bool = False
    """Whether rows beyond the limit were left out."""

    changed: int | None = None
    """Rows inserted, updated or deleted; None for a reading statement."""


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """One column as the engine reports it."""

    name: str
    type: str
    nullable: bool
    key: bool
    references: tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class TableInfo:
    """One table or view."""

    name: str
    columns: tuple[ColumnInfo, ...]
    view: bool = False


Catalogue = Mapping[str, TableInfo]
"""Table name to table, in order of creation."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A database at one moment: an image, and the statements of a transaction still open."""

    image: object
    pending: tuple[str, ...] = ()


class Database(Protocol):
    """One database as one agent, or the grader, sees it."""

    dialect: str

    def run(self, sql: str, limits: QueryLimits) -> QueryResult:
        """Run one statement.

        Raises:
            SqlError: It failed, was refused, or went over a limit.
        """
        ...

    def catalogue(self) -> Catalogue:
        """The tables as they stand."""
        ...

    def count(self, table: str) -> int:
        """Number of rows of a table that `catalogue` lists."""
        ...

    def snapshot(self) -> Snapshot:
        """Hold the state; cheap enough to be called at every step."""
        ...

    def restore(self, snapshot: Snapshot) -> None:
        """Return to a held state, of this or of another database opened from the same image."""
        ...

    def sqlite_image(self) -> bytes:
        """The committed content as a serialised SQLite database."""
        ...

    def close(self) -> None:
        """Give back what is held; safe to call twice."""
        ...


_LEADING = re.compile(r"(?:\s+|--[^\n]*(?:\n|$)|/\*.*?(?:\*/|$)|\()*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z]+")


def first_word(sql: str) -> str:
    """The first keyword of a statement in lower case, comments and parentheses skipped."""
    lead = _LEADING.match(sql)
    word = _WORD.match(sql, lead.end() if lead else 0)
    return word.group().lower() if word else ""


def plain_row(row: Iterable[object]) -> tuple[Value, ...]:
    """Turn an engine's values into plain ones: decimals to numbers, dates to ISO text."""
    return tuple(_plain(value) for value in row)


def _plain(value: object) -> Value:
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
