"""Drafts of generated tasks, and the registry of templates.

A template is a function that takes a `TerminalDraft` and fills it in: the instruction, the files
given to the agent, the setup script, the probes that judge the result, the solution in parts (each
part, when omitted or wrong, gives a mutant), and alternative solutions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hexathlon.tasks.task import LEVELS, Level, Split
from hexathlon.tasks.terminal.dice import Cast, Dice

__all__ = [
    "WORKDIR",
    "Probe",
    "TerminalDraft",
    "Ticket",
    "TerminalTemplate",
    "faulty",
    "put",
    "registered",
    "template",
]

WORKDIR = "/app"
_END = "HEX_END"


@dataclass(frozen=True)
class Probe:
    """A requirement on the final state, tested by running a command."""

    id: str
    run: str
    """Run by bash in the working directory of a pristine sandbox with the final files."""

    expect: Mapping[str, Any]
    """In the format of `judging.difference`."""

    files: Mapping[str, str] = field(default_factory=dict)
    """Held-out inputs, written before the command runs; paths are relative to the working
    directory."""

    stdin: str = ""
    seconds: float = 10.0
    setup: str = ""
    """Run before the command, as it is; its processor time does not count."""

    cpu: float | None = None
    """Processor seconds that the command and everything it starts may take together."""


@dataclass(frozen=True)
class TerminalTemplate:
    """A registered template."""

    name: str
    levels: tuple[Level, ...]
    needs: tuple[str, ...]
    """Debian packages required beyond a minimal system with bash and python3."""

    write: Callable[["TerminalDraft"], None]


@dataclass(frozen=True)
class Ticket:
    """One request of a shift, which is a task in several steps on one machine that lives on."""

    name: str
    """The step's name."""

    instruction: str
    probes: tuple[Probe, ...]
    """All that must hold at this report, including what earlier tickets asked for."""

    looks: tuple[str, ...]
    """Commands by which the oracle explores before it works."""

    solution: str
    before: str = ""
    """What other people and timed jobs do before the request arrives: a script for bash that runs
    on the agent's machine, where nothing else runs at that time."""


class TerminalDraft:
    """A task under construction."""

    def __init__(self, template: str, level: Level, split: Split, dice: Dice) -> None:
        self.template, self.level, self.split, self.dice = template, level, split, dice
        self.cast = Cast(dice, split)
        self.scale = LEVELS.index(level) + 1
        self.instruction = ""
        self.files: dict[str, bytes] = {}
        self.modes: dict[str, int] = {}
        self.setup: list[str] = []
        self.probes: list[Probe] = []
        self.kept: list[str] = []
        self.parts: dict[str, tuple[str, str]] = {}
        self.alternatives: dict[str, str] = {}
        self.other_mutants: dict[str, str] = {}
        self.tickets: list[Ticket] = []
        """The requests of a shift; empty for a task of one step, whose solutions the fields above
        hold. A shift's solutions are lists with one script per ticket."""

        self.turns: int | None = None
        """Actions in all; None for the level's number."""

        self.day_alternatives: dict[str, list[str]] = {}
        self.day_mutants: dict[str, list[str]] = {}
        self.due: dict[str, str] = {}
        """Ticket at whose report a mutant of a shift fails first."""

    # -- agent-visible parts ---------------------------------------------------------------

    def say(self, text: str) -> None:
        """Add a paragraph to the instruction, with its line breaks preserved."""
        self.instruction += ("\n\n" if self.instruction else "") + text.strip()

    def file(self, path: str, content: str | bytes, mode: int = 0o644) -> None:
        """Add a file for the agent; the path is relative to the working directory."""
        self.files[path] = content.encode() if isinstance(content, str) else content
        if mode != 0o644:
            self.modes[path] = mode

    def build(self, script: str) -> None:
        """Run a script in the working directory when the environment is built."""
        self.setup.append(script.strip() + "\n")

    # -- checks ----------------------------------------------------------------------------

    def probe(
        self,
        name: str,
        run: str,
        *,
        files: Mapping[str, str] | None = None,
        stdin: str = "",
        seconds: float = 10.0,
        setup: str = "",
        cpu: float | None = None,
        **expect: Any,
    ) -> None:
        """Add a probe; `expect` has the format of `judging.difference`."""
        given = dict(files or {})
        self.probes.append(Probe(name, run, expect, given, stdin, seconds, setup, cpu))

    def keep(self, *paths: str) -> None:
        """Require that these files remain unchanged."""
        self.kept += paths

    # -- solutions -------------------------------------------------------------------------

    def part(self, name: str, right: str, wrong: str = "") -> None:
        """Add a part of the solution, and its replacement in the mutant."""
        self.parts[name] = (right.strip() + "\n", wrong.strip() + "\n" if wrong else "")

    def alternative(self, name: str, script: str) -> None:
        """Add an alternative solution."""
        self.alternatives[name] = _script(script)

    def mutant(self, name: str, script: str) -> None:
        """Add a separate near miss."""
        self.other_mutants[name] = _script(script)

    def program(
        self, path: str, right: str, faults: Mapping[str, tuple[str, str]], mode: str = "755"
    ) -> None:
        """Add a file as the solution, and one mutant per fault (old, new text)."""
        self.part(path.rpartition("/")[2], put(path, right, mode))
        for name, (old, new) in faults.items():
            if old not in right:
                raise ValueError(f"{self.template}: the fault {name} changes nothing")
            self.mutant(name, put(path, right.replace(old, new), mode))

    @property
    def solution(self) -> str:
        """The complete solution."""
        if self.tickets:
            return "".join(ticket.solution for ticket in self.tickets)
        return _script("".join(right for right, _ in self.parts.values()))

    @property
    def mutants(self) -> dict[str, str]:
        """The solutions with one part omitted or wrong, and the separately added mutants."""
        single = len(self.parts) == 1
        made = (
            {}
            if single
            else {
                f"without_{left}": _script(
                    "".join(
                        wrong if name == left else right
                        for name, (right, wrong) in self.parts.items()
                    )
                )
                for left in self.parts
            }
        )
        return made | self.other_mutants


def _script(body: str) -> str:
    return f"set -e\ncd {WORKDIR}\n{body.strip()}\n"


def faulty(text: str, faults: Mapping[str, tuple[str, str]], chosen: Sequence[str]) -> str:
    """Return the text with the chosen faults (old, new) applied.

    Raises:
        ValueError: If a fault changes nothing.
    """
    for name in chosen:
        old, new = faults[name]
        if old not in text:
            raise ValueError(f"the fault {name} changes nothing")
        text = text.replace(old, new)
    return text


def put(path: str, text: str, mode: str = "") -> str:
    """Return a shell snippet that writes a file."""
    end = "" if text.endswith("\n") else "\n"
    made = f"cat > {path} <<'{_END}'\n{text}{end}{_END}\n"
    return made + (f"chmod {mode} {path}\n" if mode else "")


_templates: dict[str, TerminalTemplate] = {}


def template(
    name: str, levels: Sequence[Level], needs: Sequence[str] = ()
) -> Callable[[Callable[[TerminalDraft], None]], Callable[[TerminalDraft], None]]:
    """Register a template."""

    def register(write: Callable[[TerminalDraft], None]) -> Callable[[TerminalDraft], None]:
        if name in _templates:
            raise ValueError(f"there are two templates named {name!r}")
        _templates[name] = TerminalTemplate(name, tuple(levels), tuple(needs), write)
        return write

    return register


def registered() -> Mapping[str, TerminalTemplate]:
    """The templates registered so far, by name, sorted."""
    return dict(sorted(_templates.items()))
