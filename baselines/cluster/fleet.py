"""A fleet: pools of workers that play the rollouts of one or several executors.

Rollouts wait in the queue of their pool and go to the worker with the most free slots. Short ones
are sent in batches, to save messages. A lost worker is replaced, and other workers continue its
rollouts under the same keys, from the turns that it recorded if there are any, else from the start.
Interpreting the outcomes is left to the callers.
"""

import asyncio
import contextlib
import itertools
import time
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError, RayTaskError

from hexathlon.baselines.cluster.connect import ClusterError, RayCluster
from hexathlon.baselines.cluster.handles import WorkerHandle, reason_of
from hexathlon.baselines.cluster.jobs import RolloutJob, SlotCall, WorkerPool
from hexathlon.baselines.cluster.pools import reserve_async
from hexathlon.baselines.cluster.workers import (
    WORKER_ACTOR,
    AgentRef,
    Assignment,
    SlotResult,
    WorkerSetup,
)
from hexathlon.baselines.rollout.environments import make_env
from hexathlon.baselines.rollout.executor import Outcome, Request
from hexathlon.baselines.rollout.faults import classify
from hexathlon.baselines.rollout.pools import WorkersTable, family_of
from hexathlon.baselines.rollout.trial_record import TrialLog
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.envs.base import Environment
from hexathlon.envs.errors import EnvFault
from hexathlon.evaluators.closing import Closing

__all__ = ["Fleet", "FleetLosses"]

_STOP_S = 30.0
"""Deadline for closing a worker's environments, after which it is killed."""

_CANCEL_S = 30.0
"""Deadline for abandoning a rollout, after which its worker is replaced."""

_HEARTBEAT_S = 1.0
"""Interval between heartbeats."""

_CALLS = 8
"""Concurrent calls to a worker besides those that play in its slots: hello, abort, close."""


@dataclass
class FleetLosses:
    """Counts of lost workers and of their rollouts' outcomes."""

    workers: int = 0
    resumed: int = 0
    """Rollouts that another worker continued from recorded turns."""

    replayed: int = 0
    """Rollouts that another worker played from the start."""

    differed: int = 0
    """Rollouts played from the start because the replay of their recorded turns differed."""

    given_up: int = 0
    """Rollouts recorded as infrastructure failures after losing too many workers."""


class Fleet(Closing):
    """Workers of a cluster, started when rollouts need them.

    All calls must come from one thread, and coroutines must run on one event loop until the fleet
    is idle.

    Args:
        cluster: The cluster.
        table: The pools.
        make: Creates an environment in a worker, from its id.
        retries: Further attempts at a trial after infrastructure failures.
        salt: The secret of a held-out round.
        versions: Required environment versions by id.
        report: Called with one line for every worker that starts or is lost.

    Attributes:
        losses: Counts of lost workers and rollouts.
    """

    def __init__(
        self,
        cluster: RayCluster,
        table: WorkersTable | None = None,
        make: Callable[[str], Environment] = make_env,
        retries: int = 2,
        *,
        salt: str | None = None,
        versions: Mapping[str, str] | None = None,
        report: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.losses = FleetLosses()
        self._cluster, self._table = cluster, table or WorkersTable()
        self._make, self._retries, self._salt = make, retries, salt
        self._versions, self._report = dict(versions or {}), report
        self._pools = {name: WorkerPool(name, row) for name, row in self._table.all_pools().items()}
        self._numbers, self._tickets, self._agents = itertools.count(), itertools.count(), 0
        self._background: set[asyncio.Task[None]] = set()
        self._watching: asyncio.Task[None] | None = None

    @property
    def capacity(self) -> int:
        """Maximum number of concurrent rollouts in all pools."""
        return sum(pool.capacity for pool in self._pools.values())

    @property
    def has_room(self) -> bool:
        """Whether some pool would start a further rollout soon."""
        return any(pool.has_room for pool in self._pools.values())

    @property
    def processes(self) -> dict[int, int]:
        """Process ids of the workers that are ready, by worker number."""
        workers = (worker for pool in self._pools.values() for worker in pool.workers)
        return {one.number: one.facts.pid for one in workers if one.facts is not None}

    @property
    def turns(self) -> int:
        """Turns that the current workers have taken, as of their last heartbeats."""
        return sum(worker.turns for pool in self._pools.values() for worker in pool.workers)

    @property
    def recorded(self) -> dict[int, int]:
        """Recorded turns of rollouts in progress, by ticket."""
        calls = (call for pool in self._pools.values() for call in pool.calls.values())
        jobs = (job for call in calls for job in call.jobs)
        return {one.ticket: one.resume.turns for one in jobs if one.resume is not None}

    def agent(self, make: Callable[[int], Any]) -> AgentRef:
        """Register an agent, which workers create on first use.

        Args:
            make: Creates the agent from the worker's number; must be picklable.
        """
        self._agents += 1
        return AgentRef(self._agents, [ray.put(make)])

    def submit(self, request: Request, agent: AgentRef, epoch: int) -> RolloutJob:
        """Queue a rollout; its outcome is set when it has been played.

        Args:
            request: The rollout.
            agent: The agent, unless the request names a built-in one.
            epoch: The rollout is aborted together with the others of its epoch.
        """
        outcome: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        job = RolloutJob(next(self._tickets), request, agent, epoch, outcome)
        pool = self._pools[self._table.pool_of(family_of(request.key[0]))]
        pool.queue.append(job)
        self._serve(pool)
        return job

    def withdraw(self, jobs: "set[RolloutJob]") -> None:
        """Abandon rollouts whose outcomes are no longer needed."""
        if not jobs:
            return
        for job in jobs:
            job.outcome.cancel()
        for pool in self._pools.values():
            pool.queue = deque(job for job in pool.queue if not job.outcome.done())
            for call in pool.calls.values():
                tickets = [job.ticket for job in call.jobs if job in jobs]
                if tickets:
                    self._start_task(pool, self._cancel(pool, call.worker, tickets))

    async def abort(self, agent: AgentRef, epoch: int) -> None:
        """Pause the rollouts of an epoch; queued ones end with the turns that they have."""
        calls = []
        for pool in self._pools.values():
            for job in pool.queue:
                if job.agent.number == agent.number and job.epoch <= epoch:
                    _settle(job, job.unfinished())
            workers = {call.worker for call in pool.calls.values()}
            calls += [_tolerant(each.actor.abort.remote(agent.number, epoch)) for each in workers]
        await asyncio.gather(*calls)

    def close(self) -> None:
        """Close the workers' environments, stop the workers and release their resources."""
        for task in (*self._background, *([self._watching] if self._watching else [])):
            with contextlib.suppress(RuntimeError):  # its event loop is closed
                task.cancel()
        pools = self._pools.values()
        workers = [worker for pool in pools for worker in pool.workers]
        with contextlib.suppress(RayError, GetTimeoutError):
            ray.get([worker.actor.close.remote() for worker in workers], timeout=_STOP_S)
        for pool in pools:
            for worker in (*pool.workers, *pool.starting):
                worker.kill()
            pool.workers, pool.starting = [], set()
            if pool.bundles is not None:
                pool.bundles.release()
                pool.bundles = None

    # Playing -----------------------------------------------------------------------------------

    def _serve(self, pool: WorkerPool) -> None:
        """Send waiting rollouts to workers, once there are any."""
        if pool.bundles is None:
            if pool.opening is None:
                pool.opening = self._start_task(pool, self._open(pool))
            return
        while (message := pool.next_call()) is not None:
            call = SlotCall(*message)
            task = self._start_task(pool, self._play(pool, call))
            pool.calls[task] = call
            task.add_done_callback(pool.calls.pop)
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch())

    async def _play(self, pool: WorkerPool, call: SlotCall) -> None:
        worker, jobs = call.worker, call.jobs
        tasks = [Assignment(one.ticket, one.request, one.resume) for one in jobs]
        first = jobs[0]
        try:
            played: SlotResult = await worker.actor.play.remote(
                call.slot, first.agent, first.epoch, tasks
            )
        except RayTaskError as error:
            self._fail(jobs, ClusterError(f"a worker cannot play: {reason_of(error)}"))
        except RayError as error:
            self._lose(pool, worker, reason_of(error))
            self._retry(pool, jobs, worker.lost)
            self._serve(pool)
            return
        else:
            self._finished(pool, call, played)
        worker.release(call.slot)
        self._serve(pool)

    def _finished(self, pool: WorkerPool, call: SlotCall, played: SlotResult) -> None:
        call.worker.heard = time.monotonic()
        if played.error is not None:
            played.error.__cause__ = played.cause
            self._fail(call.jobs, played.error)
            return
        seconds = played.seconds / len(call.jobs)
        pool.seconds = (pool.seconds + seconds) / 2 if pool.seconds else seconds
        self.losses.differed += played.differed
        for job, outcome in zip(call.jobs, played.outcomes, strict=True):
            _settle(job, outcome)

    def _fail(self, jobs: list[RolloutJob], error: Exception) -> None:
        for job in jobs:
            if not job.outcome.done():
                job.outcome.set_exception(error)

    async def _cancel(self, pool: WorkerPool, worker: WorkerHandle, tickets: list[int]) -> None:
        try:
            await asyncio.wait_for(_answer(worker.actor.cancel.remote(tickets)), _CANCEL_S)
        except TimeoutError:
            self._lose(pool, worker, f"it did not abandon a rollout within {_CANCEL_S:.0f} s")
        except RayError:
            pass  # the worker is lost; its calls report that

    # Losses ------------------------------------------------------------------------------------

    def _lose(self, pool: WorkerPool, worker: WorkerHandle, reason: str) -> None:
        """Kill a worker and start a replacement."""
        if worker.lost:
            return
        worker.lost = reason
        worker.kill()
        if worker in pool.workers:
            pool.workers.remove(worker)
            self.losses.workers += 1
        self._report(f"{pool.name}: {worker.place}, was lost: {reason}")
        self._start(pool, worker.bundle)

    def _retry(self, pool: WorkerPool, jobs: list[RolloutJob], reason: str) -> None:
        """Requeue the rollouts of a lost worker, before all others."""
        for job in reversed(jobs):
            if job.outcome.done():
                continue
            job.lost += 1
            if job.lost >= self._table.lives:
                self.losses.given_up += 1
                _settle(job, _lost_record(job, reason, self._versions))
                continue
            self.losses.resumed += job.resume is not None
            self.losses.replayed += job.resume is None
            pool.queue.appendleft(job)

    # Workers -----------------------------------------------------------------------------------

    async def _open(self, pool: WorkerPool) -> None:
        row, within = pool.table, self._table.start_within
        pool.bundles = await reserve_async(
            self._cluster,
            [row.bundle()] * row.workers,
            name=pool.name,
            spread=row.spread,
            within=within,
        )
        for bundle in range(row.workers):
            self._start(pool, bundle)

    def _start(self, pool: WorkerPool, bundle: int) -> None:
        if pool.bundles is None:
            return
        number, slots = next(self._numbers), pool.table.slots
        setup = WorkerSetup(number, slots, self._make, self._retries, self._salt, self._versions)
        actor = WORKER_ACTOR.options(
            **pool.bundles.options(bundle),
            max_restarts=0,
            max_concurrency=slots + _CALLS,
            enable_task_events=False,
        ).remote(setup)
        worker = WorkerHandle(number, bundle, slots, actor)
        pool.starting.add(worker)
        self._start_task(pool, self._await_ready(pool, worker))

    async def _await_ready(self, pool: WorkerPool, worker: WorkerHandle) -> None:
        within = self._table.start_within
        try:
            await worker.ready(within)
        except (TimeoutError, RayError) as error:
            late = isinstance(error, TimeoutError)
            reason = f"it was not ready within {within:.0f} s" if late else reason_of(error)
            pool.starting.discard(worker)
            worker.lost = reason
            worker.kill()
            self._report(f"{pool.name}: {worker.place}, did not start: {reason}")
            pool.failures += 1
            if pool.failures < self._table.lives:
                self._start(pool, worker.bundle)
            elif not (pool.workers or pool.starting):
                raise ClusterError(
                    f"no worker of the pool {pool.name!r} could be started; the last failure: "
                    f"{reason}; check the nodes of the cluster, then run the command again"
                ) from error
            return
        pool.failures = 0
        pool.starting.discard(worker)
        pool.workers.append(worker)
        assert worker.facts is not None
        self._report(f"{pool.name}: {worker.place}, is ready on node {worker.facts.node}")
        self._serve(pool)

    async def _watch(self) -> None:
        """Collect recorded turns and replace silent workers while rollouts are in progress."""
        limit = self._table.silent_within
        while True:
            await asyncio.sleep(_HEARTBEAT_S)
            calls = [call for pool in self._pools.values() for call in pool.calls.values()]
            if not calls:
                return
            jobs = {job.ticket: job for call in calls for job in call.jobs}
            workers = {call.worker for call in calls if not call.worker.lost}
            heartbeats = await asyncio.gather(*(one.heartbeat(min(limit, 60.0)) for one in workers))
            for heartbeat in heartbeats:
                for ticket, prefix in heartbeat.written if heartbeat else ():
                    if ticket in jobs and jobs[ticket].request.key == prefix.key:
                        jobs[ticket].resume = prefix
            for pool in self._pools.values():
                for worker in list(pool.workers):
                    if worker.busy and time.monotonic() - worker.heard > limit:
                        self._lose(pool, worker, f"it finished no turn within {limit:.0f} s")

    def _start_task(
        self, pool: WorkerPool, work: Coroutine[Any, Any, None]
    ) -> "asyncio.Task[None]":
        """Start a background task of a pool; its failure fails all queued rollouts of the pool."""

        def finished(task: "asyncio.Task[None]") -> None:
            self._background.discard(task)
            error = None if task.cancelled() else task.exception()
            if isinstance(error, Exception):
                pool.opening = None if pool.bundles is None else pool.opening
                queued, pool.queue = list(pool.queue), deque()
                self._fail(queued, error)

        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(finished)
        return task


def _settle(job: RolloutJob, outcome: Outcome) -> None:
    if not job.outcome.done():
        job.outcome.set_result(outcome)


def _lost_record(job: RolloutJob, reason: str, versions: Mapping[str, str]) -> Trajectory:
    """Return the trajectory of a trial that cannot be played: an infrastructure failure."""
    request = job.request
    fault = classify(
        EnvFault(
            f"{job.lost} workers in a row were lost while playing this trial; the last failure: "
            f"{reason}",
            cause="worker_lost",
        )
    )
    log = TrialLog(request.key, request.tried + 1)
    return Trajectory(log.record((), fault, versions.get(request.key[0], "")))


async def _answer(reference: Any) -> Any:
    return await reference


async def _tolerant(reference: Any) -> None:
    """Await a call, ignoring a lost worker: its loss is handled elsewhere."""
    with contextlib.suppress(RayError, TimeoutError):
        await asyncio.wait_for(_answer(reference), _CANCEL_S)
