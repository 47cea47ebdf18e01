"""How much of the oracle's way a rollout is given before the policy goes on alone.

A hint is a number of the oracle's first actions. The rollout goes on from them; in the context
they are turns that the policy did not draw, so they are never trained on.
"""

import math
from collections.abc import Callable, Sequence

from hexathlon.baselines.algorithms.registry import Registry

__all__ = ["HINTS", "Hint", "fading", "fitted", "rescue"]


Hint = Callable[..., int]
"""From expected success without a hint and the oracle's number of actions to actions given."""


HINTS: Registry[Hint] = Registry("hint")


def _share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{name} is a share from 0 to 1, got {value}")


@HINTS.register("none")
def none(success: float, actions: int) -> int:
    """Nothing."""
    return 0


@HINTS.register("fading")
def fading(success: float, actions: int, *, most: float = 0.8) -> int:
    """The share 1 - success of the oracle's actions, up to `most` (after ADHint).

    Raises:
        ValueError: `most` is no share.
    """
    _share("most", most)
    return int(min(1.0 - success, most) * actions)


@HINTS.register("rescue")
def rescue(success: float, actions: int, *, share: float = 0.5, below: float = 0.2) -> int:
    """A share of the actions for tasks that nearly never succeed, else nothing (after Guide).

    A task that was never tried stands at the prior, 0.5; one failed in all of 8 rollouts at 0.1.

    Raises:
        ValueError: `share` or `below` is no share.
    """
    _share("share", share)
    _share("below", below)
    return int(share * actions) if success <= below else 0


def fitted(shares: Sequence[float], success: Sequence[float], target: float = 0.5) -> float:
    """Return the share of actions at which success should meet a target (after SEELE).

    Success is taken for logistic in the share given; the line through the log-odds is fitted by
    least squares.

    Raises:
        ValueError: There are fewer than two different shares.
    """
    if len(set(shares)) < 2:
        raise ValueError("fitting how success depends on hints needs two different lengths")
    odds = [math.log(max(p, 0.01) / max(1.0 - p, 0.01)) for p in success]
    mean_x, mean_y = sum(shares) / len(shares), sum(odds) / len(odds)
    spread = sum((x - mean_x) ** 2 for x in shares)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(shares, odds, strict=True)) / spread
    if slope <= 0:
        return max(shares)
    wanted = mean_x + (math.log(target / (1.0 - target)) - mean_y) / slope
    return min(max(wanted, 0.0), 1.0)
