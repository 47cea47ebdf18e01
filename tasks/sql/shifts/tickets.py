"""Tickets, their statements, and the desk on which a day is worked through while it is drawn."""

import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hexathlon.tasks.sql.draws import ValueDraw
from hexathlon.tasks.sql.schema import Row
from hexathlon.tasks.sql.shifts.ground import Ground
from hexathlon.tasks.sql.shifts.traps import DAMAGES

__all__ = [
    "LOADED_FROM", "AskedFigure", "DayNotes", "MovedAccounts", "RoutineJob", "SQLTicket",
    "KeptTable", "TicketDesk", "TicketRefusal", "TicketStep", "spelt",
]  # fmt: skip

_MOST_REPEATS = 12
_TRIED = ("history", "account", "price", "nightly", "offer", "setting", "log")
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
    missed: tuple[str, ...] = ()
    """Mistakes in which the ticket is carried out."""


@dataclass(frozen=True)
class RoutineJob:
    """What a colleague's routine does between two tickets, and what mends it."""

    statements: tuple[str, ...]
    mend: tuple[TicketStep, ...] = ()


@dataclass(frozen=True)
class KeptTable:
    """A table whose rows must follow from other tables whenever a ticket is handed in."""

    slip: str
    """Name of the mistake of leaving it out of date."""
    table: str
    wanted: str
    """Query of the right rows."""
    kept: str
    """Query of the present rows."""
    steps: tuple[TicketStep, ...]
    """One that updates the rows, or one that deletes them and one that inserts the right ones."""


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
    lapsed: str = ""
    """Number of a hold that no longer stands in the way."""
    look: str = ""
    """Query that shows later whether what the ticket asked for still holds."""
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
    scope: tuple[str, str, str, str, str, str]
    """Form, region, class, kind, first and last month."""


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
    withdrawn: tuple[Row, ...] = ()
    """Items that a withdrawal has taken out."""
    moves: MovedAccounts | None = None
    figures: list[AskedFigure] = field(default_factory=list)
    twin: str = ""
    """Account that a ticket has paused."""
    offers: tuple[str, ...] = ()
    """Offers that a ticket has accepted."""
    setting: tuple[str, str, float, float] = ("", "", 0.0, 0.0)
    """Name, first day, former and new value of a setting that a ticket has entered."""
    fresh_hold: tuple[str, str] = ("", "")
    """Account and entry of a hold that a colleague has entered today."""
    lifted: str = ""
    """Account whose hold a colleague has lifted today."""
    results_by: str = ""
    """What the table of results groups by: `region`, `kind` or `cls`."""
    results_from: str = ""
    """Its first month."""


@dataclass
class TicketDesk:
    """The state of a day while it is drawn."""

    ground: Ground
    draw: ValueDraw
    connection: sqlite3.Connection
    traps: frozenset[str]
    tickets: list[SQLTicket] = field(default_factory=list)
    mend: tuple[TicketStep, ...] = ()
    """Statements that are due since the last routine."""
    mended: tuple[TicketStep, ...] = ()
    """Those that have been run for the next ticket."""
    jobs: tuple[str, ...] = ()
    """Routines that have run since the last report and that only `kept_tables` mend."""
    kept_tables: dict[str, KeptTable] = field(default_factory=dict)
    """By role, or `results`."""
    coming_tables: dict[str, KeptTable] = field(default_factory=dict)
    """What becomes part of `kept_tables` after the next ticket."""
    notes: DayNotes = field(default_factory=DayNotes)
    """What tickets have to know of earlier ones."""
    slips: dict[str, int] = field(default_factory=dict)
    """Mistakes that make a difference, with the first ticket where they do."""
    _answers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Answers of queries since the last change."""
    _answered_at: int = -1

    def sql(self, text: str) -> str:
        """Return a text with names in place of roles."""
        return self.ground.names(text)

    def rows(self, text: str) -> list[Row]:
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
        for table in self.kept_tables.values():
            steps.extend(self._updated(table))
        self.jobs = ()
        self.kept_tables.update(self.coming_tables)
        self.coming_tables = {}
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

    def run_job(self, name: str, job: RoutineJob) -> None:
        """Let a routine run after the last ticket."""
        for statement in job.statements:
            self.connection.execute(statement)
        last = self.tickets[-1]
        self.tickets[-1] = replace(last, after=(*last.after, *job.statements))
        self.mend = (*self.mend, *job.mend)
        if name in DAMAGES and not job.mend:
            self.jobs = (*self.jobs, name)

    def answer(self, query: str) -> tuple[str, ...]:
        """Return the values of the first row of a query as texts."""
        if self._answered_at != self.connection.total_changes:
            self._answers.clear()
            self._answered_at = self.connection.total_changes
        if query not in self._answers:
            row = self.connection.execute(query).fetchone()
            self._answers[query] = tuple(spelt(value) for value in row or ())
        return self._answers[query]

    def _updated(self, table: KeptTable) -> list[TicketStep]:
        """Bring a table up to date; return the statements with their slips, none if it was."""
        wanted = self.connection.execute(table.wanted).fetchall()
        kept = self.connection.execute(table.kept).fetchall()
        if sorted(map(repr, wanted)) == sorted(map(repr, kept)):
            return []
        names = (table.slip, *(f"{job}_left" for job in self.jobs))
        for name in names:
            self.slips.setdefault(name, self.number())
        self.connection.execute(table.steps[0].sql)
        if len(table.steps) > 1:  # what the second statement inserts is known
            marks = ", ".join("?" * len(wanted[0]))
            self.connection.executemany(f"INSERT INTO {table.table} VALUES ({marks})", wanted)
        slips: dict[str, tuple[str, ...]] = dict.fromkeys(names, ())
        return [replace(step, slips={**step.slips, **slips}) for step in table.steps]

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
        roles = [role for role in _TRIED if role in self.ground.rows]
        if large:
            roles.append("item")
        self.connection.execute("SAVEPOINT slip")
        try:
            for statement in statements:
                self.connection.execute(statement)
            today = f"@item.entered = '{self.ground.today}'"
            bounds = {"item": f"WHERE @item.id >= {LOADED_FROM} OR {today}"}
            return [
                sorted(map(repr, self.rows(f"SELECT * FROM @{role} {bounds.get(role, '')}")))
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
