"""Rankings no finer than the data: rank ranges from paired tests, and the Pareto front."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from hexathlon.evaluators.statistics.comparison import holm, paired_comparison


@dataclass(frozen=True, slots=True)
class RankRange:
    """Possible places of a row, from 1; ``best == worst`` only if all tests agree."""

    best: int
    """1 + the number of rows that are significantly better."""
    worst: int
    """Number of rows minus those that are significantly worse."""


def rank_ranges(
    scores: Sequence[Mapping[str, float]],
    clusters: Mapping[str, Hashable] | None = None,
    *,
    alpha: float = 0.05,
) -> list[RankRange]:
    """Return the rank range of each row of per-task mean scores.

    Every pair of rows is compared by `paired_comparison` on their shared tasks, and the p-values
    are corrected by Holm over all pairs. Rows with the same ``best`` are a tie group. Rows without
    a shared task are not comparable and never precede each other.
    """
    pairs = list(itertools.combinations(range(len(scores)), 2))
    results = [_difference(scores[a], scores[b], clusters) for a, b in pairs]
    adjusted = holm([p_value for _, p_value in results])
    better = [0] * len(scores)
    worse = [0] * len(scores)
    for (a, b), (difference, _), p_value in zip(pairs, results, adjusted, strict=True):
        if p_value <= alpha and difference != 0:
            winner, loser = (a, b) if difference > 0 else (b, a)
            better[loser] += 1
            worse[winner] += 1
    total = len(scores)
    return [RankRange(1 + up, total - down) for up, down in zip(better, worse, strict=True)]


def _difference(
    a: Mapping[str, float], b: Mapping[str, float], clusters: Mapping[str, Hashable] | None
) -> tuple[float, float]:
    if a.keys().isdisjoint(b.keys()):
        return math.nan, 1.0
    result = paired_comparison(a, b, clusters)
    return result.difference, result.p_value


def pareto_front(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Return for each (cost, score) whether it is on the Pareto front.

    A point is dominated if another costs no more and scores no less, one of the two strictly.
    """
    return [
        not any(
            cost <= own_cost and score >= own_score and (cost, score) != (own_cost, own_score)
            for cost, score in points
        )
        for own_cost, own_score in points
    ]
