"""What comes back from a sandbox: a command's end, a screen, a process, evidence."""

from dataclasses import dataclass

from hexathlon.envs.sandbox.limits import Stop

__all__ = ["Evidence", "Execution", "Process", "Screen", "ShellState"]


@dataclass(frozen=True, slots=True)
class Execution:
    """One command in the persistent shell."""

    output: bytes
    """Standard output and error as they came, cut in the middle if there was too much."""

    exit_status: int | None
    """As the shell's `$?`; None if the shell did not live to say so."""

    seconds: float
    """Wall-clock seconds; never shown to an agent."""

    cut_at: int = 0
    """Where in `output` bytes were left out."""

    cut_bytes: int = 0
    """How many bytes were left out there."""

    stop: Stop | None = None
    """The wall that the command ran into, if any; it may have gone on after that."""

    restarted: bool = False
    """Whether the shell is a new one: variables, functions and its jobs are gone, files stay."""

    @property
    def timed_out(self) -> bool:
        """Whether the command was stopped at its deadline."""
        return self.stop is Stop.TIME


@dataclass(frozen=True, slots=True)
class Screen:
    """What a terminal shows."""

    lines: tuple[str, ...]
    """Rows from top to bottom, without trailing blanks."""

    row: int
    """The cursor's row, from 0."""

    column: int
    """The cursor's column, from 0."""

    alternate: bool = False
    """Whether a full-screen program has switched to the alternate screen."""

    def text(self) -> str:
        """Return the rows as text, without the empty ones at the end."""
        return "\n".join(self.lines).rstrip()


@dataclass(frozen=True, slots=True)
class Process:
    """One process inside, as seen from inside."""

    pid: int
    parent: int
    state: str
    """As in `ps`: R, S, D, T, Z …"""

    command: str
    """Command line, its arguments parted by blanks; the short name where there is none."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the sandbox has counted since it was opened; kept outside the agent's reach."""

    network_attempts: int = 0
    """Packets or connections that found no route out."""

    memory_kills: int = 0
    """Processes that were killed for memory."""

    process_refusals: int = 0
    """Times that a new process was refused."""

    stops: tuple[Stop, ...] = ()
    """Every wall that commands ran into, in order."""


@dataclass(frozen=True, slots=True)
class ShellState:
    """What a new shell needs in order to go on where another stood."""

    script: bytes
    """Bash that brings back variables, functions, options and the folder; empty: a fresh shell."""

    previous: int
    """`$?`."""
