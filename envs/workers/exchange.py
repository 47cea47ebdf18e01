"""One request and its reply over a worker's socket, as a coroutine or blocking."""

import asyncio
import select
import socket
import time
from collections.abc import Callable
from typing import TypeVar

from hexathlon.envs.workers.host import FRAME

__all__ = ["aexchange", "exchange"]

_MAX_FRAME = 1 << 30
_PART = 1 << 20
_Result = TypeVar("_Result")


async def aexchange(connection: socket.socket, request: bytes) -> bytes:
    """Send a frame and await the reply; the socket must be non-blocking.

    Raises:
        ConnectionError: If the other end closed, or sent an invalid frame.
    """
    loop = asyncio.get_running_loop()

    async def exactly(size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            part = await loop.sock_recv(connection, min(size - len(parts), _PART))
            parts += _arrived(part)
        return bytes(parts)

    await loop.sock_sendall(connection, FRAME.pack(len(request)) + request)
    return await exactly(_length(await exactly(FRAME.size)))


def exchange(connection: socket.socket, request: bytes, seconds: float) -> bytes:
    """Send a frame and block until the reply; the socket must be non-blocking.

    Raises:
        ConnectionError: If the other end closed, or sent an invalid frame.
        TimeoutError: If the reply was not complete after `seconds`.
    """
    until = time.monotonic() + seconds

    def retried(operation: Callable[[], _Result], event: int) -> _Result:
        while True:
            try:
                return operation()
            except BlockingIOError:
                _await_event(connection, event, until)

    def exactly(size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            wanted = min(size - len(parts), _PART)
            parts += _arrived(retried(lambda: connection.recv(wanted), select.POLLIN))  # noqa: B023
        return bytes(parts)

    frame = memoryview(FRAME.pack(len(request)) + request)
    while frame:
        sent = retried(lambda: connection.send(frame), select.POLLOUT)  # noqa: B023
        frame = frame[sent:]
    return exactly(_length(exactly(FRAME.size)))


def _await_event(connection: socket.socket, event: int, until: float) -> None:
    poll = select.poll()
    poll.register(connection, event)
    left = until - time.monotonic()
    if left <= 0 or not poll.poll(left * 1000):
        raise TimeoutError


def _arrived(part: bytes) -> bytes:
    if not part:
        raise ConnectionResetError("the worker closed its socket")
    return part


def _length(header: bytes) -> int:
    length: int = FRAME.unpack(header)[0]
    if length > _MAX_FRAME:
        raise ConnectionError(f"the worker announced a reply of {length} bytes; the limit is 2**30")
    return length
