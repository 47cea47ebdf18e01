"""Samplers: the tasks of a step, chosen by estimates of their difficulty."""

from collections.abc import Callable, Sequence

import numpy as np

from hexathlon.baselines.algorithms.registry import Registry
from hexathlon.baselines.pipeline.task_statistics import TaskStatistics, difficulty_bins

__all__ = [
    "SAMPLERS",
    "Sampler",
    "check_count",
    "first",
    "frontier",
    "gdro",
    "solving_progress",
    "thompson",
    "uniform",
]


Sampler = Callable[..., list[int]]
"""Maps candidates, statistics, a count and a random generator to that many distinct indices."""


SAMPLERS: Registry[Sampler] = Registry("task sampler")


def check_count(tasks: Sequence[str], count: int) -> None:
    """Raise a `ValueError` if there are fewer tasks than requested."""
    if count > len(tasks):
        raise ValueError(f"{count} tasks requested from {len(tasks)} candidates; draw more")


@SAMPLERS.register("first")
def first(
    tasks: Sequence[str], known: TaskStatistics, count: int, draw: np.random.Generator
) -> list[int]:
    """The first candidates, in the order in which they were drawn."""
    check_count(tasks, count)
    return list(range(count))


@SAMPLERS.register("uniform")
def uniform(
    tasks: Sequence[str], known: TaskStatistics, count: int, draw: np.random.Generator
) -> list[int]:
    """Candidates uniformly at random."""
    check_count(tasks, count)
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
    check_count(tasks, count)
    # The Gumbel trick: the top of log w + noise is a draw without replacement by weights w.
    log_weight = -np.abs(known.success(tasks) - target) / temperature
    scores = log_weight + draw.gumbel(size=len(tasks))
    return [int(place) for place in np.argsort(-scores, kind="stable")[:count]]


@SAMPLERS.register("thompson")
def thompson(
    tasks: Sequence[str],
    known: TaskStatistics,
    count: int,
    draw: np.random.Generator,
    *,
    idle: float = 1.0,
) -> list[int]:
    """The largest p (1 - p), with p drawn from each task's posterior (VADE).

    VADE discounts on two scales: counts lose `TaskStatistics.decay` each time a task is tried, and
    `idle` for each batch in which it is not, so that neglected tasks become uncertain again.
    Chosen here: both forms, and no discount of idle tasks by default.

    Raises:
        ValueError: If `idle` is not in (0, 1], or there are fewer tasks than `count`.
    """
    if not 0 < idle <= 1:
        raise ValueError(f"idle must be above 0 and at most 1, got {idle}")
    check_count(tasks, count)
    parameters = known.posterior(tasks, idle)
    rate = draw.beta(parameters[:, 0], parameters[:, 1])
    return [int(place) for place in np.argsort(-rate * (1.0 - rate), kind="stable")[:count]]


@SAMPLERS.register("gdro")
def gdro(
    tasks: Sequence[str],
    known: TaskStatistics,
    count: int,
    draw: np.random.Generator,
    *,
    attempts: int = 8,
    bins: int = 5,
    eta: float = 1.0,
) -> list[int]:
    """Harder bins more often, by multiplicative weights (Prompt-GDRO).

    Tasks are binned by pass@`attempts` under their expected success. A bin is drawn in proportion
    to exp(eta * the mean failure of its tasks), a task within it uniformly, without replacement.
    Chosen here: the moving average of a bin's loss is the discount of `TaskStatistics`, which
    counts every try of a task once; no correction for how often a bin is drawn is needed.

    Raises:
        ValueError: If `attempts` or `bins` is below 1, or there are fewer tasks than `count`.
    """
    check_count(tasks, count)
    success = known.success(tasks)
    place = difficulty_bins(success, attempts, bins)
    size = np.bincount(place, minlength=bins)
    loss = np.bincount(place, weights=1.0 - success, minlength=bins) / np.maximum(size, 1)
    scores = (eta * loss - np.log(np.maximum(size, 1)))[place] + draw.gumbel(size=len(tasks))
    return [int(chosen) for chosen in np.argsort(-scores, kind="stable")[:count]]


@SAMPLERS.register("solving_progress")
def solving_progress(
    tasks: Sequence[str],
    known: TaskStatistics,
    count: int,
    draw: np.random.Generator,
    *,
    learns: float = 0.1,
    forgets: float = 0.02,
    sure: float = 0.02,
) -> list[int]:
    """The tasks most likely to be half solved next, by a hidden Markov model (after DPS).

    A task is unsolved, half solved or solved: a rollout succeeds with probability `sure`, 1/2 or
    1 - `sure`. Between two steps it advances by one state with probability `learns` and falls back
    with `forgets`. Chosen here: the evidence of earlier steps is discounted (`TaskStatistics`)
    instead of filtered step by step, and the transition probabilities are fixed. Ties are drawn.

    Raises:
        ValueError: If a probability is outside (0, 1/2), or there are fewer tasks than `count`.
    """
    if not all(0.0 < each < 0.5 for each in (learns, forgets, sure)):
        raise ValueError(
            f"expected probabilities between 0 and 0.5, got learns={learns}, forgets={forgets} and "
            f"sure={sure}"
        )
    check_count(tasks, count)
    rate = np.array([sure, 0.5, 1.0 - sure])
    tried = known.posterior(tasks) - np.array(known.prior)
    evidence = tried[:, :1] * np.log(rate) + tried[:, 1:] * np.log(1.0 - rate)
    belief = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    belief /= belief.sum(axis=1, keepdims=True)
    unsolved, half, solved = belief.T
    expected = learns * unsolved + (1.0 - learns - forgets) * half + forgets * solved
    tie = draw.random(len(tasks))
    return [int(place) for place in np.lexsort((tie, -expected))[:count]]
