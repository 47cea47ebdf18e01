"""The driver's view of one worker: its slots, its location and its heartbeats.

The fleet decides which rollouts the worker plays and what happens when it is lost.
"""

import asyncio
import contextlib
import time
from typing import Any

import ray
from ray.exceptions import RayActorError, RayError, RayTaskError

from hexathlon.baselines.cluster.connect import ClusterError
from hexathlon.baselines.cluster.workers import Heartbeat, WorkerFacts
from hexathlon.tasks.version import VERSION

__all__ = ["WorkerHandle", "answer_within", "reason_of"]


class WorkerHandle:
    """One worker as the driver knows it.

    Args:
        number: The worker's number.
        bundle: Index of its bundle in the pool's reservation.
        slots: Its number of slots.
        actor: Ray's handle.

    Attributes:
        busy: Whether any slot is taken.
        free: Numbers of the free slots.
        facts: Where it runs; None until it is ready.
        turns: Turns that it has taken, as of its last heartbeat.
        heard: Monotonic time of its last turn or outcome, or of the start of its oldest call.
        lost: Reason for its loss; empty while it is alive.
    """

    def __init__(self, number: int, bundle: int, slots: int, actor: Any) -> None:
        self.number, self.bundle, self.actor = number, bundle, actor
        self.slots = slots
        self.free = list(range(slots))
        self.busy = False
        self.facts: WorkerFacts | None = None
        self.heard = time.monotonic()
        self.lost = ""
        self.turns = 0
        self._taken: set[int] = set()
        self._hello = actor.hello.remote()

    def take(self, *, whole: bool = False) -> int:
        """Take a free slot and return its number.

        Args:
            whole: Whether to block the other slots until it is released.
        """
        if not self.busy:
            self.busy, self.heard = True, time.monotonic()
        slot = self.free.pop()
        if whole:
            self.free = []
        self._taken.add(slot)
        return slot

    def release(self, slot: int) -> None:
        """Release a slot."""
        self._taken.remove(slot)
        self.busy = bool(self._taken)
        self.free = [number for number in range(self.slots) if number not in self._taken]

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
            ClusterError: If it cannot be created, or runs another version of this package.
        """
        try:
            facts: WorkerFacts = await asyncio.wait_for(_answer(self._hello), within)
        except RayActorError as error:
            if "creation task" in str(error) or isinstance(error.__cause__, RayTaskError):
                raise ClusterError(f"a worker could not start: {reason_of(error)}") from error
            raise
        except RayTaskError as error:
            raise ClusterError(f"a worker could not start: {reason_of(error)}") from error
        if facts.version != VERSION:
            raise ClusterError(
                f"a worker runs version {facts.version} of this package, but this process runs "
                f"{VERSION}: install the same version on every node"
            )
        self.facts, self.heard = facts, time.monotonic()

    async def heartbeat(self, within: float) -> Heartbeat | None:
        """Return a heartbeat, or None if there is no answer."""
        try:
            heartbeat: Heartbeat = await asyncio.wait_for(
                _answer(self.actor.heartbeat.remote()), within
            )
        except (TimeoutError, RayError):
            return None
        if heartbeat.turns != self.turns:
            self.turns, self.heard = heartbeat.turns, time.monotonic()
        return heartbeat

    def kill(self) -> None:
        """Kill the worker's process."""
        with contextlib.suppress(RayError, ValueError):
            ray.kill(self.actor)


async def _answer(reference: Any) -> Any:
    """Await Ray's reference as a coroutine, which can be given a deadline."""
    return await reference


async def answer_within(seconds: float, reference: Any, what: str) -> Any:
    """Await the result of a call.

    Args:
        seconds: Maximum time to wait.
        reference: Ray's reference to the result.
        what: The expected result, for the error.

    Raises:
        ClusterError: If there is no result in time.
        RayError: If the process that was called is lost, or raised an error.
    """
    try:
        async with asyncio.timeout(seconds):
            return await reference
    except TimeoutError:
        raise ClusterError(
            f"waited {seconds:g} s for {what}: see Ray's logs, then run the command again"
        ) from None


def reason_of(error: BaseException) -> str:
    """Return the line of Ray's message that names the cause."""
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
    causes = [
        line for line in lines if "exit detail" in line or line.startswith("The actor is dead")
    ]
    return (causes or lines[-1:] or [type(error).__name__])[0][:300]
