"""The one rollout path: an agent plays a task in an environment, and a trajectory comes out.

Evaluation and training both collect through here. `Rollout.trial` is the coroutine of one trial
with its retries; `Rollout.advance` is a stretch of one, which can go on from a prefix and pause.
`hexathlon.baselines.rollout.course` drives them. Nothing of a trial outlives its trajectory.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hexathlon.baselines.agents.base import Agent
from hexathlon.baselines.rollout.attempt import Attempt
from hexathlon.baselines.rollout.course import Course, Do
from hexathlon.baselines.rollout.environments import waits
from hexathlon.baselines.rollout.faults import classify
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.rollout.prefix import Pause, Prefix, PrefixDiffers
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.envs.base import Environment
from hexathlon.evaluators.records import TrialKey

__all__ = ["EnvironmentSlot", "Fatal", "Rollout"]


class Fatal(Exception):
    """Every other trial of the run would fail in the same way; the cause is the exception."""


class EnvironmentSlot:
    """Holds the environment that the trials of one worker share, and makes it when needed.

    Args:
        make: Makes the environment.
        version: What a record says of an environment that could not be made.
    """

    def __init__(self, make: Callable[[], Environment], version: str = "") -> None:
        self._make = make
        self._env: Environment | None = None
        self.version = version

    def get(self) -> Environment:
        """Return the environment, made anew after it was closed."""
        if self._env is None:
            self._env = self._make()
        return self._env

    def close(self) -> None:
        """Close the environment, if there is one."""
        env, self._env = self._env, None
        if env is not None:
            env.close()

    async def aclose(self) -> None:
        """Close the environment from within an event loop."""
        env, self._env = self._env, None
        if env is None:
            return
        if waits(env):
            await env.aclose()
        else:
            env.close()


class Rollout:
    """Plays trials of one agent.

    Args:
        agent: Takes the turns.
        limits: Budgets of one trial.
        retries: Further attempts at a trial after infrastructure failed.
        salt: The secret of a held-out round.
    """

    def __init__(
        self,
        agent: Agent,
        limits: TrialLimits | None = None,
        retries: int = 2,
        salt: str | None = None,
    ) -> None:
        self.agent = agent
        self.limits = limits or TrialLimits()
        self.retries = retries
        self.salt = salt

    def trial(self, slot: EnvironmentSlot, key: TrialKey, tried: int = 0) -> Course[Trajectory]:
        """Return the coroutine of one trial, whose result is its trajectory.

        Args:
            slot: Where it is played.
            key: Environment id, task id, seed, trial.
            tried: How often infrastructure ended the trial before, each time recorded.

        Raises:
            Fatal: No other trial could be played either.
        """
        outcome = yield from self.advance(slot, key, tried)
        assert isinstance(outcome, Trajectory), "a trial that nobody pauses comes to its end"
        return outcome

    def advance(
        self,
        slot: EnvironmentSlot,
        key: TrialKey,
        tried: int = 0,
        start: Prefix | None = None,
        pause: Pause | None = None,
    ) -> Course[Trajectory | Prefix]:
        """Return the coroutine of a trial, or of a stretch of it.

        Args:
            slot: Where it is played.
            key: Environment id, task id, seed, trial; a fork has the key of its own trial.
            tried: How often infrastructure ended the trial before, each time recorded.
            start: Turns to go on from; None begins at the beginning.
            pause: When to stop between two turns.

        Returns:
            The trajectory of a trial that came to its end, the prefix of one that paused.

        Raises:
            Fatal: No other trial could be played either.
            PrefixDiffers: The turns of `start`, taken again, had other results.
        """
        failed: list[dict[str, Any]] = [] if start is None else [dict(e) for e in start.earlier]
        retries = self.retries + len(failed)
        while True:
            attempt = Attempt(self.agent, self.limits, self.salt, key, tried + len(failed) + 1)
            try:
                env = yield Do(slot.get)
                reached = yield from attempt.course(env, start, pause)
                if reached is not None:
                    return replace(reached, earlier=tuple(failed))
                attempt.close()
                return attempt.trajectory(failed, None, slot.version)
            except PrefixDiffers:
                attempt.close()
                raise
            except Exception as error:
                fault = classify(error)
                attempt.close()
                # After a fault the environment's state is not to be trusted.
                yield Do(slot.close, slot.aclose)
                if fault.fatal:
                    raise Fatal(str(error)) from error
                if not fault.policy.retry or len(failed) >= retries:
                    return attempt.trajectory(failed, fault, slot.version)
                failed.append(
                    {"attempt": attempt.log.attempt, "cause": fault.cause, "message": fault.message}
                )
