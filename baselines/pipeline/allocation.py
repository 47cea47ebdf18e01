"""Allocators: the number of rollouts of each task, out of a step's fixed budget."""

import math
from collections.abc import Callable

import numpy as np

from hexathlon.baselines.algorithms.registry import Registry
from hexathlon.baselines.algorithms.samples import Array
from hexathlon.baselines.pipeline.task_statistics import difficulty_bins

__all__ = [
    "ALLOCATORS",
    "Allocator",
    "dars",
    "equal",
    "extra_rollouts",
    "shadow_price",
    "uncertainty",
    "variance",
]


Allocator = Callable[..., list[int]]
"""Maps each task's expected success and a budget to rollouts per task, which sum to the budget."""


ALLOCATORS: Registry[Allocator] = Registry("rollout allocator")


def _check_range(tasks: int, budget: int, least: int, most: int) -> None:
    if not least * tasks <= budget <= most * tasks:
        raise ValueError(
            f"a budget of {budget} rollouts is out of range for {tasks} tasks with {least} to "
            f"{most} each"
        )


def _rounded(shares: Array, budget: int, least: int, most: int) -> list[int]:
    """Divide a budget by shares, `least` to `most` each; remainders go to the largest shares."""
    _check_range(len(shares), budget, least, most)
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


@ALLOCATORS.register("shadow_price")
def shadow_price(
    success: Array,
    budget: int,
    *,
    least: int = 2,
    most: int = 64,
    attempts: int = 8,
    bins: int = 5,
) -> list[int]:
    """The square-root rule under a price of rollouts, bin by bin (Rollout-GDRO).

    Tasks are binned by pass@`attempts`, as in the sampler `gdro`; with v the mean of p (1 - p) in
    its bin, a task gets clip(sqrt(v / price), least, most) rollouts, which minimises the sum of
    v / n + price * n. Chosen here: the price is solved for in every step, so that the budget holds
    exactly, instead of being corrected from step to step; remainders go to the largest fractions.

    Raises:
        ValueError: If `attempts` or `bins` is below 1, or the budget is out of range.
    """
    _check_range(len(success), budget, least, most)
    place = difficulty_bins(success, attempts, bins)
    size = np.bincount(place, minlength=bins)
    noise = np.bincount(place, weights=success * (1.0 - success), minlength=bins)
    root = np.sqrt(np.maximum(noise / np.maximum(size, 1), 1e-12))[place]
    low, high = root.min() / most / 2.0, root.max() / max(least, 0.5) * 2.0  # of sqrt(price)
    for _ in range(100):
        middle = np.sqrt(low * high)
        spent = np.clip(root / middle, least, most).sum()
        low, high = (middle, high) if spent > budget else (low, middle)
    wanted = np.clip(root / high, least, most)
    counts = np.floor(wanted + 1e-9).astype(int)
    order = np.lexsort((-root, -np.where(counts < most, wanted - counts, -1.0)))
    counts[order[: budget - counts.sum()]] += 1
    return [int(count) for count in counts]


def extra_rollouts(success: float, first: int, most: int, *, hardness: bool = False) -> int:
    """Return DARS's additional rollouts of a task after a first stage (without deviation scaling).

    With u the first stage's accuracy (0 counts as half a success) and S = 2 u (1 - u) the
    cumulative advantage of a rollout, the additional rollouts raise the task's total to that of
    u = 1/2, or with `hardness` to 2 (1 - u) times it. Tasks with u >= 1/2 get none.

    Args:
        success: Accuracy of the first stage.
        first: Rollouts of the first stage, N.
        most: Maximum of both stages together, N_max.
        hardness: Weigh hard tasks more (DARS-HW instead of DARS-ET).
    """
    rate = max(success, 0.5 / first)
    if rate >= 0.5:
        return 0
    advantage = 2.0 * rate * (1.0 - rate)
    peak = 0.5 * first * (2.0 * (1.0 - rate) if hardness else 1.0)
    return min(math.ceil((peak - first * advantage) / advantage - 1e-9), most - first)


@ALLOCATORS.register("dars")
def dars(
    success: Array, budget: int, *, least: int = 2, most: int = 64, hardness: bool = False
) -> list[int]:
    """More rollouts of hard tasks, so that their cumulative advantage is not the smallest (DARS).

    Chosen here: the first stage is the task's earlier rollouts, and a step's budget is divided in
    proportion to DARS's totals instead of growing with them.
    """
    first = max(budget // max(len(success), 1), 1)
    totals = [first + extra_rollouts(float(p), first, most, hardness=hardness) for p in success]
    return _rounded(np.array(totals, dtype=np.float64), budget, least, most)


@ALLOCATORS.register("uncertainty")
def uncertainty(
    success: Array,
    budget: int,
    *,
    least: int = 2,
    most: int = 64,
    explore: float = 0.1,
    quantile: float = 1.96,
) -> list[int]:
    """Each rollout where it shortens the reward's interval most (XRPO).

    The interval's half width after n rollouts is h(n) = quantile * sqrt(p (1 - p) / n); the next
    rollout goes to the largest h(n) - h(n + 1) + explore * sqrt(log N / n), with N rollouts so far.
    Chosen here: a normal quantile instead of Student's.
    """
    _rounded(np.ones(len(success)), budget, least, most)  # checks the budget's range
    counts = np.full(len(success), least, dtype=np.int64)
    deviation = quantile * np.sqrt(success * (1.0 - success))
    while counts.sum() < budget:
        tried = np.maximum(counts, 1)
        gain = deviation * (1.0 / np.sqrt(tried) - 1.0 / np.sqrt(tried + 1))
        bonus = explore * np.sqrt(math.log(max(int(counts.sum()), 1)) / tried)
        counts[np.argmax(np.where(counts < most, gain + bonus, -np.inf))] += 1
    return [int(count) for count in counts]
