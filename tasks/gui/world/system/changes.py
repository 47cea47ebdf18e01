"""Differences between the rows of a phone and those it started with."""

from collections.abc import Mapping
from typing import Any

from hexathlon.tasks.gui.world.apps.table import app_named
from hexathlon.tasks.gui.world.phone.core import PhoneCore, PhoneRow, PhoneTable
from hexathlon.tasks.gui.world.system.screens import SystemApp

__all__ = ["is_sent", "phone_changes"]


def phone_changes(core: PhoneCore) -> dict[str, Any]:
    """Return all rows that differ from the start, by table, as JSON.

    Columns that only reading changes are left out: reading an email is not a change. Rows that
    were sent and then deleted are listed as added to `system.recalled`.
    """
    changes = {}
    for name in sorted(core.tables):
        if core.tables[name] is not core.first[name] and not _is_ephemeral(name):
            difference = _difference(name, core.first[name], core.tables[name])
            if difference:
                changes[name] = difference
    recalled = [
        {**_compared(table, row), "table": table}
        for (table, key), row in core.sent.items()
        if key not in core.tables[table]
    ]
    if recalled:
        changes["system.recalled"] = {"added": recalled}
    return changes


def _is_ephemeral(table: str) -> bool:
    app, _, name = table.partition(".")
    return name in (SystemApp if app == "system" else app_named(app)).ephemeral


def is_sent(table: str, row: Mapping[str, Any]) -> bool:
    """Whether a row has left the phone, as a sent message has."""
    app, _, name = table.partition(".")
    if app == "system":
        return False
    marks = app_named(app).sends.get(name)
    return marks is not None and all(row.get(key) == value for key, value in marks.items())


def _compared(table: str, row: PhoneRow) -> dict[str, Any]:
    """Return a row without the columns that verifiers do not compare."""
    app, _, name = table.partition(".")
    volatile = () if app == "system" else app_named(app).tables.get(name, ())
    return {column: value for column, value in row.items() if column not in volatile}


def _difference(name: str, before: PhoneTable, after: PhoneTable) -> dict[str, Any]:
    added = [_compared(name, row) for key, row in after.items() if key not in before]
    removed = [_compared(name, row) for key, row in before.items() if key not in after]
    pairs = [
        [_compared(name, before[key]), _compared(name, row)]
        for key, row in after.items()
        if key in before and row is not before[key] and row != before[key]
    ]
    changed = [[old, new] for old, new in pairs if old != new]
    parts = {"added": added, "removed": removed, "changed": changed}
    return {name: rows for name, rows in parts.items() if rows}
