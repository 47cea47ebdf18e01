"""Which tasks a step is spent on, by what is known of their difficulty."""

from collections.abc import Callable, Sequence

import numpy as np

from hexathlon.baselines.algorithms.registry import Registry
from hexathlon.baselines.pipeline.task_statistics import TaskStatistics

__all__ = ["SAMPLERS", "Sampler", "first", "frontier", "thompson", "uniform"]


Sampler = Callable[..., list[int]]
"""From candidates, their statistics, how many are wanted and a generator to distinct places."""


SAMPLERS: Registry[Sampler] = Registry("task sampler")


def _fits(tasks: Sequence[str], count: int) -> None:
    if count > len(tasks):
        raise ValueError(f"{count} tasks are wanted of {len(tasks)}; draw more candidates")


@SAMPLERS.register("first")
def first(
    tasks: Sequence[str], known: TaskStatistics, count: int, draw: np.random.Generator
) -> list[int]:
    """The first ones, in the order in which candidates were drawn."""
    _fits(tasks, count)
    return list(range(count))


@SAMPLERS.register("uniform")
def uniform(
    tasks: Sequence[str], known: TaskStatistics, count: int, draw: np.random.Generator
) -> list[int]:
    """Any of them."""
    _fits(tasks, count)
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
        ValueError: The temperature is not above 0, or there are fewer tasks than are wanted.
    """
    if temperature <= 0:
        raise ValueError(f"temperature is above 0, got {temperature}")
    _fits(tasks, count)
    # The largest of log w + Gumbel noise are a draw without replacement by w.
    log_weight = -np.abs(known.success(tasks) - target) / temperature
    scores = log_weight + draw.gumbel(size=len(tasks))
    return [int(place) for place in np.argsort(-scores, kind="stable")[:count]]


@SAMPLERS.register("thompson")
def thompson(
    tasks: Sequence[str], known: TaskStatistics, count: int, draw: np.random.Generator
) -> list[int]:
    """The largest p(1 - p) with p drawn from each task's posterior (after VADE)."""
    _fits(tasks, count)
    both = known.posterior(tasks)
    rate = draw.beta(both[:, 0], both[:, 1])
    return [int(place) for place in np.argsort(-rate * (1.0 - rate), kind="stable")[:count]]
