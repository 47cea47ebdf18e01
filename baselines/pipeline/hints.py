"""How much of the oracle's way a rollout is given before the policy goes on alone.

A hint is a number of the oracle's first actions. The rollout goes on from them; in the context
they are turns that the policy did not draw, so they are never trained on.
"""

from collections.abc import Callable

from hexathlon.baselines.algorithms.registry import Registry

__all__ = ["HINTS", "Hint", "fading", "rescue"]


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
