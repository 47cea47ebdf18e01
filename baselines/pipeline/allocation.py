"""How many rollouts each task of a step gets out of a fixed budget."""

import math
from collections.abc import Callable

import numpy as np

from hexathlon.baselines.algorithms.registry import Registry
from hexathlon.baselines.algorithms.samples import Array

__all__ = ["ALLOCATORS", "Allocator", "dars_extra", "equal", "variance"]


Allocator = Callable[..., list[int]]
"""From each task's expected success and a budget to rollouts per task that add up to it."""


ALLOCATORS: Registry[Allocator] = Registry("rollout allocator")


def _rounded(shares: Array, budget: int, least: int, most: int) -> list[int]:
    """Deal out a budget by shares, at least `least` and at most `most` each, remainders last."""
    if not least * len(shares) <= budget <= most * len(shares):
        raise ValueError(
            f"{budget} rollouts do not fit {len(shares)} tasks with {least} to {most} each"
        )
    given = np.full(len(shares), least)
    while (rest := budget - int(given.sum())) > 0:
        open_ = given < most
        weight = np.where(open_, shares, 0.0)
        weight = weight / weight.sum() if weight.sum() > 0 else open_ / open_.sum()
        wanted = np.minimum(np.floor(weight * rest).astype(int), most - given)
        if wanted.sum() == 0:
            order = np.argsort(-np.where(open_, weight, -1.0), kind="stable")[:rest]
            wanted[[place for place in order if open_[place]]] = 1
        given = given + wanted
    return [int(count) for count in given]


@ALLOCATORS.register("equal")
def equal(success: Array, budget: int, *, least: int = 1, most: int = 1 << 20) -> list[int]:
    """The same for every task."""
    return _rounded(np.ones(len(success)), budget, least, most)


@ALLOCATORS.register("variance")
def variance(success: Array, budget: int, *, least: int = 2, most: int = 64) -> list[int]:
    """By the deviation of the reward, sqrt(p (1 - p)) (GDRO's square-root rule).

    It is the split of a budget under which the summed variance of the tasks' means is smallest.
    """
    return _rounded(np.sqrt(success * (1.0 - success)), budget, least, most)


def dars_extra(
    correct: int, tried: int, *, most: int = 32, by_hardness: bool = False, scaled: bool = False
) -> int:
    """Return how many more rollouts a task gets after a first stage (Yang et al. 2025, DARS).

    A task's summed advantage is brought up to that of one half solved.

    Args:
        correct: Successes in the first stage.
        tried: Its rollouts.
        most: Most rollouts in both stages.
        by_hardness: Weigh what is missing by 2 (1 - accuracy), else treat tasks alike.
        scaled: Advantages are divided by their deviation.
    """
    accuracy = correct / tried if correct else 0.5 / tried
    if accuracy >= 0.5:
        return 0
    spread = accuracy * (1.0 - accuracy)
    each = 2.0 * math.sqrt(spread) if scaled else 2.0 * spread
    peak = tried if scaled else 0.5 * tried
    wanted = 2.0 * (1.0 - accuracy) * peak if by_hardness else peak
    return min(math.ceil((wanted - tried * each) / each - 1e-9), most - tried)
