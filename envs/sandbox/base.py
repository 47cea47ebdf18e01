"""The protocol of every sandbox: commands, keys, files, snapshots, limits, evidence."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import ClassVar, Self

from hexathlon.envs.errors import EnvFault
from hexathlon.envs.sandbox.changes import Changes
from hexathlon.envs.sandbox.execution import Evidence, Execution, Process, Screen, ShellState
from hexathlon.envs.sandbox.image import Entry, Image
from hexathlon.envs.sandbox.limits import MIB, SandboxLimits

__all__ = ["Probe", "Sandbox", "SandboxBackend", "SandboxFault", "SandboxPathError", "Snapshot"]


class SandboxFault(EnvFault):
    """The sandbox itself failed, not what ran in it."""

    cause = "sandbox"


class SandboxPathError(Exception):
    """A path inside cannot be read or written; the message is fit for an agent's eyes."""


@dataclass(frozen=True, slots=True)
class Probe:
    """Whether a rung works here, and what it gives."""

    available: bool
    reason: str
    """Why not, or what was tried and found working."""

    properties: Mapping[str, str | bool] = field(default_factory=dict)
    """Of the working rung: who (`root` or `user`), `limits` (`cgroup1`, `cgroup2`, `rlimits`),
    `owners` (whether files can belong to other ids than 0), `absolute_paths`, `network`, …"""


class Snapshot(ABC):
    """The files and the shell of a sandbox at one moment; processes are not part of it.

    It stays as it is, however often it is opened, until it is closed. It can be pickled: it then
    carries its changes over the image as data.
    """

    image: Image
    limits: SandboxLimits
    shell: ShellState | None
    """What brings its shell back; None for a fresh one."""

    lost: tuple[Process, ...]
    """Background processes that lived in the sandbox at that moment and live on only there."""

    @abstractmethod
    def changes(self, max_bytes: int = 64 * MIB, max_entries: int = 50_000) -> Changes:
        """Return what differs from the image."""

    @abstractmethod
    def close(self) -> None:
        """Let it go; sandboxes that were opened from it are not touched. Safe to call twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType
    ) -> None:
        self.close()


class Sandbox(ABC):
    """One place where an agent's commands run. Used from one thread at a time.

    Attributes:
        backend: Name of the rung, for records.
        image: What it started from.
        limits: What it may use up.
    """

    backend: str
    image: Image
    limits: SandboxLimits

    @abstractmethod
    def execute(self, command: str, timeout: float | None = None) -> Execution:
        """Run a command in the persistent shell, with nothing on its standard input.

        Directory, variables, functions and background jobs last from call to call. A command
        that passes its deadline is killed with everything it started and still waits for; the
        shell survives that if it can, else a new one is started and the result says so.

        Args:
            command: Bash; any number of lines.
            timeout: Wall-clock seconds; None for the limit.

        Raises:
            SandboxFault: If the sandbox itself is gone.
        """

    @abstractmethod
    def keys(self, text: str) -> None:
        """Type into the terminal; a second shell is started on it at the first call."""

    @abstractmethod
    def screen(self, quiet: float = 0.05, timeout: float = 2.0) -> Screen:
        """Return what the terminal shows once nothing has come for `quiet` seconds."""

    @abstractmethod
    def read(self, path: str, max_bytes: int = 16 * MIB) -> bytes:
        """Return a regular file's content, with the rights of a command inside.

        Raises:
            SandboxPathError: If there is no such regular file, or it is longer than `max_bytes`.
        """

    @abstractmethod
    def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Write a file, with the rights of a command inside; missing folders are made.

        Raises:
            SandboxPathError: If it cannot be written.
        """

    @abstractmethod
    def lay(self, files: Mapping[str, Entry]) -> None:
        """Write files, folders and links with owner, mode and time.

        What stands in the way is replaced, symbolic links too: the last part of a path is never
        followed.
        """

    @abstractmethod
    def processes(self) -> tuple[Process, ...]:
        """Return what runs inside, less the sandbox's own parts and the waiting shells."""

    @abstractmethod
    def freeze(self) -> None:
        """Stop everything inside where it is."""

    @abstractmethod
    def thaw(self) -> None:
        """Let everything go on."""

    @abstractmethod
    def kill_all(self) -> tuple[Process, ...]:
        """Kill everything inside, shells included, and return what had been running.

        Raises:
            SandboxFault: If something is still alive.
        """

    @abstractmethod
    def evidence(self) -> Evidence:
        """Return what was counted since the sandbox was opened."""

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """Return the state of files and shell; the sandbox goes on as if nothing had been."""

    @abstractmethod
    def restore(self, snapshot: Snapshot) -> None:
        """Kill everything, then go on from the snapshot, its image and limits."""

    @abstractmethod
    def reset(self) -> None:
        """Kill everything, then start anew from the image."""

    @abstractmethod
    def close(self) -> None:
        """End everything and leave nothing behind; safe to call twice."""

    def fork(self, count: int) -> list["Sandbox"]:
        """Return `count` new sandboxes that go on from here; this one is untouched."""
        with self.snapshot() as state:
            return [self.opener().open_snapshot(state) for _ in range(count)]

    @abstractmethod
    def opener(self) -> "SandboxBackend":
        """Return the backend that opened this."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType
    ) -> None:
        self.close()


class SandboxBackend(ABC):
    """One rung of the ladder. Opening is safe from several threads."""

    name: ClassVar[str]

    @abstractmethod
    def probe(self) -> Probe:
        """Try it out, once per process."""

    @abstractmethod
    def open(self, image: Image, limits: SandboxLimits | None = None) -> Sandbox:
        """Start a sandbox.

        Raises:
            SandboxFault: If it cannot be started; the message says why.
        """

    @abstractmethod
    def open_snapshot(self, snapshot: Snapshot, limits: SandboxLimits | None = None) -> Sandbox:
        """Start a sandbox from a snapshot, its own or, through its changes, another rung's."""
