"""A fleet: pools of workers that play the rollouts of one or several executors.

Rollouts wait in the queue of their pool and go to the worker with the most free slots. Short ones
travel in batches, so that messages cost little. A lost worker is replaced, and its rollouts are
continued by others: from the turns that it recorded if there are any, else from the start, under
the same key. What the outcomes mean is left to the callers.
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
from hexathlon.baselines.cluster.errands import Errand, SlotCall, WorkerPool
from hexathlon.baselines.cluster.handles import WorkerHandle, reason_of
from hexathlon.baselines.cluster.pools import reserve_async
from hexathlon.baselines.cluster.workers import (
    WORKER_ACTOR,
    AgentRef,
    Assignment,
    Played,
    WorkerSetup,
)
from hexathlon.baselines.rollout.environments import make_env
from hexathlon.baselines.rollout.executor import Outcome, Request
from hexathlon.baselines.rollout.faults import classify
from hexathlon.baselines.rollout.pools import WorkersTable
from hexathlon.baselines.rollout.trial_record import TrialLog
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.envs.base import Environment
from hexathlon.envs.errors import EnvFault
from hexathlon.envs.registry import ENVIRONMENTS
from hexathlon.evaluators.closing import Closing

__all__ = ["Fleet", "FleetLosses"]

_STOP_S = 30.0
"""Deadline of closing a worker's environments, after which it is killed."""

_CANCEL_S = 30.0
"""Deadline of abandoning a rollout, after which its worker is replaced."""

_PULSE_S = 1.0
"""Time between two looks at the workers."""

_CALLS = 8
"""Calls that a worker takes beyond those that play in its slots: greeting, abort, close."""


@dataclass
class FleetLosses:
    """What was lost with workers, and what became of it."""

    workers: int = 0
    resumed: int = 0
    """Rollouts that another worker continued from recorded turns."""

    replayed: int = 0
    """Rollouts that another worker played from the start."""

    differed: int = 0
    """Rollouts played from the start since the replay of their recorded turns differed."""

    given_up: int = 0
    """Rollouts recorded as infrastructure failures after losing too many workers."""


class Fleet(Closing):
    """Workers of a cluster, started when rollouts need them.

    All calls must come from one thread, and those that are coroutines from one event loop until the
    fleet is idle.

    Args:
        cluster: The cluster.
        table: The pools.
        make: Makes an environment in a worker, from its id.
        retries: Further attempts at a trial after infrastructure failures.
        salt: The secret of a held-out round.
        versions: Required environment versions by id.
        report: Called with one line about every worker that starts or is lost.

    Attributes:
        losses: Counts of what was lost.
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
        self._duties: set[asyncio.Task[None]] = set()
        self._watching: asyncio.Task[None] | None = None

    @property
    def capacity(self) -> int:
        """Number of rollouts that all pools play at a time."""
        return sum(pool.capacity for pool in self._pools.values())

    @property
    def hungry(self) -> bool:
        """Whether some pool would play further rollouts soon."""
        return any(pool.hungry for pool in self._pools.values())

    @property
    def processes(self) -> dict[int, int]:
        """Ids of the processes that are ready, by worker number."""
        workers = (worker for pool in self._pools.values() for worker in pool.workers)
        return {one.number: one.facts.pid for one in workers if one.facts is not None}

    @property
    def turns(self) -> int:
        """Turns that the present workers have taken, as last heard."""
        return sum(worker.turns for pool in self._pools.values() for worker in pool.workers)

    @property
    def recorded(self) -> dict[int, int]:
        """Recorded turns of rollouts in progress, by ticket."""
        calls = (call for pool in self._pools.values() for call in pool.calls.values())
        errands = (errand for call in calls for errand in call.errands)
        return {one.ticket: one.resume.turns for one in errands if one.resume is not None}

    def agent(self, make: Callable[[int], Any]) -> AgentRef:
        """Register an agent, which workers make when they first play with it.

        Args:
            make: Makes the agent from the worker's number; can be pickled.
        """
        self._agents += 1
        return AgentRef(self._agents, [ray.put(make)])

    def submit(self, request: Request, agent: AgentRef, epoch: int) -> Errand:
        """Queue a rollout; its outcome is set when it has been played.

        Args:
            request: The rollout.
            agent: Who plays it, unless the request names a built-in agent.
            epoch: Aborted together with the others of this epoch.
        """
        outcome: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        errand = Errand(next(self._tickets), request, agent, epoch, outcome)
        pool = self._pools[self._table.pool_of(_family(request.key[0]))]
        pool.queue.append(errand)
        self._serve(pool)
        return errand

    def withdraw(self, errands: "set[Errand]") -> None:
        """Abandon rollouts that nobody waits for any more."""
        if not errands:
            return
        for errand in errands:
            errand.outcome.cancel()
        for pool in self._pools.values():
            pool.queue = deque(errand for errand in pool.queue if not errand.outcome.done())
            for call in pool.calls.values():
                tickets = [errand.ticket for errand in call.errands if errand in errands]
                if tickets:
                    self._do(pool, self._cancel(pool, call.worker, tickets))

    async def abort(self, agent: AgentRef, epoch: int) -> None:
        """Pause the rollouts of an epoch; those that wait end with the turns they have."""
        calls = []
        for pool in self._pools.values():
            for errand in pool.queue:
                if errand.agent.number == agent.number and errand.epoch <= epoch:
                    _settle(errand, errand.unfinished())
            workers = {call.worker for call in pool.calls.values()}
            calls += [_reached(one.actor.abort.remote(agent.number, epoch)) for one in workers]
        await asyncio.gather(
            *calls
        )  # a worker that is lost aborts nothing; its loss shows elsewhere

    def close(self) -> None:
        """Close the workers' environments, end the workers and give their places back."""
        for duty in (*self._duties, *([self._watching] if self._watching else [])):
            with contextlib.suppress(RuntimeError):  # its event loop is closed
                duty.cancel()
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
                pool.opening = self._do(pool, self._open(pool))
            return
        while (message := pool.next_call()) is not None:
            call = SlotCall(*message)
            task = self._do(pool, self._play(pool, call))
            pool.calls[task] = call
            task.add_done_callback(pool.calls.pop)
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch())

    async def _play(self, pool: WorkerPool, call: SlotCall) -> None:
        worker, errands = call.worker, call.errands
        tasks = [Assignment(one.ticket, one.request, one.resume) for one in errands]
        first = errands[0]
        try:
            played: Played = await worker.actor.play.remote(
                call.slot, first.agent, first.epoch, tasks
            )
        except RayTaskError as error:
            self._fail(errands, ClusterError(f"a worker cannot play: {reason_of(error)}"))
        except RayError as error:
            self._lose(pool, worker, reason_of(error))
            self._retry(pool, errands, worker.lost)
            self._serve(pool)
            return
        else:
            self._finished(pool, call, played)
        worker.release(call.slot)
        self._serve(pool)

    def _finished(self, pool: WorkerPool, call: SlotCall, played: Played) -> None:
        call.worker.heard = time.monotonic()
        if played.error is not None:
            played.error.__cause__ = played.cause
            self._fail(call.errands, played.error)
            return
        seconds = played.seconds / len(call.errands)
        pool.seconds = (pool.seconds + seconds) / 2 if pool.seconds else seconds
        self.losses.differed += played.differed
        for errand, outcome in zip(call.errands, played.outcomes, strict=True):
            _settle(errand, outcome)

    def _fail(self, errands: list[Errand], error: Exception) -> None:
        for errand in errands:
            if not errand.outcome.done():
                errand.outcome.set_exception(error)

    async def _cancel(self, pool: WorkerPool, worker: WorkerHandle, tickets: list[int]) -> None:
        try:
            await asyncio.wait_for(_answer(worker.actor.cancel.remote(tickets)), _CANCEL_S)
        except TimeoutError:
            self._lose(pool, worker, f"it did not abandon a rollout within {_CANCEL_S:.0f} s")
        except RayError:
            pass  # it is lost, as its calls will say

    # Losses ------------------------------------------------------------------------------------

    def _lose(self, pool: WorkerPool, worker: WorkerHandle, reason: str) -> None:
        """Give up a worker and start another one in its place."""
        if worker.lost:
            return
        worker.lost = reason
        worker.kill()
        if worker in pool.workers:
            pool.workers.remove(worker)
            self.losses.workers += 1
        self._report(f"{pool.name}: {worker.place}, was lost: {reason}")
        self._start(pool, worker.bundle)

    def _retry(self, pool: WorkerPool, errands: list[Errand], reason: str) -> None:
        """Queue the rollouts of a lost worker again, before all others."""
        for errand in reversed(errands):
            if errand.outcome.done():
                continue
            errand.lost += 1
            if errand.lost >= self._table.lives:
                self.losses.given_up += 1
                _settle(errand, _lost_record(errand, reason, self._versions))
                continue
            self.losses.resumed += errand.resume is not None
            self.losses.replayed += errand.resume is None
            pool.queue.appendleft(errand)

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
        self._do(pool, self._greet(pool, worker))

    async def _greet(self, pool: WorkerPool, worker: WorkerHandle) -> None:
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
                    f"no worker of the pool {pool.name!r} could be started, the last one since "
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
        """Collect recorded turns and replace silent workers, while anything is played."""
        limit = self._table.silent_within
        while True:
            await asyncio.sleep(_PULSE_S)
            calls = [call for pool in self._pools.values() for call in pool.calls.values()]
            if not calls:
                return
            errands = {errand.ticket: errand for call in calls for errand in call.errands}
            workers = {call.worker for call in calls if not call.worker.lost}
            pulses = await asyncio.gather(*(one.pulse(min(limit, 60.0)) for one in workers))
            for pulse in pulses:
                for ticket, prefix in pulse.written if pulse else ():
                    if ticket in errands and errands[ticket].request.key == prefix.key:
                        errands[ticket].resume = prefix
            for pool in self._pools.values():
                for worker in list(pool.workers):
                    if worker.busy and time.monotonic() - worker.heard > limit:
                        self._lose(pool, worker, f"it finished no turn within {limit:.0f} s")

    def _do(self, pool: WorkerPool, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Start a duty of a pool; its failure fails all rollouts of the pool."""

        def over(task: "asyncio.Task[None]") -> None:
            self._duties.discard(task)
            error = None if task.cancelled() else task.exception()
            if isinstance(error, Exception):
                pool.opening = None if pool.bundles is None else pool.opening
                queued, pool.queue = list(pool.queue), deque()
                self._fail(queued, error)

        task = asyncio.create_task(work)
        self._duties.add(task)
        task.add_done_callback(over)
        return task


def _settle(errand: Errand, outcome: Outcome) -> None:
    if not errand.outcome.done():
        errand.outcome.set_result(outcome)


def _lost_record(errand: Errand, reason: str, versions: Mapping[str, str]) -> Trajectory:
    """Return the trajectory of a trial that cannot be played: an infrastructure failure."""
    request = errand.request
    fault = classify(
        EnvFault(
            f"{errand.lost} workers in a row were lost while they played this trial, the last one "
            f"since {reason}",
            cause="worker_lost",
        )
    )
    log = TrialLog(request.key, request.tried + 1)
    return Trajectory(log.record((), fault, versions.get(request.key[0], "")))


def _family(env_id: str) -> str:
    info = ENVIRONMENTS.get(env_id)
    return info.family if info is not None else ""


async def _answer(reference: Any) -> Any:
    return await reference


async def _reached(reference: Any) -> None:
    """Wait for a call that a lost worker need not answer."""
    with contextlib.suppress(RayError, TimeoutError):
        await asyncio.wait_for(_answer(reference), _CANCEL_S)
