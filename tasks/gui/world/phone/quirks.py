"""Faults of apps that nobody announces, set off by what is saved on the phone.

A fault belongs to a record and is part of the phone's state. It shows only in what the apps keep:
a screen that is opened again shows the rows as they are. Changes by other people do not pass here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date, timedelta
from itertools import chain
from typing import Any, Literal, Self

from hexathlon.tasks.gui.world.phone.core import PhoneRow, PhoneTable

__all__ = ["AppQuirk", "QuirkKind", "QuirkMemory", "disturbed"]

QuirkKind = Literal["lost", "late", "linked", "form", "twice"]

QuirkMemory = Mapping[int, Any]
"""What each fault has seen so far, by its number in the plan."""

_GONE = "gone"
"""Memory of a fault that has happened and does not happen again."""


@dataclass(frozen=True, slots=True)
class AppQuirk:
    """A fault of an app.

    `lost`: a save of the record is not kept, or not in one column; the next one is.
    `late`: a saved change of the record is undone by the next save of another one in the table,
    of any or of a certain one.
    `linked`: each save of the record also changes a column of another one, maybe of another app.
    `form`: whenever a column of any existing row is changed, another column gets a default value.
    `twice`: the record, when created, is stored twice.
    """

    kind: QuirkKind
    table: str
    """Full name of the table."""

    match: Mapping[str, Any] = field(default_factory=dict)
    """Columns by whose values the record is known; none for `form`."""

    after: int = 0
    """Number of saves of the record before the fault; for `lost`."""

    column: str = ""
    """The column that is changed besides; for `lost` and `late`, the one that is not kept or that
    is undone, all if empty."""

    value: Any = None
    """The new value of this column; a number of days if `linked` moves a date."""

    other: Mapping[str, Any] = field(default_factory=dict)
    """Columns by whose values the other record is known: the one that `linked` changes, or the one
    whose save sets off `late`, any if empty."""

    into: str = ""
    """Full name of the other record's table for `linked`; the same table if empty."""

    cause: str = ""
    """The column whose change sets off `form`."""

    def to_json(self) -> dict[str, Any]:
        """Return the fault as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild a fault from its JSON form."""
        return cls(**data)

    @property
    def target(self) -> str:
        """Full name of the table in which the fault does damage."""
        return self.into or self.table

    def concerns(self, row: PhoneRow | None) -> bool:
        """Whether a row is the record."""
        return row is not None and _fits(row, self.match)

    def awaits(self, row: PhoneRow | None) -> bool:
        """Whether a row is the record whose save sets off `late`."""
        return row is not None and _fits(row, self.other)


def disturbed(
    quirks: Sequence[AppQuirk],
    memory: QuirkMemory,
    before: Mapping[str, PhoneTable],
    after: Mapping[str, PhoneTable],
    next_key: Callable[[str], int],
) -> tuple[dict[str, PhoneTable] | None, QuirkMemory]:
    """Let the faults of an app act on a change that its user made.

    Args:
        quirks: All faults of the phone.
        memory: What they have seen so far.
        before: The app's tables before the change, by full name, and those of other apps in which
            its faults do damage.
        after: The same tables after the change.
        next_key: Returns the key of the next new row of a table.

    Returns:
        The tables that differ from `after`, or None if nothing at all is kept; and what the faults
        have seen now.
    """
    seen = dict(memory)
    tables = dict(after)
    changes: dict[str, list[tuple[PhoneRow | None, PhoneRow | None]]] = {}
    for number, quirk in enumerate(quirks):
        name = quirk.table
        if name not in after or after[name] is before[name]:
            continue
        if name not in changes:
            changes[name] = list(_altered(before[name], after[name]))
        altered = changes[name]
        own = [pair for pair in altered if any(map(quirk.concerns, pair))]
        if quirk.kind == "lost" and own and own[-1][1] is not None and seen.get(number) != _GONE:
            count = seen.get(number, 0) + 1
            seen[number] = count if count <= quirk.after else _GONE
            if count > quirk.after:
                if not quirk.column:
                    return None, {**memory, number: _GONE}
                tables[name] = _without(tables[name], quirk, *own[-1])
        elif quirk.kind == "late" and seen.get(number) != _GONE:
            if own:
                if _undoable(quirk, *own[-1]):
                    key = next(row["id"] for row in own[-1] if row is not None)
                    seen[number] = (key, own[-1][0])
            elif number in seen and any(map(quirk.awaits, chain.from_iterable(altered))):
                key, row = seen[number]
                tables[name] = _undone(tables[name], quirk, key, row, next_key(name))
                seen[number] = _GONE
        elif quirk.kind == "linked" and own and own[-1][1] is not None:
            tables[quirk.target] = _linked(tables[quirk.target], quirk)
        elif quirk.kind == "form":
            for old, new in altered:
                if old is not None and new is not None and old[quirk.cause] != new[quirk.cause]:
                    row = {**tables[name][new["id"]], quirk.column: quirk.value}
                    tables[name] = _put(tables[name], new["id"], row)
        elif quirk.kind == "twice" and own and own[-1][0] is None and seen.get(number) != _GONE:
            tables[name] = _added(tables[name], own[-1][1], next_key(name))
            seen[number] = _GONE
    return {name: table for name, table in tables.items() if table is not after[name]}, seen


def _altered(
    before: PhoneTable, after: PhoneTable
) -> Iterator[tuple[PhoneRow | None, PhoneRow | None]]:
    """Yield the rows that differ, as they were and as they are."""
    for key, row in after.items():
        if row is not before.get(key) and row != before.get(key):
            yield before.get(key), row
    for key, row in before.items():
        if key not in after:
            yield row, None


def _fits(row: PhoneRow, columns: Mapping[str, Any]) -> bool:
    return all(row.get(name) == value for name, value in columns.items())


def _put(table: PhoneTable, key: Any, row: PhoneRow | None) -> PhoneTable:
    """Return a table with another row; without it if there is none."""
    copy = dict(table)
    if row is None:
        copy.pop(key, None)
    else:
        copy[key] = row
    return copy


def _added(table: PhoneTable, row: PhoneRow | None, key: int) -> PhoneTable:
    """Return a table with a copy of a row under a new key."""
    key = max([key, *(each + 1 for each in table if isinstance(each, int))])
    return _put(table, key, {**(row or {}), "id": key})


def _undoable(quirk: AppQuirk, old: PhoneRow | None, new: PhoneRow | None) -> bool:
    """Whether a save of the record is one that `late` undoes."""
    if not quirk.column:
        return True
    return old is not None and new is not None and old[quirk.column] != new[quirk.column]


def _undone(
    table: PhoneTable, quirk: AppQuirk, key: Any, row: PhoneRow | None, fresh: int
) -> PhoneTable:
    """Return a table in which the record is as it was before its last save."""
    own = key not in table or quirk.concerns(table[key])  # keys of removed rows may be taken again
    if quirk.column and row is not None:
        kept = key in table and own
        return _put(table, key, {**table[key], quirk.column: row[quirk.column]}) if kept else table
    if row is not None:
        return _put(table, key, row) if own else _added(table, row, fresh)
    return _put(table, key, None) if own else table


def _without(
    table: PhoneTable, quirk: AppQuirk, old: PhoneRow | None, new: PhoneRow | None
) -> PhoneTable:
    """Return a table in which a column has its old value, or the default of a new row."""
    assert new is not None
    value = quirk.value if old is None else old[quirk.column]
    return _put(table, new["id"], {**table[new["id"]], quirk.column: value})


def _linked(table: PhoneTable, quirk: AppQuirk) -> PhoneTable:
    """Return a table in which the other record is changed, if it is there."""
    for key, row in table.items():
        if _fits(row, quirk.other):
            value = quirk.value
            if quirk.column in ("day", "due"):
                if not row[quirk.column]:
                    return table
                moved = date.fromisoformat(row[quirk.column]) + timedelta(days=value)
                value = moved.isoformat()
            return _put(table, key, {**row, quirk.column: value})
    return table
