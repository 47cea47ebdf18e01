"""Sockets that answer small requests at once."""

import socket

__all__ = ["without_delay"]


def without_delay(listening: socket.socket) -> socket.socket:
    """Turn off Nagle's algorithm for a listening socket and the connections that it accepts.

    With it, a reply whose head and body are written apart waits 40 ms for the client's
    acknowledgement of the head. asyncio turns it off only for sockets that state their protocol.
    """
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
