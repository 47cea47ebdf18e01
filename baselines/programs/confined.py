"""A program in a sandbox of its own, whose only network is one port of ours."""

import asyncio
import shlex
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from hexathlon.envs.sandbox.base import Sandbox
from hexathlon.envs.sandbox.execution import Execution
from hexathlon.envs.sandbox.image import SandboxImage
from hexathlon.envs.sandbox.ladder import choose
from hexathlon.envs.sandbox.limits import MIB, SandboxLimits

__all__ = ["ConfinedCommand"]

_PROCESSES, _FILES = 512, 8192
_OUTPUT, _STATUS = "/tmp/.output", "/tmp/.status"
_SLICE = 1.0
"""Seconds after which a program that runs on is looked at again."""

_KEPT = 64 * 1024


class ConfinedCommand:
    """Runs one command.

    Args:
        mounts: Directories of this machine, visible at the same paths, read-only.
        memory_mb: Memory of the program.
        seconds: Maximum duration.
    """

    def __init__(self, mounts: Sequence[str], memory_mb: int, seconds: float) -> None:
        self._image = SandboxImage(mounts=tuple(mounts))
        self._limits = SandboxLimits(
            memory_bytes=memory_mb * MIB, processes=_PROCESSES, open_files=_FILES
        )
        self._seconds = seconds
        self._thread = ThreadPoolExecutor(1)
        self._stop = threading.Event()
        self._sandbox: Sandbox | None = None
        self._running: asyncio.Future[str] | None = None

    async def open(self, port: int) -> socket.socket:
        """Open the sandbox and return the socket that listens on its port.

        Raises:
            SandboxFault: If there is no sandbox with namespaces on this machine.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._open, port)

    def start(self, command: str, ended: Callable[[], None]) -> None:
        """Start the command; `ended` is called in this event loop when it ends."""
        loop = asyncio.get_running_loop()
        self._running = loop.run_in_executor(self._thread, self._run, command)
        self._running.add_done_callback(lambda _: ended())

    async def close(self) -> str:
        """End the program and return the end of its output."""
        self._stop.set()
        loop = asyncio.get_running_loop()
        try:
            return "" if self._running is None else await self._running
        finally:
            await loop.run_in_executor(self._thread, self._close)
            self._thread.shutdown(wait=False)

    def _open(self, port: int) -> socket.socket:
        self._sandbox = choose("namespaces").open(self._image, self._limits)
        return self._sandbox.listen(port)

    def _run(self, command: str) -> str:
        """Run in the background and look every second, so that it can be ended from here."""
        line = f"bash -c {shlex.quote(command)} >{_OUTPUT} 2>&1 </dev/null; echo $? >{_STATUS}"
        self._execute(f"({line}) & program=$!")
        left = self._seconds
        while left > 0 and not self._stop.is_set():
            waited = self._execute(f"timeout {_SLICE} tail --pid=$program -f /dev/null")
            if waited.exit_status == 0:
                break
            left -= _SLICE
        shown = self._execute(f"tail -c {_KEPT} {_OUTPUT}; echo; echo exit status $(cat {_STATUS})")
        return shown.output.decode("utf-8", "replace")

    def _execute(self, command: str) -> Execution:
        assert self._sandbox is not None
        return self._sandbox.execute(command, 20.0)

    def _close(self) -> None:
        if self._sandbox is not None:
            self._sandbox.close()
