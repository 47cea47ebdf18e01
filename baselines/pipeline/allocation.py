"""Allocators: the number of rollouts of each task, out of a step's fixed budget."""

from collections.abc import Callable

import numpy as np

from hexathlon.baselines.algorithms.registry import Registry
from hexathlon.baselines.algorithms.samples import Array

__all__ = ["ALLOCATORS", "Allocator", "equal", "variance"]


Allocator = Callable[..., list[int]]
"""Maps each task's expected success and a budget to rollouts per task, which sum to the budget."""


ALLOCATORS: Registry[Allocator] = Registry("rollout allocator")


def _rounded(shares: Array, budget: int, least: int, most: int) -> list[int]:
    """Divide a budget by shares, `least` to `most` each; remainders go to the largest shares."""
    if not least * len(shares) <= budget <= most * len(shares):
        raise ValueError(
            f"a budget of {budget} rollouts is out of range for {len(shares)} tasks with {least} "
            f"to {most} each"
        )
    counts = np.full(len(shares), least)
    while (rest := budget - int(counts.sum())) > 0:
        below = counts < most
        weight = np.where(below, shares, 0.0)
        weight = weight / weight.sum() if weight.sum() > 0 else below / below.sum()
        extra = np.minimum(np.floor(weight * rest).astype(int), most - counts)
        if extra.sum() == 0:
            order = np.argsort(-np.where(below, weight, -1.0), kind="stable")[:rest]
            extra[[place for place in order if below[place]]] = 1
        counts = counts + extra
    return [int(count) for count in counts]


@ALLOCATORS.register("equal")
def equal(success: Array, budget: int, *, least: int = 1, most: int = 1 << 20) -> list[int]:
    """The same number for every task."""
    return _rounded(np.ones(len(success)), budget, least, most)


@ALLOCATORS.register("variance")
def variance(success: Array, budget: int, *, least: int = 2, most: int = 64) -> list[int]:
    """In proportion to the reward's deviation, sqrt(p (1 - p)) (GDRO's square-root rule).

    This division of a budget minimises the summed variance of the tasks' mean rewards.
    """
    return _rounded(np.sqrt(success * (1.0 - success)), budget, least, most)
