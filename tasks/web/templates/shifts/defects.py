"""Defects of the sites of a shift: saves that are not kept, are undone, or change another record.

A site's initial state contains its defects as rows of `_defects`, and triggers that apply them.
Changes by other people switch them off, so that only the agent's own saves set them off.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from hexathlon.tasks.web.templates.shifts.ledger import RecordPlace, record_of
from hexathlon.tasks.web.templates.shifts.records import JobTarget, RecordJob, Values
from hexathlon.tasks.web.templates.shifts.stages import Writing
from hexathlon.tasks.web.world.network import Edit

__all__ = [
    "HELD_OUT",
    "KINDS",
    "DefectiveSites",
    "SiteDefect",
    "defect_edits",
    "guarded",
    "saves_of",
]

KINDS = ("lost", "stray", "step", "late", "linked")
"""Kinds of defects: what a save of a record with certain values does.

`lost`: the first such save is not kept. `stray`: the first such save stores other values. `step`:
such a save is never kept while the record has certain other values. `late`: the change is undone
when another record is saved before the next report. `linked`: another record gets the values as
well.
"""

HELD_OUT = ("late", "linked")
"""Kinds that training never sees."""

_ROUNDS = 6
"""Number of times that records are saved again before a defect counts as irreparable."""


@dataclass(frozen=True, eq=False)
class SiteDefect:
    """One defect of a site."""

    kind: str
    """One of `KINDS`."""

    job: RecordJob
    target: JobTarget
    """The record whose save sets it off."""

    values: Values
    """The values with which it has to be saved."""

    other: JobTarget | None = None
    """The other record of `linked`."""

    instead: Values | None = None
    """For `stray`, the values that are stored; for `step`, the values that the record has."""


def defect_edits(defects: Sequence[SiteDefect]) -> list[Edit]:
    """Return the edits that install defects in the initial content of their sites."""
    edits = list[Edit]()
    for site in sorted({each.job.site for each in defects}):
        here = sorted((each for each in defects if each.job.site == site), key=_field)
        edits += [
            (site, "CREATE TABLE _defect_switch (armed INTEGER NOT NULL)", ()),
            (site, "INSERT INTO _defect_switch VALUES (?)", (1,)),
            (site, "CREATE TABLE _defects (id INTEGER PRIMARY KEY, field TEXT NOT NULL, "
                   "kind TEXT NOT NULL, record, value, other, instead, state INTEGER NOT NULL)", ()),
        ]  # fmt: skip
        for field, group in groupby(here, _field):
            rows = list(group)
            edits += [(site, _ROW, (field, *_columns(each))) for each in rows]
            edits += [(site, trigger, ()) for trigger in _triggers(rows[0].job)]
    return edits


def guarded(defects: Sequence[SiteDefect], edits: Sequence[Edit]) -> list[Edit]:
    """Return changes by other people, after a report, so that they set off no defect.

    What a `late` defect has not undone by the report remains.
    """
    over = [(site, _OVER, ()) for site in sorted({d.job.site for d in defects if d.kind == "late"})]
    sites = sorted({each.job.site for each in defects} & {site for site, _, _ in edits})
    off, on = ([(site, _SWITCH, (armed,)) for site in sites] for armed in (0, 1))
    return [*over, *off, *edits, *on]


_ROW = (
    "INSERT INTO _defects (field, kind, record, value, other, instead, state) "
    "VALUES (?, ?, ?, ?, ?, ?, 0)"
)
_SWITCH = "UPDATE _defect_switch SET armed = ?"
_OVER = "UPDATE _defects SET state = 2 WHERE state = 1"


def _field(defect: SiteDefect) -> str:
    return f"{defect.job.table}.{defect.job.column}"


def _columns(defect: SiteDefect) -> tuple[object, ...]:
    column, other = defect.job.column, defect.other
    instead = None if defect.instead is None else defect.instead[column]
    key = None if other is None else other.key
    return defect.kind, defect.target.key, defect.values[column], key, instead


def _triggers(job: RecordJob) -> list[str]:
    """Return the statements that create the triggers for one column of a table.

    A cell that has been emptied is a new row when it is filled again. A trigger does not set itself
    off: recursive triggers are off in SQLite by default.
    """
    table, column = job.table, job.column
    name, steps = f"_defects_{table}_{column}", _statements(job)
    triggers = [
        f"CREATE TRIGGER {name} AFTER UPDATE OF {column} ON {table} "
        f"WHEN OLD.{column} IS NOT NEW.{column} BEGIN {steps}; END"
    ]
    if table == "cells":
        filled = steps.replace(f"OLD.{column}", "''")
        triggers.append(f"CREATE TRIGGER {name}_added AFTER INSERT ON {table} BEGIN {filled}; END")
    return triggers


def _statements(job: RecordJob) -> str:
    """Return the statements of a trigger."""
    table, column, key = job.table, job.column, job.key_column
    armed = "(SELECT armed FROM _defect_switch)"
    field = f"field = '{table}.{column}'"
    saved = f"{field} AND record IS NEW.{key} AND value IS NEW.{column}"
    pending = f"{field} AND kind = 'late' AND state = 1"

    def first(kind: str) -> str:
        return f"FROM _defects WHERE kind = '{kind}' AND state = 0 AND {saved}"

    statements = (
        f"UPDATE {table} SET {column} = (SELECT instead FROM _defects WHERE {pending} AND "
        f"record IS {table}.{key}) WHERE {armed} AND {key} IN (SELECT record FROM _defects WHERE "
        f"{pending} AND record IS NOT NEW.{key})",
        f"UPDATE _defects SET state = 2 WHERE {pending} AND record IS NOT NEW.{key} AND {armed}",
        f"UPDATE {table} SET {column} = OLD.{column} WHERE {armed} AND {key} IS NEW.{key} AND "
        f"(EXISTS (SELECT 1 {first('lost')}) OR EXISTS (SELECT 1 FROM _defects WHERE "
        f"kind = 'step' AND instead IS OLD.{column} AND {saved}))",
        f"UPDATE {table} SET {column} = (SELECT instead {first('stray')}) WHERE {armed} AND "
        f"{key} IS NEW.{key} AND EXISTS (SELECT 1 {first('stray')})",
        f"UPDATE {table} SET {column} = NEW.{column} WHERE {armed} AND "
        f"{key} IN (SELECT other {first('linked')})",
        f"UPDATE _defects SET state = 1, instead = OLD.{column} WHERE kind = 'late' AND "
        f"state = 0 AND {saved} AND {armed}",
        f"UPDATE _defects SET state = 2 WHERE kind IN ('lost', 'stray', 'linked') AND state = 0 "
        f"AND {saved} AND {armed}",
    )
    return "; ".join(statements)


class DefectiveSites:
    """A model of the records of sites with defects, apart from the triggers.

    Attributes:
        values: Values of the records that have been changed.
        causes: Kind of the defect because of which a record has other values than were saved.
    """

    def __init__(self, defects: Sequence[SiteDefect] = ()) -> None:
        self.values: dict[RecordPlace, Values] = {}
        self.causes: dict[RecordPlace, str] = {}
        self._first = [each for each in defects if each.kind != "step"]
        self._steps = [each for each in defects if each.kind == "step"]
        self._pending: dict[RecordPlace, tuple[SiteDefect, Values]] = {}

    def edit(self, job: RecordJob, target: JobTarget, values: Values) -> None:
        """Change a record as another person does."""
        self._set(record_of(job, target), values)

    def report(self) -> None:
        """End a request: changes that were not undone remain."""
        self._pending.clear()

    def shown(self, job: RecordJob, target: JobTarget) -> Values:
        """Return the values that a record has."""
        return self.values.get(record_of(job, target), target.before)

    def blocks(self, job: RecordJob, target: JobTarget, values: Values) -> bool:
        """Whether a record cannot be given values directly from those that it has."""
        now = self.shown(job, target)
        return any(
            (each.target, each.values, each.instead) == (target, values, now)
            for each in self._steps
        )

    def save(self, job: RecordJob, target: JobTarget, values: Values) -> None:
        """Save a record as the agent does, with the effects of the defects."""
        place, former = record_of(job, target), self.shown(job, target)
        if values == former:
            return
        blocked = self.blocks(job, target, values)
        self._set(place, values)
        for late, (defect, instead) in list(self._pending.items()):
            if late != place and defect.job.field == job.field:
                del self._pending[late]
                self._set(late, instead, "late")
        if blocked:
            self._set(place, former, "step")
        found = [each for each in self._first if (each.target, each.values) == (target, values)]
        for defect in found:
            self._first.remove(defect)
            if defect.kind == "lost":
                self._set(place, former, "lost")
            elif defect.kind == "stray" and defect.instead is not None:
                self._set(place, defect.instead, "stray")
            elif defect.kind == "late":
                self._pending[place] = defect, former
            elif defect.other is not None:
                self._set((*place[:2], str(defect.other.key)), values, "linked")

    def _set(self, place: RecordPlace, values: Values, cause: str = "") -> None:
        self.values[place] = values
        self.causes.pop(place, None)
        if cause:
            self.causes[place] = cause


def saves_of(
    sites: DefectiveSites,
    writings: Sequence[Writing],
    wanted: Mapping[RecordPlace, Values],
    places: Mapping[RecordPlace, tuple[RecordJob, JobTarget]],
    unseen: Collection[str] = (),
) -> tuple[list[Writing], bool]:
    """Carry out the work of one request; return the further saves that defects make necessary.

    It ends with the report.

    Args:
        sites: The sites, which are changed.
        writings: Records to save, with their values.
        wanted: The values that all records have after the request.
        places: Job and record of every place.
        unseen: Kinds of defects whose effects are left as they are.

    Returns:
        The further saves, and whether all records then have their values.
    """
    for job, target, values in writings:
        sites.save(job, target, values)
    more = list[Writing]()
    for _ in range(_ROUNDS):
        wrong = [
            place
            for place, (job, target) in places.items()
            if sites.shown(job, target) != wanted[place]
            and sites.causes.get(place, "") not in unseen
        ]
        if not wrong:
            sites.report()
            return more, True
        for place in wrong:
            (job, target), values = places[place], wanted[place]
            if sites.blocks(job, target, values):
                between = _detour(sites, job, target, values)
                if between is None:
                    sites.report()
                    return more, False
                more.append((job, target, between))
                sites.save(*more[-1])
            more.append((job, target, values))
            sites.save(*more[-1])
    sites.report()
    return more, False


def _detour(
    sites: DefectiveSites, job: RecordJob, target: JobTarget, values: Values
) -> Values | None:
    """Return values by way of which a record can be given values that a `step` blocks, if any."""
    now = sites.shown(job, target)
    fitting = (
        each
        for each in target.values
        if each not in (now, values) and not sites.blocks(job, target, each)
    )
    return next(fitting, None)
