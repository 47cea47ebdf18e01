"""The private event loop of a thread, on which its coroutine environments run.

Resources such as sockets and browsers belong to the loop they were created on, so an environment
must use the same loop whether it is stepped alone or inside a vector. The loop exists while it
has leases, and leaves no descriptor open when the last lease ends.
"""

import asyncio
import threading
import weakref
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["LoopLease"]

_Result = TypeVar("_Result")


class _Shared(threading.local):
    loop: asyncio.AbstractEventLoop | None = None
    leases: int = 0


_shared = _Shared()


class LoopLease:
    """A lease on this thread's private event loop.

    Args:
        owner: The lease ends with this object, unless it was ended before.
    """

    def __init__(self, owner: object) -> None:
        if _shared.loop is None:
            _shared.loop = asyncio.new_event_loop()
        _shared.leases += 1
        self.loop = _shared.loop
        self._finalizer = weakref.finalize(owner, _release, threading.get_ident())

    def run(self, coroutine: Coroutine[Any, Any, _Result]) -> _Result:
        """Run a coroutine to completion.

        Raises:
            RuntimeError: If an event loop is already running in this thread; await instead.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self.loop.run_until_complete(coroutine)
        coroutine.close()
        raise RuntimeError(
            "step() and reset() were called inside a running event loop; "
            "await astep() and areset() there"
        )

    def end(self) -> None:
        """End the lease; idempotent."""
        self._finalizer()


def _release(thread: int) -> None:
    if threading.get_ident() != thread:
        return  # the owner outlived its thread, whose loop is gone
    _shared.leases -= 1
    if _shared.leases == 0 and _shared.loop is not None and not _shared.loop.is_running():
        loop, _shared.loop = _shared.loop, None
        pending = asyncio.all_tasks(loop)
        for task in pending:
            task.cancel()
        if pending:
            loop.run_until_complete(asyncio.gather(*pending, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
