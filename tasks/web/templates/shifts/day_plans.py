"""The plans of a day: offers and terms, drawn once its mandates are known, and how they change.

Most drawn days are dropped for other reasons, so that drawing their plans last saves most of the
time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hexathlon.tasks.web.templates.draft import WebScene
from hexathlon.tasks.web.templates.shifts.offers import (
    changed_offers,
    changed_terms,
    draw_offers,
    draw_terms,
    out_of_reach,
)
from hexathlon.tasks.web.templates.shifts.plans import is_only_plan
from hexathlon.tasks.web.templates.shifts.rules import DayRules
from hexathlon.tasks.web.templates.shifts.walk import DrawnRequest

__all__ = ["DayPlans"]

_REPLANNED = 4
"""Number of changes that are meant to make another plan the best one."""

_FEWEST = 4
"""Minimum number of plans that are sent in the course of a day."""

_DRAWN = 3
"""Number of draws for one day before it is dropped."""

_TRIES = 10


@dataclass(frozen=True)
class DayPlans:
    """Draws offers, terms and their changes for a day without any."""

    scene: WebScene
    authors: Sequence[str]
    """Names of those who enter offers, some rightly."""

    def draw(self, requests: Sequence[DrawnRequest]) -> tuple[DrawnRequest, ...] | None:
        """Return the requests with offers and terms; None if none make their plans hard."""
        asked = [each.kind for each in requests].index("plan")
        for _ in range(_DRAWN):
            rules = self._course(requests, asked)
            if rules is None:
                continue
            plans = [each.in_force().plan for each in rules[asked:]]
            changes = sum(one != other for one, other in zip(plans, plans[1:], strict=False))
            if 1 + changes >= _FEWEST:
                return tuple(
                    replace(request, step=replace(request.step, rules=each))
                    for request, each in zip(requests, rules, strict=True)
                )
        return None

    def _course(self, requests: Sequence[DrawnRequest], asked: int) -> list[DayRules] | None:
        """Draw the offers and terms of the morning, and their changes before each request."""
        scene = self.scene
        later = range(asked + 1, len(requests) - 1)
        other = dict.fromkeys(scene.sample(later, _REPLANNED), True)
        other.setdefault(scene.pick(range(1, len(requests) - 1)), False)
        plain = requests[0].step.rules
        rules = self._morning(plain)
        course = [rules]
        for place, request in enumerate(requests[1:], 1):
            if rules is None:
                return None
            former, known = rules, request.step.rules is plain
            plain = request.step.rules
            if not known:
                rules = replace(plain, offers=former.offers, terms=former.terms)
            if place in other or not known:
                rules = self._changed(former, rules, other=other.get(place))
            course.append(rules)
        return [each for each in course if each is not None]

    def _morning(self, plain: DayRules) -> DayRules | None:
        rules = replace(plain, offers=draw_offers(self.scene, self.authors))
        terms = draw_terms(self.scene, rules.offers, rules.in_force().offers)
        return None if terms is None else replace(rules, terms=terms)

    def _changed(self, former: DayRules, rules: DayRules, *, other: bool | None) -> DayRules | None:
        """Return rules for which there is one best plan, after a change if needed or wanted.

        Args:
            former: The rules before.
            rules: The rules now, with the offers and terms of before.
            other: Whether another plan should become the best one; None without a wish.
        """
        able = _plannable(former, rules)
        if able and other is None:
            return rules
        if not able and other is False:
            other = None  # what changed otherwise has made another plan the best one
        before, force = former.in_force().plan, rules.in_force()
        taken = [each for each in force.offers if each.number in (force.plan or before)]
        for _ in range(_TRIES if taken else 0):
            if self.scene.rng.random() < 0.5:
                numbers = [each.number for each in taken]
                offers = changed_offers(self.scene, rules.offers, force.offers, numbers)
                changed = replace(rules, offers=offers)
            else:
                changed = replace(rules, terms=changed_terms(self.scene, rules.terms, taken))
            wanted = other is None or other == (changed.in_force().plan != before)
            if wanted and _plannable(former, changed):
                return changed
        return rules if able else None


def _plannable(former: DayRules, rules: DayRules) -> bool:
    """Whether there is one best plan after a change: the former one, or one out of reach."""
    before, after = former.in_force(), rules.in_force()
    if (before.offers, before.terms) == (after.offers, after.terms):
        return True
    if {each.work for each in after.offers} != {each.work for each in rules.offers}:
        return False
    if after.plan == before.plan:
        return is_only_plan(after.offers, after.terms, after.plan)
    return out_of_reach(after.offers, after.terms, before.plan)
