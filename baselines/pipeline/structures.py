"""Rollout structures: where the rollouts of a group split.

A structure does not depend on the environment: it names fixed splits, or chooses branches from what
was played (`growth`), and the collector forks rollouts there. Rollouts from one split share the
turns before it, including tokens and log-probabilities.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from hexathlon.baselines.algorithms.registry import Registry
from hexathlon.baselines.pipeline.growth import TreeGrowth

__all__ = ["STRUCTURES", "ForkPoint", "Structure", "forked", "independent", "leaves"]


class ForkPoint(NamedTuple):
    """A point at which every rollout of a group splits."""

    after: int
    """Number of the policy's turns before it, at least 1; turns of a hint do not count."""

    width: int
    """Number of rollouts into which each one splits."""


Structure = Callable[..., tuple[ForkPoint, ...] | TreeGrowth]
"""Maps its parameters to the splits, ordered by turn, or to a growing tree."""


STRUCTURES: Registry[Structure] = Registry("rollout structure")


@STRUCTURES.register("independent")
def independent() -> tuple[ForkPoint, ...]:
    """Rollouts that share only the start."""
    return ()


@STRUCTURES.register("forked")
def forked(*, after: Sequence[int] = (1,), width: int = 2) -> tuple[ForkPoint, ...]:
    """Split into `width` rollouts after each of some turns.

    Raises:
        ValueError: If `after` is empty or has a turn below 1, or `width` is below 2.
    """
    if not after or min(after) < 1 or width < 2:
        raise ValueError(
            f"expected turns of at least 1 and a width of at least 2, got after={list(after)} and "
            f"width={width}"
        )
    return tuple(ForkPoint(turn, width) for turn in sorted(set(after)))


def leaves(splits: Sequence[ForkPoint]) -> int:
    """Return into how many rollouts one splits if its episode outlasts the last split."""
    return math.prod(split.width for split in splits)
