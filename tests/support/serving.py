"""Servers of ASGI applications on loopback, each in a thread of its own."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Any

import uvicorn

from hexathlon.baselines.gateway.listening import without_delay

__all__ = ["served"]

DEADLINE = 120.0


class _Announced(uvicorn.Server):
    """Sets an event once it serves or has failed to."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            super().run(sockets)
        finally:
            self.ready.set()


@contextlib.contextmanager
def served(app: Any, listening: socket.socket | None = None, **settings: Any) -> Iterator[str]:
    """Yield the address of a server of an application; it ends with the block.

    Args:
        app: The application.
        listening: The socket; by default one on a free port.
        settings: Of `uvicorn.Config`.
    """
    listening = without_delay(listening or socket.create_server(("127.0.0.1", 0)))
    server = _Announced(uvicorn.Config(app, log_config=None, **settings))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        assert server.ready.wait(DEADLINE) and server.started, "the server did not start"
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = server.force_exit = True
        thread.join(DEADLINE)
        listening.close()
        assert not thread.is_alive(), "the server did not end"
