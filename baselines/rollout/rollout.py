"""The rollout shared by evaluation and training: an agent plays a task, giving a trajectory.

`Rollout.trial` is the coroutine of one trial with its retries. `Rollout.advance` plays part of a
trial: it can continue from a prefix and pause. `hexathlon.baselines.rollout.drivers` drives both.
A trial leaves no state behind except its trajectory.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hexathlon.baselines.agents.base import Agent
from hexathlon.baselines.rollout.attempt import Attempt
from hexathlon.baselines.rollout.drivers import Do, TrialCoroutine
from hexathlon.baselines.rollout.environments import is_asynchronous
from hexathlon.baselines.rollout.faults import classify
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.rollout.prefix import Pause, Prefix, PrefixDiffers, TurnJournal
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.envs.base import Environment
from hexathlon.evaluators.records import TrialKey

__all__ = ["EnvironmentSlot", "FatalError", "Rollout"]


class FatalError(Exception):
    """An error that would affect every other trial of the run; raised from that error."""


class EnvironmentSlot:
    """The environment shared by the trials of one worker, created on demand.

    Args:
        make: Creates the environment.
        version: Version that records state if the environment cannot be created.
    """

    def __init__(self, make: Callable[[], Environment], version: str = "") -> None:
        self._make = make
        self._env: Environment | None = None
        self.version = version

    @property
    def current(self) -> Environment | None:
        """The environment, None if there is none."""
        return self._env

    def get(self) -> Environment:
        """Return the environment, creating it if there is none."""
        if self._env is None:
            self._env = self._make()
        return self._env

    def close(self) -> None:
        """Close the environment, if any."""
        env, self._env = self._env, None
        if env is not None:
            env.close()

    async def aclose(self) -> None:
        """Close the environment on a running event loop."""
        env, self._env = self._env, None
        if env is None:
            return
        if is_asynchronous(env):
            await env.aclose()
        else:
            env.close()


class Rollout:
    """Plays trials of one agent.

    Args:
        agent: The agent.
        limits: Budgets of each trial.
        retries: Further attempts at a trial after infrastructure failures.
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

    def trial(
        self, slot: EnvironmentSlot, key: TrialKey, tried: int = 0
    ) -> TrialCoroutine[Trajectory]:
        """Return the coroutine of one trial; its result is the trajectory.

        Args:
            slot: The environment.
            key: Environment id, task id, seed, trial.
            tried: Earlier attempts recorded as infrastructure failures.

        Raises:
            FatalError: If the error would affect every other trial.
        """
        outcome = yield from self.advance(slot, key, tried)
        assert isinstance(outcome, Trajectory), "without a pause, a trial runs to its end"
        return outcome

    def advance(
        self,
        slot: EnvironmentSlot,
        key: TrialKey,
        tried: int = 0,
        start: Prefix | None = None,
        pause: Pause | None = None,
        journal: TurnJournal | None = None,
        *,
        points: bool = False,
    ) -> TrialCoroutine[Trajectory | Prefix]:
        """Return the coroutine of a trial, or of a part of it.

        Args:
            slot: The environment.
            key: Environment id, task id, seed, trial; a fork has its own trial's key.
            tried: Earlier attempts recorded as infrastructure failures.
            start: Prefix to continue from; None starts from the initial state.
            pause: When to pause between two turns.
            journal: Records the turns while the trial is in progress.
            points: Whether the trajectory keeps the states from which others may fork. The engine
                keeps the episode's cache, too, until it needs the room.

        Returns:
            The trajectory of a finished trial, or the prefix of a paused one.

        Raises:
            FatalError: If the error would affect every other trial.
            PrefixDiffers: If replaying the turns of `start` gives different results.
        """
        failed: list[dict[str, Any]] = [] if start is None else [dict(e) for e in start.earlier]
        retries = self.retries + len(failed)
        while True:
            attempt = Attempt(self.agent, self.limits, self.salt, key, tried + len(failed) + 1)
            try:
                env = slot.current or (yield Do(slot.get))
                prefix = yield from attempt.run(env, start, pause, journal, failed, points)
                if prefix is not None:
                    return replace(prefix, earlier=tuple(failed))
                if not points:
                    attempt.close()
                return attempt.trajectory(failed, None, slot.version)
            except PrefixDiffers:
                attempt.close()
                raise
            except Exception as error:
                fault = classify(error)
                attempt.close()
                # The environment may be in any state after a fault, so it is not reused.
                yield Do(slot.close, slot.aclose)
                if fault.fatal:
                    raise FatalError(str(error)) from error
                if not fault.policy.retry or len(failed) >= retries:
                    return attempt.trajectory(failed, fault, slot.version)
                failed.append(
                    {"attempt": attempt.log.attempt, "cause": fault.cause, "message": fault.message}
                )
