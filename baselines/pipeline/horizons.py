"""Horizons: the turn limit of the rollouts of a training step."""

from collections.abc import Callable

from hexathlon.baselines.algorithms.registry import Registry

__all__ = ["HORIZONS", "Horizon", "fixed", "growing"]


Horizon = Callable[..., int]
"""Maps a step, from 0, and a task table's turns to the turns of the step's rollouts."""


HORIZONS: Registry[Horizon] = Registry("rollout horizon")


@HORIZONS.register("fixed")
def fixed(step: int, turns: int) -> int:
    """The table's own turns in every step."""
    return turns


@HORIZONS.register("growing")
def growing(step: int, turns: int, *, first: int = 4, every: int = 10) -> int:
    """min(first * stage, turns), with a new stage after `every` steps (TTI's curriculum).

    Raises:
        ValueError: If `first` or `every` is below 1.
    """
    if first < 1 or every < 1:
        raise ValueError(f"expected at least 1, got first={first} and every={every}")
    return min(first * (1 + step // every), turns)
