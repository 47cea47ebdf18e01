"""Faults of apps during a day: which ones a day has, and what puts their damage right.

Faults act on the same tables as on the phone. The expected phone is always as it has to be; only
within an operation are the tables different, until the repairs that follow from the difference.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from hexathlon.tasks.gui.operations.expected import ExpectedPhone
from hexathlon.tasks.gui.operations.finding import read, read_path
from hexathlon.tasks.gui.operations.media import trash_file
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
from hexathlon.tasks.gui.templates.errand import Errand, NoErrand
from hexathlon.tasks.gui.world.phone.core import PhoneRow, PhoneTable
from hexathlon.tasks.gui.world.phone.quirks import AppQuirk, QuirkMemory, disturbed

__all__ = ["DayFaults", "PhoneStep", "HELD_OUT", "drawn_faults", "looks", "watched"]

HELD_OUT = ("form", "twice")
"""Kinds of faults that no day of train and dev has."""

_TASKS, _EVENTS, _FILES = "tasks.tasks", "calendar.events", "files.files"
_MESSAGES, _ENTRIES = "messages.messages", "bank.entries"
_WATCHED = (_TASKS, _EVENTS, _FILES, _MESSAGES, _ENTRIES)
_NAMED = {_TASKS: "title", _EVENTS: "title", _FILES: "name"}
"""Tables whose records are known by a name, with its column."""

_ROUNDS = 8
"""Repairs of one operation, at most."""

_DRAWS = 60
_KINDS = 3
_EARLY = 3
"""A day has a fault that shows in one of so many first requests."""

_Damage = tuple[int, str, Any]
"""Number of a request, and the table and key of a row that is wrong when it is reported."""

_Tables = Mapping[str, PhoneTable]
_Pair = tuple[PhoneRow | None, PhoneRow | None]


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
    def altered(self) -> dict[str, list[_Pair]]:
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
                place = next(_differences(tables, wanted), None)
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
        for app in sorted({name.partition(".")[0] for name in _WATCHED}):
            names = [name for name in _WATCHED if name.partition(".")[0] == app]
            if all(before[name] is after[name] for name in names):
                continue
            changed, self._memory = disturbed(
                self._quirks, self._memory, {name: before[name] for name in names},
                {name: after[name] for name in names}, lambda _: 0)  # fmt: skip
            if changed is None:
                return before, False
            tables |= changed
        return tables, True


def _differences(tables: _Tables, wanted: _Tables) -> Iterator[tuple[str, Any]]:
    for name in _WATCHED:
        if tables[name] is wanted[name]:
            continue
        # Rows too many come first, so that names are unique again.
        for key in sorted({**wanted[name], **tables[name]}, key=wanted[name].__contains__):
            if tables[name].get(key) != wanted[name].get(key):
                yield name, key


# Repairs ---------------------------------------------------------------------------------------


def _repair(
    phone: ExpectedPhone, table: str, wrong: PhoneRow | None, right: PhoneRow | None
) -> PhoneOperation:
    """Return the operation that makes a wrong row right."""
    if table == _FILES and right is not None:
        return trash_file(right)
    if table == _TASKS:
        return _task_repair(phone, wrong, right)
    if table == _EVENTS:
        return _event_repair(wrong, right)
    raise KeyError(f"no repair for {table}")


def _task_repair(
    phone: ExpectedPhone, wrong: PhoneRow | None, right: PhoneRow | None
) -> PhoneOperation:
    if right is None:
        assert wrong is not None
        return delete_task(wrong["title"])
    within = phone.table("tasks.lists")[right["list"]]["name"]
    if wrong is None:
        facts = {name: right[name] for name in ("due", "priority") if right[name]}
        return add_task(title=right["title"], list=within, **facts)
    if wrong["done"] != right["done"]:
        return finish_task(right["title"])
    facts = {name: right[name] for name in ("due", "priority") if right[name] != wrong[name]}
    return change_task(right["title"], **facts)


def _event_repair(wrong: PhoneRow | None, right: PhoneRow | None) -> PhoneOperation:
    names = ("day", "start", "end", "calendar", "alarm")
    if right is None:
        assert wrong is not None
        return delete_event(wrong["title"])
    if wrong is None:
        guests = {"guests": right["guests"]} if right["guests"] else {}
        return add_event(title=right["title"], **guests, **{name: right[name] for name in names})
    return change_event(right["title"], **{name: right[name] for name in names
                                           if right[name] != wrong[name]})  # fmt: skip


def looks(phone: ExpectedPhone, steps: Sequence[PhoneStep]) -> Iterator[PhoneOperation]:
    """Yield what is read before a report: the lists and records in which something was saved.

    Args:
        phone: The expected phone.
        steps: The operations of the request.
    """
    saved = {(name, key) for step in steps for name, pairs in step.altered.items()
             for _, row in pairs if row is not None for key in [row["id"]]}  # fmt: skip
    rows = [(name, phone.table(name).get(key)) for name, key in sorted(saved)]
    tasks = {row["list"] for name, row in rows if name == _TASKS and row is not None}
    folders = {row["folder"] for name, row in rows if name == _FILES and row is not None}
    accounts = {row["account"] for name, row in rows if name == _ENTRIES and row is not None}
    for key in sorted(tasks):
        yield read_path("tasks", "", phone.table("tasks.lists")[key]["name"])
    for key in sorted(folders):
        yield read_path("files", "", phone.table("files.folders")[key]["name"])
    for key in sorted(accounts):
        yield read_path("bank", "", phone.table("bank.accounts")[key]["name"])
    for name, row in rows:
        if name == _EVENTS and row is not None:
            yield read("calendar", row["title"])


# Draws -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Candidate:
    quirk: AppQuirk
    damage: frozenset[_Damage]
    """What is wrong at the end of requests if nobody looks."""


def drawn_faults(e: Errand, steps: Sequence[PhoneStep], *, more: bool) -> tuple[AppQuirk, ...]:
    """Draw the faults of a day: of three kinds, of different records, in the morning and later.

    Args:
        e: Source of the draws.
        steps: The operations of the day as it should be.
        more: Whether there is a fourth fault.

    Raises:
        NoErrand: If the day has too few occasions.
    """
    unseen = e.scene.split in ("test", "heldout")
    by_kind: dict[str, list[_Candidate]] = {}
    for quirk in _possible(steps):
        if unseen or quirk.kind not in HELD_OUT:
            damage = _damage(quirk, steps)
            if damage:
                by_kind.setdefault(quirk.kind, []).append(_Candidate(quirk, damage))
    known = [kind for kind in by_kind if kind not in HELD_OUT]
    new = [kind for kind in by_kind if kind in HELD_OUT]
    half = (max(step.place for step in steps) + 1) // 2
    e.need(len(by_kind) >= _KINDS)
    for _ in range(_DRAWS):
        kinds = [*e.sample(new, min(len(new), e.number(1, 2))), *e.sample(known, len(known))]
        chosen = [e.pick(by_kind[kind]) for kind in kinds[:_KINDS]]
        if more:
            chosen.append(e.pick(by_kind[e.pick(kinds)]))
        wrong = [each for candidate in chosen for each in candidate.damage]
        places = [place for place, _, _ in wrong]
        quirks = [each.quirk for each in chosen]
        if (min(places) < _EARLY and max(places) >= half and _apart(quirks)
                and len(set(wrong)) == len(wrong)):  # fmt: skip
            return tuple(e.sample(quirks, len(quirks)))
    raise NoErrand


def _apart(quirks: Sequence[AppQuirk]) -> bool:
    """Whether all are of different records, and no record that is moved has a fault of its own."""
    own = [(each.table, str(each.match)) for each in quirks if each.kind not in ("linked", "form")]
    rest = [str(each) for each in quirks if each.kind in ("linked", "form")]
    moved = [(each.table, str(each.other)) for each in quirks if each.kind == "linked"]
    return len({*own, *rest}) == len(quirks) and not set(own) & set(moved)


def _possible(steps: Sequence[PhoneStep]) -> Iterator[AppQuirk]:
    """Yield the faults for which a day has an occasion."""
    saves: dict[tuple[str, str], int] = {}
    made: list[tuple[str, str]] = []
    for step in steps:
        for table, pairs in step.altered.items():
            for old, new in pairs:
                if new is None or (table == _MESSAGES and not new["mine"]):
                    continue
                match = _known_by(table, new)
                record = (table, str(sorted(match.items())))
                yield AppQuirk("lost", table, match, saves.get(record, 0))
                if table in (_TASKS, _EVENTS):
                    yield from _lost_column(table, match, saves.get(record, 0), old, new)
                saves[record] = saves.get(record, 0) + 1
                if table not in _NAMED:
                    continue
                if table != _FILES:
                    yield from _linked(step, table, match, made)
                    yield from _form(table, old, new)
                    if old is None:
                        yield AppQuirk("twice", table, match)
                if record not in made:
                    yield AppQuirk("late", table, match)
                made.append((table, new[_NAMED[table]]))


def _known_by(table: str, row: PhoneRow) -> dict[str, Any]:
    if table == _MESSAGES:
        return {"thread": row["thread"], "mine": True}
    if table == _ENTRIES:
        return {"title": row["title"], "kind": "transfer"}
    return {_NAMED[table]: row[_NAMED[table]]}


_DEFAULTS = {_TASKS: {"priority": ""}, _EVENTS: {"calendar": "personal"}}
"""What a new record has if nothing is chosen."""


def _lost_column(
    table: str, match: Mapping[str, Any], after: int, old: PhoneRow | None, new: PhoneRow
) -> Iterator[AppQuirk]:
    """Yield saves of which one column is not kept."""
    for column, usual in _DEFAULTS[table].items():
        value = usual if old is None else old[column]
        if new[column] != value:
            yield AppQuirk("lost", table, match, after, column, value)


def _linked(
    step: PhoneStep, table: str, match: Mapping[str, Any], made: Sequence[tuple[str, str]]
) -> Iterator[AppQuirk]:
    """Yield records, saved earlier, that a save of this one changes."""
    name = _NAMED[table]
    for row in step.after[table].values():
        if (table, row[name]) not in made or row[name] == match[name]:
            continue
        other = {name: row[name]}
        if table == _TASKS and row["done"]:
            yield AppQuirk("linked", table, match, column="done", value=False, other=other)
        elif table == _EVENTS or row["due"]:
            days = 1 + len(row[name]) % 3
            column = "day" if table == _EVENTS else "due"
            yield AppQuirk("linked", table, match, column=column, value=days, other=other)


def _form(table: str, old: PhoneRow | None, new: PhoneRow) -> Iterator[AppQuirk]:
    """Yield forms that reset a column whenever the date is changed."""
    if old is None:
        return
    if table == _TASKS and old["due"] != new["due"]:
        yield AppQuirk("form", table, column="priority", value="", cause="due")
    elif table == _EVENTS:
        for cause in ("day", "start"):
            if old[cause] != new[cause]:
                yield AppQuirk("form", table, column="alarm", value="", cause=cause)


def _damage(quirk: AppQuirk, steps: Sequence[PhoneStep]) -> frozenset[_Damage]:
    """Return what a fault leaves wrong at the end of requests if nobody repairs it."""
    faults = DayFaults([quirk])
    found: dict[int, dict[tuple[str, Any], set[str]]] = {}
    for step in steps:
        if quirk.table not in step.altered:
            continue
        wrong = found.setdefault(step.place, {})
        for table, pairs in step.altered.items():
            for old, new in pairs:
                record = (table, (new or old or {})["id"])
                wrong[record] = wrong.get(record, set()) - _columns(old, new)
        tables, _ = faults.acted(step.before, step.after)
        for name, key in _differences(tables, step.after):
            wrong[name, key] = _columns(tables[name].get(key), step.after[name].get(key))
    return frozenset((place, *record) for place, wrong in found.items()
                     for record, columns in wrong.items() if columns)  # fmt: skip


def _columns(one: PhoneRow | None, other: PhoneRow | None) -> set[str]:
    one, other = one or {}, other or {}
    return {name for name in {**one, **other} if one.get(name) != other.get(name)}
