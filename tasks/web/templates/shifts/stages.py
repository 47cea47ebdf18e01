"""Requests of a shift: what they say, what they change, and scripts that carry them out."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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
    "outcome_of",
    "play_stages",
    "read_pages",
    "shift_cost",
]

Writing = tuple[RecordJob, JobTarget, Values]
"""A job, one of its records, and the values that the record is given."""


@dataclass(frozen=True)
class ShiftLetter:
    """A mail that the agent sends."""

    to: str
    subject: str
    body: str


@dataclass(frozen=True)
class StageWork:
    """What is done for one request, right or wrong."""

    writings: tuple[Writing, ...] = ()
    letters: tuple[ShiftLetter, ...] = ()
    answer: ExpectedAnswer = ExpectedAnswer()


@dataclass
class ShiftStage:
    """One request of a shift."""

    text: str
    right: StageWork
    look: Solver
    """Opens the pages that a person would look at for it."""

    looks: int
    """Actions of `look`."""

    edits: tuple[Edit, ...] = ()
    """What other people change before it."""

    wrong: dict[str, StageWork] = field(default_factory=dict)
    """Near misses, by name."""

    def request(
        self, rows: Callable[[ShiftLetter], Mapping[str, Any]], last: Sequence[Writing]
    ) -> DayRequest:
        """Return what the task needs.

        Args:
            rows: Gives the expected change of a letter.
            last: The last writing of every record; earlier ones leave no trace.
        """
        shares = [job.share(target, values) for job, target, values in self.right.writings
                  if any(target is each and values is final for _, each, final in last)]  # fmt: skip
        shares += [dict(rows(letter)) for letter in self.right.letters]
        return DayRequest(self.text, self.right.answer, self.edits, merged(shares))


def merged(shares: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Combine shares of changes."""
    combined: dict[str, Any] = {}
    for share in shares:
        for site, tables in share.items():
            for table, kinds in tables.items():
                place = combined.setdefault(site, {}).setdefault(table, {})
                for kind, items in kinds.items():
                    place[kind] = [*place.get(kind, ()), *items]
    return combined


def read_pages(*names: str) -> Solver:
    """Open pages of the handbook."""

    def look(pilot: Pilot) -> Script:
        for name in names:
            yield from pilot.goto("mail", f"/handbook/{name}")

    return look


def carry_out(pilot: Pilot, work: StageWork, *, backwards: bool = False) -> Script:
    """Do the work of one request and report on it."""
    letters, writings = list(work.letters), list(work.writings)
    if backwards:
        for letter in letters:
            yield from compose(pilot, [letter.to], letter.subject, letter.body)
        letters, writings = [], writings[::-1]
    for job, target, values in writings:
        yield from job.write(pilot, target, values)
    for letter in letters:
        yield from compose(pilot, [letter.to], letter.subject, letter.body)
    answer = work.answer
    if answer.status == "SUCCESS":
        data = None if answer.data is None else list(answer.data)
        yield from pilot.finish("MUTATE", data[::-1] if data and not answer.ordered else data)
    else:
        yield from pilot.refuse(answer.status, answer.record)


def play_stages(
    stages: Sequence[ShiftStage], *, mistake: str = "", at: int = -1, backwards: bool = False
) -> Solver:
    """Return the script of a whole shift, or one with a mistake in one request."""

    def solve(pilot: Pilot) -> Script:
        for number, stage in enumerate(stages):
            yield from stage.look(pilot)
            work = stage.wrong[mistake] if number == at else stage.right
            yield from carry_out(pilot, work, backwards=backwards)

    return solve


def outcome_of(stages: Sequence[ShiftStage], mistake: str = "", at: int = -1) -> Any:
    """Return what a shift leaves behind: values that differ, letters and answers."""
    works = [stage.wrong[mistake] if number == at else stage.right
             for number, stage in enumerate(stages)]  # fmt: skip
    final = {(job.site, job.table, target.key): (target, values)
             for work in works for job, target, values in work.writings}  # fmt: skip
    values = {key: dict(values) for key, (target, values) in final.items()
              if values != target.before}  # fmt: skip
    letters = sorted((each.to, each.subject, each.body) for work in works for each in work.letters)
    return values, letters, [work.answer for work in works]


def shift_cost(stages: Sequence[ShiftStage]) -> int:
    """Return the number of actions that the right script takes."""
    return sum(
        stage.looks
        + sum(job.cost for job, _, _ in stage.right.writings)
        + 5 * len(stage.right.letters)
        + 1
        for stage in stages
    )
