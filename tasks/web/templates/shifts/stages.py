"""Requests of a shift: their texts, expected changes, and scripts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hexathlon.tasks.source import Script
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import DayRequest, ExpectedAnswer, Solver
from hexathlon.tasks.web.templates.mailbox import compose
from hexathlon.tasks.web.templates.shifts.records import JobTarget, RecordJob, Values
from hexathlon.tasks.web.world.network import Edit

__all__ = [
    "ShiftLetter",
    "ShiftStage",
    "StageWork",
    "Writing",
    "carry_out",
    "first_action",
    "play_stages",
    "shift_cost",
]

Writing = tuple[RecordJob, JobTarget, Values]
"""A job, one of its records, and the values that the record is given."""


@dataclass(frozen=True)
class ShiftLetter:
    """An email that the agent sends."""

    to: str
    subject: str
    body: str
    lost: bool = False
    """Whether it cannot be delivered and must be sent again."""


@dataclass(frozen=True)
class StageWork:
    """Actions for one request, right or wrong."""

    writings: tuple[Writing, ...] = ()
    letters: tuple[ShiftLetter, ...] = ()
    answer: ExpectedAnswer = ExpectedAnswer()
    checks: tuple[Writing, ...] = ()
    """Records that are only read, with the values that their pages show."""

    jobs: tuple[RecordJob, ...] = ()
    """Jobs whose records are looked up for the first time."""

    repairs: tuple[Writing, ...] = ()
    """Further saves that the sites' defects make necessary."""

    lists: tuple[RecordJob, ...] = ()
    """Jobs whose lists are looked at after the writes."""

    reopened: tuple[Writing, ...] = ()
    """Records whose pages are looked at after the writes, because lists do not show their values."""

    lists_again: tuple[RecordJob, ...] = ()
    """Jobs whose lists are looked at after the repairs."""

    @property
    def cost(self) -> int:
        """Actions of `carry_out`, without the report."""
        return (
            sum(job.cost for job, _, _ in (*self.writings, *self.repairs))
            + sum(job.looks for job in (*self.lists, *self.lists_again))
            + len(self.reopened)
            + 5 * len(self.letters)
        )


@dataclass(frozen=True)
class ShiftStage:
    """One request of a shift."""

    text: str
    right: StageWork
    look: Solver
    """Opens the pages that a person would consult for this request."""

    looks: int
    """Number of actions in `look`."""

    edits: tuple[Edit, ...] = ()
    """Changes that other people make before this request."""

    records: tuple[Any, ...] = ()
    """The values of the day's records at the time of the report."""

    def request(
        self, rows: Callable[[ShiftLetter], Mapping[str, Any]], last: Sequence[Writing]
    ) -> DayRequest:
        """Return this request in the form that the task stores.

        Args:
            rows: Gives the expected change of a letter.
            last: The last write to every record; earlier ones leave no trace.
        """
        shares = [
            job.share(target, values)
            for job, target, values in self.right.writings
            if any(target is each and values is final for _, each, final in last)
        ]
        shares += [dict(rows(letter)) for letter in self.right.letters if not letter.lost]
        return DayRequest(self.text, self.right.answer, self.edits, merged(shares), self.records)


def merged(shares: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Merge the changes of several jobs and letters."""
    combined: dict[str, Any] = {}
    for share in shares:
        for site, tables in share.items():
            for table, kinds in tables.items():
                place = combined.setdefault(site, {}).setdefault(table, {})
                for kind, items in kinds.items():
                    place[kind] = [*place.get(kind, ()), *items]
    return combined


def carry_out(pilot: Pilot, work: StageWork, *, backwards: bool = False) -> Script:
    """Do the work of one request and report on it; `backwards` with the letters first."""
    letters = list(work.letters)
    if backwards:
        for letter in letters:
            yield from compose(pilot, [letter.to], letter.subject, letter.body)
        letters = []
    for job, target, values in work.writings:
        yield from job.write(pilot, target, values)
    for job in work.lists:
        yield from job.find(pilot)
    for job, target, values in work.reopened:
        yield from first_action(pilot, job.write(pilot, target, values))
    for job, target, values in work.repairs:
        yield from job.write(pilot, target, values)
    for job in work.lists_again:
        yield from job.find(pilot)
    for letter in letters:
        yield from compose(pilot, [letter.to], letter.subject, letter.body)
    answer = work.answer
    if answer.status == "SUCCESS":
        data = None if answer.data is None else list(answer.data)
        yield from pilot.finish("MUTATE", data[::-1] if data and not answer.ordered else data)
    else:
        yield from pilot.refuse(answer.status, answer.record)


def first_action(pilot: Pilot, script: Script) -> Script:
    """Carry out the first action of a script, which opens the record's page."""
    observation = yield next(script)
    script.close()
    if not observation.startswith("Error:"):
        pilot.screen = observation


def play_stages(
    stages: Sequence[ShiftStage], works: Sequence[StageWork] = (), *, backwards: bool = False
) -> Solver:
    """Return the script of a whole shift, carried out correctly or as `works` say."""
    chosen = works or [stage.right for stage in stages]

    def solve(pilot: Pilot) -> Script:
        for stage, work in zip(stages, chosen, strict=True):
            yield from stage.look(pilot)
            yield from carry_out(pilot, work, backwards=backwards)

    return solve


def shift_cost(stages: Sequence[ShiftStage]) -> int:
    """Return the number of actions that the correct script takes."""
    return sum(stage.looks + stage.right.cost + 1 for stage in stages)
