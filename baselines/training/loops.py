"""The event loop of a run, to which its engine and environments belong.

A synchronous run uses the loop in the main thread, between updates. An asynchronous run keeps it
running in a background thread, so that rollouts continue while the learner computes.
"""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import wait
from typing import Any, Protocol, TypeVar

from hexathlon.baselines import interrupts

__all__ = ["BackgroundLoop", "ForegroundLoop", "Loop"]

T = TypeVar("T")

_POLL = 0.2
"""Seconds between checks for an interruption."""

_ENDING = 120.0
"""Maximum time that cancelled work may take to end, in seconds."""


class Loop(Protocol):
    """An event loop that runs one coroutine after another."""

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine and return its result; SIGINT cancels it.

        Raises:
            KeyboardInterrupt: After SIGINT.
        """
        ...

    def close(self, last: Coroutine[Any, Any, Any]) -> None:
        """Run a last coroutine to completion, even after an interruption, and close the loop."""
        ...


class ForegroundLoop:
    """A loop that runs in the calling thread, during calls of `run`."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine and return its result."""
        return interrupts.run(work, self._runner)

    def close(self, last: Coroutine[Any, Any, Any]) -> None:
        """Run a last coroutine and close the loop."""
        try:
            self._runner.run(last)
        finally:
            self._runner.close()


class BackgroundLoop:
    """A loop that runs in a background thread until it is closed."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="rollouts", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the thread and return its result."""
        began, ended = threading.Event(), threading.Event()

        async def ending() -> T:
            began.set()
            try:
                return await work
            finally:
                ended.set()

        future = asyncio.run_coroutine_threadsafe(ending(), self._loop)
        while not future.done():
            wait([future], _POLL)
            try:
                interrupts.check()
            except BaseException:
                future.cancel()
                if began.is_set():
                    ended.wait(_ENDING)
                else:
                    work.close()
                raise
        return future.result()

    def close(self, last: Coroutine[Any, Any, Any]) -> None:
        """Run a last coroutine and stop the thread."""
        try:
            asyncio.run_coroutine_threadsafe(last, self._loop).result()
        finally:
            asyncio.run_coroutine_threadsafe(_cancel_rest(), self._loop).result(_ENDING)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_ENDING)
            if not self._thread.is_alive():
                self._loop.close()


async def _cancel_rest() -> None:
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)
