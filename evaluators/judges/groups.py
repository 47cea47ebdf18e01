"""Relative scores within a group of transcripts.

CPO averages a judge's values of the group over several orders; a tournament sums comparisons of
pairs; MOA weights the dimensions of a rubric by the latest training gain in each.
"""

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hexathlon.tasks.seeding import generator_for

__all__ = ["Pivot", "averaged", "conflict_free", "orders", "pivot", "tournament"]


def orders(size: int, count: int, *address: str | int) -> list[tuple[int, ...]]:
    """Return seeded orders of a group; every second one is the reverse of the previous one.

    So with an even count each member's average position is the middle, and a judge's position
    bias is the same for every member.
    """
    generator = generator_for("judge-order", *address)
    permutations: list[tuple[int, ...]] = []
    while len(permutations) < count:
        order = tuple(int(index) for index in generator.permutation(size))
        permutations += [order, order[::-1]]
    return permutations[:count]


def averaged(
    size: int, shown: Sequence[tuple[Sequence[int], Sequence[float] | None]]
) -> list[float | None]:
    """Return each member's mean value over the calls with an answer (CPO, 2508.09074).

    Args:
        size: Members of the group.
        shown: For each call, the order in which members were shown, and their values in that order;
            None for a call without an answer.
    """
    sums: list[list[float]] = [[] for _ in range(size)]
    for order, values in shown:
        if values is not None:
            for member, value in zip(order, values, strict=True):
                sums[member].append(value)
    return [math.fsum(row) / len(row) if row else None for row in sums]


def tournament(size: int, results: Mapping[tuple[int, int], float | None]) -> list[float | None]:
    """Return the mean result of each member over both orders: win 1, tie 1/2, loss 0.

    Args:
        size: Members of the group.
        results: For (i, j), shown in this order, the result of i; None if the judge did not
            decide.
    """
    rows: list[list[float]] = [[] for _ in range(size)]
    for (first, second), result in results.items():
        if result is not None:
            rows[first].append(result)
            rows[second].append(1.0 - result)
    return [math.fsum(row) / len(row) if row else None for row in rows]


class Pivot(NamedTuple):
    """MOA's dimension weights in one training step."""

    weights: tuple[float, ...]
    residuals: tuple[float, ...]
    pivot: int
    """The dimension with the largest weight, the first of several."""


def pivot(history: Sequence[Sequence[float]], means: Sequence[float], beta: float) -> Pivot:
    """Return MOA's weights w = softmax(beta * u), u the residual of each mean against its trend.

    The trend is the least-squares line through the last K step means, extrapolated by one step;
    with one earlier step it is that step's mean, with none the residual is 0 (arXiv 2512.09756).

    Args:
        history: Step means by dimension, oldest first: K rows of D.
        means: This step's mean of each dimension.
        beta: Sharpness; 0 gives equal weights.
    """
    residuals = tuple(
        mean - _forecast([row[d] for row in history], mean) for d, mean in enumerate(means)
    )
    top = max(residuals)
    raw = [math.exp(beta * (residual - top)) for residual in residuals]
    total = math.fsum(raw)
    weights = tuple(value / total for value in raw)
    return Pivot(weights, residuals, max(range(len(means)), key=lambda d: (weights[d], -d)))


def conflict_free(weighted: Sequence[float], on_pivot: Sequence[float]) -> list[int]:
    """Return the largest subset in which both scores have the same order; indexes ascending.

    It excludes members that score well overall but badly on the pivot dimension. It is the longest
    chain that is non-decreasing in both; ties are broken deterministically.
    """
    order = sorted(range(len(weighted)), key=lambda i: (weighted[i], on_pivot[i], i))
    tails: list[float] = []
    ends: list[int] = []
    before: dict[int, int] = {}
    for index in order:
        value = on_pivot[index]
        at = bisect_right(tails, value)
        if at:
            before[index] = ends[at - 1]
        if at == len(tails):
            tails.append(value)
            ends.append(index)
        else:
            tails[at], ends[at] = value, index
    chain: list[int] = []
    at_end = ends[-1] if ends else None
    while at_end is not None:
        chain.append(at_end)
        at_end = before.get(at_end)
    return sorted(chain)


def _forecast(past: Sequence[float], now: float) -> float:
    if not past:
        return now
    n = len(past)
    mean = math.fsum(past) / n
    middle = (n - 1) / 2.0
    spread = math.fsum((x - middle) ** 2 for x in range(n))
    if spread == 0.0:
        return mean
    slope = math.fsum((x - middle) * (y - mean) for x, y in enumerate(past)) / spread
    return mean + slope * (n - middle)
