"""Rollouts on their way through a fleet, and the pools in whose queues they wait.

A pool knows which of its workers is free and how many rollouts travel in one message. Sending them,
and what follows when a worker is lost, is left to the fleet.
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

__all__ = ["SlotCall", "Errand", "WorkerPool"]

_BATCH_S = 0.5
"""Duration of a batch of short rollouts; messages take about a hundredth of it."""

_MOST = 64
"""Longest batch."""


@dataclass(eq=False)
class Errand:
    """One rollout on its way through a fleet."""

    ticket: int
    request: Request
    agent: AgentRef
    epoch: int
    outcome: "asyncio.Future[Outcome]"
    resume: Prefix | None = None
    lost: int = 0
    """Workers lost while they played it."""

    @property
    def settled(self) -> bool:
        """Whether there is an outcome or an error; not so if nobody waits for one any more."""
        return self.outcome.done() and not self.outcome.cancelled()

    def unfinished(self) -> Prefix:
        """Return where the rollout stands, for one that is aborted before it begins."""
        return self.resume or self.request.start or Prefix(self.request.key)


@dataclass(eq=False)
class SlotCall:
    """Rollouts that a worker plays in one slot."""

    worker: WorkerHandle
    slot: int
    """Taken from the worker's free ones."""

    errands: list[Errand]


class WorkerPool:
    """The workers and the queue of one pool.

    Args:
        name: The pool's name.
        table: Its settings.

    Attributes:
        workers: Those that are ready.
        starting: Those that are not ready yet.
        calls: Rollouts in progress, by the tasks that wait for them.
        bundles: The pool's places; None until they are reserved.
        opening: The task that reserves them.
        seconds: Average duration of a rollout; 0 while unknown.
        failures: Workers that did not start, since the last one that did.
    """

    def __init__(self, name: str, table: PoolTable) -> None:
        self.name, self.table = name, table
        self.queue: deque[Errand] = deque()
        self.workers: list[WorkerHandle] = []
        self.starting: set[WorkerHandle] = set()
        self.calls: dict[asyncio.Task[None], SlotCall] = {}
        self.bundles: Bundles | None = None
        self.opening: asyncio.Task[None] | None = None
        self.seconds = 0.0
        self.failures = 0

    @property
    def capacity(self) -> int:
        """Number of rollouts that the pool plays at a time."""
        return self.table.workers * self.table.slots

    @property
    def batch(self) -> int:
        """Number of rollouts in a message, by their average duration so far."""
        return min(max(int(_BATCH_S / self.seconds), 1), _MOST) if self.seconds else 1

    @property
    def hungry(self) -> bool:
        """Whether further rollouts would be played soon."""
        if not self.workers:
            return len(self.queue) < self.capacity
        ahead = 2 * self.capacity * self.batch if self.batch > 1 else 0
        free = sum(len(worker.free) for worker in self.workers)
        return len(self.queue) < max(ahead, free)

    def least_loaded(self, *, alone: bool = False) -> WorkerHandle | None:
        """Return the worker with the most free slots; None if there is none.

        Args:
            alone: Whether it must be playing nothing.
        """
        able = [one for one in self.workers if (not one.busy if alone else one.free)]
        return max(able, key=lambda one: (len(one.free), -one.number), default=None)

    def next_call(self) -> tuple[WorkerHandle, int, list[Errand]] | None:
        """Take the next message from the queue, if a worker has a free slot; take the slot, too."""
        while self.queue and self.queue[0].outcome.done():
            self.queue.popleft()
        if not self.queue:
            return None
        # A rollout that lost two workers may be what ended them, so it endangers no other.
        suspect = self.queue[0].lost > 1
        worker = self.least_loaded(alone=suspect)
        if worker is None:
            return None
        count = 1 if suspect else min(self.batch, -(-len(self.queue) // (2 * self.capacity)))
        errands = [self.queue.popleft()]
        # In a long message, all trials of a task: the worker builds it once.
        most = 2 * count if count > 1 else 1
        while self.queue and len(errands) < most and _alike(errands[0], self.queue[0]):
            if len(errands) >= count and not _same_task(errands[-1], self.queue[0]):
                break
            errands.append(self.queue.popleft())
        return worker, worker.take(whole=suspect), errands


def _same_task(first: Errand, second: Errand) -> bool:
    return first.request.key[:2] == second.request.key[:2]


def _alike(first: Errand, second: Errand) -> bool:
    """Whether two rollouts may travel in one message."""
    same = first.agent.number == second.agent.number and first.epoch == second.epoch
    return same and not (first.lost or second.lost)
