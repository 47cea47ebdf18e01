"""Trials, replays and verdicts in several processes on this machine.

The results equal those of one process, in the same order: each depends only on its trial. One
process writes the records.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, TypeVar

from hexathlon.baselines.engines.served.settings import usable_cores
from hexathlon.baselines.harness.environments import find_environment, make_environment
from hexathlon.baselines.harness.errors import CommandError, UsageError
from hexathlon.baselines.harness.player import RemoteSetup
from hexathlon.baselines.harness.remote_agent import agent_of
from hexathlon.baselines.rollout.drivers import play, play_async
from hexathlon.baselines.rollout.environments import is_asynchronous
from hexathlon.baselines.rollout.executor import LOOK_AHEAD, Request
from hexathlon.baselines.rollout.processes import (
    ItemWorker,
    Ordered,
    ProcessLost,
    WorkerProcesses,
    working,
)
from hexathlon.baselines.rollout.rollout import EnvironmentSlot, Rollout
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.envs.registry import SHIPPED

__all__ = ["SMALL", "Distribute", "LocalPlayers", "processes_for", "distributed", "workers_of"]

T = TypeVar("T")
R = TypeVar("R")

Distribute = Callable[
    [Callable[[], ItemWorker[Any, Any]], int], AbstractContextManager[Ordered[Any, Any]]
]
"""Distributes work for the duration of a block, as `distributed` does over processes."""

SMALL = 200
"""Trials below which starting processes costs more than it saves."""


class LocalPlayers:
    """Plays trials in processes of this machine; a `RemotePlayers`.

    Args:
        processes: The processes.
        ahead: Maximum number of trials whose records were not written yet.
    """

    def __init__(self, processes: WorkerProcesses[Request, Trajectory], ahead: int) -> None:
        self._processes, self._ahead = processes, ahead

    async def trajectories(self, requests: Iterator[Request]) -> AsyncGenerator[Trajectory, None]:
        """Play trials and yield their trajectories, in the order of the requests.

        Raises:
            CommandError: If a process was lost.
        """
        try:
            for trajectory in self._processes.ordered(requests, self._ahead, _task_of):
                yield trajectory
        except ProcessLost as error:
            raise CommandError(f"the run stopped: {error}; resume it to continue") from None


@contextmanager
def processes_for(setup: RemoteSetup) -> Iterator[LocalPlayers | None]:
    """Start the processes of a run for the duration of a block; an `OpenPlayers`.

    Raises:
        UsageError: If processes are requested for a model, which waits for replies instead.
    """
    execution = setup.execution
    if setup.asynchronous and execution.workers > 1:
        raise UsageError(
            "--workers is for built-in agents; for a model, set --concurrency, or --cluster auto "
            "with --workers"
        )
    workers = 1
    if not setup.asynchronous:
        workers = workers_of(execution.workers, setup.trials, setup.versions)
    if workers == 1:
        yield None
        return
    start = partial(_TrialWorker, setup)
    with WorkerProcesses[Request, Trajectory](workers, start) as processes:
        # A budget counts recorded trials, so few unrecorded ones may be in progress.
        yield LocalPlayers(processes, workers if execution.has_budget else LOOK_AHEAD)


@contextmanager
def distributed(start: Callable[[], ItemWorker[T, R]], count: int) -> Iterator[Ordered[T, R]]:
    """Distribute work over processes for the duration of a block; see `working`.

    Raises:
        CommandError: If a process was lost.
    """
    try:
        with working(start, count) as ordered:
            yield ordered
    except ProcessLost as error:
        raise CommandError(f"stopped: {error}") from None


def workers_of(requested: int, items: int, env_ids: Iterable[str] = (), small: int = SMALL) -> int:
    """Return a number of processes: the requested one, or one per core for many items.

    Args:
        requested: Number of processes; 0 leaves the choice to this function.
        items: Trials or records.
        env_ids: Their environments. Without a request, this process plays those of other packages:
            a program may have registered them only here.
        small: Number of items below which this process does the work.
    """
    if requested:
        return min(requested, max(items, 1))
    return 1 if items < small or not SHIPPED.issuperset(env_ids) else usable_cores()


def _task_of(request: Request) -> tuple[str, str]:
    """Return the environment and the task of a trial."""
    return request.key[:2]


class _TrialWorker:
    """Plays one trial after another; an `ItemWorker`."""

    def __init__(self, setup: RemoteSetup) -> None:
        self._setup = setup
        self._agent = agent_of(setup)(0)
        self._slots: dict[str, EnvironmentSlot] = {}
        self._runner = asyncio.Runner()
        self._asynchronous: dict[str, bool] = {}

    def __call__(self, request: Request) -> Trajectory:
        """Play one trial."""
        setup = self._setup
        rollout = Rollout(self._agent, request.limits, setup.execution.retries, setup.salt)
        slot = self._slot(request.key[0], setup.versions)
        trial = rollout.trial(slot, request.key, request.tried)
        if self._asynchronous[request.key[0]]:
            return self._runner.run(play_async(trial))
        return play(trial)

    def _slot(self, env_id: str, versions: Mapping[str, str]) -> EnvironmentSlot:
        if env_id not in self._slots:
            find_environment(env_id)  # registers those of plugins
            make: Callable[[], Any] = make_environment(env_id, self._setup.config.limits)
            slot = EnvironmentSlot(make, versions.get(env_id, ""))
            self._slots[env_id] = slot
            self._asynchronous[env_id] = is_asynchronous(slot.get())
        return self._slots[env_id]

    def close(self) -> None:
        """Close the environments."""
        with self._runner as runner:
            for slot in self._slots.values():
                runner.run(slot.aclose())
