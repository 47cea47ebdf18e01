"""Runs rollouts: what to play goes in, trajectories come out.

`Executor` is the plug point at which one process or a cluster plays them; `LocalExecutor` plays
them on the event loop of this process. Requests and outcomes are plain data.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from hexathlon.baselines.agents.base import Agent
from hexathlon.baselines.agents.spec import parse_model, scripted_agent
from hexathlon.baselines.rollout.course import play_async
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.rollout.prefix import Pause, Prefix
from hexathlon.baselines.rollout.rollout import EnvironmentSlot, Rollout
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.envs.base import Environment
from hexathlon.evaluators.records import TrialKey

__all__ = ["Executor", "LocalExecutor", "Outcome", "Request"]

Outcome = Trajectory | Prefix
"""A rollout that came to its end, or what one that paused has reached."""


class Request(NamedTuple):
    """One rollout, or a stretch of one."""

    key: TrialKey
    limits: TrialLimits = TrialLimits()
    agent: str = ""
    """A built-in agent, such as `agent:oracle`; empty for the executor's own."""

    start: Prefix | None = None
    """Turns to go on from; None begins at the beginning."""

    pause_after: int | None = None
    """Turns after which the rollout pauses; None plays to the end."""


class Executor(Protocol):
    """Plays rollouts."""

    async def run(self, requests: Sequence[Request]) -> list[Outcome]:
        """Play requests and return their outcomes, in their order.

        Raises:
            Fatal: No rollout could be played.
        """
        ...

    async def abort(self) -> None:
        """Pause every rollout as soon as it can be; `run` then returns what each has reached."""
        ...

    def close(self) -> None:
        """Close the environments."""
        ...


class LocalExecutor:
    """Plays rollouts on the event loop of this process.

    One call of `run` at a time. Nothing here starts a thread: with the torch engine in the same
    process, what is in a batch is then a function of the requests, and a run repeats bit for bit.

    Args:
        agent: Takes the turns, unless a request names another.
        make: Makes an environment by its id.
        concurrency: Rollouts at once.
        retries: Further attempts at a trial after infrastructure failed.
    """

    def __init__(
        self,
        agent: Agent,
        make: Callable[[str], Environment],
        concurrency: int,
        retries: int = 2,
    ) -> None:
        self.agent = agent
        self._retries = retries
        self._workers = [_Worker(make) for _ in range(concurrency)]
        self._pauses: set[Pause] = set()
        self._aborted = False

    async def run(self, requests: Sequence[Request]) -> list[Outcome]:
        """Play requests and return their outcomes, in their order."""
        self._aborted = False
        found: list[Outcome | None] = [None] * len(requests)
        waiting = iter(enumerate(requests))

        async def work(worker: _Worker) -> None:
            for number, request in waiting:
                found[number] = await self._outcome(worker, request)

        workers = [asyncio.create_task(work(one)) for one in self._workers[: len(requests)]]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        return [outcome for outcome in found if outcome is not None]

    async def _outcome(self, worker: "_Worker", request: Request) -> Outcome:
        if self._aborted:
            return request.start or Prefix(request.key)
        agent = scripted_agent(parse_model(request.agent)) if request.agent else self.agent
        pause = Pause(request.pause_after)
        self._pauses.add(pause)
        rollout = Rollout(agent, request.limits, self._retries)
        slot = worker.slot(request.key[0])
        try:
            return await play_async(
                rollout.advance(slot, request.key, start=request.start, pause=pause)
            )
        finally:
            self._pauses.discard(pause)

    async def abort(self) -> None:
        """Pause every rollout; replies that are under way end with what they have."""
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
    """The environments in which one rollout after another is played, one of each id."""

    def __init__(self, make: Callable[[str], Environment]) -> None:
        self._make = make
        self._slots: dict[str, EnvironmentSlot] = {}

    def slot(self, env_id: str) -> EnvironmentSlot:
        if env_id not in self._slots:
            self._slots[env_id] = EnvironmentSlot(lambda: self._make(env_id))
        return self._slots[env_id]

    def close(self) -> None:
        for slot in self._slots.values():
            slot.close()
