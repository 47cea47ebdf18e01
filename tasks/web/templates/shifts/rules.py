"""The handbook of a shift at one time: register, mandates, and what of them counts.

The texts of the pages are in `handbook`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta

from hexathlon.tasks.web.world.people import Person

__all__ = ["DayRules", "Mandate", "RecordClosure", "RegisterEntry", "RulesInForce"]


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
    """Name of whoever entered it; names are unique."""


@dataclass(frozen=True)
class RecordClosure:
    """A line of the page Register by which a group of records is closed."""

    number: str
    site: str
    group: str
    """What all its records have in common, in words."""

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
    """What the pages amount to on one day."""

    head: str
    """Address of whoever has a mandate for every site."""

    mandates: frozenset[tuple[str, str]]
    """Addresses with a mandate in force, each with its site."""

    held: frozenset[tuple[str, str]]
    """Records that are held: site and number."""

    closures: tuple[RecordClosure, ...]
    """Closures that count."""

    addresses: Mapping[str, str]
    """Address by name."""

    def entitles(self, address: str, site: str) -> bool:
        """Whether a mandate in force names an address for a site."""
        return address == self.head or (address, site) in self.mandates

    def closure_of(self, site: str, group: str, address: str = "") -> RecordClosure | None:
        """Return the closure that stands against a request, sent by mail from an address."""
        return next(
            (each for each in self.closures
             if (each.site, each.group) == (site, group)
             and self.addresses.get(each.author) != address), None,
        )  # fmt: skip


@dataclass(frozen=True)
class DayRules:
    """What the three pages say at one time."""

    today: date
    numbers: Mapping[str, str]
    """Number of every rule, by its key."""

    days: int
    """For how many days a hold counts."""

    head: Person
    """Has a mandate for every site."""

    auditor: Person
    """Gets the day log."""

    log_at_end: bool = False
    """Whether the day log is one mail at the end, or one mail for each request."""

    entries: tuple[RegisterEntry, ...] = ()
    closures: tuple[RecordClosure, ...] = ()
    mandates: tuple[Mandate, ...] = ()

    def in_force(self) -> RulesInForce:
        """Return what counts today."""
        addresses = {each.name: each.email for each in self.mandates}
        addresses[self.head.name] = self.head.email
        sites = {each.site for each in (*self.mandates, *self.entries, *self.closures)}
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
            tuple(each for each in self.closures
                  if each.first <= self.today <= each.last
                  and (each.author, each.site) in entitled),
            addresses,
        )  # fmt: skip

    def _held(self, entitled: set[tuple[str, str]]) -> frozenset[tuple[str, str]]:
        latest: dict[tuple[str, str], RegisterEntry] = {}
        for entry in sorted(self.entries, key=lambda each: each.day):
            if (entry.author, entry.site) in entitled:
                latest[entry.site, entry.label] = entry
        return frozenset(
            place for place, entry in latest.items()
            if entry.kind == "hold" and self.today <= entry.day + timedelta(days=self.days)
        )  # fmt: skip

    def misread(self, slip: str) -> "DayRules":
        """Return the rules as somebody reads them who makes a certain mistake."""
        ever = {"first": date.min, "last": date.max}
        changes = {
            "holds_ignored": {"entries": ()},
            "releases_ignored": {
                "entries": tuple(each for each in self.entries if each.kind == "hold")},
            "holds_never_end": {"days": 100_000},
            "grants_ignored": {
                "mandates": tuple(replace(each, granter=self.head.name) for each in self.mandates)},
            "dates_ignored": {"mandates": tuple(replace(each, **ever) for each in self.mandates)},
            "closures_ignored": {"closures": ()},
            "closures_trusted": {
                "closures": tuple(
                    replace(each, author=self.head.name, **ever) for each in self.closures)},
            "entries_trusted": {
                "entries": tuple(replace(each, author=self.head.name) for each in self.entries)},
        }  # fmt: skip
        return replace(self, **changes.get(slip, {}))  # type: ignore[arg-type]
