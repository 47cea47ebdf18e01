"""Protocol of every sandbox: commands, keys, files, snapshots, limits, evidence."""

import socket
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from hexathlon.envs.errors import EnvFault
from hexathlon.envs.sandbox.changes import Changes
from hexathlon.envs.sandbox.execution import Evidence, Execution, Process, Screen, ShellState
from hexathlon.envs.sandbox.image import Entry, SandboxImage
from hexathlon.envs.sandbox.limits import MIB, SandboxLimits
from hexathlon.evaluators.closing import Closing

__all__ = [
    "Availability",
    "Sandbox",
    "SandboxBackend",
    "SandboxFault",
    "SandboxPathError",
    "SandboxSnapshot",
]


class SandboxFault(EnvFault):
    """The sandbox itself failed, not a program in it."""

    cause = "sandbox"


class SandboxPathError(Exception):
    """A path inside cannot be read or written; the message may be shown to an agent."""


@dataclass(frozen=True, slots=True)
class Availability:
    """Availability of a backend on this machine, and its properties."""

    available: bool
    reason: str
    """Why it is unavailable, or what was tried and works."""

    properties: Mapping[str, str | bool] = field(default_factory=dict)
    """Properties of an available backend: user (`root` or `user`), `limits` (`cgroup1`, `cgroup2`,
    `rlimits`), `owners` (whether files can belong to ids other than 0), `absolute_paths`,
    `network`, …"""


class SandboxSnapshot(Closing):
    """Files and shell of a sandbox at one moment; processes are not included.

    Immutable and reusable until closed. Picklable: a pickled snapshot carries its changes relative
    to the image as data.
    """

    image: SandboxImage
    limits: SandboxLimits
    shell: ShellState | None
    """State from which the shell is recreated; None for a fresh shell."""

    lost: tuple[Process, ...]
    """Background processes at the time of the snapshot; they live on only in the sandbox itself."""

    @abstractmethod
    def changes(self, max_bytes: int = 64 * MIB, max_entries: int = 50_000) -> Changes:
        """Return the difference from the image."""

    @abstractmethod
    def close(self) -> None:
        """Release the snapshot; sandboxes opened from it are not affected. Idempotent."""


class Sandbox(Closing):
    """Isolated execution environment for an agent's commands. Used from one thread at a time.

    Attributes:
        backend: Name of the backend, for records.
        image: The image it was opened from.
        limits: Its resource limits.
    """

    backend: str
    image: SandboxImage
    limits: SandboxLimits

    @abstractmethod
    def execute(self, command: str, timeout: float | None = None) -> Execution:
        """Run a command in the persistent shell, with empty standard input.

        Directory, variables, functions and background jobs persist between calls. A command
        that exceeds its deadline is killed with every process that it started and still waits
        for. The shell survives if possible; otherwise a new one is started and the result
        reports it.

        Args:
            command: Bash; any number of lines.
            timeout: Wall-clock seconds; None for the limit.

        Raises:
            SandboxFault: If the sandbox itself is gone.
        """

    @abstractmethod
    def keys(self, text: str) -> None:
        """Type into the terminal; the first call starts a second shell on it."""

    @abstractmethod
    def resize(self, rows: int | None = None, columns: int | None = None) -> None:
        """Change the size of the terminal's screen, 24 rows of 80 columns at first.

        Args:
            rows: Number of rows; None leaves it as it is.
            columns: Number of columns; None leaves it as it is.
        """

    @abstractmethod
    def screen(self, quiet: float = 0.05, timeout: float = 2.0, until: str | None = None) -> Screen:
        """Return the terminal's screen after `quiet` seconds without output.

        Args:
            quiet: Seconds without output after which the screen is taken to be complete.
            timeout: Longest time in seconds; the screen is then returned as it is.
            until: Text to wait for instead of silence; see `Terminal.look`.
        """

    @abstractmethod
    def read(self, path: str, max_bytes: int = 16 * MIB) -> bytes:
        """Return the content of a regular file, with the permissions of a command inside.

        Raises:
            SandboxPathError: If there is no such regular file, or it is longer than `max_bytes`.
        """

    @abstractmethod
    def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Write a file, with the permissions of a command inside; missing directories are created.

        Raises:
            SandboxPathError: If it cannot be written.
        """

    @abstractmethod
    def write_entries(self, files: Mapping[str, Entry]) -> None:
        """Write files, directories and links with owner, mode and time.

        Existing files are replaced, symbolic links included: the last component of a path is
        never followed.
        """

    @abstractmethod
    def processes(self) -> tuple[Process, ...]:
        """Return the processes inside, except the sandbox's own and idle shells."""

    @abstractmethod
    def freeze(self) -> None:
        """Suspend all processes inside."""

    @abstractmethod
    def thaw(self) -> None:
        """Resume all processes inside."""

    @abstractmethod
    def kill_all(self) -> tuple[Process, ...]:
        """Kill everything inside, shells included, and return the processes that were running.

        Raises:
            SandboxFault: If a process is still alive.
        """

    @abstractmethod
    def evidence(self) -> Evidence:
        """Return the counters since the sandbox was opened."""

    def cpu_seconds(self) -> float | None:
        """Return the processor time of all processes since some fixed moment; None if unknown.

        Ended processes count, regardless of who reaped them, as far as the backend can tell.
        """
        return None

    def listen(self, port: int) -> socket.socket:
        """Return a socket that listens on the sandbox's loopback.

        Whoever accepts its connections outside is the only thing that programs inside can reach.
        A snapshot ends it.

        Raises:
            SandboxFault: If the port is in use, or the backend has no loopback of its own.
        """
        raise SandboxFault(
            f"the sandbox {self.backend!r} has no network of its own: use namespaces",
            cause="sandbox_missing",
        )

    @abstractmethod
    def snapshot(self) -> SandboxSnapshot:
        """Return the state of files and shell; the sandbox is not affected."""

    @abstractmethod
    def restore(self, snapshot: SandboxSnapshot) -> None:
        """Kill everything, then continue from the snapshot, its image and limits."""

    @abstractmethod
    def reset(self) -> None:
        """Kill everything, then start again from the image."""

    @abstractmethod
    def close(self) -> None:
        """End all processes and release all resources; idempotent."""

    def fork(self, count: int) -> list["Sandbox"]:
        """Return `count` new sandboxes with the current state; this one is not affected."""
        with self.snapshot() as state:
            return [self.opener().open_snapshot(state) for _ in range(count)]

    @abstractmethod
    def opener(self) -> "SandboxBackend":
        """Return the backend that opened this sandbox."""


class SandboxBackend(ABC):
    """A sandbox backend. `open` is thread-safe."""

    name: ClassVar[str]

    def probe(self) -> Availability:
        """Open a sandbox and run a command in it; once per process."""
        return self._probed

    @cached_property
    def _probed(self) -> Availability:
        return self.check()

    def check(self) -> Availability:
        """Open a sandbox and run a command in it, now."""
        try:
            with self.open(SandboxImage()) as sandbox:
                done = sandbox.execute("echo works", 20)
                if done.output != b"works\n":
                    return Availability(False, f"a command in it printed {done.output[:80]!r}")
                properties = self.properties(sandbox)
        except (SandboxFault, OSError) as error:
            return Availability(False, str(error))
        return Availability(True, "a command was run in it", properties)

    @abstractmethod
    def properties(self, sandbox: Sandbox) -> Mapping[str, str | bool]:
        """Return the properties, as in `Availability`, read from one of its sandboxes."""

    @abstractmethod
    def open(self, image: SandboxImage, limits: SandboxLimits | None = None) -> Sandbox:
        """Start a sandbox.

        Raises:
            SandboxFault: If it cannot be started; the message gives the reason.
        """

    @abstractmethod
    def open_snapshot(
        self, snapshot: SandboxSnapshot, limits: SandboxLimits | None = None
    ) -> Sandbox:
        """Start a sandbox from a snapshot of this backend or, through its changes, of another."""
