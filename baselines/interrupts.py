"""Handling of Ctrl-C, so that it is neither lost nor interrupts a write.

Python raises `KeyboardInterrupt` wherever the main thread happens to be. Inside a finalizer or a
callback of a C library, such as SQLite's, it is swallowed there; inside a step it can become an
error that the agent sees. Runs therefore work inside `deferred()`: the first signal only sets a
flag and cancels pending waits, and `check()`, called between steps, raises the exception. A second
signal goes to the previous handler, which raises it at once.

The flag is an attribute of the installed handler, so `check()` also notices an interruption that
the command's own handler raised before the run and that was swallowed.
"""

import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio

__all__ = ["check", "deferred", "run"]

_Result = TypeVar("_Result")


class _Deferring:
    """A handler that records the first signal and passes further ones on."""

    def __init__(self, previous: Any) -> None:
        self.previous = previous
        self.requested: bool = getattr(previous, "requested", False)
        self.wakers: list[Callable[[], None]] = []

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            self.previous(number, frame)
            return
        self.requested = True
        for wake in self.wakers:
            wake()

    def remove(self) -> None:
        """Install the previous handler again; it inherits the flag if it has one."""
        if hasattr(self.previous, "requested"):
            self.previous.requested |= self.requested
        signal.signal(signal.SIGINT, self.previous)


def check() -> None:
    """Raise an interruption that was requested but not raised yet; call this between steps.

    Raises:
        KeyboardInterrupt: In the main thread, after SIGINT.
        asyncio.CancelledError: Inside `run`, which raises `KeyboardInterrupt` when it ends.
    """
    handler = signal.getsignal(signal.SIGINT)
    if not getattr(handler, "requested", False) or not _in_main_thread():
        return
    if isinstance(handler, _Deferring) and handler.wakers:
        import asyncio

        raise asyncio.CancelledError
    raise KeyboardInterrupt


@contextmanager
def deferred() -> Iterator[None]:
    """Defer SIGINT to the next `check()`, or to the end of the outermost such block.

    Does nothing outside the main thread, and where the process ignores SIGINT.

    Raises:
        KeyboardInterrupt: At the end of the outermost block, after SIGINT.
    """
    current = signal.getsignal(signal.SIGINT)
    if isinstance(current, _Deferring) or not callable(current) or not _in_main_thread():
        yield
        return
    handler = _Deferring(current)
    signal.signal(signal.SIGINT, handler)
    try:
        yield
        check()
    finally:
        handler.remove()


def run(work: Coroutine[Any, Any, _Result], runner: "asyncio.Runner | None" = None) -> _Result:
    """Run a coroutine on an event loop; SIGINT cancels it.

    Args:
        work: The coroutine. Its clean-up runs to the end before the exception is raised.
        runner: Owns the event loop; by default a new loop is used and closed.

    Raises:
        KeyboardInterrupt: After SIGINT.
    """
    import asyncio  # costs 3 MB, not needed for built-in agents

    async def cancellable() -> _Result:
        with _woken(asyncio.current_task(), asyncio.get_running_loop()):
            try:
                check()
                return await work
            finally:
                work.close()  # it was not awaited if the check raised

    with deferred():  # so that the runner does not install its own handler
        try:
            if runner is not None:
                return runner.run(cancellable())
            with asyncio.Runner() as own:
                return own.run(cancellable())
        except asyncio.CancelledError:
            check()
            raise


@contextmanager
def _woken(task: Any, loop: Any) -> Iterator[None]:
    """Cancel the task when the signal comes."""
    handler = signal.getsignal(signal.SIGINT)
    if not isinstance(handler, _Deferring) or not _in_main_thread():
        yield
        return

    def wake() -> None:
        loop.call_soon_threadsafe(task.cancel)

    handler.wakers.append(wake)
    try:
        yield
    finally:
        handler.wakers.remove(wake)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
