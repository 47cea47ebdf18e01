"""A small process that imports the package once and forks workers on request.

Forking from a clean, single-threaded process is safe where forking from the caller is not, and a
worker starts in milliseconds instead of importing everything again. Workers are this process's
children: it reaps them, and kills the remaining ones when the caller ends for any reason.

Requests on the control socket are `operation, process id`; a spawn request carries the worker's
socket. Replies are one number: the process id, or the exit status (negative for a signal).
"""

import contextlib
import os
import select
import signal
import socket
import struct

from hexathlon.envs.workers.host import serve

__all__ = ["END", "GRACE_SECONDS", "KILL", "REPLY", "REQUEST", "SPAWN", "main"]

REQUEST = struct.Struct(">cq")
REPLY = struct.Struct(">q")
SPAWN, END, KILL = b"S", b"E", b"K"

GRACE_SECONDS = 2.0
"""Seconds that a worker has to clean up after its socket was closed, before it is killed."""


def main(descriptor: int) -> None:
    """Serve spawn and end requests until the caller's end of the socket closes."""
    control = socket.socket(fileno=descriptor)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    children: set[int] = set()
    try:
        while True:
            message, descriptors, _, _ = socket.recv_fds(control, REQUEST.size, 1)
            if len(message) < REQUEST.size:
                return
            operation, pid = REQUEST.unpack(message)
            if operation == SPAWN:
                result = _spawn(control, descriptors[0])
                children.add(result)
            else:
                result = _end(pid, 0.0 if operation == KILL else GRACE_SECONDS)
                children.discard(pid)
            control.sendall(REPLY.pack(result))
    except (BrokenPipeError, ConnectionResetError):
        return
    finally:
        for pid in sorted(children):
            _end(pid, 0.0)


def _spawn(control: socket.socket, descriptor: int) -> int:
    pid = os.fork()
    if pid:
        os.close(descriptor)
        return pid
    code = 1
    try:
        os.setsid()  # its own process group, so that its children are killed with it
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        control.close()
        serve(socket.socket(fileno=descriptor))
        code = 0
    finally:
        os._exit(code)


def _end(pid: int, grace: float) -> int:
    """Wait `grace` seconds for the worker, kill its group, reap it; return its exit status."""
    handle = os.pidfd_open(pid)
    try:
        select.select([handle], [], [], grace)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    finally:
        os.close(handle)
