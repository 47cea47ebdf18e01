"""Work distributed over processes of this machine, with results in the order of the items.

Each process keeps what its items need, such as environments, from one item to the next. Items and
results are plain data. A cluster does the same across machines.
"""

import multiprocessing
import os
import pickle
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any, Generic, Protocol, TypeVar

from hexathlon.baselines import interrupts
from hexathlon.baselines.rollout.executor import LOOK_AHEAD
from hexathlon.evaluators.closing import Closing

__all__ = ["ItemWorker", "Ordered", "ProcessLost", "WorkerProcesses", "working"]

_Item = TypeVar("_Item", contravariant=True)
_Result = TypeVar("_Result", covariant=True)

T = TypeVar("T")
R = TypeVar("R")

Ordered = Callable[[Iterable[T]], Iterator[R]]
"""Yields the results of items in their order."""

_POLL_S = 0.2
"""Interval between checks for an interruption."""

_STOP_S = 30.0
"""Deadline for a process to release its resources, after which it is killed."""

_QUEUED = 2
"""Items that a process has at most, so that it never waits for the next."""

_HELD = 64
"""Items that wait at most for the process that has their group."""


class ItemWorker(Protocol[_Item, _Result]):
    """Does the work of one process."""

    def __call__(self, item: _Item, /) -> _Result:
        """Return the result of an item."""
        ...

    def close(self) -> None:
        """Release the worker's resources."""
        ...


class ProcessLost(Exception):
    """A process ended before its work was done."""


class WorkerProcesses(Closing, Generic[T, R]):
    """Processes that work on items; use it as a context manager.

    Args:
        count: Number of processes.
        start: Creates the worker in each process; must be picklable.

    Raises:
        ProcessLost: If a process ended before its worker was ready.
        Exception: Any exception of `start`.
    """

    def __init__(self, count: int, start: Callable[[], ItemWorker[T, R]]) -> None:
        # Not forked: threads, locks and open databases of this process stay its own.
        context = multiprocessing.get_context("spawn")
        self._processes: list[BaseProcess] = []
        self._connections: list[Connection] = []
        try:
            for number in range(count):
                here, there = context.Pipe()
                process = context.Process(
                    target=_work, args=(there, start), name=f"worker-{number}"
                )
                self._connections.append(here)
                process.start()
                self._processes.append(process)
                there.close()
            for index in range(count):
                self._await_start(index)
        except BaseException:
            self.close()
            raise

    def ordered(
        self,
        items: Iterable[T],
        ahead: int = LOOK_AHEAD,
        group: Callable[[T], Any] | None = None,
    ) -> Iterator[R]:
        """Yield the result of each item, in the order of the items.

        Args:
            items: Consumed one at a time, when a process can take the next.
            ahead: Maximum number of items taken whose results were not yielded yet.
            group: Returns what an item shares with others, such as a task that is built once in
                each process: neighbours of a group go to the same process if possible.

        Raises:
            ProcessLost: If a process ended, for instance because memory ran out.
            Exception: Any exception of a worker.
        """
        shares = _Shares(items, len(self._connections), ahead, group)
        results: dict[int, R] = {}
        queued = [deque[int]() for _ in self._connections]
        while True:
            for index in sorted(range(len(queued)), key=lambda index: len(queued[index])):
                while len(queued[index]) < _QUEUED and (entry := shares.take(index)) is not None:
                    self._send(index, entry[1])
                    queued[index].append(entry[0])
            if shares.finished:
                return
            for index in self._ready():
                results[queued[index].popleft()] = self._received(index)
            while shares.following in results:
                yield results.pop(shares.following)
                shares.following += 1

    def _await_start(self, index: int) -> None:
        while not self._connections[index].poll(_POLL_S):
            interrupts.check()
        self._received(index)

    def _ready(self) -> list[int]:
        """Wait until results are available; return the numbers of their processes."""
        while True:
            interrupts.check()
            ready = wait(self._connections, _POLL_S)
            if ready:
                return [index for index, one in enumerate(self._connections) if one in ready]

    def _send(self, index: int, item: T) -> None:
        try:
            self._connections[index].send(item)
        except OSError:
            raise self._lost(index) from None

    def _received(self, index: int) -> R:
        try:
            error, result = self._connections[index].recv()
        except (EOFError, OSError):
            raise self._lost(index) from None
        if error is not None:
            exception, cause = error
            raise exception from cause
        return result  # type: ignore[no-any-return]

    def _lost(self, index: int) -> ProcessLost:
        process = self._processes[index]
        process.join(_STOP_S)
        code = process.exitcode
        how = "is still running" if code is None else f"ended with exit code {code}"
        if code is not None and code < 0:
            how = f"was killed by {signal.Signals(-code).name}"
        return ProcessLost(
            f"worker process {process.pid} {how}; if memory ran out, use fewer --workers"
        )

    def close(self) -> None:
        """End the processes; those that do not close in time are killed. Idempotent."""
        for process in self._processes:
            if process.pid is not None and process.is_alive():
                os.kill(process.pid, signal.SIGTERM)
        for connection in self._connections:
            connection.close()
        for process in self._processes:
            process.join(_STOP_S)
            if process.is_alive():
                process.kill()
                process.join(_STOP_S)
            process.close()
        self._processes, self._connections = [], []


class _Shares(Generic[T]):
    """Decides which process takes which item.

    Args:
        items: The items.
        count: Number of processes.
        ahead: Maximum number of items taken and not followed.
        group: Returns the group of an item.

    Attributes:
        following: Number of the item whose result is yielded next.
    """

    def __init__(
        self, items: Iterable[T], count: int, ahead: int, group: Callable[[T], Any] | None
    ) -> None:
        self.following = 0
        self._source = enumerate(items)
        self._ahead, self._taken, self._exhausted = ahead, 0, False
        # Items that wait for a process must not keep the others from theirs.
        self._group = group if ahead > _HELD * count else None
        self._held = [deque[tuple[int, T]]() for _ in range(count)]
        self._groups: list[Any] = [None] * count
        """The newest group of each process."""

    @property
    def finished(self) -> bool:
        """Whether all results were yielded."""
        return self._exhausted and self.following == self._taken

    def take(self, index: int) -> tuple[int, T] | None:
        """Return the next item of a process with its number; None if it has to wait."""
        if self._held[index]:
            return self._held[index].popleft()
        while not self._exhausted and self._taken - self.following < self._ahead:
            entry = next(self._source, None)
            if entry is None:
                self._exhausted = True
                break
            self._taken += 1
            owner = self._owner(index, entry[1])
            if owner == index:
                return entry
            self._held[owner].append(entry)
        if self._exhausted:  # help the process that has most to do
            longest = max(self._held, key=len)
            return longest.pop() if longest else None
        return None

    def _owner(self, index: int, item: T) -> int:
        """Return the process for an item that another one asked for."""
        if self._group is None:
            return index
        group = self._group(item)
        if group in self._groups:
            owner = self._groups.index(group)
            if owner == index or len(self._held[owner]) < _HELD:
                return owner
        self._groups[index] = group
        return index


@contextmanager
def working(start: Callable[[], ItemWorker[T, R]], count: int) -> Iterator[Ordered[T, R]]:
    """Start workers for the duration of a block: one in this process, or several others.

    Args:
        start: Creates a worker; must be picklable if there are several.
        count: Number of workers.
    """
    if count > 1:
        with WorkerProcesses[T, R](count, start) as processes:
            yield processes.ordered
        return
    worker = start()
    try:
        yield partial(map, worker)
    finally:
        worker.close()


class _Stop:
    """Handles the signals of a worker process: the parent decides when it stops.

    Ctrl-C reaches all processes of a terminal and is left to the parent. The parent's SIGTERM is
    noticed by `interrupts.check`, between two steps.
    """

    requested = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Ignore SIGINT."""

    def terminate(self, number: int, frame: FrameType | None) -> None:
        """Request the end."""
        self.requested = True


def _work(connection: Connection, start: Callable[[], ItemWorker[Any, Any]]) -> None:
    stop = _Stop()
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop.terminate)
    try:
        worker = start()
    except Exception as error:
        connection.send((_portable(error), None))
        return
    try:
        connection.send((None, None))  # it has started
        while not stop.requested:
            if not connection.poll(_POLL_S):
                continue
            item = connection.recv()
            try:
                outcome: tuple[Any, Any] = None, worker(item)
            except Exception as error:
                outcome = _portable(error), None
            connection.send(outcome)
    except (EOFError, OSError, KeyboardInterrupt):
        pass  # the parent has ended, or has stopped the work
    finally:
        worker.close()


def _portable(error: Exception) -> tuple[Exception, BaseException | None]:
    """Return an exception and its cause as they can be sent."""
    cause = error.__cause__
    try:
        pickle.loads(pickle.dumps((error, cause)))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}"), None
    return error, cause
