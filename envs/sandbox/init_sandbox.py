"""Sandboxes whose process 1 (init) is the harness's and serves commands, keys and files.

Shared by the backends that start processes themselves; the backends decide where files live and
how snapshots are taken.
"""

import os
import signal
import socket
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from hexathlon.envs.sandbox.base import Sandbox, SandboxFault, SandboxPathError
from hexathlon.envs.sandbox.execution import Evidence, Execution, Process, Screen
from hexathlon.envs.sandbox.image import Entry, SandboxImage
from hexathlon.envs.sandbox.kernel import bundle, wire
from hexathlon.envs.sandbox.limits import MIB, SandboxLimits, Stop
from hexathlon.envs.sandbox.link import InitLink
from hexathlon.envs.sandbox.running import absolute, limit_in_output, run_in_shell
from hexathlon.envs.sandbox.shell import PipeShell, ShellEnded, setup_line
from hexathlon.envs.sandbox.terminal import COLUMNS, ROWS, Terminal

__all__ = ["InitSandbox", "ShellPipes"]

_READY_SECONDS = 20.0
_SCRIPT = 57


class ShellPipes:
    """Pipes of a shell about to start: three ends for the caller, three for the shell."""

    def __init__(self) -> None:
        theirs_in, ours_in = os.pipe2(os.O_CLOEXEC)
        ours_out, theirs_out = os.pipe2(os.O_CLOEXEC)
        ours_status, theirs_status = os.pipe2(os.O_CLOEXEC)
        self.ours = (ours_in, ours_out, ours_status)
        self.theirs = [theirs_in, theirs_out, theirs_status]

    def close_theirs(self) -> None:
        """Close the shell's ends after handing them over."""
        for descriptor in self.theirs:
            os.close(descriptor)
        self.theirs = []

    def close(self) -> None:
        """Close all ends."""
        self.close_theirs()
        for descriptor in self.ours:
            os.close(descriptor)


class InitSandbox(Sandbox):
    """Base of the backends whose init process is the harness's."""

    def __init__(self, image: SandboxImage, limits: SandboxLimits) -> None:
        self.image = image
        self.limits = limits
        self._link: InitLink | None = None
        self._shell: PipeShell | None = None
        self._terminal: Terminal | None = None
        self._stops: list[Stop] = []
        self._counts = (0, 0)
        self._attempts = 0

    @abstractmethod
    def _live(self) -> InitLink:
        """Return the link to a process 1 that may change files, starting it if necessary."""

    def execute(self, command: str, timeout: float | None = None) -> Execution:
        """Run a command in the persistent shell."""
        link = self._live()
        shell = self._shell or self._start_shell()
        done = run_in_shell(shell, command, self.limits, timeout)
        hit = self._limit_hit(link, done)
        stop = hit if done.stop is None or hit in (Stop.MEMORY, Stop.PROCESSES) else done.stop
        if done.restarted:
            self._restart_shell()
            stop = stop or Stop.SHELL_ENDED
        if stop is not None:
            self._stops.append(stop)
        return replace(done, stop=stop)

    def _limit_hit(self, link: InitLink, done: Execution) -> Stop | None:
        """Return the limit that a command hit, by counters first, by its output second."""
        reply, _ = link.ask("limits_hit")
        kills, refusals = reply["counts"] or (0, 0)
        before, self._counts = self._counts, (kills, refusals)
        if kills > before[0]:
            return Stop.MEMORY
        if refusals > before[1]:
            return Stop.PROCESSES
        if reply["free"] <= 0:
            return Stop.DISK
        if reply["inodes"] <= 0:
            return Stop.INODES
        return limit_in_output(done.exit_status, done.output, counted=bool(reply["counts"]))

    def _restart_shell(self) -> None:
        """Start a new shell after one has ended, if need be in place of everything that runs."""
        self._drop_shell()
        try:
            self._start_shell()
        except SandboxFault:  # processes that the old one left may take all there are
            self.kill_all()
            self._start_shell()

    def _start_shell(self, script: bytes | None = None) -> PipeShell:
        """Start a shell in a sandbox that has none."""
        pipes = ShellPipes()
        store = [wire.stored(script)] if script is not None else []
        assert self._link is not None
        try:
            self._link.ask("shell", [*pipes.theirs, *store])
        except OSError as error:
            pipes.close()
            raise SandboxFault(f"no shell can be started: {error.strerror}") from error
        finally:
            pipes.close_theirs()
            for descriptor in store:
                os.close(descriptor)
        return self._adopt(pipes, script is not None)

    def _adopt(self, pipes: ShellPipes, with_script: bool) -> PipeShell:
        """Connect to a shell that has just been started."""
        assert self._link is not None
        shell = PipeShell(*pipes.ours, self._link)
        try:
            up = shell.begin(setup_line(_SCRIPT if with_script else None), _READY_SECONDS)
        except ShellEnded as ended:
            shell.close()
            raise SandboxFault(f"the shell does not start ({ended.code})") from ended
        if not up:
            shell.close()
            raise SandboxFault("the shell does not start")
        self._shell = shell
        return shell

    def _drop_shell(self) -> None:
        if self._shell is not None:
            self._shell.close()
            self._shell = None

    def keys(self, text: str) -> None:
        """Type into the terminal."""
        link = self._live()
        if self._terminal is None or self._terminal.ended or link.has_ended("terminal"):
            self._drop_terminal()
            _, (master,) = link.ask("terminal", rows=ROWS, columns=COLUMNS)
            self._terminal = Terminal(master)
            self._terminal.look(0.05, 5.0, first=5.0)  # keys come after the prompt
        self._terminal.type(text)

    def resize(self, rows: int | None = None, columns: int | None = None) -> None:
        """Change the size of the terminal's screen."""
        if self._terminal is None:
            self.keys("")
        assert self._terminal is not None
        self._terminal.resize(rows, columns)

    def screen(self, quiet: float = 0.05, timeout: float = 2.0, until: str | None = None) -> Screen:
        """Return the terminal's screen."""
        if self._terminal is None:
            self.keys("")
        assert self._terminal is not None
        return self._terminal.look(quiet, timeout, until=until)

    def _drop_terminal(self) -> None:
        if self._terminal is not None:
            self._terminal.close()
            self._terminal = None

    def read(self, path: str, max_bytes: int = 16 * MIB) -> bytes:
        """Return a regular file's content."""
        with _path_errors(path):
            _, (store,) = self._live().ask("read", path=absolute(path), most=max_bytes)
        try:
            return wire.sealed_content(store, max_bytes)
        except wire.BadMessage as error:
            raise SandboxFault(f"reading {path[:200]}: {error}") from error

    def cpu_seconds(self) -> float:
        """Return the processor time of all processes so far."""
        seconds: float = self._live().ask("usage")[0]["seconds"]
        return seconds

    def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Write a file."""
        store = wire.stored(data)
        try:
            with _path_errors(path):
                self._live().ask("write", [store], path=absolute(path), mode=mode)
        finally:
            os.close(store)

    def write_entries(self, files: Mapping[str, Entry]) -> None:
        """Write files, directories and links."""
        entries = {absolute(path): entry for path, entry in files.items()}
        store = bundle.bundle_of(entries)
        try:
            with _path_errors(next(iter(entries), "/")):
                self._live().ask("write_entries", [store])
        finally:
            os.close(store)

    def open_file(self, path: str) -> int:
        """Return a descriptor of a regular file, open for reading; the caller closes it.

        Raises:
            SandboxPathError: If there is no such regular file.
        """
        with _path_errors(path):
            _, (handle,) = self._live().ask("open", path=absolute(path))
        return handle

    def connect(self, path: str) -> socket.socket:
        """Return a connection to a local stream socket that a program inside listens on.

        Raises:
            SandboxPathError: If nothing listens there.
        """
        with _path_errors(path):
            _, (link,) = self._live().ask("connect", path=absolute(path))
        return socket.socket(fileno=link)

    def processes(self) -> tuple[Process, ...]:
        """Return the processes inside."""
        reply, _ = self._live().ask("processes")
        return tuple(Process(*row) for row in reply["processes"])

    def freeze(self) -> None:
        """Suspend all processes inside."""
        self._live().ask("signal", number=int(signal.SIGSTOP))

    def thaw(self) -> None:
        """Resume all processes inside."""
        self._live().ask("signal", number=int(signal.SIGCONT))

    def kill_all(self) -> tuple[Process, ...]:
        """Kill everything inside and return the processes that were running."""
        reply, _ = self._live().ask("kill")
        self._drop_shell()
        self._drop_terminal()
        if reply["left"]:
            raise SandboxFault(f"still alive after they were killed: {reply['left'][:5]}")
        return tuple(Process(*row) for row in reply["processes"])

    def evidence(self) -> Evidence:
        """Return the counters since the sandbox was opened."""
        attempts = self._attempts
        if self._link is not None:
            reply, _ = self._link.ask("network")
            attempts += reply["attempts"]
        return Evidence(attempts, *self._counts, tuple(self._stops))

    def _hang_up(self) -> None:
        """Close every connection to process 1, which ends it."""
        self._drop_shell()
        self._drop_terminal()
        if self._link is not None:
            self._link.close()
            self._link = None


@contextmanager
def _path_errors(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SandboxPathError(f"{path[:200]}: {error.strerror}") from error
