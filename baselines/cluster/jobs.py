"""Rollouts submitted to a fleet, and the pools that queue them.

A pool knows which of its workers are free and how many rollouts to send per message. Sending them
and handling the loss of a worker are left to the fleet.
"""

import asyncio
from collections import deque
from dataclasses import dataclass

from hexathlon.baselines.cluster.handles import WorkerHandle
from hexathlon.baselines.cluster.pools import Bundles
from hexathlon.baselines.cluster.workers import AgentRef
from hexathlon.baselines.rollout.executor import Outcome, Request
from hexathlon.baselines.rollout.pools import PoolTable
from hexathlon.baselines.rollout.prefix import Prefix

__all__ = ["RolloutJob", "SlotCall", "WorkerPool"]

_BATCH_S = 0.5
"""Target duration of a batch of short rollouts; messages take about a hundredth of it."""

_MOST = 64
"""Maximum number of rollouts in a batch."""

_SHORT_S = 1.0
"""Duration below which the queued rollouts of a task travel together, so that one worker builds the
task, which can take longer than to play it ten times."""


@dataclass(eq=False)
class RolloutJob:
    """One rollout submitted to a fleet, queued or in progress."""

    ticket: int
    request: Request
    agent: AgentRef
    epoch: int
    outcome: "asyncio.Future[Outcome]"
    resume: Prefix | None = None
    lost: int = 0
    """Number of workers lost while playing it."""

    @property
    def settled(self) -> bool:
        """Whether there is an outcome or an error; False if the job was withdrawn."""
        return self.outcome.done() and not self.outcome.cancelled()

    def unfinished(self) -> Prefix:
        """Return the prefix of a rollout that is aborted before a worker starts it."""
        return self.resume or self.request.start or Prefix(self.request.key)


@dataclass(eq=False)
class SlotCall:
    """Rollouts that a worker plays in one slot."""

    worker: WorkerHandle
    slot: int
    """Number of the slot, taken from the worker's free ones."""

    jobs: list[RolloutJob]


class WorkerPool:
    """The workers and the queue of one pool.

    Args:
        name: The pool's name.
        table: Its settings.

    Attributes:
        workers: Workers that are ready.
        starting: Workers that are not ready yet.
        calls: Rollouts in progress, by the asyncio tasks that await them.
        bundles: The pool's reservation; None until it is granted.
        opening: The asyncio task that reserves the bundles.
        seconds: Average duration of a rollout; 0 while unknown.
        failures: Number of consecutive workers that failed to start.
    """

    def __init__(self, name: str, table: PoolTable) -> None:
        self.name, self.table = name, table
        self.queue: deque[RolloutJob] = deque()
        self.workers: list[WorkerHandle] = []
        self.starting: set[WorkerHandle] = set()
        self.calls: dict[asyncio.Task[None], SlotCall] = {}
        self.bundles: Bundles | None = None
        self.opening: asyncio.Task[None] | None = None
        self.seconds = 0.0
        self.failures = 0

    @property
    def capacity(self) -> int:
        """Maximum number of concurrent rollouts."""
        return self.table.workers * self.table.slots

    @property
    def batch(self) -> int:
        """Number of rollouts per message, from their average duration so far."""
        return min(max(int(_BATCH_S / self.seconds), 1), _MOST) if self.seconds else 1

    @property
    def _short(self) -> bool:
        """Whether rollouts are known to be short."""
        return 0.0 < self.seconds < _SHORT_S

    @property
    def has_room(self) -> bool:
        """Whether the queue is short enough that a further rollout would start soon."""
        if not self.workers:
            return len(self.queue) < self.capacity
        ahead = 2 * self.capacity * self.batch if self.batch > 1 else 0
        if self._short:
            ahead = max(ahead, self.capacity * _MOST)
        free = sum(len(worker.free) for worker in self.workers)
        return len(self.queue) < max(ahead, free)

    def least_loaded(self, *, alone: bool = False) -> WorkerHandle | None:
        """Return the worker with the most free slots; None if there is none.

        Args:
            alone: Whether it must be idle.
        """
        candidates = [each for each in self.workers if (not each.busy if alone else each.free)]
        return max(candidates, key=lambda each: (len(each.free), -each.number), default=None)

    def next_call(self) -> tuple[WorkerHandle, int, list[RolloutJob]] | None:
        """Take the next message from the queue, and a slot for it, if a worker has one free."""
        while self.queue and self.queue[0].outcome.done():
            self.queue.popleft()
        if not self.queue:
            return None
        # A rollout that lost two workers may have crashed them, so it gets a worker to itself.
        suspect = self.queue[0].lost > 1
        worker = self.least_loaded(alone=suspect)
        if worker is None:
            return None
        share = -(-len(self.queue) // self.capacity)
        count = 1 if suspect else min(self.batch, -(-len(self.queue) // (2 * self.capacity)))
        most = 2 * count if count > 1 else 1
        if self._short and not suspect:
            most = max(most, min(share, _MOST))
        jobs = [self.queue.popleft()]
        while self.queue and len(jobs) < most and _alike(jobs[0], self.queue[0]):
            if len(jobs) >= count and not _same_task(jobs[-1], self.queue[0]):
                break
            jobs.append(self.queue.popleft())
        return worker, worker.take(whole=suspect), jobs


def _same_task(first: RolloutJob, second: RolloutJob) -> bool:
    return first.request.key[:2] == second.request.key[:2]


def _alike(first: RolloutJob, second: RolloutJob) -> bool:
    """Whether two rollouts can share a message."""
    same = first.agent.number == second.agent.number and first.epoch == second.epoch
    return same and not (first.lost or second.lost)
