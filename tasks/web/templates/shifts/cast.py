"""The people of a shift, and the initial content of the pages Register and Mandates."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from hexathlon.tasks.web.templates.draft import WebScene
from hexathlon.tasks.web.templates.shifts.handbook import draw_numbers
from hexathlon.tasks.web.templates.shifts.records import JobTarget, RecordJob
from hexathlon.tasks.web.templates.shifts.rules import (
    DayRules,
    Mandate,
    RecordClosure,
    RegisterEntry,
)
from hexathlon.tasks.web.world.people import Person

__all__ = ["DAYS", "PACES", "ShiftCast", "draw_cast", "draw_rules", "entry_on", "new_number"]

DAYS = (8, 15, 26, 40)
"""Terms of holds; a shift uses two of them."""

PACES = (2, 3, 4)
"""Limits to the records of a site that are set with one request; a shift uses two of them."""


@dataclass(frozen=True)
class ShiftCast:
    """The people of a shift, by authority."""

    head: Person
    deputy: Person
    keepers: dict[str, Person]
    """By site; their mandates come from the head or the deputy."""

    seconds: dict[str, Person]
    """By site; their mandates come from the keepers."""

    strangers: tuple[Person, ...]
    """The first once had mandates, the second has none."""

    auditors: tuple[Person, Person]
    reader: Person
    planner: Person
    """Gets the plans."""

    senders: tuple[Person, ...]

    def authors(self, site: str) -> tuple[Person, ...]:
        """Return the people who enter holds on a site's records, with or without authority."""
        other = sorted(each for each in self.keepers if each != site)[0]
        return (
            self.keepers[site],
            self.seconds[site],
            self.deputy,
            self.strangers[0],
            self.keepers[other],
        )

    @property
    def offering(self) -> tuple[Person, ...]:
        """Return the people who enter offers, repeated according to their frequency."""
        keeper, second = self.keepers["mail"], self.seconds["mail"]
        return (
            *[self.head] * 5,
            *[self.deputy] * 3,
            *[keeper] * 3,
            *[second] * 2,
            self.strangers[0],
            self.authors("mail")[-1],
        )


def draw_cast(scene: WebScene, people: Sequence[Person], sites: Sequence[str]) -> ShiftCast:
    """Draw the people of a shift; 13, plus two for each site, are needed."""
    drawn = scene.sample(people, len(people))
    count = len(sites)
    return ShiftCast(
        drawn[0],
        drawn[1],
        dict(zip(sites, drawn[2:], strict=False)),
        dict(zip(sites, drawn[2 + count :], strict=False)),
        tuple(drawn[2 + 2 * count : 4 + 2 * count]),
        (drawn[4 + 2 * count], drawn[5 + 2 * count]),
        drawn[6 + 2 * count],
        drawn[7 + 2 * count],
        tuple(drawn[8 + 2 * count : 13 + 2 * count]),
    )


def draw_rules(
    scene: WebScene,
    cast: ShiftCast,
    today: date,
    jobs: Sequence[RecordJob],
    closed: RecordJob,
    days: Sequence[int],
) -> DayRules | None:
    """Draw the rules of the morning without offers; None if grants make no difference.

    Args:
        scene: Source of the draws.
        cast: The people.
        today: The date of the shift.
        jobs: Jobs on whose records there are holds.
        closed: A job that usually gets closed.
        days: The initial term, then the later one.
    """
    mandates = _draw_mandates(scene, cast, today)
    entries = [
        entry
        for job in jobs
        for target in job.targets
        for entry in _draw_entries(scene, cast, today, job, target, days)
    ]
    closures = [_draw_closure(scene, cast, today, closed, sound=scene.rng.random() < 0.6)]
    for job in scene.sample([each for each in jobs if each is not closed], 3):
        number = new_number(scene, closures)
        closures.append(
            _draw_closure(scene, cast, today, job, sound=scene.rng.random() < 0.15, number=number)
        )
    rules = DayRules(
        today,
        draw_numbers(scene),
        days[0],
        cast.head,
        cast.auditors[0],
        bool(scene.rng.random() < 0.8),
        tuple(entries),
        tuple(closures),
        tuple(mandates),
    )
    force, misread = rules.in_force(), rules.misread("grants_ignored").in_force()
    differing = {email for email, site in force.mandates ^ misread.mandates if site == "mail"}
    offering = {each.email for each in cast.offering}
    return None if force.held == misread.held and not differing & offering else rules


def new_number(scene: WebScene, closures: Sequence[RecordClosure]) -> str:
    """Draw a number that no closure has."""
    taken = {each.number for each in closures}
    return str(scene.pick([f"C-{each}" for each in range(21, 90) if f"C-{each}" not in taken]))


def entry_on(
    job: RecordJob, target: JobTarget, kind: str, day: date, author: Person
) -> RegisterEntry:
    """Return an entry of the register."""
    return RegisterEntry(kind, job.site, job.noun, target.label, day, author.name)


def _draw_mandates(scene: WebScene, cast: ShiftCast, today: date) -> list[Mandate]:
    broken = scene.pick(sorted(cast.keepers))
    found = []

    def grant(person: Person, site: str, granter: Person, when: str = "now") -> None:
        first, last = _span(scene, today, when)
        found.append(Mandate(person.name, person.email, site, first, last, granter.name))

    for site in cast.keepers:
        grant(cast.deputy, site, cast.head)
        granter = scene.pick((cast.head, cast.deputy, cast.deputy))
        when = scene.pick(("past", "future", "now")) if site == broken else "now"
        grant(cast.keepers[site], site, granter, when)
        grant(cast.seconds[site], site, cast.keepers[site])
    for site in scene.sample(sorted(cast.keepers), 2):
        grant(cast.strangers[0], site, cast.head, scene.pick(("past", "future")))
    for place, person in enumerate(cast.senders):
        site = sorted(cast.keepers)[place % len(cast.keepers)]
        pool = (cast.keepers[site], cast.seconds[site], cast.deputy, cast.strangers[0])
        grant(person, site, scene.pick(pool), scene.pick(("now", "now", "now", "past")))
    return found


def _span(scene: WebScene, today: date, when: str) -> tuple[date, date]:
    """Draw the first and the last day of a past, a future or a current period."""
    before, after = (int(scene.rng.integers(0, 60)) for _ in range(2))
    first, last = today - timedelta(days=before), today + timedelta(days=after)
    if when == "past":
        last = today - timedelta(days=int(scene.rng.integers(1, 5)))
        first = last - timedelta(days=before)
    if when == "future":
        first = today + timedelta(days=int(scene.rng.integers(1, 5)))
        last = first + timedelta(days=after)
    return first, last


def _draw_entries(
    scene: WebScene,
    cast: ShiftCast,
    today: date,
    job: RecordJob,
    target: JobTarget,
    days: Sequence[int],
) -> list[RegisterEntry]:
    """Draw a record's register entries: usually none, otherwise a hold or several entries."""
    if scene.rng.random() < 0.42:
        return []
    shorter, longer = sorted(days)
    low, high = scene.pick(
        (
            (1, shorter),
            (1, shorter),
            (shorter + 1, longer),
            (shorter + 1, longer),
            (longer + 1, longer + 30),
        )
    )
    age = int(scene.rng.integers(low, high + 1))
    authors = cast.authors(job.site)
    entries = [entry_on(job, target, "hold", today - timedelta(days=age), scene.pick(authors))]
    if age > 2 and scene.rng.random() < 0.3:
        later = today - timedelta(days=int(scene.rng.integers(1, age)))
        entries.append(entry_on(job, target, "release", later, scene.pick(authors)))
    if scene.rng.random() < 0.25:
        earlier = today - timedelta(days=age + int(scene.rng.integers(1, 20)))
        kind = scene.pick(("hold", "release"))
        entries.append(entry_on(job, target, kind, earlier, scene.pick(authors)))
    return entries


def _draw_closure(
    scene: WebScene, cast: ShiftCast, today: date, job: RecordJob, *, sound: bool, number: str = ""
) -> RecordClosure:
    """Draw a closure of a job's group; an unsound one is invalid for some reason."""
    trouble = "" if sound else scene.pick(("past", "future", "author", "author"))
    first, last = _span(scene, today, trouble if trouble in ("past", "future") else "now")
    author = scene.pick((cast.keepers[job.site], cast.seconds[job.site], cast.deputy))
    if trouble == "author":
        author = scene.pick((cast.strangers[0], cast.authors(job.site)[-1]))
    return RecordClosure(
        number or new_number(scene, ()), job.site, job.group, first, last, author.name
    )
