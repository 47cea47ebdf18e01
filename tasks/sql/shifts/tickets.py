"""Tickets, their statements, and the desk on which a day is worked through while it is drawn."""

import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hexathlon.tasks.sql.shifts.draws import ShiftDraw
from hexathlon.tasks.sql.shifts.ground import Ground

__all__ = [
    "AskedFigure", "DayNotes", "MovedAccounts", "RoutineJob", "SQLTicket", "TicketDesk",
    "TicketRefusal", "TicketStep", "spelt",
]  # fmt: skip

_MOST_REPEATS = 12
_BASE_UNTOUCHED = ("pause", "pause_twin", "offers")
"""Kinds of tickets that leave tables of results as they are."""
LOADED_FROM = 300_000
"""Items from this number on were brought in by tickets and routines."""


@dataclass(frozen=True)
class TicketStep:
    """A statement of the solution."""

    sql: str
    other: str = ""
    """The same in other words; empty for the same statement."""
    slips: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Statements run instead of this one, by name of the mistake."""
    until: str = ""
    """Query of a number; the statement is repeated until it is 0."""


@dataclass(frozen=True)
class TicketRefusal:
    """Why a ticket cannot be carried out."""

    reason: str
    evidence: str
    wrong: tuple[str, ...] = ()
    """Numbers of entries that block nothing."""


@dataclass(frozen=True)
class RoutineJob:
    """What a colleague's routine does between two tickets, and what mends it."""

    statements: tuple[str, ...]
    mend: tuple[TicketStep, ...] = ()


@dataclass(frozen=True)
class SQLTicket:
    """One ticket, with its solution."""

    kind: str
    text: str
    steps: tuple[TicketStep, ...] = ()
    query: str = ""
    """Query of the answer: one row."""
    other_query: str = ""
    query_slips: Mapping[str, str] = field(default_factory=dict)
    ordered: bool = True
    refusal: TicketRefusal | None = None
    anyway: tuple[str, ...] = ()
    """Statements of an agent that carries a refused ticket out."""
    answer: tuple[str, ...] | None = None
    """The expected values; filled in when the ticket is worked on."""
    answer_slips: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Answers that follow from mistakes and differ from the expected one."""
    after: tuple[str, ...] = ()
    """Statements of colleagues' routines that run after the report."""


@dataclass(frozen=True)
class AskedFigure:
    """A figure that may be asked for again."""

    number: int
    """Number of its ticket."""
    ticket: SQLTicket
    answer: tuple[str, ...]


@dataclass(frozen=True)
class MovedAccounts:
    """Accounts that a ticket has moved to another class, without those withdrawn since."""

    number: int
    """Number of the ticket."""
    classes: tuple[str, str]
    since: str
    numbers: tuple[str, ...]


@dataclass
class DayNotes:
    """What tickets have to know of earlier ones."""

    batch: int = 0
    """Number of the delivery."""
    held: Mapping[str, str] = field(default_factory=dict)
    """Entry number of the hold in force, by account."""
    paused: set[str] = field(default_factory=set)
    """Accounts that tickets have asked to pause."""
    prices: int = 0
    """Number of the ticket about the price list; 0 if there was none."""
    delivery: int = 0
    """Number of the ticket about the delivery; 0 if there was none."""
    moves: MovedAccounts | None = None
    figure: AskedFigure | None = None
    results_by: str = ""
    """What the table of results groups by: `region`, `kind` or `cls`."""
    results_from: str = ""
    """Its first month."""


@dataclass
class TicketDesk:
    """The state of a day while it is drawn."""

    ground: Ground
    draw: ShiftDraw
    connection: sqlite3.Connection
    traps: frozenset[str]
    tickets: list[SQLTicket] = field(default_factory=list)
    mend: tuple[TicketStep, ...] = ()
    """Statements that are due since the last routine."""
    mended: tuple[TicketStep, ...] = ()
    """Those that have been run for the next ticket."""
    after_job: bool = False
    """Whether a routine has run since the last report."""
    results: tuple[TicketStep, ...] = ()
    """Statements that bring the table of results up to date."""
    results_query: str = ""
    results_table: str = ""
    later_results: tuple[TicketStep, ...] = ()
    """What becomes `results` once the table is there."""
    notes: DayNotes = field(default_factory=DayNotes)
    """What tickets have to know of earlier ones."""
    slips: dict[str, int] = field(default_factory=dict)
    """Mistakes that make a difference, with the first ticket where they do."""

    def sql(self, text: str) -> str:
        """Return a text with names in place of roles."""
        return self.ground.names(text)

    def rows(self, text: str) -> list[tuple[object, ...]]:
        """Return the rows of a query with roles."""
        return self.connection.execute(self.sql(text)).fetchall()

    def number(self) -> int:
        """Return the number of the next ticket."""
        return len(self.tickets) + 1

    def begin(self) -> None:
        """Mend what the last routine has disturbed, so that the next ticket is drawn from it."""
        self.mended = tuple(ran for step in self.mend for ran in self._run(step))
        self.mend = ()

    def work(self, ticket: SQLTicket) -> None:
        """Work on a ticket: run its statements, find out which mistakes matter, fill in the answer.

        The ticket is stored with all statements that its report needs, those of `begin` included.
        """
        steps = list(self.mended)
        for step in ticket.steps:
            steps.extend(self._run(step))
        touched = bool(steps) and ticket.kind not in _BASE_UNTOUCHED
        if self.results and (touched or self.after_job) and self._outdated():
            self.slips.setdefault("not_kept", self.number())
            for step in self.results:
                steps.extend(self._run(step))
        self.after_job = False
        answer, slips = ticket.answer, dict(ticket.answer_slips)
        if ticket.query:
            answer = self.answer(ticket.query)
            for name, query in ticket.query_slips.items():
                wrong = self.answer(query)
                if wrong != answer:
                    slips[name] = wrong
        for name in slips:
            self.slips.setdefault(name, self.number())
        self.tickets.append(replace(ticket, steps=tuple(steps), answer=answer, answer_slips=slips))

    def run_job(self, job: RoutineJob) -> None:
        """Let a routine run after the last ticket."""
        for statement in job.statements:
            self.connection.execute(statement)
        last = self.tickets[-1]
        self.tickets[-1] = replace(last, after=(*last.after, *job.statements))
        self.mend = (*self.mend, *job.mend)
        self.after_job = True

    def answer(self, query: str) -> tuple[str, ...]:
        """Return the values of the first row of a query as texts."""
        row = self.connection.execute(query).fetchone()
        return tuple(spelt(value) for value in row or ())

    def _outdated(self) -> bool:
        wanted = self.connection.execute(self.results_query).fetchall()
        kept = self.connection.execute(f"SELECT * FROM {self.results_table}").fetchall()
        return sorted(map(repr, wanted)) != sorted(map(repr, kept))

    def _run(self, step: TicketStep) -> list[TicketStep]:
        """Run a step on the desk; a repeated one is returned as often as it ran."""
        if step.slips:
            self._try(step)
        if not step.until:
            self.connection.execute(step.sql)
            return [step]
        ran: list[TicketStep] = []
        while len(ran) < _MOST_REPEATS and self.connection.execute(step.until).fetchone()[0]:
            self.connection.execute(step.sql)
            slips = {name: () for name in step.slips} if ran else step.slips
            ran.append(replace(step, until="", slips=slips))
        return ran

    def _try(self, step: TicketStep) -> None:
        """Note the slips of a step after which the tables differ from the right ones."""
        new = {name: sql for name, sql in step.slips.items() if name not in self.slips}
        if not new:
            return
        item = self.ground.names.tables["item"]
        written = re.compile(rf"(INTO|UPDATE|FROM) {item}\b")
        words = (step.sql, *(each for sql in new.values() for each in sql))
        large = any(written.search(statement) for statement in words)
        right = self._after((step.sql,) * (1 if not step.until else _MOST_REPEATS), large)
        for name, statements in new.items():
            if self._after(statements, large) != right:
                self.slips[name] = self.number()

    def _after(self, statements: Sequence[str], large: bool) -> object:
        """Return the tables after some statements; the large one only where it may be changed."""
        roles = ("history", "account", "price", "offer", "setting", *(("item",) if large else ()))
        self.connection.execute("SAVEPOINT slip")
        try:
            for statement in statements:
                self.connection.execute(statement)
            bounds = {"item": f"WHERE @item.id >= {LOADED_FROM}"}
            return [
                self.rows(f"SELECT * FROM @{role} {bounds.get(role, '')} ORDER BY 1, 2, 3")
                for role in roles
            ]
        except sqlite3.IntegrityError:
            return None
        finally:
            self.connection.execute("ROLLBACK TO slip")
            self.connection.execute("RELEASE slip")


def spelt(value: object) -> str:
    """Return a value as a report spells it."""
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return str(value)
