"""Relative scores within a group of transcripts.

CPO averages a judge's values for the members over several orders of the group; a tournament sums
pairwise comparisons.
"""

import math
from collections.abc import Mapping, Sequence

from hexathlon.tasks.seeding import generator_for

__all__ = ["averaged", "orders", "tournament"]


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
