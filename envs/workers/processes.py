"""Client of worker processes: start, communicate, end.

The fork server (see `fork_server`) starts with the first worker and ends with the last, so that no
process remains when every environment is closed.
"""

import atexit
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading

from hexathlon.envs.errors import EnvFault
from hexathlon.envs.workers.fork_server import END, KILL, REPLY, REQUEST, SPAWN

__all__ = ["Worker", "start_worker"]

_START_SECONDS = 60.0
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); "
    "from hexathlon.envs.workers.fork_server import main; main(int(sys.argv[1]))"
)


class Worker:
    """One worker process.

    Attributes:
        pid: Its process id.
        socket: The caller's end of its socket, non-blocking.
    """

    def __init__(self, pid: int, connection: socket.socket, fork_server: "_ForkServer") -> None:
        self.pid = pid
        self.socket = connection
        self._fork_server = fork_server
        self._result: str | None = None

    def end(self, *, kill: bool = False) -> str:
        """End the process, gracefully or at once, reap it and return how it ended; idempotent."""
        if self._result is None:
            self.socket.close()
            self._result = _ending(self._fork_server.end(self.pid, KILL if kill else END))
        return self._result


def start_worker() -> Worker:
    """Start a worker process that waits for requests.

    Raises:
        EnvFault: If the process could not be started.
    """
    global _fork_server
    with _lock:
        if _fork_server is None or not _fork_server.alive():
            _fork_server = _ForkServer()
        return _fork_server.spawn()


class _ForkServer:
    """The caller's side of the fork server."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            number = str(theirs.fileno())
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, number, json.dumps(sys.path)],
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
                env={"OPENBLAS_NUM_THREADS": "1", **os.environ},
            )
        ours.settimeout(_START_SECONDS)
        self._control = ours
        self._owner = os.getpid()
        self._workers = 0

    def alive(self) -> bool:
        return self._owner == os.getpid() and self._process.poll() is None

    def spawn(self) -> Worker:
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                socket.send_fds(self._control, [REQUEST.pack(SPAWN, 0)], [theirs.fileno()])
                pid = self._reply()
        except OSError as error:
            ours.close()
            self.shut()
            raise EnvFault(
                f"no worker process could be started: {error}", cause="worker_start"
            ) from error
        ours.setblocking(False)
        self._workers += 1
        return Worker(pid, ours, self)

    def end(self, pid: int, operation: bytes) -> int:
        """End a worker; the fork server ends with the last one."""
        if self._owner != os.getpid():
            return 0  # a fork of the caller has a copy; it must not end the worker
        with _lock:
            try:
                self._control.sendall(REQUEST.pack(operation, pid))
                status = self._reply()
            except OSError:  # the fork server died, and its workers with it
                status = -signal.SIGKILL
            self._workers -= 1
            if self._workers == 0:
                self.shut()
            return status

    def shut(self) -> None:
        self._control.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _reply(self) -> int:
        data = self._control.recv(REPLY.size, socket.MSG_WAITALL)
        if len(data) < REPLY.size:
            raise ConnectionResetError("the fork server has ended")
        status: int = REPLY.unpack(data)[0]
        return status


def _ending(status: int) -> str:
    if status >= 0:
        return f"exit code {status}"
    with contextlib.suppress(ValueError):
        return f"signal {-status} ({signal.Signals(-status).name})"
    return f"signal {-status}"


def _shut_at_exit() -> None:
    if _fork_server is not None and _fork_server.alive():
        _fork_server.shut()


_fork_server: _ForkServer | None = None
_lock = threading.RLock()
atexit.register(_shut_at_exit)
