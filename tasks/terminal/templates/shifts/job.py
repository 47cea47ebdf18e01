"""A ticket as its kind describes it, and the machine on which a day's tickets work."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hexathlon.tasks.terminal.draft import Probe, TerminalDraft, put
from hexathlon.tasks.terminal.templates.shifts.handbook import Handbook, draw_handbook

__all__ = ["TicketJob", "TicketMaker", "Machine", "put_file", "python_probe"]


@dataclass
class TicketJob:
    """One ticket of a day. Scripts run in /app after a prelude that defines `keep FILE…`."""

    component: str
    """Named in the log."""

    text: str
    looks: Sequence[str]
    solution: str
    probes: Sequence[Probe]
    """Their ids are completed with the ticket's name."""

    answer: str = "-"
    """The result that the ticket asks for in the log."""

    before: str = ""
    """What others do on the machine before the ticket arrives; a script like a solution."""

    once: frozenset[str] = frozenset()
    """Probes for the ticket's own report alone, because they are costly."""

    replaces: Sequence[str] = ()
    """Probes of earlier tickets, `COMPONENT/ID`, that no longer hold."""

    alternatives: Sequence[str] = ()
    misses: Mapping[str, str] = field(default_factory=dict)


class Machine:
    """The machine of a day: its files, its rules, and what kinds of tickets share."""

    def __init__(self, draft: TerminalDraft) -> None:
        self.draft, self.dice = draft, draft.dice
        self.book: Handbook = draw_handbook(draft.dice)
        self.names = draft.cast.names("service", 9)
        self.people = draft.cast.names("person", 9)
        self.jobs: list[str] = []
        """Timed jobs, in the order in which they run: paths of programs."""

        self.site: dict[str, str] = {}
        """Keys of etc/site.env, from which the platform's render fills in templates."""

        self.written: set[str] = set()
        """Files that timed jobs write; no rule asks for their backup."""

        self.shared: dict[str, Any] = {}
        """What a kind leaves for a later ticket of its own."""

        self.sealed = draft.split not in ("train", "dev")
        """Whether kinds of traps may appear that are kept from training."""

    def name(self) -> str:
        """Return an unused name of a service."""
        return self.names.pop()

    def file(self, path: str, content: str | bytes) -> None:
        """Add a file with the mode that the handbook gives it."""
        self.draft.file(path, content, self.book.mode_of(path, content))

    def timed(self, path: str, content: str, *writes: str) -> None:
        """Add a timed job and name the files that it writes."""
        self.file(path, content)
        self.jobs.append(path)
        self.written.update(writes)


TicketMaker = Callable[[Machine], TicketJob]


def put_file(path: str, text: str, mode: int) -> str:
    """Return a shell snippet that writes a file with its mode."""
    return put(path, text, f"{mode:o}")


def python_probe(
    name: str, program: str, expected: str, run: str = "/usr/bin/python3 -I /dev/stdin",
    **options: Any,
) -> Probe:  # fmt: skip
    """Return a probe that runs a Python program and compares what it prints."""
    return Probe(name, run, {"text": expected}, stdin=program, **options)
