"""Messages between the sandbox's processes: one JSON object per packet, plus descriptors.

The packets travel over a local SOCK_SEQPACKET socket. A message too long for a packet is passed
in a sealed in-memory file, whose descriptor is the first one sent. Received descriptors are closed
on exec. The other end may be hostile: whatever it sends is read within bounds, or refused.
"""

import array
import fcntl
import json
import os
import socket
from typing import Any

__all__ = ["MAX_DESCRIPTORS", "BadMessage", "pair", "receive", "sealed_content", "send", "stored"]

MAX_DESCRIPTORS = 16
_LONGEST = 60_000
_LONGEST_STORED = 64 << 20
_SEALS = fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_WRITE


class BadMessage(Exception):
    """The other end sent something that is not a message; nothing it sends can be trusted."""


def pair() -> tuple[socket.socket, socket.socket]:
    """Return the two ends of a new connection."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def send(connection: socket.socket, message: dict[str, Any], descriptors: list[int]) -> None:
    """Send one message.

    Raises:
        OSError: If the other end is gone.
    """
    data = json.dumps(message).encode()
    if len(data) <= _LONGEST:
        socket.send_fds(connection, [b"p" + data], descriptors)
        return
    store = stored(data)
    try:
        socket.send_fds(connection, [b"m"], [store, *descriptors])
    finally:
        os.close(store)


def receive(connection: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """Return the next message and its descriptors, or None when the other end is closed.

    Raises:
        BadMessage: If it is not a message; descriptors that came with it are closed.
    """
    # Not socket.recv_fds: it ignores flags, and received descriptors would outlive an exec.
    space = socket.CMSG_SPACE(MAX_DESCRIPTORS * array.array("i").itemsize)
    data, extra, _, _ = connection.recvmsg(_LONGEST + 1, space, socket.MSG_CMSG_CLOEXEC)
    descriptors = _descriptors(extra)
    if not data:
        _close(descriptors)
        return None
    try:
        if data[:1] == b"m":
            data = b"m" + _content_of(descriptors)
        message = json.loads(data[1:])
    except (ValueError, RecursionError) as error:
        _close(descriptors)
        raise BadMessage(f"not a message: {data[:40]!r}") from error
    except BadMessage:
        _close(descriptors)
        raise
    if not isinstance(message, dict):
        _close(descriptors)
        raise BadMessage(f"not an object: {data[:40]!r}")
    return message, descriptors


def _descriptors(extra: list[tuple[int, int, bytes]]) -> list[int]:
    found = array.array("i")
    for level, kind, data in extra:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            found.frombytes(data[: len(data) - len(data) % found.itemsize])
    return list(found)


def _content_of(descriptors: list[int]) -> bytes:
    if not descriptors:
        raise BadMessage("a long message without its file")
    return sealed_content(descriptors.pop(0), _LONGEST_STORED)


def _close(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def stored(data: bytes) -> int:
    """Return the descriptor of a new sealed in-memory file with the content `data`."""
    store = os.memfd_create("message", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    view = memoryview(data)
    while view:
        view = view[os.write(store, view) :]
    fcntl.fcntl(store, fcntl.F_ADD_SEALS, _SEALS)
    return store


def sealed_content(store: int, most: int) -> bytes:
    """Return the content of an in-memory file that is sealed against changes, and close it.

    Raises:
        BadMessage: If it is another kind of file, not sealed, or longer than `most` bytes.
    """
    try:
        seals = fcntl.fcntl(store, fcntl.F_GET_SEALS)
        size = os.fstat(store).st_size
        if seals & _SEALS != _SEALS or size > most:
            raise BadMessage(f"expected a sealed file of at most {most:,} bytes, got {size:,}")
        return os.pread(store, size, 0)
    except OSError as error:
        raise BadMessage("expected an in-memory file") from error
    finally:
        os.close(store)
