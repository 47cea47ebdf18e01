"""The gateway of a program's trial as a server, and the file of its calls."""

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from hexathlon.baselines.gateway.listening import without_delay
from hexathlon.evaluators.records.canonical import content_hash

__all__ = ["PORT", "GatewayServer", "calls_file"]

PORT = 18_080
"""Port on the loopback of a program's sandbox."""


def calls_file(folder: Path, key: Sequence[Any]) -> Path:
    """Return the file with the calls of a trial; its key is environment, task, seed and number."""
    return folder / f"{content_hash(list(key))[:16]}.jsonl"


class GatewayServer:
    """An ASGI application on a socket, in the running event loop."""

    def __init__(
        self, app: Callable[[Any, Any, Any], Awaitable[None]], listening: socket.socket
    ) -> None:
        import uvicorn

        class Quiet(uvicorn.Server):
            @contextlib.contextmanager
            def capture_signals(self) -> Iterator[None]:
                """Leave signals to the command."""
                yield

        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="off", ws="none", interface="asgi3"
        )
        self._server = Quiet(config)
        self._listening = without_delay(listening)
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start to accept connections; the socket queues them until then."""
        self._task = asyncio.create_task(self.run())

    async def run(self) -> None:
        """Serve until the end."""
        await self._server.serve(sockets=[self._listening])

    def end(self) -> None:
        """Begin to stop, without waiting for clients; callable from any thread."""
        self._server.should_exit = self._server.force_exit = True

    async def close(self) -> None:
        """Stop, without waiting for clients."""
        self.end()
        if self._task is not None:
            await self._task
        self._listening.close()
