"""Batch inputs and outputs of a vector environment, as one item per environment."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

import numpy as np
from gymnasium import Env, Space
from gymnasium.vector.utils import concatenate, create_empty_array, iterate

from hexathlon.envs.errors import EnvFault

__all__ = [
    "OnFault",
    "VectorFault",
    "actions_for",
    "options_for",
    "require_equal_spaces",
    "seeds_for",
    "stacked",
    "unmasked",
]

OnFault = Literal["raise", "mark"]
"""How lock-step calls handle infrastructure faults: raise `VectorFault`, or mark the environment
as truncated with status `error_env`, the cause in `info["fault"]` and a reward of NaN.
"""


class VectorFault(EnvFault):
    """Some environments failed during a lock-step call; the others have results.

    Attributes:
        faults: The faults, by environment index.
        batch: The result of the call, with the failed environments marked.
    """

    def __init__(self, faults: Mapping[int, EnvFault], batch: Any) -> None:
        first = next(iter(faults))
        super().__init__(
            f"{len(faults)} environments failed; number {first}: {faults[first]}",
            cause=faults[first].cause,
        )
        self.faults = dict(faults)
        self.batch = batch


def require_equal_spaces(envs: Sequence[Env[Any, Any]]) -> None:
    """Raise `ValueError` unless all environments have the spaces of the first."""
    first = envs[0]
    for index, env in enumerate(envs):
        if (env.action_space, env.observation_space) != (
            first.action_space,
            first.observation_space,
        ):
            raise ValueError(
                f"environment {index} has different spaces from number 0: "
                f"{env.action_space}, {env.observation_space}"
            )


def actions_for(actions: Any, space: Space[Any], count: int) -> Sequence[Any]:
    """Return one action per environment; an array is split according to `space`.

    Raises:
        ValueError: If the number of actions is not `count`.
    """
    if not isinstance(actions, (list, tuple)):
        actions = list(iterate(space, actions))
    if len(actions) != count:
        raise ValueError(f"got {len(actions)} actions for {count} environments")
    return cast("Sequence[Any]", actions)


def seeds_for(seed: int | Sequence[int | None] | None, count: int) -> Sequence[int | None]:
    """Return one seed per environment; a single seed is incremented per environment."""
    if seed is None:
        return [None] * count
    if isinstance(seed, (int, np.integer)):
        return [int(seed) + index for index in range(count)]
    if len(seed) != count:
        raise ValueError(f"got {len(seed)} seeds for {count} environments")
    return seed


def options_for(options: Any, count: int) -> Sequence[dict[str, Any] | None]:
    """Return the options of each environment; a single dictionary applies to all."""
    if options is None or isinstance(options, dict):
        return [options] * count
    if len(options) != count:
        raise ValueError(f"got {len(options)} options for {count} environments")
    return cast("Sequence[dict[str, Any]]", options)


def unmasked(options: Any, count: int) -> tuple[Sequence[int], Any]:
    """Return the indices selected by `options["reset_mask"]`, and the options without it."""
    if not isinstance(options, dict) or "reset_mask" not in options:
        return range(count), options
    mask = options["reset_mask"]
    if (
        not isinstance(mask, np.ndarray)
        or mask.dtype != np.bool_
        or mask.shape != (count,)
        or not mask.any()
    ):
        raise ValueError(
            f"reset_mask must be a boolean array of shape ({count},) with at least "
            f"one True, got {mask!r}"
        )
    rest = {name: value for name, value in options.items() if name != "reset_mask"}
    return [int(index) for index in np.flatnonzero(mask)], rest or None


def stacked(space: Space[Any], observations: Sequence[Any]) -> Any:
    """Return all observations as one element of the batched space."""
    out: Any = create_empty_array(space, n=len(observations), fn=np.zeros)
    return concatenate(space, observations, out)
