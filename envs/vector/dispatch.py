"""Dispatch of calls to the environments of a vector, with answers in completion order.

Awaitable calls are started on the event loop first, so that they run while the other calls are made
synchronously.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NamedTuple, cast

from hexathlon.envs.loops import LoopLease
from hexathlon.envs.vector.lanes import Arrival, Lane

__all__ = ["Dispatcher", "PendingCall"]


class PendingCall(NamedTuple):
    """One call to one environment."""

    lane: Lane
    verb: str
    """`step` or `reset`."""

    arguments: tuple[Any, ...]


class Dispatcher:
    """Pending calls and arrived answers.

    Args:
        lease: A lease on the event loop, if any environment is awaited.
    """

    def __init__(self, lease: LoopLease | None) -> None:
        self._lease = lease
        self._in_flight: dict[int, asyncio.Task[Arrival]] = {}
        self._ready: deque[Arrival | Exception] = deque()
        self._waiting: tuple[int, asyncio.Future[None]] | None = None
        self.arrive: Callable[[Arrival], None] = self._ready.append
        """Adds an answer produced synchronously."""

    @property
    def pending(self) -> int:
        """Number of answers still to be collected."""
        return len(self._in_flight) + len(self._ready)

    def in_flight(self, number: int) -> bool:
        """Whether the call to an environment is still pending."""
        return number in self._in_flight

    def launch(self, calls: Sequence[PendingCall]) -> None:
        """Start the awaitable calls, then make the others synchronously."""
        for lane, verb, arguments in calls:
            if lane.awaits:
                self._dispatch(lane.number, getattr(lane, f"a{verb}")(*arguments))
        if self._lease is not None and self._in_flight:
            # One iteration of the loop, so that requests are sent.
            self._lease.run(asyncio.sleep(0))
        for lane, verb, arguments in calls:
            if not lane.awaits:
                self._ready.append(getattr(lane, verb)(*arguments))

    def collect(self, min_ready: int, timeout: float | None) -> list[Arrival]:
        """Return answers in order of arrival; see `VectorEnvironment.recv`."""
        if min_ready > len(self._in_flight) + len(self._ready):
            raise ValueError(f"asked for {min_ready} answers, but only {self.pending} are pending")
        if self._lease is None:
            answers: list[Any] = list(self._ready)
            self._ready.clear()
            return answers
        if self._in_flight:
            self._lease.run(self._until(min_ready, timeout))
        arrivals: list[Arrival] = []
        while self._ready:
            answer = self._ready.popleft()
            if isinstance(answer, Exception):
                self._ready.extendleft(reversed(arrivals))
                raise answer
            arrivals.append(answer)
        return arrivals

    def cancel(self) -> None:
        """Cancel pending calls and wait for the cancellation."""
        if self._lease is not None and self._in_flight:
            tasks = list(self._in_flight.values())
            for task in tasks:
                task.cancel()
            self._lease.run(_settle(tasks))

    def _dispatch(self, number: int, coroutine: Coroutine[Any, Any, Arrival]) -> None:
        task = cast("LoopLease", self._lease).loop.create_task(coroutine)
        self._in_flight[number] = task
        task.add_done_callback(lambda done: self._completed(number, done))

    def _completed(self, number: int, task: "asyncio.Task[Arrival]") -> None:
        del self._in_flight[number]
        if task.cancelled():
            return
        error = task.exception()
        self._ready.append(cast("Exception", error) if error is not None else task.result())
        if self._waiting is not None:
            wanted, future = self._waiting
            if len(self._ready) >= wanted and not future.done():
                future.set_result(None)

    async def _until(self, wanted: int, timeout: float | None) -> None:
        await asyncio.sleep(0)
        if len(self._ready) >= wanted:
            return
        future = asyncio.get_running_loop().create_future()
        self._waiting = (wanted, future)
        try:
            async with asyncio.timeout(timeout):
                await future
        except TimeoutError:
            return
        finally:
            self._waiting = None


async def _settle(tasks: "list[asyncio.Task[Arrival]]") -> None:
    await asyncio.gather(*tasks, return_exceptions=True)
