"""Results of a sandbox: execution of a command, screen, process, evidence."""

from dataclasses import dataclass

from hexathlon.envs.sandbox.limits import Stop

__all__ = ["Evidence", "Execution", "Process", "Screen", "ShellState"]


@dataclass(frozen=True, slots=True)
class Execution:
    """Result of one command in the persistent shell."""

    output: bytes
    """Standard output and error in order of arrival; the middle is cut out if too long."""

    exit_status: int | None
    """The shell's `$?`; None if the shell did not survive to report it."""

    seconds: float
    """Wall-clock seconds; never shown to an agent."""

    cut_at: int = 0
    """Offset in `output` at which bytes were cut."""

    cut_bytes: int = 0
    """Number of bytes cut there."""

    stop: Stop | None = None
    """The limit that the command hit, if any; it may have continued after that."""

    restarted: bool = False
    """Whether the shell is a new one: variables, functions and its jobs are lost, files remain."""

    @property
    def timed_out(self) -> bool:
        """Whether the command was stopped at its deadline."""
        return self.stop is Stop.TIME


@dataclass(frozen=True, slots=True)
class Screen:
    """Content of a terminal's screen."""

    lines: tuple[str, ...]
    """Rows from top to bottom, without trailing blanks."""

    row: int
    """The cursor's row, from 0."""

    column: int
    """The cursor's column, from 0."""

    alternate: bool = False
    """Whether a full-screen program has switched to the alternate screen."""

    def text(self) -> str:
        """Return the rows as text, without trailing empty ones."""
        return "\n".join(self.lines).rstrip()


@dataclass(frozen=True, slots=True)
class Process:
    """One process inside, as seen from inside."""

    pid: int
    parent: int
    state: str
    """As in `ps`: R, S, D, T, Z …"""

    command: str
    """Command line, arguments separated by blanks; the short name if there is none."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Counters since the sandbox was opened; stored out of the agent's reach."""

    network_attempts: int = 0
    """Number of packets or connections without a route."""

    memory_kills: int = 0
    """Number of processes killed for memory."""

    process_refusals: int = 0
    """Number of refused process creations."""

    stops: tuple[Stop, ...] = ()
    """Every limit that commands hit, in order."""


@dataclass(frozen=True, slots=True)
class ShellState:
    """State that a new shell needs in order to continue from another."""

    script: bytes
    """Bash that restores variables, functions, options and directory; empty: a fresh shell."""

    previous: int
    """`$?`."""
