"""One environment of a vector: steps it, resets it, and turns what happens into an answer.

A lane knows gymnasium's autoreset modes and that a fault of the infrastructure is an answer too,
not an exception that would take the other environments' results with it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box, Dict, Sequence
from gymnasium.vector import AutoresetMode

from hexathlon.envs.base import Environment
from hexathlon.envs.errors import EnvFault
from hexathlon.envs.status import Status
from hexathlon.envs.wrappers.base import awaits

__all__ = ["Arrival", "Lane"]


class Arrival(NamedTuple):
    """One environment's answer."""

    number: int
    """Which environment of the vector."""

    observation: Any
    reward: float
    """NaN where there is a fault."""

    terminated: bool
    truncated: bool
    info: dict[str, Any]
    fault: EnvFault | None = None
    """Set when the infrastructure failed; the other fields then carry no result."""


class Lane:
    """One environment in its place.

    Args:
        number: Its place in the vector.
        env: The environment, wrapped or not.
        mode: What happens after an episode's end.

    Attributes:
        awaits: Whether `astep` and `areset` are to be used.
        done: Whether the episode has ended and was not reset.
        advance: Takes a turn in place. Where the second item of what it returns is
            `Status.ONGOING`, that is an `Advance`; else `arrived` knows what it is.
        blank: An element of the observation space that carries nothing.
    """

    __slots__ = ("_mode", "_plain", "advance", "awaits", "blank", "done", "env", "number")

    def __init__(self, number: int, env: gymnasium.Env[Any, Any], mode: AutoresetMode) -> None:
        self.number = number
        self.env = env
        self.awaits = awaits(env)
        self.done = False
        self._mode = mode
        self._plain = _is_plain(env)
        self.advance: Callable[[Any], Any] = getattr(env, "advance" if self._plain else "step")
        self.blank = _blank(env.observation_space)

    def step(self, action: Any) -> Arrival:
        """Step in place, or reset where the mode says so."""
        if self.done:
            self.require_episode()
            return self.reset()
        try:
            return self.arrived(self.advance(action))
        except EnvFault as fault:
            return self.failed(fault)

    def arrived(self, turn: Any) -> Arrival:
        """Return the answer of what `advance` returned; see to what follows an end."""
        result = cast("Any", self.env).outcome(turn[0]) if self._plain else turn
        if not (result[2] or result[3]):
            return Arrival(self.number, *result)
        self.done = True
        if self._mode is AutoresetMode.SAME_STEP:
            return _joined(result, self.reset())
        return Arrival(self.number, *result)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Arrival:
        """Start an episode in place."""
        try:
            observation, info = self.env.reset(seed=seed, options=options)
        except EnvFault as fault:
            return self.failed(fault)
        return self._opened(observation, info)

    async def astep(self, action: Any) -> Arrival:
        """As `step`, awaited."""
        if self.done:
            self.require_episode()
            return await self.areset()
        try:
            result = await cast("Any", self.env).astep(action)
        except EnvFault as fault:
            return self.failed(fault)
        if result[2] or result[3]:
            self.done = True
            if self._mode is AutoresetMode.SAME_STEP:
                return _joined(result, await self.areset())
        return Arrival(self.number, *result)

    async def areset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> Arrival:
        """As `reset`, awaited."""
        try:
            observation, info = await cast("Any", self.env).areset(seed=seed, options=options)
        except EnvFault as fault:
            return self.failed(fault)
        return self._opened(observation, info)

    def require_episode(self) -> None:
        """Raise `ResetNeeded` if the episode has ended and nothing resets it by itself."""
        if self.done and self._mode is AutoresetMode.DISABLED:
            raise ResetNeeded(
                f"environment {self.number} has ended and autoreset is disabled; reset it with "
                "options={'reset_mask': ...} or send_reset()"
            )

    def _opened(self, observation: Any, info: dict[str, Any]) -> Arrival:
        self.done = False
        return Arrival(self.number, observation, 0.0, False, False, info)

    def failed(self, fault: EnvFault) -> Arrival:
        """Take note that the infrastructure failed; the next reset starts anew."""
        self.done = True
        info = {"status": Status.ERROR_ENV.value, "fault": fault.cause}
        return Arrival(self.number, self.blank, float("nan"), False, True, info, fault)


def _is_plain(env: gymnasium.Env[Any, Any]) -> bool:
    """Return whether `step` is the base's own, so that `advance` can stand for it."""
    return isinstance(env, Environment) and all(
        getattr(type(env), name) is getattr(Environment, name)
        for name in ("step", "advance", "outcome", "_step_info")
    )


def _joined(result: tuple[Any, Any, bool, bool, dict[str, Any]], opening: Arrival) -> Arrival:
    """Return the opening of the next episode with the end of the last one in its info."""
    observation, reward, terminated, truncated, info = result
    extended = {"final_obs": observation, "final_info": info, **opening.info}
    return opening._replace(
        reward=reward, terminated=terminated, truncated=truncated, info=extended
    )


def _blank(space: Any) -> Any:
    """Return an element of the space that carries nothing, for environments that failed."""
    if isinstance(space, Dict):
        return {name: _blank(part) for name, part in space.spaces.items()}
    if isinstance(space, Box):
        return np.zeros(space.shape, space.dtype)
    return () if isinstance(space, Sequence) else ""
