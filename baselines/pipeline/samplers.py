"""Samplers: the tasks of a step, chosen by estimates of their difficulty."""

from collections.abc import Callable, Sequence

import numpy as np

from hexathlon.baselines.algorithms.registry import Registry
from hexathlon.baselines.pipeline.task_statistics import TaskStatistics

__all__ = ["SAMPLERS", "Sampler", "first", "frontier", "thompson", "uniform"]


Sampler = Callable[..., list[int]]
"""Maps candidates, statistics, a count and a random generator to that many distinct indices."""


SAMPLERS: Registry[Sampler] = Registry("task sampler")


def _check_count(tasks: Sequence[str], count: int) -> None:
    if count > len(tasks):
        raise ValueError(f"{count} tasks requested from {len(tasks)} candidates; draw more")


@SAMPLERS.register("first")
def first(
    tasks: Sequence[str], known: TaskStatistics, count: int, draw: np.random.Generator
) -> list[int]:
    """The first candidates, in the order in which they were drawn."""
    _check_count(tasks, count)
    return list(range(count))


@SAMPLERS.register("uniform")
def uniform(
    tasks: Sequence[str], known: TaskStatistics, count: int, draw: np.random.Generator
) -> list[int]:
    """Candidates uniformly at random."""
    _check_count(tasks, count)
    return [int(place) for place in draw.permutation(len(tasks))[:count]]


@SAMPLERS.register("frontier")
def frontier(
    tasks: Sequence[str],
    known: TaskStatistics,
    count: int,
    draw: np.random.Generator,
    *,
    target: float = 0.5,
    temperature: float = 0.1,
) -> list[int]:
    """Without replacement, by exp(-|success - target| / temperature) (difficulty-targeted).

    Raises:
        ValueError: If `temperature` is not positive, or there are fewer tasks than `count`.
    """
    if temperature <= 0:
        raise ValueError(f"temperature must be positive, got {temperature}")
    _check_count(tasks, count)
    # The Gumbel trick: the top of log w + noise is a draw without replacement by weights w.
    log_weight = -np.abs(known.success(tasks) - target) / temperature
    scores = log_weight + draw.gumbel(size=len(tasks))
    return [int(place) for place in np.argsort(-scores, kind="stable")[:count]]


@SAMPLERS.register("thompson")
def thompson(
    tasks: Sequence[str], known: TaskStatistics, count: int, draw: np.random.Generator
) -> list[int]:
    """The largest p (1 - p), with p drawn from each task's posterior (after VADE)."""
    _check_count(tasks, count)
    parameters = known.posterior(tasks)
    rate = draw.beta(parameters[:, 0], parameters[:, 1])
    return [int(place) for place in np.argsort(-rate * (1.0 - rate), kind="stable")[:count]]
