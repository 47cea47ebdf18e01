"""Changes by other people during a shift: rules, register, mandates, and records."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from hexathlon.tasks.web.templates.draft import WebScene
from hexathlon.tasks.web.templates.shifts.cast import ShiftCast, entry_on, new_number
from hexathlon.tasks.web.templates.shifts.ledger import DayLedger, RecordPlace
from hexathlon.tasks.web.templates.shifts.records import RecordJob
from hexathlon.tasks.web.templates.shifts.rules import DayRules, RecordClosure
from hexathlon.tasks.web.templates.shifts.stages import Writing

__all__ = ["DayChanges"]

_KINDS = (
    "days",
    "pace",
    "auditor",
    "revoke",
    "revoke",
    "regrant",
    "release",
    "release",
    "hold",
    "hold",
    "closure",
)


@dataclass
class DayChanges:
    """Draws changes to the pages, preferring those that affect the day's records."""

    scene: WebScene
    cast: ShiftCast
    later_days: int
    later_pace: int
    jobs: Sequence[RecordJob]
    """Jobs that a closure during the day may affect."""

    def plan(self, places: Sequence[int]) -> dict[int, list[str]]:
        """Draw the kinds of changes before each request.

        Args:
            places: Requests, counted from zero, before which there may be changes.
        """
        planned: dict[int, list[str]] = {}
        for kind in _KINDS:
            if kind in ("days", "pace") or self.scene.rng.random() < 0.8:
                planned.setdefault(self.scene.pick(places), []).append(kind)
        return planned

    def apply(self, kind: str, rules: DayRules, ledger: DayLedger) -> DayRules:
        """Return the rules after a change; the same if there is nothing to change."""
        if kind == "days":
            return replace(rules, days=self.later_days)
        if kind == "pace":
            return replace(rules, pace=self.later_pace)
        if kind == "auditor":
            return replace(rules, auditor=self.cast.auditors[1])
        if kind == "regrant":
            return self._regranted(rules)
        if kind == "closure":
            return self._closed(rules)
        if kind == "revoke":
            return self._revoked(rules, ledger)
        return self._entered(kind, rules, ledger)

    def overwritten(self, ledger: DayLedger) -> Writing | None:
        """Draw a record that somebody else overwrites after the agent has changed it."""
        found = list[Writing]()
        for place in ledger.given:
            job, target = ledger.places[place]
            values = [
                each
                for each in target.values[::-1]
                if each != target.before and (job.field, job.noun, str(each)) not in ledger.used
            ]
            alone = len(self._companions(ledger, place)) < 2
            if values and not alone and not ledger.taken(place):
                found.append((job, target, values[0]))
        return self.scene.pick(found) if found else None

    def undone(self, site: str, ledger: DayLedger, other: Writing | None) -> tuple[Writing, ...]:
        """Draw records of a site that its synchronisation reverts, at most three."""
        changed = [
            place
            for place in ledger.given
            if place[0] == site
            and not ledger.taken(place)
            and ledger.values[place] != ledger.places[place][1].before
            and (other is None or ledger.places[place][1] is not other[1])
        ]
        places = self.scene.sample(changed, int(self.scene.rng.integers(1, 4)))
        return tuple((*ledger.places[place], ledger.places[place][1].before) for place in places)

    def _companions(self, ledger: DayLedger, place: RecordPlace) -> list[RecordPlace]:
        """Return the records of a job that were set and have not been overwritten since."""
        job = ledger.places[place][0]
        return [
            each
            for each in ledger.given
            if ledger.places[each][0] is job and not ledger.taken(each)
        ]

    def _revoked(self, rules: DayRules, ledger: DayLedger) -> DayRules:
        """Revoke a mandate, preferably one that affects a record."""
        before = rules.in_force()
        telling, others = list[DayRules](), list[DayRules]()
        for mandate in rules.mandates:
            if mandate.name in {each.name for each in self.cast.senders}:
                continue
            less = replace(rules, mandates=tuple(m for m in rules.mandates if m is not mandate))
            after = less.in_force()
            if after.mandates == before.mandates:
                continue
            touched = before.held ^ after.held
            known = {(place[0], target.label) for place, (_, target) in ledger.places.items()}
            (telling if touched & known else others).append(less)
        drawn: DayRules = self.scene.pick(telling or others or [rules])
        return drawn

    def _regranted(self, rules: DayRules) -> DayRules:
        """Renew a keeper's lapsed mandate, granted by the head."""
        force = rules.in_force()
        broken = [
            (site, person)
            for site, person in self.cast.keepers.items()
            if not force.entitles(person.email, site)
        ]
        if not broken:
            return rules
        site, person = self.scene.pick(broken)
        mandates = tuple(
            replace(
                each,
                first=rules.today,
                last=rules.today + timedelta(days=30),
                granter=self.cast.head.name,
            )
            if (each.name, each.site) == (person.name, site)
            else each
            for each in rules.mandates
        )
        return replace(rules, mandates=mandates)

    def _entered(self, kind: str, rules: DayRules, ledger: DayLedger) -> DayRules:
        """Enter a hold on a record that was changed, or a release of one left unchanged."""
        force, today = rules.in_force(), rules.today
        fresh = {(each.site, each.label) for each in rules.entries if each.day == today}
        held = [
            (job, target)
            for place, (job, target) in ledger.places.items()
            if (place[0], target.label) not in fresh
            and ((place[0], target.label) in force.held) == (kind == "release")
            and (kind == "release" or place in ledger.given)
        ]
        if not held:
            return rules
        job, target = self.scene.pick(held)
        keeper, second, deputy, *others = self.cast.authors(job.site)
        author = self.scene.pick((keeper, second, deputy, keeper, deputy, self.scene.pick(others)))
        return replace(rules, entries=(*rules.entries, entry_on(job, target, kind, today, author)))

    def _closed(self, rules: DayRules) -> DayRules:
        """Close a group of records that no closure names yet."""
        named = {(each.site, each.group) for each in rules.closures}
        free = [job for job in self.jobs if (job.site, job.group) not in named]
        if not free:
            return rules
        job = self.scene.pick(free)
        author = self.scene.pick(self.cast.authors(job.site)[:3])
        last = rules.today + timedelta(days=int(self.scene.rng.integers(0, 20)))
        closure = RecordClosure(
            new_number(self.scene, rules.closures),
            job.site,
            job.group,
            rules.today,
            last,
            author.name,
        )
        return replace(rules, closures=(*rules.closures, closure))
