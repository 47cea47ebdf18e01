"""The handbook of a shift at one time: register, mandates, and their valid entries.

The texts of the pages are in `handbook`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property
from typing import Any

from hexathlon.tasks.web.templates.shifts.plans import PlanTerms, WorkOffer, best_plan
from hexathlon.tasks.web.world.people import Person

__all__ = ["DayRules", "Mandate", "RecordClosure", "RegisterEntry", "RulesInForce"]

_EVER: Mapping[str, Any] = {"first": date.min, "last": date.max}


@dataclass(frozen=True)
class RegisterEntry:
    """A hold or a release on the page Register."""

    kind: str
    """`hold` or `release`."""

    site: str
    noun: str
    label: str
    day: date
    author: str
    """Name of the person who entered it; names are unique."""


@dataclass(frozen=True)
class RecordClosure:
    """A line of the page Register that closes a group of records."""

    number: str
    site: str
    group: str
    """The common property of its records, in words."""

    first: date
    last: date
    author: str


@dataclass(frozen=True)
class Mandate:
    """A line of the page Mandates."""

    name: str
    email: str
    site: str
    first: date
    last: date
    granter: str


@dataclass(frozen=True)
class RulesInForce:
    """The rules in force on one day."""

    head: str
    """Address of the person with a mandate for every site."""

    mandates: frozenset[tuple[str, str]]
    """Addresses with a mandate in force, each with its site."""

    held: frozenset[tuple[str, str]]
    """Records that are held: site and number."""

    closures: tuple[RecordClosure, ...]
    """Closures that count."""

    addresses: Mapping[str, str]
    """Address by name."""

    offers: tuple[WorkOffer, ...] = ()
    """Offers that count."""

    terms: PlanTerms = PlanTerms(0, 0)
    """Terms of the plan."""

    pace: int = 0
    """Records of one site that may be given a value with one request; 0 if there is no limit."""

    @cached_property
    def plan(self) -> tuple[str, ...]:
        """Numbers of the offers of the best plan; none unless there is exactly one."""
        return best_plan(self.offers, self.terms)

    def entitles(self, address: str, site: str) -> bool:
        """Whether a mandate in force names an address for a site."""
        return address == self.head or (address, site) in self.mandates

    def closure_of(self, site: str, group: str, address: str = "") -> RecordClosure | None:
        """Return the closure that blocks a request, which was mailed from an address."""
        return next(
            (
                each
                for each in self.closures
                if (each.site, each.group) == (site, group)
                and self.addresses.get(each.author) != address
            ),
            None,
        )


@dataclass(frozen=True)
class DayRules:
    """Content of the pages at one time."""

    today: date
    numbers: Mapping[str, str]
    """Number of every rule, by its key."""

    days: int
    """Number of days for which a hold is valid."""

    head: Person
    """Has a mandate for every site."""

    auditor: Person
    """Gets the day log."""

    log_at_end: bool = False
    """Whether the day log is one email at the end, or one email for each request."""

    entries: tuple[RegisterEntry, ...] = ()
    closures: tuple[RecordClosure, ...] = ()
    mandates: tuple[Mandate, ...] = ()
    offers: tuple[WorkOffer, ...] = ()
    terms: PlanTerms = PlanTerms(0, 0)
    synchronised: str = ""
    """The site that is synchronised during the day."""

    after: tuple[int, ...] = ()
    """Requests after whose reports it is synchronised."""

    pace: int = 0
    """Records of one site that may be given a value with one request; 0 if there is no limit."""

    def in_force(self) -> RulesInForce:
        """Return what counts today."""
        return self._in_force

    @cached_property
    def _in_force(self) -> RulesInForce:
        addresses = {each.name: each.email for each in self.mandates}
        addresses[self.head.name] = self.head.email
        sites = {each.site for each in self.mandates} | {each.site for each in self.entries}
        sites |= {"mail"} if self.offers else set()
        sites |= {each.site for each in self.closures}
        entitled = {(self.head.name, site) for site in sites}
        while True:
            more = {
                (each.name, each.site)
                for each in self.mandates
                if each.first <= self.today <= each.last and (each.granter, each.site) in entitled
            }
            if more <= entitled:
                break
            entitled |= more
        return RulesInForce(
            self.head.email,
            frozenset((addresses[name], site) for name, site in entitled),
            self._held(entitled),
            tuple(
                each
                for each in self.closures
                if each.first <= self.today <= each.last and (each.author, each.site) in entitled
            ),
            addresses,
            tuple(each for each in self.offers if (each.author, "mail") in entitled),
            self.terms,
            self.pace,
        )

    def _held(self, entitled: set[tuple[str, str]]) -> frozenset[tuple[str, str]]:
        latest: dict[tuple[str, str], RegisterEntry] = {}
        for entry in sorted(self.entries, key=lambda each: each.day):
            if (entry.author, entry.site) in entitled:
                latest[entry.site, entry.label] = entry
        return frozenset(
            place
            for place, entry in latest.items()
            if entry.kind == "hold" and self.today <= entry.day + timedelta(days=self.days)
        )

    def misread(self, slip: str) -> "DayRules":
        """Return the rules as misread with a given mistake."""
        head = self.head.name
        if slip == "holds_ignored":
            return replace(self, entries=())
        if slip == "releases_ignored":
            return replace(self, entries=tuple(e for e in self.entries if e.kind == "hold"))
        if slip == "entries_trusted":
            return replace(self, entries=tuple(replace(e, author=head) for e in self.entries))
        if slip == "offers_trusted":
            return replace(self, offers=tuple(replace(o, author=head) for o in self.offers))
        if slip == "charges_ignored":
            return replace(self, terms=replace(self.terms, charges=()))
        if slip == "savings_ignored":
            return replace(self, terms=replace(self.terms, savings=()))
        if slip == "pace_ignored":
            return replace(self, pace=0)
        if slip == "holds_never_end":
            return replace(self, days=100_000)
        if slip == "grants_ignored":
            return replace(self, mandates=tuple(replace(m, granter=head) for m in self.mandates))
        if slip == "dates_ignored":
            return replace(self, mandates=tuple(replace(m, **_EVER) for m in self.mandates))
        if slip == "closures_ignored":
            return replace(self, closures=())
        if slip == "closures_trusted":
            every = tuple(replace(c, author=head, **_EVER) for c in self.closures)
            return replace(self, closures=every)
        return self
