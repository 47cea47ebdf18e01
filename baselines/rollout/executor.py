"""Executors play rollout requests and return trajectories.

`Executor` is the interface. `LocalExecutor` implements it on the event loop of this process;
another implementation uses a cluster. Requests and outcomes are plain data.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from hexathlon.baselines.agents.base import Agent
from hexathlon.baselines.agents.spec import parse_model, scripted_agent
from hexathlon.baselines.rollout.drivers import play_async
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.rollout.prefix import Pause, Prefix, TurnJournal
from hexathlon.baselines.rollout.rollout import EnvironmentSlot, Rollout
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.envs.base import Environment
from hexathlon.evaluators.records import TrialKey

__all__ = ["LOOK_AHEAD", "Executor", "LocalExecutor", "Outcome", "Request"]

LOOK_AHEAD = 1024
"""Default maximum number of rollouts that wait for the outcome of an earlier one to be yielded."""

Outcome = Trajectory | Prefix
"""The trajectory of a finished rollout, or the prefix of a paused one."""


class Request(NamedTuple):
    """One rollout, or a part of one."""

    key: TrialKey
    limits: TrialLimits = TrialLimits()
    agent: str = ""
    """A built-in agent, such as `agent:oracle`; empty for the executor's own agent."""

    start: Prefix | None = None
    """Prefix to continue from; None starts from the initial state."""

    pause_after: int | None = None
    """Number of turns after which the rollout pauses; None plays to the end."""

    tried: int = 0
    """Earlier attempts at the trial that were recorded as infrastructure failures."""

    points: bool = False
    """Whether the trajectory keeps the states of the episode, from which others may fork."""


class Executor(Protocol):
    """Plays rollouts."""

    async def run(self, requests: Sequence[Request]) -> list[Outcome]:
        """Play requests and return their outcomes in the same order.

        Raises:
            FatalError: If an error would affect every rollout.
        """
        ...

    async def abort(self) -> None:
        """Pause every rollout as soon as possible; `run` then returns their prefixes."""
        ...

    def close(self) -> None:
        """Close the environments."""
        ...


class LocalExecutor:
    """Plays rollouts on the event loop of this process.

    Calls of `run` must not overlap. No threads are started, so that with the torch engine in the
    same process the composition of batches depends only on the requests, and runs are
    reproducible bit for bit.

    Args:
        agent: The default agent; a request may name a different one.
        make: Creates an environment from its id.
        concurrency: Maximum number of concurrent rollouts.
        retries: Further attempts at a trial after infrastructure failures.
        salt: The secret of a held-out round.
        versions: Environment versions by id, for records of environments that cannot be created.

    Attributes:
        agent: The default agent.
        journal: Records the turns of rollouts in progress, if set.
    """

    def __init__(
        self,
        agent: Agent,
        make: Callable[[str], Environment],
        concurrency: int,
        retries: int = 2,
        *,
        salt: str | None = None,
        versions: Mapping[str, str] | None = None,
    ) -> None:
        self.agent = agent
        self.journal: TurnJournal | None = None
        self._retries = retries
        self._salt = salt
        self._workers = [_Worker(make, versions or {}) for _ in range(concurrency)]
        self._pauses: set[Pause] = set()
        self._aborted = False

    async def run(self, requests: Sequence[Request]) -> list[Outcome]:
        """Play requests and return their outcomes in the same order."""
        self._aborted = False
        if len(requests) == 1:
            return [await self._outcome(self._workers[0], requests[0])]
        outcomes: list[Outcome | None] = [None] * len(requests)
        queue = iter(enumerate(requests))

        async def work(worker: _Worker) -> None:
            for index, request in queue:
                outcomes[index] = await self._outcome(worker, request)

        workers = self._workers[: len(requests)]
        tasks = [asyncio.create_task(work(worker)) for worker in workers]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return [outcome for outcome in outcomes if outcome is not None]

    async def _outcome(self, worker: "_Worker", request: Request) -> Outcome:
        if self._aborted:
            return request.start or Prefix(request.key)
        agent = scripted_agent(parse_model(request.agent)) if request.agent else self.agent
        pause = Pause(request.pause_after)
        self._pauses.add(pause)
        if self.journal is not None:
            self.journal.begin(request.key)
        rollout = Rollout(agent, request.limits, self._retries, self._salt)
        slot = worker.slot(request.key[0])
        try:
            return await play_async(
                rollout.advance(
                    slot,
                    request.key,
                    request.tried,
                    request.start,
                    pause,
                    self.journal,
                    points=request.points,
                )
            )
        finally:
            self._pauses.discard(pause)
            if self.journal is not None:
                self.journal.end(request.key)

    async def abort(self) -> None:
        """Pause every rollout; replies in flight end with the tokens they have so far."""
        self._aborted = True
        for pause in self._pauses:
            pause.requested = True
        abort = getattr(getattr(self.agent, "engine", None), "abort", None)
        if abort is not None:
            await abort()

    def close(self) -> None:
        """Close the environments."""
        for worker in self._workers:
            worker.close()


class _Worker:
    """One environment per id, used by one rollout after another."""

    def __init__(self, make: Callable[[str], Environment], versions: Mapping[str, str]) -> None:
        self._make, self._versions = make, versions
        self._slots: dict[str, EnvironmentSlot] = {}

    def slot(self, env_id: str) -> EnvironmentSlot:
        if env_id not in self._slots:
            version = self._versions.get(env_id, "")
            self._slots[env_id] = EnvironmentSlot(lambda: self._make(env_id), version)
        return self._slots[env_id]

    def close(self) -> None:
        for slot in self._slots.values():
            slot.close()
