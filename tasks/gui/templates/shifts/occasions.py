"""Which faults of apps a day has, drawn from what the day saves.

A fault counts as hidden if the list in which its cause was saved does not show the damage: it is
in another list or app, in a column that only a record's own page shows, or it happens to a record
of an earlier request.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from hexathlon.tasks.gui.templates.errand import Errand, NoErrand
from hexathlon.tasks.gui.templates.shifts.faults import (
    ENTRIES,
    EVENTS,
    FILES,
    MESSAGES,
    ORDERS,
    QUEUE,
    TASKS,
    DayFaults,
    PhoneStep,
    differences,
)
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.phone.quirks import AppQuirk, QuirkKind

__all__ = ["HELD_OUT", "MOST_FAULTS", "LEAST_FAULTS", "FaultOccasions"]

HELD_OUT = ("form", "twice")
"""Kinds of faults that no day of train and dev has."""

LEAST_FAULTS, MOST_FAULTS = 5, 7
_KINDS = 3
_IN_EACH_HALF = 2
_MOST_UNSENT = 2
"""Messages and transfers that are not kept, in a day."""

_MOST_AGAIN = 1
"""Times that faults of a day happen again."""

_DRAWS = 40
_PICKS = 12

_NAMES = {TASKS: "title", EVENTS: "title", FILES: "name"}
"""Tables whose records are known by a name, with its column."""

_OWN_PAGE = {TASKS: ("note",), EVENTS: ("alarm", "calendar", "guests", "note"), FILES: (),
             ENTRIES: ("note",)}  # fmt: skip
"""Columns that only a record's own page shows."""

_PLACES = {TASKS: "list", EVENTS: "day", FILES: "folder", ENTRIES: "account"}
"""Columns that tell in which list a record stands."""

_Damage = tuple[int, str, Any]
"""Number of a request, and the table and key of a row that is wrong when it is reported."""

_Record = tuple[str, str]
"""Table, and the columns by which the record is known, as text."""

_Saves = Mapping[_Record, tuple[int, PhoneStep, PhoneRow, Mapping[str, Any]]]
"""Number and step of each record's last save, the row, and how it is known."""


class _Group(NamedTuple):
    """Faults that are alike."""

    kind: QuirkKind
    hidden: bool
    early: bool
    """Whether they first happen in the first half of the day."""


@dataclass(frozen=True)
class _Occasion:
    """A fault that the day gives an occasion for."""

    quirk: AppQuirk
    group: _Group
    steps: Sequence[PhoneStep]

    @cached_property
    def _outcome(self) -> tuple[frozenset[_Damage], int]:
        return _effects(self.quirk, self.steps)

    @property
    def damage(self) -> frozenset[_Damage]:
        """What is wrong at the end of requests if nobody looks."""
        return self._outcome[0]

    @property
    def times(self) -> int:
        """How often it happens."""
        return self._outcome[1]


class FaultOccasions:
    """The faults that a day gives occasions for.

    Args:
        e: Source of the draws.
        steps: The operations of the day as it should be.
    """

    def __init__(self, e: Errand, steps: Sequence[PhoneStep]) -> None:
        self._e = e
        half = (max(step.place for step in steps) + 1) / 2
        unseen = e.scene.split in ("test", "heldout")
        usual = {**_USUAL, EVENTS: {**_USUAL[EVENTS], "alarm": next(
            row["value"] for row in e.rows("calendar.prefs") if row["id"] == "alarm")}}  # fmt: skip
        self._groups: dict[_Group, list[_Occasion]] = {}
        known = set[tuple[object, ...]]()
        for step, quirk, hidden in _possible(steps, usual):
            name = _identity(quirk)
            if (unseen or quirk.kind not in HELD_OUT) and name not in known:
                known.add(name)
                group = _Group(quirk.kind, hidden, step.place < half)
                self._groups.setdefault(group, []).append(_Occasion(quirk, group, steps))
        e.need({group.early for group in self._groups if group.hidden} == {True, False})

    def drawn(self, count: int) -> tuple[AppQuirk, ...]:
        """Draw faults: of three kinds, of different records, some in each half of the day.

        Args:
            count: Number of faults.

        Raises:
            NoErrand: If the day has too few occasions.
        """
        for _ in range(_DRAWS):
            chosen = self._chosen(count)
            if chosen is not None:
                return tuple(each.quirk for each in self._e.sample(chosen, count))
        raise NoErrand

    def _chosen(self, count: int) -> list[_Occasion] | None:
        chosen: list[_Occasion] = []
        for wish in self._wishes(count):
            groups = [*(each.group for each in chosen), wish]
            early = sum(group.early for group in groups)
            if (max(early, len(groups) - early) > count - _IN_EACH_HALF
                    or 2 * sum(not group.hidden for group in groups) > count):  # fmt: skip
                continue
            found = self._groups[wish]
            for each in self._e.sample(found, min(_PICKS, len(found))):
                if _fits(each, chosen):
                    chosen.append(each)
                    break
            if len(chosen) == count:
                kinds = {each.quirk.kind for each in chosen}
                halves = {each.group.early for each in chosen if each.group.hidden}
                return chosen if len(kinds) >= _KINDS and len(halves) > 1 else None
        return None

    def _wishes(self, count: int) -> Iterator[_Group]:
        """Yield groups in the order in which one fault of each is drawn."""
        e, groups = self._e, list(self._groups)
        new = [kind for kind in HELD_OUT if any(group.kind == kind for group in groups)]
        for kind in e.sample(new, min(len(new), e.number(1, 2))):
            yield e.pick([group for group in groups if group.kind == kind])
        known = [group for group in groups if group.kind not in HELD_OUT]
        hidden = [group for group in known if group.hidden]
        for early in (True, False):
            yield from e.sample([group for group in hidden if group.early == early], 1)
        yield from e.sample(hidden, len(hidden))
        for _ in range(3 * count):
            yield e.pick(known)


def _identity(quirk: AppQuirk) -> tuple[object, ...]:
    """Return a hashable value that distinguishes a fault from others."""
    value = (type(quirk.value), quirk.value)  # 1 is not True here
    return (quirk.kind, quirk.table, *quirk.match.items(), quirk.after, quirk.column, *value,
            *quirk.other.items(), quirk.into, quirk.cause)  # fmt: skip


def _fits(new: _Occasion, chosen: Sequence[_Occasion]) -> bool:
    """Whether a fault is of another record than others of its sort, with damage of its own."""
    quirks = [*(each.quirk for each in chosen), new.quirk]
    own = [(each.table, str(each.match)) for each in quirks if each.kind not in ("linked", "form")]
    moved = [(each.target, str(each.other)) for each in quirks if each.kind == "linked"]
    unsent = [each for each in quirks if each.kind == "lost" and each.table in (MESSAGES, ENTRIES)]
    if (len(set(own)) < len(own) or len(set(moved)) < len(moved) or len(unsent) > _MOST_UNSENT
            or any(each.quirk == new.quirk for each in chosen)):  # fmt: skip
        return False
    if sum(each.times - 1 for each in (*chosen, new)) > _MOST_AGAIN:
        return False
    return bool(new.damage) and not any(new.damage & each.damage for each in chosen)


# Occasions -------------------------------------------------------------------------------------


def _possible(
    steps: Sequence[PhoneStep], usual: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[PhoneStep, AppQuirk, bool]]:
    """Yield faults for which a step is the first occasion, and whether they are hidden."""
    saves: dict[_Record, int] = {}
    last: dict[_Record, tuple[int, PhoneStep, PhoneRow, Mapping[str, Any]]] = {}
    for number, step in enumerate(steps):
        for table, pairs in step.altered.items():
            for old, new in pairs:
                if new is None or (table == MESSAGES and not new["mine"]):
                    continue
                match = _known_by(table, new)
                record = (table, str(match))
                for quirk, hidden in chain(
                    _own(table, match, saves.get(record, 0), old, new, usual),
                    _late(step, record, match, last),
                    _linked(step, table, match, new, last),
                ):
                    yield step, quirk, hidden
                saves[record] = saves.get(record, 0) + 1
                last[record] = (number, step, new, match)


def _known_by(table: str, row: PhoneRow) -> dict[str, Any]:
    if table == MESSAGES:
        return {"thread": row["thread"], "mine": True}
    if table == ENTRIES:
        return {"title": row["title"], "kind": "transfer", "reference": row["reference"]}
    if table == QUEUE:
        return {"episode": row["episode"]}
    if table == ORDERS:
        return {"day": row["day"], "total": row["total"]}
    return {_NAMES[table]: row[_NAMES[table]]}


_USUAL: Mapping[str, Mapping[str, Any]] = {
    TASKS: {"priority": "", "note": ""}, EVENTS: {"calendar": "personal", "guests": "", "note": ""},
}  # fmt: skip
"""What a new record has if nothing is chosen."""


def _own(
    table: str, match: Mapping[str, Any], after: int, old: PhoneRow | None, new: PhoneRow,
    usual: Mapping[str, Mapping[str, Any]],
) -> Iterator[tuple[AppQuirk, bool]]:  # fmt: skip
    """Yield faults of the save of one record."""
    if table != ORDERS and (table != QUEUE or old is None):
        yield AppQuirk("lost", table, match, after), False
    for column, value in usual.get(table, {}).items():
        value = value if old is None else old[column]
        if new[column] != value:
            lost = AppQuirk("lost", table, match, after, column, value)
            yield lost, column in _OWN_PAGE[table]
    if old is None and table in (TASKS, EVENTS):
        yield AppQuirk("twice", table, match), False
    elif old is not None and table == TASKS and old["due"] != new["due"]:
        for column in ("priority", "note"):
            if new[column]:
                yield (
                    AppQuirk("form", table, column=column, value="", cause="due"),
                    column == "note",
                )
    elif old is not None and table == EVENTS:
        for cause in ("day", "start"):
            if old[cause] != new[cause]:
                yield AppQuirk("form", table, column="alarm", value="", cause=cause), True


def _late(
    step: PhoneStep, record: _Record, match: Mapping[str, Any], last: _Saves
) -> Iterator[tuple[AppQuirk, bool]]:  # fmt: skip
    """Yield changes, saved earlier, that the save of this record may undo."""
    before = last[record][0] if record in last else -1
    for other, (number, saved, row, known) in last.items():
        table = other[0]
        if table != record[0] or other == record or number < before:
            continue
        if table in _NAMES or (table == ENTRIES and row["note"]):
            column = "note" if table == ENTRIES else ""
            yield (AppQuirk("late", table, known, column=column, other=match),
                   saved.place < step.place)  # fmt: skip


def _linked(
    step: PhoneStep, table: str, match: Mapping[str, Any], new: PhoneRow, last: _Saves
) -> Iterator[tuple[AppQuirk, bool]]:  # fmt: skip
    """Yield records that a save of this one may change: the day's, or others of the same list."""
    for (target, _), (_, _, saved, known) in last.items():
        row = step.after[target].get(saved["id"])
        if row is None or target not in _OWN_PAGE or (target == table and known == match):
            continue
        into = target if target != table else ""
        apart = bool(into) or row[_PLACES[target]] != new[_PLACES[target]]
        for column, value in _changes(target, row):
            own = column in _OWN_PAGE[target]
            if own and into:
                continue  # what a save does to another app shows in a list there
            linked = AppQuirk("linked", table, match, 0, column, value, known, into)
            yield linked, apart or own
    if table not in (TASKS, FILES):
        return
    ours = {row["id"] for (target, _), (_, _, row, _) in last.items() if target == table}
    for key, row in step.after[table].items():
        if key in ours or key == new["id"] or row[_PLACES[table]] != new[_PLACES[table]]:
            continue
        for column, value in _changes(table, row, passing=True):
            other = {_NAMES[table]: row[_NAMES[table]]}
            yield AppQuirk("linked", table, match, column=column, value=value, other=other), False


def _changes(table: str, row: PhoneRow, *, passing: bool = False) -> Iterator[tuple[str, Any]]:
    """Yield what may happen to another record: column and value, or a number of days.

    Args:
        table: Its table.
        row: The record.
        passing: Whether it is none of the day's records but stands in the list.
    """
    if table == TASKS and row["done"]:
        if not passing:
            yield "done", False
    elif table == TASKS:
        yield "done", True
        if row["due"]:
            yield "due", 1 + len(row["title"]) % 3
            yield "priority", "" if row["priority"] else "high"
        if row["note"] and not passing:
            yield "note", ""
    elif table == EVENTS:
        yield "day", 1 + len(row["title"]) % 3
        if row["alarm"]:
            yield "alarm", ""
        if row["calendar"] != "personal":
            yield "calendar", "personal"
        if row["note"]:
            yield "note", ""
    elif table == FILES:
        if row["trashed"] != passing:
            yield "trashed", passing
    elif table == ENTRIES and row["note"]:
        yield "note", ""


# Damage ----------------------------------------------------------------------------------------


def _effects(quirk: AppQuirk, steps: Sequence[PhoneStep]) -> tuple[frozenset[_Damage], int]:
    """Return what a fault leaves wrong when requests end, if nobody repairs it; and how often."""
    faults = DayFaults([quirk])
    found: dict[int, dict[tuple[str, Any], set[str]]] = {}
    times = 0
    for step in steps:
        if quirk.table not in step.altered and quirk.target not in step.altered:
            continue
        wrong = found.setdefault(step.place, {})
        for table, pairs in step.altered.items():
            for old, new in pairs:
                record = (table, (new or old or {})["id"])
                wrong[record] = wrong.get(record, set()) - _columns(old, new)
        tables, _ = faults.acted(step.before, step.after)
        differing = list(differences(tables, step.after))
        times += bool(differing)
        for name, key in differing:
            wrong[name, key] = _columns(tables[name].get(key), step.after[name].get(key))
    damage = frozenset((place, *record) for place, wrong in found.items()
                       for record, columns in wrong.items() if columns)  # fmt: skip
    return damage, times


def _columns(one: PhoneRow | None, other: PhoneRow | None) -> set[str]:
    one, other = one or {}, other or {}
    return {name for name in {**one, **other} if one.get(name) != other.get(name)}
