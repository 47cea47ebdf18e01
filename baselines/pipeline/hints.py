"""Hints: how many of the oracle's first actions a rollout starts from.

In the context these actions are turns that the policy did not sample, so they are never trained on.
"""

from collections.abc import Callable

from hexathlon.baselines.algorithms.registry import Registry

__all__ = ["HINTS", "Hint", "fading", "rescue"]


Hint = Callable[..., int]
"""Maps expected success without a hint and the oracle's number of actions to the number given."""


HINTS: Registry[Hint] = Registry("hint")


def _check_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must be a share from 0 to 1, got {value}")


@HINTS.register("none")
def none(success: float, actions: int) -> int:
    """No actions."""
    return 0


@HINTS.register("fading")
def fading(success: float, actions: int, *, most: float = 0.8) -> int:
    """The share 1 - success of the oracle's actions, up to `most` (after ADHint).

    Raises:
        ValueError: If `most` is not in [0, 1].
    """
    _check_share("most", most)
    return int(min(1.0 - success, most) * actions)


@HINTS.register("rescue")
def rescue(success: float, actions: int, *, share: float = 0.5, below: float = 0.2) -> int:
    """A share of the actions for tasks that rarely succeed, else none (after Guide).

    An untried task has the prior's success, 0.5; one that failed in 8 of 8 rollouts has 0.1.

    Raises:
        ValueError: If `share` or `below` is not in [0, 1].
    """
    _check_share("share", share)
    _check_share("below", below)
    return int(share * actions) if success <= below else 0
