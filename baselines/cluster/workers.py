"""The actor that plays rollouts in its own process, with the single-process executor.

A worker has a number of slots, each a `LocalExecutor` with one environment per id. The driver
decides which rollouts it plays and what happens when it is lost.
"""

import asyncio
import os
import pickle
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import ray

from hexathlon.baselines.agents.base import Agent
from hexathlon.baselines.rollout.executor import LocalExecutor, Outcome, Request
from hexathlon.baselines.rollout.prefix import Prefix, PrefixDiffers, TurnJournal
from hexathlon.baselines.rollout.rollout import FatalError
from hexathlon.envs.base import Environment
from hexathlon.envs.errors import BackendMissing
from hexathlon.tasks.version import VERSION

__all__ = [
    "WORKER_ACTOR",
    "AgentRef",
    "Assignment",
    "EnvironmentWorker",
    "SlotResult",
    "Heartbeat",
    "WorkerFacts",
    "WorkerSetup",
]


class WorkerSetup(NamedTuple):
    """Settings of a worker, sent to its process once."""

    number: int
    """Unique among all workers of a fleet, including replacements."""

    slots: int
    make: Callable[[str], Environment]
    retries: int
    salt: str | None
    versions: Mapping[str, str]
    """Required environment versions by id; any version is accepted for other ids."""


class AgentRef(NamedTuple):
    """Reference to an agent, which workers create on first use."""

    number: int
    """Unique among the executors of a fleet."""

    made_by: Sequence[Any]
    """Ray's reference to a `Callable[[int], Agent]`, in a list because Ray resolves bare ones."""


class WorkerFacts(NamedTuple):
    """Where a worker runs."""

    number: int
    pid: int
    node: str
    version: str
    """Version of this package there."""

    python: str


class Assignment(NamedTuple):
    """A rollout to play."""

    ticket: int
    """Unique among all rollouts of a fleet."""

    request: Request
    resume: Prefix | None = None
    """Turns that a lost worker recorded; replayed, or discarded if the replay differs."""


class SlotResult(NamedTuple):
    """Outcomes of some assignments, in their order, or the error that ended them."""

    outcomes: Sequence[Outcome] = ()
    differed: int = 0
    """Number of rollouts played from the start because the replay of their turns differed."""

    seconds: float = 0.0
    """Wall-clock time that they took together."""

    error: Exception | None = None
    cause: Exception | None = None
    """The cause of the error; pickling an exception drops it."""


class Heartbeat(NamedTuple):
    """Progress of a worker since its last heartbeat."""

    turns: int
    """Turns taken since the worker started."""

    written: Sequence[tuple[int, Prefix]]
    """Tickets and turns of the rollouts that advanced since the last heartbeat."""


class EnvironmentWorker:
    """Plays rollouts.

    Args:
        setup: Its settings.
    """

    def __init__(self, setup: WorkerSetup) -> None:
        _use_one_thread()
        self._setup = setup
        self._agents: dict[int, Agent] = {}
        self._slots: list[LocalExecutor | None] = [None] * setup.slots
        self._journals = [TurnJournal() for _ in range(setup.slots)]
        self._making = asyncio.Lock()
        self._tickets = [-1] * setup.slots
        self._locks = [asyncio.Lock() for _ in range(setup.slots)]
        self._playing: dict[int, asyncio.Task[list[Outcome]]] = {}
        self._cancelled: set[int] = set()
        self._aborted: dict[int, int] = {}

    async def hello(self) -> WorkerFacts:
        """Return where this worker runs; an answer means that it is ready."""
        node = ray.get_runtime_context().get_node_id()
        python = platform.python_version()
        return WorkerFacts(self._setup.number, os.getpid(), node, VERSION, python)

    async def play(
        self, slot: int, agent: AgentRef, epoch: int, assignments: Sequence[Assignment]
    ) -> SlotResult:
        """Play rollouts one after another in a slot.

        Args:
            slot: Number of the slot.
            agent: The agent that plays them.
            epoch: Rollouts of an aborted epoch return prefixes immediately.
            assignments: The rollouts.
        """
        async with self._locks[slot]:
            played: list[Outcome] = []
            differed, began = 0, time.perf_counter()
            try:
                executor = self._executor(slot, await self._agent(agent))
                for ticket, request, resume in assignments:
                    self._tickets[slot] = ticket
                    given = resume or request.start
                    if epoch <= self._aborted.get(agent.number, -1) or ticket in self._cancelled:
                        played.append(given or Prefix(request.key))
                        continue
                    try:
                        played += await self._run(executor, ticket, request._replace(start=given))
                    except PrefixDiffers:
                        if resume is None:
                            raise
                        differed += 1
                        played += await self._run(executor, ticket, request)
            except Exception as error:
                return _failed(error)
            finally:
                self._cancelled -= {ticket for ticket, _, _ in assignments}
            return SlotResult(played, differed, time.perf_counter() - began)

    async def cancel(self, tickets: Sequence[int]) -> None:
        """Abandon rollouts; their outcomes are prefixes, which are discarded."""
        self._cancelled |= set(tickets)
        for ticket in tickets:
            if ticket in self._playing:
                self._playing[ticket].cancel()

    async def abort(self, agent: int, epoch: int) -> None:
        """Pause the rollouts of an agent's epoch, including those that have not arrived yet."""
        self._aborted[agent] = max(self._aborted.get(agent, -1), epoch)
        player = self._agents.get(agent)
        for slot in self._slots:
            if slot is not None and slot.agent is player:
                await slot.abort()

    @ray.method(concurrency_group="heartbeat")
    async def heartbeat(self) -> Heartbeat:
        """Return a heartbeat; answers even while a slow environment blocks the slots."""
        turns = sum(journal.turns for journal in self._journals)
        slots = zip(self._tickets, self._journals, strict=True)
        written = [(ticket, prefix) for ticket, journal in slots for prefix in journal.take()]
        return Heartbeat(turns, written)

    async def close(self) -> None:
        """Close environments and engines."""
        for slot in self._slots:
            if slot is not None:
                slot.close()
        for agent in self._agents.values():
            engine = getattr(agent, "engine", None)
            if engine is not None:
                await engine.close()

    async def _agent(self, agent: AgentRef) -> Agent:
        async with self._making:
            if agent.number not in self._agents:
                make = await agent.made_by[0]
                # In a thread, since opening a model may need its own event loop.
                try:
                    made = await asyncio.to_thread(make, self._setup.number)
                except Exception as error:
                    raise FatalError(str(error)) from error
                self._agents[agent.number] = made
                _use_one_thread()  # again, since creating the agent may have imported torch
        return self._agents[agent.number]

    def _executor(self, slot: int, agent: Agent) -> LocalExecutor:
        executor, setup = self._slots[slot], self._setup
        if executor is None:
            executor = LocalExecutor(
                agent, self._made, 1, setup.retries, salt=setup.salt, versions=setup.versions
            )
            executor.journal = self._journals[slot]
            self._slots[slot] = executor
        executor.agent = agent
        return executor

    async def _run(
        self, executor: LocalExecutor, ticket: int, request: Request
    ) -> Sequence[Outcome]:
        task = asyncio.create_task(executor.run([request]))
        self._playing[ticket] = task
        try:
            return await task
        except asyncio.CancelledError:
            if ticket not in self._cancelled:
                raise
            return [Prefix(request.key)]
        finally:
            del self._playing[ticket]

    def _made(self, env_id: str) -> Environment:
        env, wanted = self._setup.make(env_id), self._setup.versions.get(env_id, "")
        if wanted and env.version != wanted:
            env.close()
            raise BackendMissing(
                f"{env_id} has version {env.version} on {platform.node()}, but the run was planned "
                f"with {wanted}: install the same version of this package on every node"
            )
        return env


def _failed(error: Exception) -> SlotResult:
    cause = error.__cause__ if isinstance(error.__cause__, Exception) else None
    if not _is_picklable(error):
        error = FatalError(f"{type(error).__name__}: {error}")
    return SlotResult(error=error, cause=cause if _is_picklable(cause) else None)


def _is_picklable(error: Exception | None) -> bool:
    """Return whether an exception survives pickling."""
    try:
        return type(pickle.loads(pickle.dumps(error))) is type(error)
    except Exception:
        return False


def _use_one_thread() -> None:
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)


WORKER_ACTOR: Any = ray.remote(concurrency_groups={"heartbeat": 1})(EnvironmentWorker)  # type: ignore[call-overload]
"""`EnvironmentWorker` as an actor; heartbeats have their own event loop."""
