"""Rollout structures: after which turns the rollouts of a group split, and into how many.

A structure knows no environment: it says where rollouts split, and the collector forks them there.
Rollouts that were split share the turns before, tokens and log-probabilities included.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from hexathlon.baselines.algorithms.registry import Registry

__all__ = ["STRUCTURES", "ForkPoint", "Structure", "forked", "independent", "leaves"]


class ForkPoint(NamedTuple):
    """A place at which every rollout of a group splits."""

    after: int
    """Turns that the policy has taken, from 1; those of a hint do not count."""

    width: int
    """Rollouts that each becomes."""


Structure = Callable[..., tuple[ForkPoint, ...]]
"""From its parameters to the splits, in the order of their turns."""


STRUCTURES: Registry[Structure] = Registry("rollout structure")


@STRUCTURES.register("independent")
def independent() -> tuple[ForkPoint, ...]:
    """Members that share nothing but the start."""
    return ()


@STRUCTURES.register("forked")
def forked(*, after: Sequence[int] = (1,), width: int = 2) -> tuple[ForkPoint, ...]:
    """Split into `width` rollouts after each of some turns.

    Raises:
        ValueError: A turn or the width makes no split.
    """
    if not after or min(after) < 1 or width < 2:
        raise ValueError(
            f"rollouts fork after turns from 1 on into at least 2, got after={list(after)} and "
            f"width={width}"
        )
    return tuple(ForkPoint(turn, width) for turn in sorted(set(after)))


def leaves(splits: Sequence[ForkPoint]) -> int:
    """Return how many rollouts one becomes, if its episode lasts beyond the last split."""
    return math.prod(split.width for split in splits)
