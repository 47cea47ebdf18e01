"""Messages between the sandbox's processes: one JSON object per packet, plus descriptors.

The packets travel over a local SOCK_SEQPACKET socket. A message too long for a packet is passed
in a sealed in-memory file, whose descriptor is the first one sent.
"""

import json
import os
import socket
from typing import Any

__all__ = ["MAX_DESCRIPTORS", "pair", "receive", "send", "stored"]

MAX_DESCRIPTORS = 16
_LONGEST = 60_000


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
    """Return the next message and its descriptors, or None when the other end is closed."""
    data, descriptors, _, _ = socket.recv_fds(connection, _LONGEST + 1, MAX_DESCRIPTORS)
    if not data:
        return None
    if data[:1] == b"m":
        store = descriptors.pop(0)
        with open(store, "rb") as file:
            file.seek(0)
            data = b"m" + file.read()
    message: dict[str, Any] = json.loads(data[1:])
    return message, descriptors


def stored(data: bytes) -> int:
    """Return the descriptor of a new in-memory file with the content `data`."""
    store = os.memfd_create("message", os.MFD_CLOEXEC)
    view = memoryview(data)
    while view:
        view = view[os.write(store, view) :]
    return store
