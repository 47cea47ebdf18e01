"""The driver's view of a pool of workers: starting, choosing, watching and replacing them.

Which rollouts are sent to a worker is up to the executor.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayActorError, RayError, RayTaskError

from hexathlon.baselines.cluster.connect import Cluster, ClusterError
from hexathlon.baselines.cluster.pools import Bundles, reserve
from hexathlon.baselines.cluster.workers import (
    EnvironmentWorker,
    Pulse,
    WorkerFacts,
    WorkerSetup,
)
from hexathlon.baselines.rollout.pools import PoolTable, WorkersTable
from hexathlon.evaluators.records import TrialKey
from hexathlon.tasks.version import VERSION

__all__ = ["WorkerHandle", "WorkerPool"]

_STOP_S = 30.0
"""Deadline of closing a worker's environments, after which it is killed."""

_CALLS = 8
"""Calls that a worker takes beyond those that play in its slots: greeting, abort, close."""


class WorkerHandle:
    """One worker as the driver knows it.

    Args:
        number: The worker's number.
        bundle: Its place in the pool's reservation.
        slots: Its number of slots.
        actor: Ray's handle.

    Attributes:
        free: Numbers of the slots without a call.
        facts: Where it runs; None until it is ready.
        heard: Monotonic time of its last turn or outcome, or of the start of its oldest call.
        lost: Why it is gone; empty while it is not.
    """

    def __init__(self, number: int, bundle: int, slots: int, actor: Any) -> None:
        self.number, self.bundle, self.actor = number, bundle, actor
        self.slots = slots
        self.free = list(range(slots))
        self.facts: WorkerFacts | None = None
        self.heard = time.monotonic()
        self.lost = ""
        self._turns = 0
        self._greeting = actor.hello.remote()

    @property
    def busy(self) -> bool:
        """Whether it plays anything."""
        return len(self.free) < self.slots

    @property
    def place(self) -> str:
        """Name of the worker, for reports."""
        where = f", process {self.facts.pid}" if self.facts else ""
        return f"worker {self.number}{where}"

    async def ready(self, within: float) -> None:
        """Wait until the worker is ready.

        Raises:
            TimeoutError: If it is not ready within the deadline.
            RayActorError: If it, or its node, is lost.
            ClusterError: If it cannot be made, or runs another version of this package.
        """
        try:
            facts: WorkerFacts = await asyncio.wait_for(_answer(self._greeting), within)
        except RayActorError as error:
            if "creation task" in str(error) or isinstance(error.__cause__, RayTaskError):
                raise ClusterError(f"a worker could not be made: {_reason(error)}") from error
            raise
        except RayTaskError as error:
            raise ClusterError(f"a worker could not be made: {_reason(error)}") from error
        if facts.version != VERSION:
            raise ClusterError(
                f"a worker runs version {facts.version} of this package, this process {VERSION}: "
                "install the same version on every node"
            )
        self.facts, self.heard = facts, time.monotonic()

    async def pulse(self, within: float) -> Pulse | None:
        """Return signs of life, or None if there is no answer."""
        try:
            pulse: Pulse = await asyncio.wait_for(_answer(self.actor.pulse.remote()), within)
        except (TimeoutError, RayError):
            return None
        if pulse.turns != self._turns:
            self._turns, self.heard = pulse.turns, time.monotonic()
        return pulse

    def kill(self) -> None:
        """End the worker's process."""
        with contextlib.suppress(RayError, ValueError):
            ray.kill(self.actor)


class WorkerPool:
    """The workers of one pool.

    Args:
        name: The pool's name.
        pool: Its settings.
        table: Settings of all pools.
        setup: Returns the setup of a worker, given its slots.
        report: Called with one line about each worker that starts or is lost.

    Attributes:
        workers: Those that are ready.
        seconds: Average duration of a rollout; 0 while unknown.
    """

    def __init__(
        self,
        name: str,
        pool: PoolTable,
        table: WorkersTable,
        setup: Callable[[int], WorkerSetup],
        report: Callable[[str], None],
    ) -> None:
        self.name = name
        self.workers: list[WorkerHandle] = []
        self.seconds = 0.0
        self.journal: dict[TrialKey, Any] = {}
        """Turns of rollouts in progress, as their workers recorded them."""

        self._pool, self._table, self._setup, self._report = pool, table, setup, report
        self._starting: list[WorkerHandle] = []
        self._bundles: Bundles | None = None
        self._failures = 0

    @property
    def capacity(self) -> int:
        """Number of rollouts that the pool plays at a time."""
        return self._pool.workers * self._pool.slots

    @property
    def starting(self) -> bool:
        """Whether some workers are not ready yet."""
        return bool(self._starting)

    def open(self, cluster: Cluster) -> None:
        """Reserve the pool's places and start its workers, unless that was done before.

        Raises:
            ClusterError: If there is no place for them.
        """
        if self._bundles is not None:
            return
        pool = self._pool
        self._bundles = reserve(
            cluster,
            [pool.bundle()] * pool.workers,
            name=self.name,
            spread=pool.spread,
            within=self._table.start_within,
        )
        for bundle in range(pool.workers):
            self._start(bundle)

    def least_loaded(self, *, alone: bool = False) -> WorkerHandle | None:
        """Return the ready worker with the most free slots, or None if all are full.

        Args:
            alone: Whether it must be playing nothing.
        """
        able = [one for one in self.workers if (not one.busy if alone else one.free)]
        return max(able, key=lambda one: (len(one.free), -one.number), default=None)

    async def await_one(self) -> None:
        """Wait for the first of the workers that are starting; replace it if it is lost.

        Raises:
            ClusterError: If no worker of the pool can be started.
        """
        waits = {
            asyncio.ensure_future(one.ready(self._table.start_within)): one
            for one in self._starting
        }
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                if not wait.done():
                    wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
        for wait in done:
            self._arrived(waits[wait], wait)

    def _arrived(self, worker: WorkerHandle, wait: "asyncio.Future[None]") -> None:
        self._starting.remove(worker)
        try:
            wait.result()
        except (TimeoutError, RayError) as error:
            within = self._table.start_within
            reason = f"it was not ready within {within:.0f} s" if isinstance(
                error, TimeoutError
            ) else _reason(error)
            self._failures += 1
            self.drop(worker, reason, replace=self._failures < self._table.lives)
            if not (self.workers or self._starting):
                raise ClusterError(
                    f"no worker of the pool {self.name!r} could be started, the last one since "
                    f"{reason}; check the nodes of the cluster, then run the command again"
                ) from error
            return
        self._failures = 0
        self.workers.append(worker)
        facts = worker.facts
        assert facts is not None
        self._report(f"{self.name}: {worker.place}, is ready on node {facts.node}")

    def drop(self, worker: WorkerHandle, reason: str, *, replace: bool = True) -> None:
        """Give up a worker and start another one in its place."""
        if worker.lost:
            return
        worker.lost = reason
        worker.kill()
        if worker in self.workers:
            self.workers.remove(worker)
        self._report(f"{self.name}: {worker.place}, was lost: {reason}")
        if replace:
            self._start(worker.bundle)

    async def watch(self) -> None:
        """Collect the turns that workers recorded, and replace those that are silent."""
        limit = self._table.silent_within
        workers = [one for one in self.workers if one.busy]
        pulses = await asyncio.gather(*(one.pulse(limit) for one in workers))
        for worker, pulse in zip(workers, pulses, strict=True):
            for prefix in pulse.written if pulse else ():
                self.journal[prefix.key] = prefix
            if worker.busy and time.monotonic() - worker.heard > limit:
                self.drop(worker, f"it finished no turn within {limit:.0f} s")

    def close(self) -> None:
        """Close the workers' environments, end the workers and give their places back."""
        closing = [one.actor.close.remote() for one in self.workers]
        with contextlib.suppress(RayError, GetTimeoutError):
            ray.get(closing, timeout=_STOP_S)
        for worker in (*self.workers, *self._starting):
            worker.kill()
        self.workers, self._starting = [], []
        if self._bundles is not None:
            self._bundles.release()
            self._bundles = None

    def _start(self, bundle: int) -> None:
        assert self._bundles is not None
        slots = self._pool.slots
        setup = self._setup(slots)
        actor = EnvironmentWorker.options(
            **self._bundles.options(bundle),
            max_restarts=0,
            max_concurrency=slots + _CALLS,
            enable_task_events=False,
        ).remote(setup)
        self._starting.append(WorkerHandle(setup.number, bundle, slots, actor))


async def _answer(reference: Any) -> Any:
    """Await Ray's reference as a coroutine, which can be given a deadline."""
    return await reference


def _reason(error: BaseException) -> str:
    """Return the line of Ray's message that names the cause."""
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
    told = [line for line in lines if "exit detail" in line or line.startswith("The actor is dead")]
    return (told or lines[-1:] or [type(error).__name__])[0][:300]


def all_workers(pools: Iterable[WorkerPool]) -> list[WorkerHandle]:
    """Return the ready workers of pools."""
    return [worker for pool in pools for worker in pool.workers]
