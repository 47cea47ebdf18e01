"""Comparison of a run with its repetition: same work, drawn again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.evaluators.statistics import PairedComparison, paired_comparison
from hexathlon.evaluators.summary import EnvSummary
from hexathlon.leaderboard.submission import Submission, SubmissionRejected, load_submission

__all__ = ["RerunOutcome", "compare_outcomes", "stored_outcomes"]

_ALPHA = 0.01


class RerunOutcome(NamedTuple):
    """One event of a run and of its repetition."""

    env: str
    first: float
    second: float
    tasks: int
    changed: int
    """Tasks whose mean score differs."""
    p_value: float
    """Of "both have the same expected score", two-sided, Bonferroni-corrected over events."""
    determined: bool
    """Whether the agent samples nothing, so that every task must have the same score."""
    detectable: float
    """Smallest true difference that this comparison detects with 80 % power."""

    @property
    def consistent(self) -> bool:
        """Whether the two agree."""
        return self.changed == 0 if self.determined else self.p_value > _ALPHA

    def line(self) -> str:
        """Return the outcome as a line of text."""
        verdict = "consistent" if self.consistent else "DIFFERENT"
        return (
            f"{self.env}: {self.first:.3f} and {self.second:.3f} on {self.tasks} tasks, "
            f"{self.changed} changed, p {self.p_value:.3g}: {verdict}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as JSON."""
        rounded = {n: None if v != v else v for n, v in self._asdict().items()}
        return {**rounded, "consistent": self.consistent}


def stored_outcomes(details: Mapping[str, Any]) -> list[RerunOutcome]:
    """Return the outcomes in the details of a ledger's line; those of another form are left out."""
    events = details.get("events")
    return [
        RerunOutcome(**{name: one[name] for name in RerunOutcome._fields})
        for one in (events if isinstance(events, list) else [])
        if isinstance(one, dict) and all(_fits(one, name) for name in RerunOutcome._fields)
    ]


def _fits(stored: Mapping[str, Any], name: str) -> bool:
    value = stored.get(name)
    if name == "env":
        return isinstance(value, str)
    unknown = name in ("p_value", "detectable") and name in stored and value is None
    return unknown or isinstance(value, int | float)


def compare_outcomes(run: Path, again: Path) -> list[RerunOutcome]:
    """Return the outcome of every event of a run that was run again.

    Raises:
        SubmissionRejected: If one of the runs is invalid, or they are not of the same work.
    """
    first, second = load_submission(run), load_submission(again)
    if first.work != second.work:
        raise SubmissionRejected(f"{again} does not have the plan of {run}")
    pairs = [(env, second.env(env.env, env.version)) for env in first.summary.envs]
    if any(other is None for _, other in pairs):
        raise SubmissionRejected(f"{again} lacks an event of {run}")
    return [_outcome(first, env, other, len(pairs)) for env, other in pairs if other]


def _outcome(run: Submission, a: EnvSummary, b: EnvSummary, events: int) -> RerunOutcome:
    one, other = a.rank_means(), b.rank_means()
    clusters = a.clusters() if len(set(a.clusters().values())) > 1 else None
    result: PairedComparison = paired_comparison(one, other, clusters)
    model = run.plan.get("model", {})
    return RerunOutcome(
        env=a.env,
        first=math.fsum(one.values()) / len(one),
        second=math.fsum(other.values()) / len(other),
        tasks=result.tasks,
        changed=sum(one[task] != other.get(task) for task in one),
        p_value=min(1.0, events * result.p_value),
        determined=model.get("kind") == "agent",
        detectable=result.detectable,
    )
