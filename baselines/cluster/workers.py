"""The actor that plays rollouts in its own process, with the executor that one process uses.

A worker has a number of slots, each a `LocalExecutor` with one environment per id. It decides
nothing: which rollouts it plays, and what happens when it is lost, is up to the driver.
"""

import asyncio
import os
import pickle
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import ray

from hexathlon.baselines.agents.base import Agent
from hexathlon.baselines.rollout.executor import LocalExecutor, Outcome, Request
from hexathlon.baselines.rollout.prefix import Journal, Prefix, PrefixDiffers
from hexathlon.baselines.rollout.rollout import FatalError
from hexathlon.envs.base import Environment
from hexathlon.envs.errors import BackendMissing
from hexathlon.tasks.version import VERSION

__all__ = ["Assignment", "EnvironmentWorker", "Played", "Pulse", "WorkerFacts", "WorkerSetup"]


class WorkerSetup(NamedTuple):
    """All that a worker needs to play; sent to its process once."""

    number: int
    """Unique among all workers of an executor, replacements included."""

    slots: int
    agent: Callable[[int], Agent]
    """Makes the agent, given the worker's number."""

    make: Callable[[str], Environment]
    retries: int
    salt: str | None
    versions: Mapping[str, str]
    """Required environment versions by id; an id that is missing may have any version."""


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

    request: Request
    resume: Prefix | None = None
    """Turns that a lost worker recorded; replayed, or dropped where the replay differs."""


class Played(NamedTuple):
    """Outcomes of some assignments, in their order, or the error that ended them."""

    outcomes: Sequence[Outcome] = ()
    differed: int = 0
    """Number of rollouts played from the start since the replay of their turns differed."""

    error: Exception | None = None
    cause: Exception | None = None
    """The cause of the error; pickling an exception drops it."""


class Pulse(NamedTuple):
    """Signs of life of a worker."""

    turns: int
    """Turns taken since its start."""

    written: Sequence[Prefix]
    """Turns of rollouts in progress, of those that took any since the last pulse."""


@ray.remote(concurrency_groups={"pulse": 1})
class EnvironmentWorker:
    """Plays rollouts.

    Args:
        setup: What to play them with.
    """

    def __init__(self, setup: WorkerSetup) -> None:
        _use_one_thread()
        self._setup = setup
        agent = setup.agent(setup.number)
        self._journals = [Journal() for _ in range(setup.slots)]
        self._slots: list[LocalExecutor] = []
        for journal in self._journals:
            slot = LocalExecutor(
                agent, self._made, 1, setup.retries, salt=setup.salt, versions=setup.versions
            )
            slot.journal = journal
            self._slots.append(slot)
        self._locks = [asyncio.Lock() for _ in self._slots]
        self._aborted = -1
        _use_one_thread()  # also if torch was imported for the agent

    async def hello(self) -> WorkerFacts:
        """Return where this worker runs; the answer means that it is ready."""
        node = ray.get_runtime_context().get_node_id()
        python = platform.python_version()
        return WorkerFacts(self._setup.number, os.getpid(), node, VERSION, python)

    async def play(self, slot: int, epoch: int, assignments: Sequence[Assignment]) -> Played:
        """Play rollouts one after another in a slot.

        Args:
            slot: Number of the slot.
            epoch: Aborted epochs return prefixes at once.
            assignments: The rollouts.
        """
        async with self._locks[slot]:
            executor = self._slots[slot]
            outcomes: list[Outcome] = []
            differed = 0
            for request, resume in assignments:
                if epoch <= self._aborted:
                    outcomes.append(resume or request.start or Prefix(request.key))
                    continue
                try:
                    if resume is not None:
                        try:
                            outcomes += await executor.run([request._replace(start=resume)])
                            continue
                        except PrefixDiffers:
                            differed += 1
                    outcomes += await executor.run([request])
                except Exception as error:
                    return _failed(error)
            return Played(outcomes, differed)

    async def abort(self, epoch: int) -> None:
        """Pause all rollouts of an epoch, those included that have not arrived yet."""
        self._aborted = max(self._aborted, epoch)
        for slot in self._slots:
            await slot.abort()

    @ray.method(concurrency_group="pulse")
    async def pulse(self) -> Pulse:
        """Return signs of life; answers also while a slow environment blocks the slots."""
        turns = sum(journal.turns for journal in self._journals)
        return Pulse(turns, [prefix for journal in self._journals for prefix in journal.take()])

    async def close(self) -> None:
        """Close environments and engine."""
        for slot in self._slots:
            slot.close()
        engine = getattr(self._slots[0].agent, "engine", None)
        if engine is not None:
            await engine.close()

    def _made(self, env_id: str) -> Environment:
        env, wanted = self._setup.make(env_id), self._setup.versions.get(env_id, "")
        if wanted and env.version != wanted:
            env.close()
            raise BackendMissing(
                f"{env_id} has version {env.version} on {platform.node()}, the run was planned "
                f"with {wanted}: install the same version of this package on every node"
            )
        return env


def _failed(error: Exception) -> Played:
    cause = error.__cause__ if isinstance(error.__cause__, Exception) else None
    if not _crosses(error):
        error = FatalError(f"{type(error).__name__}: {error}")
    return Played(error=error, cause=cause if _crosses(cause) else None)


def _crosses(error: Exception | None) -> bool:
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
