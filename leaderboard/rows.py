"""Rows of boards: a submission's result, rank range, flags and cost."""

from __future__ import annotations

from dataclasses import dataclass

from hexathlon.evaluators.statistics import RankRange, normalised_score
from hexathlon.evaluators.summary import EnvSummary, Score
from hexathlon.leaderboard.entry import SubmissionFile
from hexathlon.leaderboard.qualifying import BoardPlan, Member
from hexathlon.leaderboard.submission import Submission

__all__ = ["FEWEST_TASKS", "BoardRow", "make_row", "row_order"]

FEWEST_TASKS = 5
"""Groups of fewer tasks have no colour in heat maps and are no one's worst template."""


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One submission on one board."""

    submission: Submission
    result: EnvSummary
    best: int | None
    """Best rank that the tests allow, 1 + the number of better rows; None if not ranked."""
    worst: int | None
    unranked: str | None
    """Why the row has no rank."""
    flags: tuple[str, ...]
    normalised: float | None
    tokens: float | None
    """Input and output tokens per trial, all roles."""
    cost: float | None
    """Per trial; None if the price of any part is unknown."""
    latency: float | None
    """Median seconds per model call."""

    @property
    def score(self) -> Score:
        """The row's score."""
        return self.result.score

    @property
    def failed(self) -> int:
        """Scored trials that did not pass, for events with rewards of 0 and 1."""
        passed = 0.0 if self.score.mean is None else self.score.mean * self.score.scored
        return self.score.scored - round(passed)

    @property
    def variants(self) -> tuple[str, float, float] | None:
        """The worst template of five tasks or more, its score and the best one's lead over it."""
        means = {
            name: score.mean
            for name, score in self.result.templates.items()
            if score.tasks >= FEWEST_TASKS and score.mean is not None
        }
        if len(means) < 2:
            return None
        name = min(means, key=lambda one: (means[one], one))
        return name, means[name], max(means.values()) - means[name]

    @property
    def place(self) -> str:
        """The rank range as text."""
        if self.best is None or self.worst is None:
            return "\u2013"
        return str(self.best) if self.best == self.worst else f"{self.best}\u2013{self.worst}"


def make_row(
    member: Member,
    plan: BoardPlan,
    place: RankRange | None,
    reason: str | None,
    floor: float | None,
    ceiling: float | None,
) -> BoardRow:
    """Return a submission's row.

    Args:
        member: The submission, and its result on this board.
        plan: The board's plan.
        place: Its rank range; None if it is not ranked.
        reason: Why not.
        floor: Score of the best trivial agent.
        ceiling: Score of the oracle.
    """
    submission, result = member
    return BoardRow(
        submission=submission,
        result=result,
        best=place.best if place else None,
        worst=place.worst if place else None,
        unranked=reason,
        flags=_flags(member, plan, reason or ""),
        normalised=_normalised(result, floor, ceiling),
        **_spent(result),
    )


def row_order(row: BoardRow) -> tuple[bool, bool, int, float, float, str]:
    """Return a sorting key: ranked rows first, reference agents last."""
    mean = row.score.mean
    return (
        row.submission.reference is not None,
        row.best is None,
        row.best or 0,
        -row.score.bounds.low,
        -(mean if mean is not None else -1.0),
        row.submission.slug,
    )


def _flags(member: Member, plan: BoardPlan, unranked: str) -> tuple[str, ...]:
    submission, result = member
    flags = [f"{name} \u00d7{count}" for name, count in sorted(result.tally.flags.items())]
    retried = sum(n for (status, _), n in result.tally.causes.items() if status == "retried")
    if retried:
        flags.append(f"{retried} retried")
    if dict(member.limits) != dict(plan.limits) and not unranked.startswith("other limits"):
        flags.append("other limits")
    if submission.plan.get("code", {}).get("dirty"):
        flags.append("uncommitted code")
    if result.tally.sandboxes.get("unsandboxed"):
        flags.append("unsandboxed")
    if submission.entry is not None:
        flags += _stated_flags(submission.entry.stated)
    return tuple(flags)


def _stated_flags(stated: SubmissionFile) -> list[str]:
    flags = []
    if stated.tuned:
        flags.append("tuned on the benchmark")
    if stated.training_data.benchmark != "none":
        flags.append(f"trained on: {stated.training_data.benchmark}")
    if stated.attempts > 1:
        flags.append(f"chosen from {stated.attempts} runs")
    return flags


def _normalised(result: EnvSummary, floor: float | None, ceiling: float | None) -> float | None:
    mean = result.score.mean
    if mean is None or floor is None or ceiling is None:
        return None
    return normalised_score(mean, floor, ceiling)


def _spent(result: EnvSummary) -> dict[str, float | None]:
    tally, trials = result.tally, result.score.trials
    cost, tokens = tally.total_cost(), tally.total_tokens()
    return {
        "tokens": tokens / trials if tokens else None,
        "cost": cost / trials if cost is not None else None,
        "latency": tally.latencies.quantile(0.5),
    }
