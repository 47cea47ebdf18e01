"""Server inside a worker process: one environment, driven by requests over a socket.

Requests and replies are frames of plain data (see `codec`). The worker ends when the caller's end
of the socket closes.
"""

import importlib
import socket
import struct
import sys
from collections.abc import Callable
from typing import Any

from gymnasium.error import ResetNeeded

from hexathlon.envs.base import Environment
from hexathlon.envs.errors import EnvFault, ForkUnsupported, WrongState
from hexathlon.envs.status import Status
from hexathlon.envs.workers.codec import decode, encode
from hexathlon.envs.workers.description import (
    space_to_data,
    state_from_data,
    state_to_data,
)
from hexathlon.tasks.errors import TaskError

__all__ = ["FRAME", "load_class", "serve"]

FRAME = struct.Struct(">Q")
"""Header of each frame: its length."""

_ATTRIBUTES = (
    "family",
    "version",
    "default_taskset",
    "system_prompt",
    "supports_fork",
    "fork_obstacle",
    "sandbox",
    "taskset",
    "split",
    "level",
    "action_format",
    "limits_override",
    "render_mode",
    "metadata",
    "image_size",
)


def serve(connection: socket.socket) -> None:
    """Answer requests until the other end closes."""
    host = _Host()
    try:
        while (request := _read(connection)) is not None:
            reply = encode(host.answer(decode(request)))
            connection.sendall(FRAME.pack(len(reply)) + reply)
    finally:
        host.close()
        connection.close()


def load_class(entry_point: str) -> Callable[..., Environment]:
    """Import `module:Class`."""
    module, _, name = entry_point.partition(":")
    environment_class: Callable[..., Environment] = getattr(importlib.import_module(module), name)
    return environment_class


def _read(connection: socket.socket) -> bytes | None:
    header = _exactly(connection, FRAME.size)
    if header is None:
        return None
    (length,) = FRAME.unpack(header)
    return _exactly(connection, length)


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < size:
        part = connection.recv(min(size - len(parts), 1 << 20))
        if not part:
            return None
        parts += part
    return bytes(parts)


class _Host:
    """The environment and the operations available to a caller."""

    def __init__(self) -> None:
        self._env: Environment | None = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Execute one request; an exception becomes part of the reply."""
        try:
            operation = getattr(self, f"do_{request['operation']}")
            return {"value": operation(**request["arguments"])}
        except Exception as error:
            return {"error": _described(error)}

    def close(self) -> None:
        if self._env is not None:
            self._env.close()

    @property
    def env(self) -> Environment:
        if self._env is None:
            raise EnvFault("the worker was asked to act before it made an environment")
        return self._env

    def do_make(self, entry_point: str, kwargs: dict[str, Any], path: list[str]) -> Any:
        sys.path[:] = path
        self._env = load_class(entry_point)(**kwargs)
        return {
            "attributes": {name: getattr(self._env, name) for name in _ATTRIBUTES},
            "on_hang": getattr(self._env, "on_hang", "truncate"),
            "keeps_deadlines": getattr(self._env, "keeps_deadlines", False),
            "action_space": space_to_data(self._env.action_space),
            "observation_space": space_to_data(self._env.observation_space),
        }

    def do_reset(self, seed: int | None, options: dict[str, Any] | None) -> Any:
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, info, self._episode()

    def _episode(self) -> dict[str, Any]:
        """Return the properties of an episode that the caller caches."""
        return {
            "task": self.env.task.model_dump(mode="json"),
            "limits": self.env.limits.model_dump(),
            "messages": [dict(message) for message in self.env.transcript],
        }

    def do_step(self, action: Any, seconds: float | None) -> Any:
        if seconds is not None and getattr(self.env, "keeps_deadlines", False):
            self.env.action_seconds = seconds  # type: ignore[attr-defined]
        before = len(self.env.transcript)
        result = self.env.step(action)
        return result, [dict(message) for message in self.env.transcript[before:]]

    def do_snapshot(self) -> Any:
        return state_to_data(self.env.snapshot())

    def do_restore(self, state: Any) -> Any:
        self.env.restore(state_from_data(state))
        return self._episode()

    def do_final_state(self) -> Any:
        return self.env.final_state()

    def do_verdict(self) -> Any:
        return self.env.verdict().model_dump()

    def do_render(self) -> Any:
        return self.env.render()

    def do_finish(self, status: str) -> None:
        self.env.finish(Status(status))


_KNOWN: tuple[type[Exception], ...] = (
    EnvFault,
    ResetNeeded,
    ForkUnsupported,
    WrongState,
    TaskError,
    ValueError,
    TypeError,
    IndexError,
)


def _described(error: Exception) -> dict[str, Any]:
    kind = next((known.__name__ for known in _KNOWN if isinstance(error, known)), "")
    message = str(error) if kind else f"{type(error).__name__}: {error}"
    return {"kind": kind, "message": message, "cause": getattr(error, "cause", "env")}
