"""Draws the defects of a day's sites, on records that its correct course changes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hexathlon.tasks.web.templates.draft import WebScene
from hexathlon.tasks.web.templates.shifts.defects import (
    HELD_OUT,
    KINDS,
    DefectiveSites,
    SiteDefect,
    saves_of,
)
from hexathlon.tasks.web.templates.shifts.ledger import (
    DayLedger,
    DayStep,
    RecordPlace,
    record_of,
)
from hexathlon.tasks.web.templates.shifts.records import JobTarget, RecordJob, Values
from hexathlon.tasks.web.templates.shifts.stages import Writing

__all__ = ["DayTurn", "draw_defects", "left_wrong", "turns_of"]

_FEWEST, _MOST = 3, 5
"""Numbers of defects of a day, at least as many kinds as `_FEWEST`."""

_EARLY = 3
"""At least one defect is met with the first three requests, and one in the last half."""

_TRIES = 40
_LONGEST = 12
"""Maximum number of further saves that the defects of a day make necessary."""


@dataclass(frozen=True)
class DayTurn:
    """One request of a day's correct course."""

    events: tuple[Writing, ...]
    """Values that others gave to records before it, and changes that were undone."""

    writings: tuple[Writing, ...]
    wanted: Mapping[RecordPlace, Values]
    """The values of all known records afterwards."""

    places: Mapping[RecordPlace, tuple[RecordJob, JobTarget]]
    taken: frozenset[RecordPlace]
    """Records that somebody else has changed."""


def turns_of(steps: Sequence[DayStep]) -> list[DayTurn]:
    """Return the correct course of a day."""
    ledger, turns = DayLedger(), list[DayTurn]()
    for number, step in enumerate(steps, 1):
        done = ledger.step(number, step)
        taken = frozenset(place for place in ledger.given if ledger.taken(place))
        turns.append(DayTurn((*step.others, *step.undone), tuple(done.writings),
                             dict(ledger.values), dict(ledger.places), taken))  # fmt: skip
    return turns


def left_wrong(turns: Sequence[DayTurn], defects: Sequence[SiteDefect], *unseen: str) -> int:
    """Return how many records are wrong after a day on which some kinds of defects go unseen."""
    sites = DefectiveSites(defects)
    for turn in turns:
        for each in turn.events:
            sites.edit(*each)
        saves_of(sites, turn.writings, turn.wanted, turn.places, unseen)
    last = turns[-1]
    return sum(sites.shown(*last.places[place]) != last.wanted[place] for place in last.places)


def draw_defects(scene: WebScene, steps: Sequence[DayStep]) -> tuple[SiteDefect, ...] | None:
    """Draw the defects of a day.

    If one kind of them goes unseen, records are wrong at the end of the day.

    Returns:
        None if the day has no suitable records.
    """
    turns = turns_of(steps)
    candidates = _candidates(scene, turns)
    kinds = [each for each in KINDS if scene.split != "train" or each not in HELD_OUT]
    if sum(bool(candidates[each]) for each in kinds) < _FEWEST:
        return None
    for _ in range(_TRIES):
        drawn = _draw(scene, candidates, kinds)
        places = [place for place, _ in drawn]
        defects = tuple(defect for _, group in drawn for defect in group)
        if (
            len({each.kind for each in defects}) >= _FEWEST
            and min(places) < _EARLY
            and max(places) >= len(steps) // 2
            and _sound(turns, defects)
        ):
            return defects
    return None


def _sound(turns: Sequence[DayTurn], defects: Sequence[SiteDefect]) -> bool:
    """Whether all defects can be repaired, with few saves, and none can go unseen."""
    sites, saves = DefectiveSites(defects), 0
    for turn in turns:
        for each in turn.events:
            sites.edit(*each)
        more, repaired = saves_of(sites, turn.writings, turn.wanted, turn.places)
        saves += len(more)
        if not repaired:
            return False
    kinds = {each.kind for each in defects}
    return saves <= _LONGEST and all(left_wrong(turns, defects, kind) for kind in kinds)


_Drawn = tuple[int, tuple[SiteDefect, ...]]
"""Place of the request that sets a defect off, and its parts: several for `step`, else one."""


def _draw(
    scene: WebScene, candidates: Mapping[str, Sequence[_Drawn]], kinds: Sequence[str]
) -> list[_Drawn]:
    """Draw one defect of each kind and sometimes more, all of them on different records."""
    order = scene.sample(kinds, len(kinds))
    order.sort(key=lambda kind: kind not in HELD_OUT)
    order += [scene.pick(kinds) for _ in range(2)]
    drawn, taken = list[_Drawn](), set[JobTarget]()
    for kind in order:
        free = [each for each in candidates[kind] if not taken & _records(each)]
        if free and len(drawn) < _MOST:
            drawn.append(scene.pick(free))
            taken |= _records(drawn[-1])
    return drawn


def _records(drawn: _Drawn) -> set[JobTarget]:
    _, defects = drawn
    found = {each.target for each in defects}
    return found | {each.other for each in defects if each.other is not None}


def _candidates(scene: WebScene, turns: Sequence[DayTurn]) -> dict[str, list[_Drawn]]:
    """Return every defect that a day can have, by kind."""
    found: dict[str, list[_Drawn]] = {kind: [] for kind in KINDS}
    values: dict[RecordPlace, Values] = {}
    given = set[tuple[JobTarget, str]]()
    for number, turn in enumerate(turns):
        values |= {record_of(job, target): each for job, target, each in turn.events}
        for place, (job, target, wanted) in enumerate(turn.writings):
            record, now = record_of(job, target), values.get(record_of(job, target), target.before)
            values[record] = wanted
            if (target, str(wanted)) in given:
                continue
            given.add((target, str(wanted)))
            if job.shown_in:
                found["linked"] += [
                    (number, (SiteDefect("linked", job, target, wanted, other),))
                    for other in _partners(turns, number, place, values)
                ]
            if not _settled(turns, number, place, record):
                continue
            found["lost"].append((number, (SiteDefect("lost", job, target, wanted),)))
            astray = [each for each in target.values if each not in (now, wanted)]
            found["stray"].append(
                (number, (SiteDefect("stray", job, target, wanted, None, scene.pick(astray)),))
            )
            followed = any(each.field == job.field for each, _, _ in turn.writings[place + 1 :])
            if followed:
                found["late"].append((number, (SiteDefect("late", job, target, wanted),)))
            steps = _steps(job, target, now, wanted)
            if steps:
                found["step"].append((number, steps))
    return found


def _settled(turns: Sequence[DayTurn], number: int, place: int, record: RecordPlace) -> bool:
    """Whether nothing gives a record a value after a writing."""
    later = [*turns[number].writings[place + 1 :]]
    later += [each for turn in turns[number + 1 :] for each in (*turn.events, *turn.writings)]
    return all(record_of(job, target) != record for job, target, _ in later)


def _partners(
    turns: Sequence[DayTurn], number: int, place: int, values: Mapping[RecordPlace, Values]
) -> Iterator[JobTarget]:
    """Yield the records that a writing may change as well, without anything that mends it."""
    turn = turns[number]
    job, target, wanted = turn.writings[place]
    for record, (other_job, other) in turn.places.items():
        if (
            other is not target
            and (other_job.field, other_job.noun) == (job.field, job.noun)
            and other_job.shown_in
            and record not in turn.taken
            and values.get(record, other.before) != wanted
            and turns[-1].wanted[record] != wanted
            and _settled(turns, number, place, record)
        ):
            yield other


def _steps(
    job: RecordJob, target: JobTarget, now: Values, wanted: Values
) -> tuple[SiteDefect, ...]:
    """Return the defect that forbids a step between two values for all records of a job."""
    if wanted not in target.values:
        return ()
    aim = target.values.index(wanted)
    if now == target.before:
        pairs = [(each, each.before, each.values[aim]) for each in job.targets]
    elif now in target.values:
        origin = target.values.index(now)
        pairs = [(each, each.values[origin], each.values[aim]) for each in job.targets]
    else:
        return ()
    return tuple(
        SiteDefect("step", job, each, values, None, before)
        for each, before, values in pairs
        if before != values
    )
