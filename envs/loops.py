"""The one private event loop on which coroutine environments of a thread run.

Resources such as sockets and browsers belong to the loop they were made on, so an environment
stepped alone and the same environment inside a vector must use the same loop. The loop exists
while somebody holds a lease on it, and leaves no descriptor behind when the last lease ends.
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
    """A share in this thread's private event loop.

    Args:
        owner: The lease ends with this object if it is not ended before.
    """

    def __init__(self, owner: object) -> None:
        if _shared.loop is None:
            _shared.loop = asyncio.new_event_loop()
        _shared.leases += 1
        self.loop = _shared.loop
        self._finalizer = weakref.finalize(owner, _release, threading.get_ident())

    def run(self, coroutine: Coroutine[Any, Any, _Result]) -> _Result:
        """Run a coroutine to its end.

        Raises:
            RuntimeError: An event loop is already running in this thread; await instead.
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
        """Give the share back; doing it twice changes nothing."""
        self._finalizer()


def _release(thread: int) -> None:
    if threading.get_ident() != thread:
        return  # the owner outlived its thread, and the loop went with that
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
