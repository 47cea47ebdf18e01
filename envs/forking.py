"""Fork, snapshot and restore through any stack of wrappers.

The base environment copies its own state. A wrapper's state is its attributes, for our wrappers
and foreign ones alike: each wrapper is copied with deep copies of its attributes, and references
to an environment of the stack are replaced by the copy of that environment.
"""

import copy
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import gymnasium

from hexathlon.envs.errors import ForkUnsupported, WrongState

__all__ = ["AnyEnv", "StackState", "fork", "restore", "snapshot"]

_Env = TypeVar("_Env", bound="gymnasium.Env[Any, Any]")
AnyEnv = gymnasium.Env[Any, Any]


@dataclass(frozen=True, slots=True)
class _Place:
    """Placeholder in a wrapper's saved state for an environment of its stack."""

    depth: int


@dataclass(frozen=True, slots=True)
class StackState:
    """State of an environment and of every wrapper around it; opaque to callers."""

    base: Any
    """State of the innermost environment."""

    wrappers: tuple[tuple[str, dict[str, Any]], ...]
    """Class name and attributes of each wrapper, outermost first."""

    places: tuple[_Place, ...]


_CONSTANT = ("env", "_cached_spec", "_action_space", "_observation_space", "_metadata")


def fork(env: _Env, n: int = 1) -> list[_Env]:
    """Return `n` independent copies of the environment and its wrappers, in the same state.

    The same actions then produce the same bytes in each, and the original is not affected.

    Raises:
        ForkUnsupported: If the environment does not support it, or a wrapper has an attribute
            that cannot be copied.
    """
    layers = _layers(env)
    bases = _base(layers).fork(n)
    return [cast("_Env", _rewrapped(layers, base)) for base in bases]


def snapshot(env: AnyEnv) -> StackState:
    """Return the state of the whole stack, detached from it.

    Raises:
        ForkUnsupported: If the environment does not support it, or a wrapper has an attribute
            that cannot be copied.
    """
    layers = _layers(env)
    places = tuple(_Place(depth) for depth in range(len(layers)))
    memo = {id(layer): place for layer, place in zip(layers, places, strict=True)}
    wrappers = tuple((type(layer).__name__, _own_state(layer, {**memo})) for layer in layers[:-1])
    return StackState(_base(layers).snapshot(), wrappers, places)


def restore(env: AnyEnv, state: StackState) -> None:
    """Restore a stack of the same wrappers to a saved state; the state can be reused.

    Raises:
        WrongState: If the wrappers differ, or the state is of another kind of environment.
    """
    layers = _layers(env)
    names = [type(layer).__name__ for layer in layers[:-1]]
    expected = [name for name, _ in state.wrappers]
    if names != expected:
        raise WrongState(f"the state has the wrappers {expected}, the environment has {names}")
    memo = {id(place): layer for place, layer in zip(state.places, layers, strict=True)}
    _base(layers).restore(state.base)
    for layer, (_, attributes) in zip(layers, state.wrappers, strict=False):
        layer.__dict__.update(copy.deepcopy(attributes, {**memo}))


def _layers(env: AnyEnv) -> list[AnyEnv]:
    """Return the stack from the outermost wrapper to the base environment."""
    layers = [env]
    while isinstance(layers[-1], gymnasium.Wrapper):
        layers.append(layers[-1].env)
    return layers


def _base(layers: list[AnyEnv]) -> Any:
    base = layers[-1]
    if not hasattr(base, "fork"):
        raise ForkUnsupported(
            f"{type(base).__name__} has no fork(); subclass hexathlon.envs.base.Environment"
        )
    if not getattr(base, "supports_fork", True):
        raise ForkUnsupported(
            f"{type(base).__name__} cannot fork: {getattr(base, 'fork_obstacle', '')}"
        )
    return base


def _rewrapped(layers: list[AnyEnv], base: AnyEnv) -> AnyEnv:
    """Copy the wrappers, innermost first, around a forked base."""
    memo: dict[int, Any] = {id(layers[-1]): base}
    outer = base
    for layer in reversed(layers[:-1]):
        clone = copy.copy(layer)
        memo[id(layer)] = clone
        clone.__dict__.update(_own_state(layer, memo, constants=True))
        cast("Any", clone).env = outer
        outer = clone
    return outer


def _own_state(layer: AnyEnv, memo: dict[int, Any], *, constants: bool = False) -> dict[str, Any]:
    skipped = _CONSTANT[:1] if constants else _CONSTANT
    own = {name: value for name, value in vars(layer).items() if name not in skipped}
    try:
        return copy.deepcopy(own, memo)
    except Exception as error:
        raise ForkUnsupported(
            f"the wrapper {type(layer).__name__} has an attribute that cannot be copied: {error}"
        ) from error
