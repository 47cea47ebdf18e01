"""Command execution shared by every backend."""

import re
import signal
import time
from contextlib import suppress

from hexathlon.envs.sandbox.base import SandboxFault, SandboxPathError
from hexathlon.envs.sandbox.execution import Execution
from hexathlon.envs.sandbox.limits import SandboxLimits, Stop
from hexathlon.envs.sandbox.shell import Gathered, Shell, ShellEnded

__all__ = ["absolute", "run_in_shell", "limit_in_output"]

_LONGEST_COMMAND = 1 << 20

_NO_TERMINAL = re.compile(
    rb"(?:^bash: \[\d+|bash: \[(\d+)): \d+ \(\d+\)\] tcsetattr: Inappropriate ioctl for device\n?",
    re.MULTILINE,
)
"""Message of an interactive shell without a terminal when a signal ends its command; in the middle
of a line, the process id decides whose message it is."""

_SIGNS = (
    (b"No space left on device", Stop.DISK),
    (b"File size limit exceeded", Stop.DISK),
    (b"File too large", Stop.DISK),
    (b"Too many open files", Stop.DESCRIPTORS),
)
_SIGNS_WITHOUT_GROUPS = (
    (b"fork: Resource temporarily unavailable", Stop.PROCESSES),
    (b"fork: retry: Resource temporarily unavailable", Stop.PROCESSES),
    (b"MemoryError", Stop.MEMORY),
    (b"Cannot allocate memory", Stop.MEMORY),
)


def run_in_shell(
    shell: Shell, command: str, limits: SandboxLimits, timeout: float | None
) -> Execution:
    """Run a command; `restarted` means that the shell is gone and has to be restarted.

    Raises:
        SandboxFault: If the shell neither answers nor ends.
    """
    if len(command) > _LONGEST_COMMAND:
        return Execution(b"bash: command too long\n", 126, 0.0)
    gathered, start = Gathered(limits.kept_bytes), time.monotonic()
    seconds = limits.seconds if timeout is None else timeout
    try:
        status, stop = shell.run(command, seconds, limits.output_bytes, gathered)
        ended = status is None
    except ShellEnded as end:
        status, stop, ended = end.code if end.code >= 0 else 128 - end.code, None, True
    except TimeoutError as error:
        raise SandboxFault(str(error)) from error
    output, cut_at, cut = gathered.result()
    head, tail = (
        _without_complaints(part, shell.pid) for part in (output[:cut_at], output[cut_at:])
    )
    return Execution(head + tail, status, time.monotonic() - start, len(head), cut, stop, ended)


def _without_complaints(output: bytes, pid: int) -> bytes:
    """Return output without the messages of the shell with that process id."""

    def kept(match: re.Match[bytes]) -> bytes:
        return b"" if match[1] is None or int(match[1]) == pid else match[0]

    return _NO_TERMINAL.sub(kept, output)


def limit_in_output(status: int | None, output: bytes, *, counted: bool) -> Stop | None:
    """Return the limit indicated by a command's output and exit status.

    Args:
        status: Its exit status.
        output: Its output.
        counted: Whether memory and processes are counted from outside, so that output about them
            is ignored.
    """
    if not counted:
        found = next((stop for words, stop in _SIGNS_WITHOUT_GROUPS if words in output), None)
        if found is not None:
            return found
    if status == 0:
        return None
    if status == 128 + signal.SIGXFSZ:
        return Stop.DISK
    return next((stop for words, stop in _SIGNS if words in output), None)


def absolute(path: str) -> str:
    """Return a path as absolute inside; relative ones start at the root.

    Raises:
        SandboxPathError: If it is not a path.
    """
    if not path or "\0" in path or len(path.encode("utf-8", "replace")) > 4000:
        raise SandboxPathError(f"not a path: {path[:80]!r}")
    with suppress(UnicodeEncodeError):
        path.encode()
        return path if path.startswith("/") else "/" + path
    raise SandboxPathError(f"not a path: {path[:80]!r}")
