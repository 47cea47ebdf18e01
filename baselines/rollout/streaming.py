"""The executor of asynchronous runs in this process: many overlapping calls, a thread per slot.

Synchronous environments step in their slot's thread, so that a slow one delays neither replies nor
other environments; asynchronous ones are awaited on the event loop. Unlike those of
`LocalExecutor`, results depend on timing.
"""

import asyncio
import heapq
import queue
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from hexathlon.baselines.agents.base import Agent
from hexathlon.baselines.agents.spec import parse_model, scripted_agent
from hexathlon.baselines.rollout.drivers import play_async
from hexathlon.baselines.rollout.environments import is_asynchronous
from hexathlon.baselines.rollout.executor import Outcome, Request
from hexathlon.baselines.rollout.prefix import Pause, Prefix
from hexathlon.baselines.rollout.rollout import EnvironmentSlot, Rollout
from hexathlon.envs.base import Environment

__all__ = ["StreamingExecutor"]

_CLOSING = 60.0
"""Maximum time to wait for the environments to close, in seconds."""


class StreamingExecutor:
    """Plays rollouts of overlapping calls of `run`, on one event loop.

    Requests beyond the number of slots wait in the order of arrival. Cancelling a call abandons its
    rollouts; an environment that does not return is left to its thread, and the slot gets a new
    one.

    Args:
        agent: The default agent; a request may name a different one.
        make: Creates an environment from its id.
        concurrency: Maximum number of concurrent rollouts.
        retries: Further attempts at a trial after infrastructure failures.
    """

    def __init__(
        self,
        agent: Agent,
        make: Callable[[str], Environment],
        concurrency: int,
        retries: int = 2,
    ) -> None:
        self.agent = agent
        self.concurrency = concurrency
        self._make = make
        self._retries = retries
        self._slots = [_Slot(number, make) for number in range(concurrency)]
        self._free = list(range(concurrency))
        self._waiting: deque[asyncio.Future[int]] = deque()
        self._pauses: dict[Pause, _Call] = {}
        self._calls: set[_Call] = set()
        self._asynchronous: dict[str, bool] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    async def run(self, requests: Sequence[Request]) -> list[Outcome]:
        """Play requests and return their outcomes in the same order.

        Raises:
            FatalError: If an error would affect every rollout.
        """
        self._loop = asyncio.get_running_loop()
        call = _Call()
        self._calls.add(call)
        tasks = [asyncio.create_task(self._outcome(call, request)) for request in requests]
        try:
            return await asyncio.gather(*tasks)
        finally:
            self._calls.discard(call)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _outcome(self, call: "_Call", request: Request) -> Outcome:
        number = await self._acquire()
        try:
            if call.aborted:
                return request.start or Prefix(request.key)
            return await self._played(call, request, self._slots[number])
        except asyncio.CancelledError:
            self._slots[number].abandon()
            self._slots[number] = _Slot(number, self._make)
            raise
        finally:
            self._release(number)

    async def _played(self, call: "_Call", request: Request, slot: "_Slot") -> Outcome:
        agent = scripted_agent(parse_model(request.agent)) if request.agent else self.agent
        pause = Pause(request.pause_after)
        self._pauses[pause] = call
        rollout = Rollout(agent, request.limits, self._retries)
        env_id = request.key[0]
        coroutine = rollout.advance(
            slot.environment(env_id),
            request.key,
            start=request.start,
            pause=pause,
            points=request.points,
        )
        try:
            return await play_async(coroutine, None if self._awaits(env_id) else slot.call)
        finally:
            del self._pauses[pause]

    def _awaits(self, env_id: str) -> bool:
        """Return whether environments of an id are asynchronous."""
        if env_id not in self._asynchronous:
            env = self._make(env_id)
            self._asynchronous[env_id] = is_asynchronous(env)
            probe = _Slot(0, lambda name: env)
            probe.environment(env_id).get()
            probe.abandon()
        return self._asynchronous[env_id]

    async def abort(self) -> None:
        """Pause the rollouts of all calls in progress; replies in flight end with their tokens."""
        for call in self._calls:
            call.aborted = True
        for pause in self._pauses:
            pause.requested = True
        abort = getattr(getattr(self.agent, "engine", None), "abort", None)
        if abort is not None:
            await abort()

    def close(self) -> None:
        """Close the environments, on the event loop or the threads that they belong to."""
        if self._loop is not None and self._loop.is_running():
            closing = asyncio.run_coroutine_threadsafe(self._aclose(), self._loop)
            closing.result(_CLOSING)
        else:
            for slot in self._slots:
                slot.close()

    async def _aclose(self) -> None:
        for slot in self._slots:
            await slot.aclose()

    async def _acquire(self) -> int:
        if self._free:
            return heapq.heappop(self._free)
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        try:
            return await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self._release(future.result())  # handed over at the same moment
            raise

    def _release(self, number: int) -> None:
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(number)
                return
        heapq.heappush(self._free, number)


class _Call:
    """A call of `run` in progress."""

    aborted = False


class _Slot:
    """One environment per id and the thread in which synchronous ones are created and used."""

    def __init__(self, number: int, make: Callable[[str], Environment]) -> None:
        self._number, self._make = number, make
        self._environments: dict[str, EnvironmentSlot] = {}
        self._jobs: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] | None = None

    def environment(self, env_id: str) -> EnvironmentSlot:
        if env_id not in self._environments:
            self._environments[env_id] = EnvironmentSlot(lambda: self._make(env_id))
        return self._environments[env_id]

    async def call(self, function: Callable[[], Any]) -> Any:
        """Run a function in the slot's thread."""
        return await asyncio.wrap_future(self._put(function))

    def _put(self, function: Callable[[], Any]) -> "Future[Any]":
        if self._jobs is None:
            self._jobs = queue.SimpleQueue()
            name = f"environment slot {self._number}"
            threading.Thread(target=_work, args=(self._jobs,), name=name, daemon=True).start()
        future: Future[Any] = Future()
        self._jobs.put((future, function))
        return future

    def abandon(self) -> None:
        """Close the environments when the thread's current call returns, without waiting."""
        if self._jobs is not None:
            self._put(self._close_all)
            self._jobs.put(None)
            return
        for slot in self._environments.values():
            _keep(asyncio.ensure_future(slot.aclose()))

    async def aclose(self) -> None:
        if self._jobs is not None:
            await asyncio.wait([asyncio.wrap_future(self._put(self._close_all))], timeout=_CLOSING)
            self._jobs.put(None)
            return
        for slot in self._environments.values():
            await slot.aclose()

    def close(self) -> None:
        if self._jobs is not None:
            self._put(self._close_all).result(_CLOSING)
            self._jobs.put(None)
            return
        self._close_all()

    def _close_all(self) -> None:
        for slot in self._environments.values():
            slot.close()


_closing: set[asyncio.Future[None]] = set()


def _keep(task: "asyncio.Future[None]") -> None:
    """Keep a reference to a task until it has ended."""
    _closing.add(task)
    task.add_done_callback(_closing.discard)


def _work(jobs: "queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]") -> None:
    while (job := jobs.get()) is not None:
        future, function = job
        if not future.set_running_or_notify_cancel():
            continue
        try:
            future.set_result(function())
        except BaseException as error:
            future.set_exception(error)
