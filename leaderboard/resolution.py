"""What a board can tell apart: neighbours, detectable differences, the noise of repeat runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hexathlon.evaluators.statistics import PairTests, UnitSums, pair_tests

__all__ = ["RepeatedRuns", "Resolution", "resolution"]


@dataclass(frozen=True, slots=True)
class RepeatedRuns:
    """Runs of one agent on the same trials."""

    name: str
    runs: int
    largest: float
    """Largest difference between two of their scores."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """How finely a board's tasks and trials separate its ranked rows."""

    neighbours: int
    """Pairs of rows that follow each other by score."""
    separated: int
    """Neighbours that a paired test with Holm's correction over all pairs tells apart."""
    groups: int
    """Tie groups: sets of rows whose rank ranges begin with the same number."""
    detectable: float | None
    """Median over neighbours of the smallest true difference found with 80 % power."""
    noise: float | None
    """Median over rows of the distance below which two runs of one agent on the same trials stay
    in 95 % of cases, from the spread of its trials within tasks.
    """
    repeated: tuple[RepeatedRuns, ...]
    """Measured: agents that were run more than once."""


def resolution(
    rows: Sequence[UnitSums],
    bests: Sequence[int],
    noises: Sequence[float | None],
    names: Sequence[tuple[str, str]],
    tests: PairTests | None = None,
) -> Resolution | None:
    """Return the resolution of a board; None without ranked rows.

    Args:
        rows: Sums of the ranked rows.
        bests: The first number of each rank range.
        noises: Standard deviation of each row's score over repeat runs; None if unknown.
        names: Each row's name, and what identifies its agent.
        tests: All pairs of the rows compared, if that is done already.
    """
    if not rows:
        return None
    tests = pair_tests(rows) if tests is None else tests
    means = [math.fsum(row.sums) / row.tasks for row in rows]
    order = sorted(range(len(rows)), key=lambda place: -means[place])
    pairs = list(zip(order, order[1:], strict=False))
    details = [float(tests.detectable[pair]) for pair in pairs]
    spreads = [1.96 * math.sqrt(2.0) * noise for noise in noises if noise is not None]
    return Resolution(
        neighbours=len(pairs),
        separated=sum(tests.better(a, b) for a, b in pairs),
        groups=len(set(bests)),
        detectable=_median([one for one in details if not math.isnan(one)]),
        noise=_median(spreads),
        repeated=tuple(_repeated(names, means)),
    )


def _repeated(names: Sequence[tuple[str, str]], means: Sequence[float]) -> list[RepeatedRuns]:
    groups: dict[str, list[int]] = {}
    for place, (_, identity) in enumerate(names):
        groups.setdefault(identity, []).append(place)
    return [
        RepeatedRuns(
            names[places[0]][0],
            len(places),
            max(means[place] for place in places) - min(means[place] for place in places),
        )
        for places in groups.values()
        if len(places) > 1
    ]


def _median(values: Sequence[float]) -> float | None:
    if not values:
        return None
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
