"""The caller's end of the socket to a sandbox's process 1."""

import os
import select
import socket
import time
import weakref
from collections.abc import Callable
from typing import Any

from hexathlon.envs.sandbox.base import SandboxFault
from hexathlon.envs.sandbox.kernel import wire

__all__ = ["InitLink", "answer_on"]

_SECONDS = 30.0
_MOST_NOTICES = 1_000
_FIELDS: dict[str, dict[str, type]] = {
    "limits_hit": {"counts": list, "free": int, "inodes": int},
    "usage": {"seconds": float},
    "processes": {"processes": list, "terminal": bool},
    "kill": {"processes": list, "left": list},
    "network": {"attempts": int},
    "shell": {"pid": int},
    "terminal": {"pid": int},
}
_ON_PATHS = ("read", "write", "write_entries", "open", "connect", "shell")
"""Requests that may fail for reasons that the caller handles; any other failure is a fault."""

_DESCRIPTORS = {"read": 1, "open": 1, "connect": 1, "terminal": 1}
"""Fields and numbers of descriptors of successful answers."""


class InitLink:
    """Requests to process 1, and its notices of ended shells; closed when unreferenced.

    Args:
        connection: The socket.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.close: Callable[[], object] = weakref.finalize(self, connection.close)
        """Close the socket, which ends the sandbox; idempotent, and keeps no link alive."""
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)
        self._ended: dict[str, int] = {}
        self._pids: dict[str, int] = {}

    def fileno(self) -> int:
        """Return the socket's descriptor."""
        return self._connection.fileno()

    def started(self) -> dict[str, Any]:
        """Wait for the sandbox's start-up notice; return its other fields.

        Raises:
            SandboxFault: If it does not start; the message gives the reason.
        """
        reply, _ = self._answer("start", _SECONDS)
        if "error" in reply:
            raise SandboxFault(f"the sandbox does not start: {reply['error']}")
        self._pids["shell"] = reply.get("pid", 0)
        return reply

    def ask(
        self, do: str, descriptors: list[int] | None = None, seconds: float = _SECONDS, **more: Any
    ) -> tuple[dict[str, Any], list[int]]:
        """Send a request and return the answer and its descriptors.

        Raises:
            SandboxFault: If there is no answer, or a request that needs no path failed.
            OSError: If a request failed inside.
        """
        try:
            wire.send(self._connection, {"do": do, **more}, descriptors or [])
        except OSError as error:
            raise SandboxFault(f"the sandbox is gone ({error.strerror})") from error
        reply, received = self._answer(do, seconds)
        if "error" in reply:
            _close(received)
            if do not in _ON_PATHS:
                raise SandboxFault(f"the sandbox cannot {do}: {str(reply['error'])[:200]}")
            raise OSError(_number(reply.get("errno")), str(reply["error"])[:200])
        good = all(isinstance(reply.get(key), kind) for key, kind in _FIELDS.get(do, {}).items())
        if not good or len(received) != _DESCRIPTORS.get(do, 0):
            _close(received)
            raise SandboxFault(f"the sandbox gave no answer to {do!r}, but {str(reply)[:80]}")
        if do in ("shell", "terminal"):
            self._pids[do] = reply["pid"]
            self._ended.pop(do, None)
        return reply, received

    def shell_end(self) -> int | None:
        """Read notices; return the persistent shell's exit code if it has ended."""
        for _ in range(_MOST_NOTICES):
            if not self._poll.poll(0):
                return self._ended.pop("shell", None)
            self._hear()
        raise SandboxFault("the sandbox floods its caller with notices")

    def has_ended(self, kind: str) -> bool:
        """Whether a started shell has ended."""
        return kind in self._ended

    def stop(self, since: float, number: int, shell: bool) -> None:
        """Signal processes that the shell started since a time, and the shell itself if asked."""
        self.ask("stop", since=since, number=number, shell=shell)

    def _answer(self, what: str, seconds: float) -> tuple[dict[str, Any], list[int]]:
        deadline = time.monotonic() + seconds
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not self._poll.poll(left * 1000):
                raise SandboxFault(f"the sandbox did not answer {what!r} in {seconds:g} seconds")
            heard = self._hear()
            if heard is not None:
                return heard

    def _hear(self) -> tuple[dict[str, Any], list[int]] | None:
        try:
            heard = wire.receive(self._connection)
        except ConnectionResetError:
            heard = None
        except wire.BadMessage as error:
            raise SandboxFault(f"the sandbox cannot be understood: {error}") from error
        if heard is None:
            raise SandboxFault("the sandbox ended unexpectedly", cause="sandbox_ended")
        message, descriptors = heard
        if "ended" not in message:
            return heard
        _close(descriptors)
        kind = str(message["ended"])
        if self._pids.get(kind) == message.get("pid"):
            self._ended[kind] = _number(message.get("status"))
        return None


def answer_on(connection: socket.socket, what: str, seconds: float) -> list[int]:
    """Wait on a separate connection for a slow request's answer; return its descriptors."""
    connection.settimeout(seconds)
    try:
        heard = wire.receive(connection)
    except TimeoutError as error:
        raise SandboxFault(f"{what} took longer than {seconds:g} seconds") from error
    except wire.BadMessage as error:
        raise SandboxFault(f"{what} failed: {error}") from error
    if heard is None:
        raise SandboxFault(f"{what} failed without an error message")
    message, descriptors = heard
    if "error" in message:
        _close(descriptors)
        raise SandboxFault(f"{what} failed: {message['error']}")
    return descriptors


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _close(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
