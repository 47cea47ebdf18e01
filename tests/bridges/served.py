"""Serves an application on loopback from a thread, for the length of a test."""

from contextlib import AbstractContextManager
from typing import Any

from support import serving

<<<<<<< HEAD
from hexathlon.baselines.gateway.listening import without_delay

DEADLINE = 120.0
=======
__all__ = ["served"]
>>>>>>> h-many


def served(app: Any) -> AbstractContextManager[str]:
    """Yield the address of a server of the application; it ends with the block."""
<<<<<<< HEAD
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
=======
    return serving.served(app, ws_ping_interval=None)
>>>>>>> h-many
