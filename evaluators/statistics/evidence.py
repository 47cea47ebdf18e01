"""Scores under missing evidence: three explicit denominators.

A trial without a score (infrastructure failed, the judge abstained) may have been a pass or a
failure. The bounds give the score in either case (evidence bounds, arXiv 2605.10448).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Denominators:
    """One score under each treatment of missing evidence; every task has equal weight."""

    excluded: float | None
    """Over scored trials only: S/(S+F). None if no trial was scored."""
    infra_as_failure: float | None
    """Infrastructure failures counted as failed; unscored trials excluded."""
    low: float
    """All missing trials failed: S/(S+F+U)."""
    high: float
    """All missing trials passed: (S+U)/(S+F+U)."""


def denominators(
    rewards: Sequence[float], scored: Sequence[int], unscored: Sequence[int], infra: Sequence[int]
) -> Denominators:
    """Return the score under each treatment of missing evidence.

    With equally many trials per task these are the pooled ratios; otherwise means over tasks.

    Args:
        rewards: Sum of rewards over a task's scored trials, by task.
        scored: Number of scored trials by task.
        unscored: Number of trials left undecided by the verifier or judge, by task.
        infra: Number of infrastructure failures, by task.
    """
    rows = [row for row in zip(rewards, scored, unscored, infra, strict=True) if sum(row[1:])]
    if not rows:
        raise ValueError("no trial at all: a score needs at least one")
    return Denominators(
        excluded=_mean([s / n for s, n, _, _ in rows if n]),
        infra_as_failure=_mean([s / (n + i) for s, n, _, i in rows if n + i]),
        low=math.fsum(s / (n + u + i) for s, n, u, i in rows) / len(rows),
        high=math.fsum((s + u + i) / (n + u + i) for s, n, u, i in rows) / len(rows),
    )


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def normalised_score(score: float, floor: float, ceiling: float) -> float | None:
    """Return (score - floor)/(ceiling - floor): 0 is the best trivial agent, 1 the oracle.

    None if the ceiling is not above the floor. Below the floor the result is negative.
    """
    if ceiling <= floor:
        return None
    return (score - floor) / (ceiling - floor)
