"""The persistent shell: its input protocol, and separation of reports from command output.

Each command becomes one line `eval $'…'`, so that no text of an agent can leave the line
unterminated, followed by a line that reports `$?` over a separate channel. The shell is interactive
without a terminal: an interrupt ends the command and leaves the shell.

Programs inside can write to that channel, too, so each report begins with a word that only the
shell is given, after the command has ended; whatever else arrives there is dropped.
"""

import contextlib
import os
import re
import secrets
import select
import time
import weakref
from abc import ABC, abstractmethod
from collections import deque
from typing import Protocol

from hexathlon.envs.sandbox.base import SandboxFault
from hexathlon.envs.sandbox.limits import Stop

__all__ = [
    "NO_LIMIT",
    "Gathered",
    "PipeShell",
    "Reports",
    "Shell",
    "ShellEnded",
    "ShellLink",
    "command_lines",
    "dump_line",
    "end_line",
    "quoted",
    "setup_line",
    "useful_state",
]

_SETUP = (
    b"exec 58>&1 59>&2 2>/dev/null; unset HISTFILE MAILCHECK PS1 PS2; set +o history; set +H; "
    b"shopt -u checkwinsize; shopt -s expand_aliases; set -m; __hx(){ return $1; }; "
)
_REPORT = b'builtin printf \'%s%%d%%s\\0\' "$?" "${-//[^e]}" >&59\n'


# Under `set -e` a failing command would end the shell. A trap ends the command instead, as
# Control-C does; `errtrace` lets functions inherit it. The report's line sets the option again.
_ERREXIT = re.compile(rb"errexit|\bset\s+-\w*e|(?:^|[;&|{(\n])[ \t]*+(?:\.|source)\s")
_GUARD = (
    b"__hx_e=${-//[^e]} __hx_t=${-//[^E]} __hx_end=; set +e; "
    b'case "$(builtin trap -p ERR)" in "") set -E; builtin trap \'__hx_status=$?; case $- in *e*) '
    b"case $BASHPID in $$) __hx_end=e; set +e; kill -INT $$;; esac;; esac' ERR;; esac; "
    b'case "$__hx_e" in e) set -e;; esac\n'
)
_GUARDED_REPORT = (
    b'case "$__hx_end" in e) __hx_last=$__hx_status;; *) __hx_last=$?;; esac\n'
    b'__hx_e=${-//[^e]}$__hx_end; set +e; case "$(builtin trap -p ERR)" in *__hx_status*) '
    b'builtin trap - ERR; case "$__hx_t" in "") set +E;; esac;; esac\n'
    b'builtin printf \'%s%%d%%s\\0\' "$__hx_last" "${__hx_e:+e}" >&59\n'
    b'case "$__hx_e" in e*) unset __hx_e __hx_t __hx_end __hx_status __hx_last; set -e;; '
    b"*) unset __hx_e __hx_t __hx_end __hx_status __hx_last;; esac\n"
)
"""The report comes after the last command that needs a process: no process of the shell's own may
be alive when the caller looks."""

_DUMP = (
    b"{ builtin printf '%s'; declare -p; declare -f; alias -p; shopt -p; trap -p; umask -p; "
    b"builtin printf 'cd %%q\\n' \"$PWD\"; set +o; builtin printf '\\0'; } >&59 2>/dev/null\n"
)
_READY = b"\nready "
_LONGEST_REPORT = 64 << 20

_ESCAPES = {byte: b"\\%03o" % byte for byte in range(1, 32)} | {
    ord("\\"): b"\\\\",
    ord("'"): b"\\'",
    ord("\n"): b"\\n",
    ord("\t"): b"\\t",
    127: b"\\177",
}
_TABLE = [_ESCAPES.get(byte, bytes([byte])) for byte in range(256)]

# Variables that every shell sets itself; assigning them is refused or has no effect.
_NOT_STATE = (
    b"BASHOPTS", b"BASHPID", b"BASH_", b"COMP_", b"DIRSTACK", b"EPOCH", b"EUID", b"FUNCNAME",
    b"GROUPS", b"HISTCMD", b"LINENO", b"PIPESTATUS", b"PPID", b"SECONDS", b"SHELLOPTS", b"SRANDOM",
    b"UID", b"_=",
)  # fmt: skip


# Setting these makes bash change the way it reads its input and lose what it has read.
_EDITING = tuple(b"set %co %s" % (sign, name) for sign in b"+-" for name in (b"emacs", b"vi"))


def setup_line(script: int | None = None, folder: str | None = None) -> bytes:
    """Return the first line for a new shell.

    Args:
        script: Descriptor in the shell of a script that restores an earlier state.
        folder: Initial directory; if it is gone, the shell stays where it started.
    """
    line = _SETUP
    if folder is not None:
        line += b"cd -- $'" + quoted(folder.encode()) + b"'; "
    if script is not None:
        line += b". /dev/fd/%d >/dev/null 2>&1 </dev/null; exec %d<&-; " % (script, script)
    return line + b"builtin printf '\\nready %d%s\\0' $$ \"${-//[^e]}\" >&59\n"


def quoted(text: bytes) -> bytes:
    """Return text quoted for `$'…'`; NUL bytes, which no shell supports, are dropped."""
    return b"".join([_TABLE[byte] for byte in text if byte])


def dump_line(word: bytes) -> bytes:
    """Return the line that makes the shell report its own state, as a script.

    Args:
        word: The beginning of the report.
    """
    return _DUMP % word


def command_lines(
    command: str, previous: int, word: bytes, marker: bytes = b"", *, errexit: bool = False
) -> bytes:
    """Return the lines that run a command and report its status, followed by `e` under `set -e`.

    Args:
        command: Any text.
        previous: Value of `$?` at its beginning.
        word: The beginning of the report.
        marker: Written to standard output afterwards, for connections that do not preserve the
            order between output and status.
        errexit: Whether `set -e` is in effect; the command may also set it.
    """
    status = b"__hx %d || " % previous if previous else b""
    text = command.encode("utf-8", "surrogateescape")
    line = status + b"eval $'" + quoted(text) + b"' </dev/null 2>&1 58>&- 59>&-\n"
    if errexit or _ERREXIT.search(text):
        lines = _GUARD + line + _GUARDED_REPORT % word
    else:
        lines = line + _REPORT % word
    if marker:
        lines += end_line(marker)
    return lines


def end_line(marker: bytes) -> bytes:
    """Return the line that writes a marker to the shell's current standard output."""
    return b"builtin printf '%s' '" + marker + b"' >&58\n"


def useful_state(dump: bytes) -> bytes:
    """Return the part of a state dump that a new shell needs."""
    kept = []
    skipping = False
    for line in dump.split(b"\n"):
        if line.startswith(b"declare -"):
            name = line.split(b" ", 2)[2]
            skipping = name.startswith(_NOT_STATE)
        elif skipping and line.endswith(b" ()"):  # start of a function definition
            skipping = False
        if not skipping and line not in _EDITING:
            kept.append(line)
    return b"\n".join(kept)


class Gathered:
    """Collected output: the beginning and the end are kept, the middle is counted.

    Args:
        kept: Bytes to keep.
    """

    def __init__(self, kept: int) -> None:
        self._half = max(kept // 2, 1)
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self.total = 0

    def add(self, data: bytes) -> None:
        """Add output."""
        self.total += len(data)
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail.append(data)
            self._tail_size += len(data)
            while self._tail_size - len(self._tail[0]) >= self._half:
                self._tail_size -= len(self._tail.popleft())

    def result(self) -> tuple[bytes, int, int]:
        """Return the kept output, the offset of the cut and the number of bytes cut."""
        tail = b"".join(self._tail)[-self._half :]
        cut = self.total - len(self._head) - len(tail)
        return bytes(self._head) + tail, len(self._head) if cut else 0, cut


class Reports:
    """The report awaited from a shell, among whatever else is written to the channel.

    Args:
        word: The beginning of the report; it ends with a null byte.
    """

    def __init__(self, word: bytes) -> None:
        self._word = word
        self._buffer = bytearray()
        self._began = False

    def add(self, data: bytes) -> bytes | None:
        """Add what was read; return the report once it is complete."""
        self._buffer += data
        if not self._began:
            start = self._buffer.find(self._word)
            self._began = start >= 0
            end = start + len(self._word) if self._began else 1 - len(self._word)
            del self._buffer[:end]
            data = bytes(self._buffer)
        if not self._began:
            return None
        if len(self._buffer) > _LONGEST_REPORT:
            raise SandboxFault("the shell's report has no end")
        if b"\0" not in data:
            return None
        return bytes(self._buffer.partition(b"\0")[0])


class ShellLink(Protocol):
    """Interface of the sandbox that the shell driver needs."""

    def fileno(self) -> int:
        """Return a descriptor that becomes readable when there are notices."""

    def shell_end(self) -> int | None:
        """Read notices; return the shell's exit code if it has ended."""

    def stop(self, since: float, number: int, shell: bool) -> None:
        """Signal processes that the shell started since a time, and the shell itself if asked."""


_INTERRUPT, _KILL = 2, 9
_STAGES = (
    (_INTERRUPT, True, False, 0.25),
    (_KILL, False, False, 0.5),
    (_INTERRUPT, True, True, 1.0),
    (_KILL, True, False, 5.0),
)
"""Signal, whether the shell itself gets it, whether earlier jobs do, seconds until the next stage.

Later stages are for processes that ignore an interrupt, and for earlier jobs that a command waits
for, as `fg` does. The delays are generous so that a busy machine costs no shell its state.
"""

_READ = 1 << 16
_PIPE_READS = 32
NO_LIMIT = 1 << 62


class ShellEnded(Exception):
    """The shell has ended; carries its exit code, negative for a signal."""

    def __init__(self, code: int) -> None:
        super().__init__(f"the shell ended with {code}")
        self.code = code


class Shell(ABC):
    """The caller's side of one shell, independent of the transport.

    Args:
        link: The sandbox around it.
        marker: See `command_lines`.
    """

    def __init__(self, link: ShellLink, marker: bytes = b"") -> None:
        self._link = link
        self._marker = marker
        self.previous = 0
        """Current value of `$?`."""
        self.errexit = False
        """Whether `set -e` is in effect."""
        self.pid = 0
        """Its process id inside."""
        self._reports = Reports(_READY)

    @abstractmethod
    def close(self) -> None:
        """Close the connection to it."""

    def follow(self, link: ShellLink) -> None:
        """Attach to another sandbox object."""
        self._link = link

    @abstractmethod
    def _talk(
        self, lines: bytes, gathered: Gathered, seconds: float, most: int = NO_LIMIT
    ) -> bytes | None:
        """Write lines and read until the shell gives the awaited report.

        Returns:
            The report, or None at the deadline or when more than `most` bytes have been printed.

        Raises:
            ShellEnded: If the shell has ended.
        """

    def begin(self, line: bytes, seconds: float) -> bool:
        """Send the first line and wait until the shell is ready; False if it never is."""
        report = self._talk(line + self._end(), Gathered(1 << 12), seconds)
        number = (report or b"").removesuffix(b"e")
        if not number.isdigit():
            return False
        self.pid, self.errexit = int(number), number != report
        return True

    def dump(self, seconds: float) -> bytes | None:
        """Return the shell's state as a script, or None if it does not answer."""
        word = self._await()
        report = self._talk(dump_line(word) + self._end(), Gathered(1), seconds)
        return None if report is None else useful_state(report)

    def run(
        self, command: str, seconds: float, most: int, gathered: Gathered
    ) -> tuple[int | None, Stop | None]:
        """Run a command; return its exit status and why it was stopped, if it was.

        Raises:
            ShellEnded: If the shell has ended, by itself or because it could not be interrupted.
        """
        since = time.clock_gettime(time.CLOCK_BOOTTIME)
        word = self._await()
        lines = command_lines(command, self.previous, word, self._marker, errexit=self.errexit)
        report = self._talk(lines, gathered, seconds, most)
        stop = None
        if report is None:
            stop = Stop.OUTPUT if gathered.total > most else Stop.TIME
            try:
                report = self._stop(gathered, since)
            except ShellEnded:
                return None, stop
        status = report.removesuffix(b"e")
        self.errexit = status != report
        self.previous = int(status) & 0xFF if status.isdigit() and len(status) < 4 else 0xFF
        return self.previous, stop

    def _stop(self, gathered: Gathered, since: float) -> bytes:
        """Stop the command with escalating signals; return the report, or raise `ShellEnded`."""
        for number, shell, earlier, seconds in _STAGES:
            self._link.stop(0.0 if earlier else since, number, shell)
            report = self._talk(b"", gathered, seconds)
            if report is not None:
                return report
        raise TimeoutError("a shell did not end when it was killed")

    def _await(self) -> bytes:
        """Await a new report, and return the word it begins with."""
        word = secrets.token_hex(8).encode() + b" "
        self._reports = Reports(word)
        return word

    def _end(self) -> bytes:
        return end_line(self._marker) if self._marker else b""


class PipeShell(Shell):
    """A shell at the other end of three pipes, which are closed when it is unreferenced.

    Args:
        command: Pipe to the shell's input.
        output: Pipe from the commands' output.
        status: Pipe from the shell's reports.
        link: The sandbox around it.
    """

    def __init__(self, command: int, output: int, status: int, link: ShellLink) -> None:
        super().__init__(link)
        self._command, self._output, self._status = command, output, status
        self._closing = weakref.finalize(self, _close, (command, output, status))
        for descriptor in (command, output, status):
            os.set_blocking(descriptor, False)
        self._poll = select.poll()
        for descriptor in (output, status, link.fileno()):
            self._poll.register(descriptor, select.POLLIN)
        self._unsent = b""

    def close(self) -> None:
        """Close the pipes; idempotent."""
        self._closing()

    def _talk(
        self, lines: bytes, gathered: Gathered, seconds: float, most: int = NO_LIMIT
    ) -> bytes | None:
        deadline = time.monotonic() + seconds
        self._unsent += lines
        report: bytes | None = None
        while report is None:
            if self._unsent:
                self._write()
            left = deadline - time.monotonic()
            if left <= 0 or gathered.total > most:
                return None
            for descriptor, _ in self._poll.poll(left * 1000):
                if descriptor == self._output:
                    gathered.add(_read(self._output))
                elif descriptor == self._status:
                    report = self._reports.add(self._read_status())
                elif descriptor == self._link.fileno():
                    code = self._link.shell_end()
                    if code is not None:
                        self._drain(gathered)
                        raise ShellEnded(code)
        self._drain(gathered)
        return report

    def _read_status(self) -> bytes:
        try:
            data = os.read(self._status, _READ)
        except BlockingIOError:
            return b""
        if not data:  # no process inside holds the other end: the pipe would stay readable forever
            with contextlib.suppress(KeyError):
                self._poll.unregister(self._status)
        return data

    def _write(self) -> None:
        try:
            written = os.write(self._command, self._unsent)
        except BlockingIOError:
            written = 0
        except BrokenPipeError:  # the shell is ending; a notice will follow
            written = len(self._unsent)
        self._unsent = self._unsent[written:]
        if self._unsent:
            self._poll.register(self._command, select.POLLOUT)
        else:
            with contextlib.suppress(KeyError):
                self._poll.unregister(self._command)

    def _drain(self, gathered: Gathered) -> None:
        """Read what is in the pipe now; running processes may print more later."""
        for _ in range(_PIPE_READS):
            data = _read(self._output)
            if not data:
                return
            gathered.add(data)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _READ)
    except BlockingIOError:
        return b""


def _close(descriptors: tuple[int, ...]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
