"""A gateway on a real socket, with a scripted model behind it."""

import contextlib
import socket
from collections.abc import Callable, Iterator
from typing import Any

from hexathlon.baselines.engines.apis.base import ApiCall
from hexathlon.baselines.engines.base import ChatReply, Usage
from hexathlon.baselines.gateway.answers import ModelAnswer
from support import serving

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
    settings = {"lifespan": "off", "ws": "none", "interface": "asgi3"}
    with serving.served(app, listening, **settings) as address:
        yield address
