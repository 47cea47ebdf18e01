"""Hints: how many of the oracle's first actions a rollout starts from.

In the context these actions are turns that the policy did not sample, so they are never trained on.
"""

import math
from collections.abc import Callable, Sequence

from hexathlon.baselines.algorithms.registry import Registry

__all__ = ["HINTS", "Hint", "Rounds", "fading", "fitted_share", "item_response", "rescue"]


Hint = Callable[..., int]
"""Maps expected success without a hint, the oracle's number of actions, and earlier rounds with
hints to the number of actions given."""

Rounds = Sequence[tuple[float, int, int]]
"""Earlier hints of a task, the newest last: share of the actions, successes, failures."""


HINTS: Registry[Hint] = Registry("hint")


def _check_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must be a share from 0 to 1, got {value}")


@HINTS.register("none")
def none(success: float, actions: int, rounds: Rounds = ()) -> int:
    """No actions."""
    return 0


@HINTS.register("fading")
def fading(success: float, actions: int, rounds: Rounds = (), *, most: float = 0.8) -> int:
    """The share 1 - success of the oracle's actions, up to `most` (after ADHint).

    Raises:
        ValueError: If `most` is not in [0, 1].
    """
    _check_share("most", most)
    return int(min(1.0 - success, most) * actions)


@HINTS.register("rescue")
def rescue(
    success: float, actions: int, rounds: Rounds = (), *, share: float = 0.5, below: float = 0.2
) -> int:
    """A share of the actions for tasks that rarely succeed, else none (after Guide).

    An untried task has the prior's success, 0.5; one that failed in 8 of 8 rollouts has 0.1.

    Raises:
        ValueError: If `share` or `below` is not in [0, 1].
    """
    _check_share("share", share)
    _check_share("below", below)
    return int(share * actions) if success <= below else 0


def fitted_share(rounds: Sequence[tuple[float, float, float]], target: float) -> float:
    """Return the share of actions at which a fitted item response model succeeds with `target`.

    acc(l) = 1 / (1 + exp(-a (l - b))) by least squares, weighted by the rollouts of each round,
    over a grid of slopes and thresholds; the result is b + logit(target) / a.

    Args:
        rounds: Share of the actions, successes, failures.
        target: Wanted success rate.
    """

    def error(slope: float, middle: float) -> float:
        return sum(
            (won + lost)
            * (won / (won + lost) - 1.0 / (1.0 + math.exp(-slope * (share - middle)))) ** 2
            for share, won, lost in rounds
            if won + lost
        )

    grid = [(a, b / 20.0) for a in (2.0, 4.0, 8.0, 16.0, 32.0) for b in range(-10, 31)]
    slope, middle = min(grid, key=lambda each: error(*each))
    return middle + math.log(target / (1.0 - target)) / slope


@HINTS.register("item_response")
def item_response(
    success: float,
    actions: int,
    rounds: Rounds = (),
    *,
    target: float = 0.5,
    most: float = 0.9,
) -> int:
    """The share of the actions at which a task's hinted rollouts succeed half the time (SEELE).

    An item response model is fitted to the task's earlier rounds and to its success without a hint.
    Without earlier rounds, the share is 1 - success. Chosen here: a round is a step in which the
    task was played with a hint, and the success without one counts as two rollouts.

    Raises:
        ValueError: If `target` is not in (0, 1), or `most` not in [0, 1].
    """
    _check_share("most", most)
    if not 0 < target < 1:
        raise ValueError(f"target must be between 0 and 1, got {target}")
    if not rounds:
        return int(min(1.0 - success, most) * actions)
    known = [(0.0, 2.0 * success, 2.0 * (1.0 - success)), *rounds]
    share = min(max(fitted_share(known, target), 0.0), most)
    return round(share * actions)
