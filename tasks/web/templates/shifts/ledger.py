"""The ledger of a shift: statements of requests, required values of records, and actions.

A ledger can be kept correctly or with one consistent mistake; near misses are days with such a
mistake.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from hexathlon.tasks.web.templates.shifts.haste import exchanged_plan, hasty_plan
from hexathlon.tasks.web.templates.shifts.records import (
    JobTarget,
    RecordJob,
    Values,
    number_of,
)
from hexathlon.tasks.web.templates.shifts.rules import DayRules, RulesInForce
from hexathlon.tasks.web.templates.shifts.stages import Writing
from hexathlon.tasks.web.world.people import Person

__all__ = [
    "SLIPS",
    "DayLedger",
    "DayMail",
    "DayStatement",
    "DayStep",
    "StepRecord",
    "kept",
    "record_of",
]

RecordPlace = tuple[str, str, str]
"""Site, table and key of a record."""

SLIPS = (
    "left_out",
    "never_made_up",
    "morning_pages",
    "holds_ignored",
    "releases_ignored",
    "holds_never_end",
    "grants_ignored",
    "dates_ignored",
    "entries_trusted",
    "closures_ignored",
    "closures_trusted",
    "mails_ignored",
    "mails_trusted",
    "names_trusted",
    "others_overwritten",
    "part_as_whole",
    "to_the_morning",
    "own_records_reported",
    "largest_chosen",
    "offers_trusted",
    "charges_ignored",
    "savings_ignored",
    "hasty_plans",
    "exchanged_plans",
    "plan_sent_once",
    "undelivered_left",
    "undone_left",
    "pace_ignored",
    "pace_by_request",
)
"""Mistakes that a ledger can make throughout."""


@dataclass(frozen=True)
class DayStatement:
    """A statement about a request: that it is made, corrected, withdrawn or reinstated."""

    kind: Literal["ask", "correct", "withdraw", "restore", "unless"]
    """`unless`: withdrawn if one of its records is left because of a hold, else corrected."""

    source: str
    """The request: its number, or `m` and the reference of an email."""

    choice: int = 0
    """Which of its job's values is named."""

    trait: str = ""
    """The property of those records that it is limited to; empty for all."""

    job: RecordJob | None = None
    """Job of a new request."""

    chosen: frozenset[str] = frozenset()
    """Numbers of the records that a new request is limited to; empty for all."""

    bound: int = 0
    """Maximum total weight of the chosen records."""

    largest: frozenset[str] = frozenset()
    """The records of a greedy choice: repeatedly the largest that still fits."""


@dataclass(frozen=True)
class DayMail:
    """An email with the subject line of requests."""

    reference: str
    sender: Person
    statement: DayStatement
    job: RecordJob
    """The job that it is about."""

    message: int


@dataclass(frozen=True)
class DayStep:
    """One request, with the changes right before it."""

    rules: DayRules
    statements: tuple[DayStatement, ...] = ()
    mails: tuple[DayMail, ...] = ()
    others: tuple[Writing, ...] = ()
    """Values that other people gave to records."""

    undone: tuple[Writing, ...] = ()
    """Records that the synchronisation reverted to their initial values."""

    synchronised: str = ""
    """Site whose synchronisation has just run."""

    plan: bool = False
    """Whether the plan is requested; its first delivery fails."""


@dataclass
class StepRecord:
    """Actions taken for one request."""

    writings: list[Writing] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    """Numbers of the records that are left because of a hold or the pace."""

    refused: str = ""
    """Number of the closure."""

    counted: int = 0
    """How many emails counted."""

    plan: tuple[str, ...] = ()
    """Numbers of the offers of a plan that is sent."""

    again: tuple[str, ...] = ()
    """Numbers of the offers of the plan that could not be delivered."""

    watched: list[RecordPlace] = field(default_factory=list)
    """Previously set records whose pages show whether somebody else has changed them."""


def record_of(job: RecordJob, target: JobTarget) -> RecordPlace:
    """Return the identity of a record in the whole world."""
    return job.site, job.table, str(target.key)


class DayLedger:
    """The state of a shift's records and requests.

    Args:
        slip: One of `SLIPS`, or empty.
        at: Number of the request to which `left_out` applies.
    """

    def __init__(self, slip: str = "", at: int = 0) -> None:
        self.slip, self.at = slip, at
        self.places: dict[RecordPlace, tuple[RecordJob, JobTarget]] = {}
        self.named: dict[RecordPlace, list[tuple[str, Values]]] = {}
        self.values: dict[RecordPlace, Values] = {}
        self.given: dict[RecordPlace, Values] = {}
        self.jobs: dict[str, RecordJob] = {}
        self.dropped: dict[str, list[tuple[RecordPlace, Values]]] = {}
        self.said: dict[RecordPlace, int] = {}
        self.senders: dict[str, str] = {}
        self.used: set[tuple[tuple[str, str, str], str, str]] = set()
        self.counts: list[tuple[int, int]] = []
        self.mails = 0
        self.planning = False
        self.planned: tuple[str, ...] = ()
        self.plans = 0
        self.undelivered: tuple[str, ...] = ()
        self._left_alone: set[RecordPlace] = set()
        self._morning: DayRules | None = None
        self._read: DayRules | None = None
        self._force: RulesInForce

    # Reading -----------------------------------------------------------------------------------

    def records(self, source: str) -> list[RecordPlace]:
        """Return the records for which a request is in force."""
        return [
            place for place, named in self.named.items() if any(each == source for each, _ in named)
        ]

    def wanted(self, place: RecordPlace) -> Values:
        """Return the required value of a record."""
        named = self.named[place]
        return named[-1][1] if named else self.places[place][1].before

    def held_back(self, source: str, force: RulesInForce) -> list[RecordPlace]:
        """Return the records that lack a requested value because they are held."""
        return [
            place
            for place in self.records(source)
            if self.values[place] != dict(self.named[place])[source]
            and (place[0], self.places[place][1].label) in force.held
            and not self.taken(place)
        ]

    def taken(self, place: RecordPlace) -> bool:
        """Whether somebody else has changed a record since it was given a value."""
        return place in self.given and self.values[place] != self.given[place]

    def differing(self, site: str) -> list[str]:
        """Return the numbers of a site's records that have been given another value."""
        return [
            self.places[place][1].label
            for place, values in self.given.items()
            if place[0] == site and not self.taken(place) and values != self.places[place][1].before
        ]

    # Keeping -----------------------------------------------------------------------------------

    def step(self, number: int, step: DayStep) -> StepRecord:
        """Process one request and return the actions for it."""
        self._morning = self._morning or step.rules
        for job, target, values in step.others:
            self.values[record_of(job, target)] = values
        for job, target, values in step.undone:
            place = record_of(job, target)
            self.values[place] = values
            if place in self.given and self.slip != "undone_left":
                self.given[place] = values
        rules = self._morning if self.slip == "morning_pages" else step.rules
        if rules is not self._read:
            self._read, self._force = rules, rules.misread(self.slip).in_force()
        force = self._force
        done = StepRecord()
        fresh: set[RecordPlace] = set()
        for mail in step.mails:
            if self._counts(mail, force):
                done.counted += 1
                self.senders[f"m{mail.reference}"] = mail.sender.email
                fresh |= self._enter(mail.statement, force)
        closures = [
            force.closure_of(each.job.site, each.job.group)
            for each in step.statements
            if each.job is not None
        ]
        closure = next((each for each in closures if each is not None), None)
        if closure is not None:
            done.refused = closure.number
        elif not (self.slip == "left_out" and self.at == number):
            for statement in step.statements:
                fresh |= self._enter(statement, force)
        self._settle(done, force, fresh)
        self._plan(done, step, force)
        self.mails += done.counted
        if done.writings:
            self.counts.append((number, len(done.writings)))
        return done

    def _plan(self, done: StepRecord, step: DayStep, force: RulesInForce) -> None:
        """Send the current plan if it is requested, or has changed since it was sent."""
        if self.slip != "undelivered_left":
            done.again = self.undelivered
        self.undelivered = ()
        self.planning |= step.plan
        if not self.planning or (self.slip == "plan_sent_once" and not step.plan):
            return
        plan = force.plan
        if self.slip == "hasty_plans":
            plan = hasty_plan(force.offers, force.terms)
        elif self.slip == "exchanged_plans":
            plan = exchanged_plan(force.offers, force.terms, self.planned)
        if plan != self.planned:
            self.plans += 1
            done.plan = self.planned = plan
            self.undelivered = plan if step.plan else ()

    def _counts(self, mail: DayMail, force: RulesInForce) -> bool:
        if self.slip in ("mails_ignored", "mails_trusted"):
            return self.slip == "mails_trusted"
        statement, address = mail.statement, mail.sender.email
        if self.slip == "names_trusted":
            address = force.addresses.get(mail.sender.name, address)
        if not force.entitles(address, mail.job.site):
            return False
        if statement.job is not None:
            return force.closure_of(mail.job.site, mail.job.group, address) is None
        origin = self.senders.get(statement.source, "")
        if self.slip == "names_trusted":
            return bool(origin)
        return origin == address

    def _enter(self, statement: DayStatement, force: RulesInForce) -> set[RecordPlace]:
        """Enter a statement; return the records that it concerns."""
        kind, source = statement.kind, statement.source
        if statement.job is not None:
            return self._ask(statement, statement.job)
        if source not in self.jobs:
            return set()
        if kind == "restore":
            return self._restore(source)
        if kind == "unless":
            kind = "withdraw" if self.held_back(source, force) else "correct"
        trait = "" if self.slip == "part_as_whole" else statement.trait
        concerned = [
            place
            for place in self.records(source)
            if not trait or self.places[place][1].trait == trait
        ]
        if kind == "withdraw" and not trait:
            self.dropped[source] = []
        for place in concerned:
            named = self.named[place]
            former = next(each for each in named if each[0] == source)
            named.remove(former)
            if kind == "correct":
                named.append((source, self.places[place][1].values[statement.choice]))
            elif not trait:
                self.dropped[source].append((place, former[1]))
            if kind == "withdraw" and self.slip == "to_the_morning":
                named.clear()
        self._count(set(concerned))
        return set(concerned)

    def _ask(self, statement: DayStatement, job: RecordJob) -> set[RecordPlace]:
        self.jobs[statement.source] = job
        concerned = set()
        chosen = statement.largest if self.slip == "largest_chosen" else statement.chosen
        for target in job.targets:
            if chosen and target.label not in chosen:
                continue
            if statement.trait and target.trait != statement.trait:
                continue
            place = record_of(job, target)
            self.places.setdefault(place, (job, target))
            self.values.setdefault(place, target.before)
            named = self.named.setdefault(place, [])
            named.append((statement.source, target.values[statement.choice]))
            concerned.add(place)
        self._count(concerned)
        return concerned

    def _count(self, places: set[RecordPlace]) -> None:
        """Count the statements about records."""
        for place in places:
            self.said[place] = self.said.get(place, 0) + 1

    def _restore(self, source: str) -> set[RecordPlace]:
        for place, values in self.dropped.get(source, ()):
            self.named[place].append((source, values))
        back = {place for place, _ in self.dropped.pop(source, ())}
        self._count(back)
        return back

    def _settle(self, done: StepRecord, force: RulesInForce, fresh: set[RecordPlace]) -> None:
        """Set every record to its required value unless a hold, a person or the pace prevents it."""
        due = list[RecordPlace]()
        for place, (_, target) in self.places.items():
            wanted, current = self.wanted(place), self.values[place]
            if self.slip == "others_overwritten":
                current = self.given.get(place, current)
            elif self.taken(place):
                if current != wanted and place not in self._left_alone:
                    self._left_alone.add(place)
                    done.watched.append(place)
                continue
            if current == wanted or (self.slip == "never_made_up" and place not in fresh):
                continue
            if (place[0], target.label) in force.held:
                if self.slip != "own_records_reported" or place in fresh:
                    done.pending.append(target.label)
                if place in self.given:
                    done.watched.append(place)
                continue
            due.append(place)
        waiting = self._waiting(due, force.pace)
        for place in due:
            job, target = self.places[place]
            if place not in waiting:
                wanted = self.wanted(place)
                self.values[place] = self.given[place] = wanted
                done.writings.append((job, target, wanted))
                self.used.add((job.field, job.noun, str(wanted)))
                continue
            if self.slip != "own_records_reported" or place in fresh:
                done.pending.append(target.label)
            if place in self.given:
                done.watched.append(place)

    def _waiting(self, due: Sequence[RecordPlace], pace: int) -> set[RecordPlace]:
        """Return the records that wait: on each site, all but those with the smallest numbers."""
        waiting = set[RecordPlace]()
        if not pace:
            return waiting
        for site in {place[0] for place in due}:
            here = [place for place in due if place[0] == site]
            if self.slip != "pace_by_request":
                here.sort(key=lambda place: number_of(self.places[place][1].label))
            waiting |= set(here[pace:])
        return waiting


def kept(
    steps: Sequence[DayStep], slip: str = "", at: int = 0
) -> tuple[DayLedger, list[StepRecord]]:
    """Keep the ledger of a whole day."""
    ledger = DayLedger(slip, at)
    return ledger, [ledger.step(number, step) for number, step in enumerate(steps, 1)]
