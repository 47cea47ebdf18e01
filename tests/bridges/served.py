"""Serves an application on loopback from a thread, for the length of a test."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import uvicorn

from hexathlon.baselines.gateway.listening import without_delay

DEADLINE = 120.0


@contextlib.contextmanager
def served(app: Any) -> Iterator[str]:
    """Yield the address of a server of the application; it ends with the block."""
    listening = without_delay(socket.create_server(("127.0.0.1", 0)))
    config = uvicorn.Config(app, log_config=None, ws_ping_interval=None)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        deadline = time.monotonic() + DEADLINE
        while not server.started:
            assert thread.is_alive() and time.monotonic() < deadline, "the server did not start"
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(DEADLINE)
        listening.close()
        assert not thread.is_alive(), "the server did not end"
