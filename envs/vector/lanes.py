"""One environment of a vector: steps it, resets it, and wraps the result as an answer.

A lane implements Gymnasium's autoreset modes. It returns an infrastructure fault as an answer
rather than raising it, so that the results of the other environments are not lost.
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
    """Index of the environment in the vector."""

    observation: Any
    reward: float
    """NaN if there is a fault."""

    terminated: bool
    truncated: bool
    info: dict[str, Any]
    fault: EnvFault | None = None
    """Set if the infrastructure failed; the other fields then carry no result."""


class Lane:
    """One environment of a vector.

    Args:
        number: Its index in the vector.
        env: The environment, wrapped or not.
        mode: The autoreset mode.

    Attributes:
        awaits: Whether to use `astep` and `areset`.
        done: Whether the episode has ended and was not reset.
        advance: Takes a turn in place. If the second item of the result is
            `Status.ONGOING`, the result is an `Advance`; otherwise pass it to `arrived`.
        blank: An empty element of the observation space.
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
        """Step in place, or reset if the autoreset mode requires it."""
        if self.done:
            self.require_episode()
            return self.reset()
        try:
            return self.arrived(self.advance(action))
        except EnvFault as fault:
            return self.failed(fault)

    def arrived(self, turn: Any) -> Arrival:
        """Convert a result of `advance` to an answer; autoreset at the episode's end."""
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
        """Raise `ResetNeeded` if the episode has ended and autoreset is disabled."""
        if self.done and self._mode is AutoresetMode.DISABLED:
            raise ResetNeeded(
                f"environment {self.number} has ended and autoreset is disabled; reset it with "
                "options={'reset_mask': ...} or send_reset()"
            )

    def _opened(self, observation: Any, info: dict[str, Any]) -> Arrival:
        self.done = False
        return Arrival(self.number, observation, 0.0, False, False, info)

    def failed(self, fault: EnvFault) -> Arrival:
        """Record an infrastructure fault; the next reset starts from scratch."""
        self.done = True
        info = {"status": Status.ERROR_ENV.value, "fault": fault.cause}
        return Arrival(self.number, self.blank, float("nan"), False, True, info, fault)


def _is_plain(env: gymnasium.Env[Any, Any]) -> bool:
    """Return whether `step` is the base class's, so that `advance` can replace it."""
    return isinstance(env, Environment) and all(
        getattr(type(env), name) is getattr(Environment, name)
        for name in ("step", "advance", "outcome", "_step_info")
    )


def _joined(result: tuple[Any, Any, bool, bool, dict[str, Any]], opening: Arrival) -> Arrival:
    """Return the opening of the next episode, with the end of the last one in its info."""
    observation, reward, terminated, truncated, info = result
    extended = {"final_obs": observation, "final_info": info, **opening.info}
    return opening._replace(
        reward=reward, terminated=terminated, truncated=truncated, info=extended
    )


def _blank(space: Any) -> Any:
    """Return an empty element of the space, for environments that failed."""
    if isinstance(space, Dict):
        return {name: _blank(part) for name, part in space.spaces.items()}
    if isinstance(space, Box):
        return np.zeros(space.shape, space.dtype)
    return () if isinstance(space, Sequence) else ""
