"""Faults of apps during a day: what they do to it, and what puts their damage right.

Faults act on the same tables as on the phone. The expected phone is always as it has to be; only
within an operation are the tables different, until the repairs that follow from the difference.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from hexathlon.tasks.gui.operations.expected import ExpectedPhone
from hexathlon.tasks.gui.operations.finding import read, read_each, read_tab
from hexathlon.tasks.gui.operations.media import restore_file, trash_file
from hexathlon.tasks.gui.operations.money import note_entry
from hexathlon.tasks.gui.operations.operation import PhoneOperation
from hexathlon.tasks.gui.operations.planning import (
    add_event,
    add_task,
    change_event,
    change_task,
    delete_event,
    delete_task,
    finish_task,
)
from hexathlon.tasks.gui.world.phone.core import PhoneRow, PhoneTable
from hexathlon.tasks.gui.world.phone.quirks import AppQuirk, QuirkMemory, disturbed

__all__ = ["ENTRIES", "EVENTS", "FILES", "MESSAGES", "ORDERS", "QUEUE", "TASKS", "DayFaults",
           "PhoneStep", "RowPair", "differences", "looks", "watched"]  # fmt: skip

TASKS, EVENTS, FILES = "tasks.tasks", "calendar.events", "files.files"
MESSAGES, ENTRIES = "messages.messages", "bank.entries"
QUEUE, ORDERS = "podcasts.queue", "shop.orders"
_WATCHED = (TASKS, EVENTS, FILES, MESSAGES, ENTRIES, QUEUE, ORDERS)

_ROUNDS = 8
"""Repairs of one operation, at most."""

_Tables = Mapping[str, PhoneTable]
RowPair = tuple[PhoneRow | None, PhoneRow | None]
"""A row before and after a change; None if it is not there."""


@dataclass(frozen=True)
class PhoneStep:
    """An operation of the day, with the tables before and after it."""

    place: int
    """Number of its request, from 0."""

    operation: PhoneOperation
    before: _Tables
    after: _Tables
    """The same tables where nothing has changed."""

    @cached_property
    def altered(self) -> dict[str, list[RowPair]]:
        """The rows that differ by table, as they were and as they are."""
        found = {}
        for name in _WATCHED:
            before, after = self.before[name], self.after[name]
            if before is not after:
                keys = [key for key in {**before, **after} if before.get(key) is not after.get(key)]
                found[name] = [(before.get(key), after.get(key)) for key in keys]
        return found


def watched(phone: ExpectedPhone, known: _Tables | None = None) -> _Tables:
    """Return copies of the tables on which faults can act, known ones where they are the same."""
    known, tables = known or {}, {name: phone.table(name) for name in _WATCHED}
    return {name: known[name] if known.get(name) == table else dict(table)
            for name, table in tables.items()}  # fmt: skip


class DayFaults:
    """The faults of a day as the phone lets them happen, and their repairs.

    Args:
        quirks: The faults.
        ignored: Numbers of faults whose damage is left as it is.
    """

    def __init__(self, quirks: Sequence[AppQuirk], ignored: frozenset[int] = frozenset()) -> None:
        self._quirks = [replace(each, table="") if number in ignored else each
                        for number, each in enumerate(quirks)]  # fmt: skip
        self._memory: QuirkMemory = {}

    def repairs(self, phone: ExpectedPhone, step: PhoneStep) -> Iterator[PhoneOperation]:
        """Yield what must be done after an operation.

        Args:
            phone: The expected phone, after the operation.
            step: The operation.

        Raises:
            KeyError: If repairs would go on and on.
        """
        if not self._quirks:
            return
        wanted = target = step.after
        tables, operation = step.before, replace(step.operation, effect=None)
        for _ in range(_ROUNDS):
            tables, kept = self.acted(tables, target)
            if kept:
                place = next(differences(tables, wanted), None)
                if place is None:
                    return
                name, key = place
                right, wrong = wanted[name].get(key), tables[name].get(key)
                operation = replace(_repair(phone, name, wrong, right), effect=None)
                mended = {each: row for each, row in tables[name].items() if each != key}
                if right is not None:
                    mended[key] = right
                target = {**tables, name: mended}
            yield operation
        raise KeyError("the faults of the day cannot be put right")

    def acted(self, before: _Tables, after: _Tables) -> tuple[_Tables, bool]:
        """Let the faults act on a change; return the tables, and whether anything was kept."""
        tables = dict(after)
        for name in _WATCHED:  # no two are of the same app
            if before[name] is after[name]:
                continue
            into = {quirk.into for quirk in self._quirks if quirk.into and quirk.table == name}
            others = {each: tables[each] for each in into}
            changed, self._memory = disturbed(
                self._quirks, self._memory, {**others, name: before[name]},
                {**others, name: after[name]}, lambda _: 0)  # fmt: skip
            if changed is None:
                return before, False
            tables |= changed
        return tables, True


def differences(tables: _Tables, wanted: _Tables) -> Iterator[tuple[str, Any]]:
    """Yield table and key of the rows that are not as they have to be."""
    for name in _WATCHED:
        if tables[name] is wanted[name]:
            continue
        found, right = tables[name], wanted[name]
        keys = [key for key in {**right, **found} if found.get(key) != right.get(key)]
        # Rows too many come first, so that names are unique again.
        for key in sorted(keys, key=right.__contains__):
            yield name, key


# Repairs ---------------------------------------------------------------------------------------


def _repair(
    phone: ExpectedPhone, table: str, wrong: PhoneRow | None, right: PhoneRow | None
) -> PhoneOperation:
    """Return the operation that makes a wrong row right."""
    if table == FILES and right is not None:
        return trash_file(right) if right["trashed"] else restore_file(right)
    if table == ENTRIES and wrong is not None and right is not None:
        return note_entry(wrong, right["note"])
    if table == TASKS:
        return _task_repair(phone, wrong, right)
    if table == EVENTS:
        return _event_repair(wrong, right)
    raise KeyError(f"no repair for {table}")


def _task_repair(
    phone: ExpectedPhone, wrong: PhoneRow | None, right: PhoneRow | None
) -> PhoneOperation:
    names = ("due", "priority", "note")
    if right is None:
        assert wrong is not None
        return delete_task(wrong["title"])
    within = phone.table("tasks.lists")[right["list"]]["name"]
    if wrong is None:
        facts = {name: right[name] for name in names if right[name]}
        return add_task(title=right["title"], list=within, **facts)
    if wrong["done"] != right["done"]:
        return finish_task(right["title"])
    return change_task(right["title"], **{name: right[name] for name in names
                                          if right[name] != wrong[name]})  # fmt: skip


def _event_repair(wrong: PhoneRow | None, right: PhoneRow | None) -> PhoneOperation:
    names = ("day", "start", "end", "calendar", "alarm", "note")
    if right is None:
        assert wrong is not None
        return delete_event(wrong["title"])
    guests = set(filter(None, right["guests"].split(", ")))
    if wrong is None:
        facts = {name: right[name] for name in names}
    else:
        facts = {name: right[name] for name in names if right[name] != wrong[name]}
        guests ^= set(filter(None, wrong["guests"].split(", ")))
    if guests:
        facts["guests"] = ", ".join(sorted(guests))
    if wrong is None:
        return add_event(title=right["title"], **facts)
    return change_event(right["title"], **facts)


# Looks -----------------------------------------------------------------------------------------


def looks(phone: ExpectedPhone, steps: Sequence[PhoneStep], place: int) -> Iterator[PhoneOperation]:
    """Yield what is read before a report: the records that the day has changed so far.

    Lists show most of them. What only a record's own page shows is read where its app has been
    used for this request; events are read one by one.

    Args:
        phone: The expected phone.
        steps: The operations of the day so far.
        place: Number of the request.
    """
    now = {name for step in steps if step.place == place for name in step.altered}
    saved = {(name, key) for step in steps for name, pairs in step.altered.items()
             for _, row in pairs if row is not None for key in [row["id"]]}  # fmt: skip
    rows: dict[str, list[PhoneRow]] = {}
    for name, key in sorted(saved):
        row = phone.table(name).get(key)
        if row is not None:
            rows.setdefault(name, []).append(row)
    lists, accounts, folders = (
        _by(rows.get(table, ()), column)
        for table, column in ((TASKS, "list"), (ENTRIES, "account"), (FILES, "folder"))
    )
    for key, tasks in lists.items():
        own = [row["title"] for row in tasks if row["note"] and TASKS in now and not row["done"]]
        yield read_each("tasks", [phone.table("tasks.lists")[key]["name"]], own)
    for row in rows.get(EVENTS, ()):
        yield read("calendar", row["title"])
    for key, entries in accounts.items() if ENTRIES in now else ():
        own = [row["title"] for row in entries if row["note"]]
        yield read_each("bank", [phone.table("bank.accounts")[key]["name"]], own)
    for key in folders:
        yield read_each("files", [phone.table("files.folders")[key]["name"]], ())
    if MESSAGES in rows:
        yield read_each("messages", (), ())
    if QUEUE in rows:
        yield read_tab("podcasts", "queue")
    if ORDERS in now:
        yield read_tab("shop", "orders")


def _by(rows: Sequence[PhoneRow], column: str) -> dict[Any, list[PhoneRow]]:
    found: dict[Any, list[PhoneRow]] = {}
    for row in rows:
        found.setdefault(row[column], []).append(row)
    return found
