"""Client of the supervisor process: starts it, sends requests, counts references to layers."""

import atexit
import contextlib
import os
import subprocess
import sys
import threading
from collections import deque
from pathlib import Path
from typing import Any

from hexathlon.envs.sandbox.base import SandboxFault
from hexathlon.envs.sandbox.kernel import wire

__all__ = ["Supervisor", "Layer", "shared_supervisor"]

_SECONDS = 60.0
_PROGRAM = (
    "import sys, types; package = types.ModuleType('hexathlon'); "
    "package.__path__ = [sys.argv[2]]; sys.modules['hexathlon'] = package; "
    "from hexathlon.envs.sandbox.namespaces.supervisor import main; main(int(sys.argv[1]))"
)
"""Imports the supervisor without running the package's own `__init__`, which is slow."""


class Layer:
    """One layer of files, released with its last reference.

    Attributes:
        number: The supervisor's number for it.
    """

    def __init__(self, number: int, supervisor: "Supervisor") -> None:
        self.number = number
        self._supervisor = supervisor

    def __del__(self) -> None:
        self._supervisor.release(self.number)


class Supervisor:
    """One supervisor process; thread-safe.

    Args:
        python: The interpreter; only its standard library is needed.
        user: User and group id to run it as; None for this process's own.
    """

    def __init__(self, python: str = sys.executable, user: int | None = None) -> None:
        ours, theirs = wire.pair()
        package = str(Path(__file__).parents[3])
        with theirs:
            number = theirs.fileno()
            try:
                self._process = subprocess.Popen(
                    [python, "-I", "-S", "-B", "-c", _PROGRAM, str(number), package],
                    stdin=subprocess.DEVNULL,
                    pass_fds=(number,),
                    start_new_session=True,
                    env={},
                    user=user,
                    group=user,
                    extra_groups=None if user is None else [],
                )
            except OSError as error:
                ours.close()
                raise SandboxFault(f"the sandboxes' supervisor does not start: {error}") from error
        ours.settimeout(_SECONDS)
        self._connection = ours
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._serial = 0
        self._broken = False
        self._released: deque[int] = deque()
        self._abandoned: deque[int] = deque()
        try:
            self.properties = self._receive()
        except SandboxFault:
            self.close()
            raise

    def alive(self) -> bool:
        """Whether it runs and belongs to this process."""
        mine = self._owner == os.getpid() and not self._broken
        return mine and self._process.poll() is None

    def new_number(self) -> int:
        """Return a number for a new layer."""
        with self._lock:
            self._serial += 1
            return self._serial

    def release(self, number: int) -> None:
        """Mark a layer as unused; takes no lock, so finalizers may call it."""
        self._released.append(number)

    def abandon(self, pid: int) -> None:
        """End an unreferenced sandbox; never waits for a lock, for finalizers."""
        self._abandoned.append(pid)
        if self.alive() and self._lock.acquire(blocking=False):
            try:
                with contextlib.suppress(SandboxFault):
                    self._drop()
            finally:
                self._lock.release()

    def ask(self, do: str, descriptors: list[int] | None = None, **more: Any) -> dict[str, Any]:
        """Send a request and return the answer.

        Raises:
            SandboxFault: If the request failed, or the supervisor is gone.
        """
        if self._owner != os.getpid():
            raise SandboxFault("this sandbox belongs to the process that forked this one")
        with self._lock:
            if self._released or self._abandoned:
                self._drop()
            return self._exchange({"do": do, **more}, descriptors or [])

    def tidy(self) -> None:
        """Drop the released layers and end the abandoned sandboxes."""
        if self._owner == os.getpid():
            with self._lock, contextlib.suppress(SandboxFault):
                self._drop()
                self._exchange({"do": "idle"}, [])  # lets the supervisor reap its helpers

    def _drop(self) -> None:
        with contextlib.suppress(IndexError):
            while True:
                self._exchange({"do": "end", "pid": self._abandoned.popleft(), "wait": True}, [])
        numbers = []
        with contextlib.suppress(IndexError):
            while True:
                numbers.append(self._released.popleft())
        if numbers:
            self._exchange({"do": "drop", "layers": numbers}, [])

    def _exchange(self, message: dict[str, Any], descriptors: list[int]) -> dict[str, Any]:
        try:
            wire.send(self._connection, message, descriptors)
        except OSError as error:
            self._broken = True
            raise SandboxFault(f"the sandboxes' supervisor is gone ({error.strerror})") from error
        return self._receive()

    def _receive(self) -> dict[str, Any]:
        try:
            heard = wire.receive(self._connection)
        except (OSError, wire.BadMessage) as error:
            self._broken = True
            raise SandboxFault(f"the sandboxes' supervisor does not answer ({error})") from error
        if heard is None:
            self._broken = True
            raise SandboxFault("the sandboxes' supervisor has ended")
        if "error" in heard[0]:
            raise SandboxFault(str(heard[0]["error"]))
        return heard[0]

    def close(self) -> None:
        """End the supervisor, and every sandbox with it."""
        self._connection.close()
        if self._owner != os.getpid():
            return
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def shared_supervisor() -> Supervisor:
    """Return this process's supervisor, started on first use and ended at exit.

    Raises:
        SandboxFault: If it cannot be started; the message gives the reason.
    """
    global _shared
    with _lock:
        if _shared is None or not _shared.alive():
            _shared = Supervisor()
        return _shared


def _close_at_exit() -> None:
    if _shared is not None and _shared.alive():
        _shared.close()


_shared: Supervisor | None = None
_lock = threading.Lock()
atexit.register(_close_at_exit)
