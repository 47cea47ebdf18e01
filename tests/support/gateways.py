"""A gateway on a real socket, with a scripted model behind it."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn

from hexathlon.baselines.engines.apis.base import ApiCall
from hexathlon.baselines.engines.base import ChatReply, Usage
from hexathlon.baselines.gateway.answers import ModelAnswer
from hexathlon.baselines.gateway.listening import without_delay

USAGE = Usage(11, 7, 1, 3, 2)
Script = Callable[[ApiCall], dict[str, Any]]


class Scripted:
    """A model whose messages a function writes; it keeps the requests."""

    name = "scripted"
    context = 0

    def __init__(self, script: Script, finish: str = "stop") -> None:
        self._script = script
        self._finish = finish
        self.calls: list[ApiCall] = []

    async def answer(self, call: ApiCall) -> ModelAnswer:
        self.calls.append(call)
        message = {"role": "assistant", "content": "", **self._script(call)}
        return ModelAnswer(ChatReply(message, USAGE, self._finish, 0.0, 0.0))


@contextlib.contextmanager
def served(app: Any, listening: socket.socket | None = None) -> Iterator[str]:
    """Yield the address of a server of an ASGI application in a thread of its own."""
    listening = without_delay(listening or socket.create_server(("127.0.0.1", 0)))
    config = uvicorn.Config(app, log_config=None, lifespan="off", ws="none", interface="asgi3")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        deadline = time.monotonic() + 120
        while not server.started:
            assert thread.is_alive() and time.monotonic() < deadline, "the server did not start"
            time.sleep(0.005)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = server.force_exit = True
        thread.join(120)
        listening.close()
        assert not thread.is_alive(), "the server did not end"
