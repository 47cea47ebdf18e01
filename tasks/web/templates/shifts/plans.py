"""Plans of a shift: offers for works, and the cheapest choice of them under joint limits.

Every work takes one offer; days and works per firm are limited. `rules` decides which offers are
valid.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count

import numpy as np
from numpy.typing import NDArray

from hexathlon.tasks.web.templates.draft import WebScene

__all__ = ["WORKS", "OfferLimits", "WorkOffer", "best_plan", "draw_limits", "draw_offers",
           "hasty_plan", "listed_plans", "priced_anew"]  # fmt: skip

WORKS = (
    "Painting the hall|大厅粉刷", "Carpets|地毯铺设", "Lighting|照明改造", "Network cables|网络布线",
    "Furniture transport|家具搬运", "Door locks|门锁更换", "Roof repair|屋顶修补", "Signage|标识制作",
    "Air conditioning|空调检修", "Archive shelves|档案架安装",
)  # fmt: skip
_FIRMS = ("Aldous|奥德", "Brightway|明途", "Corvin|科文", "Dunmore|敦茂", "Elmstead|榆庄", "Farrow|法罗",
          "Gillard|吉拉德", "Hexley|赫利")  # fmt: skip
_RATES = (0, 20, 40, 70, 120, 200)
_COUNT = 7
_OFFERS = 7


@dataclass(frozen=True)
class WorkOffer:
    """A line of the page Offers."""

    number: str
    work: str
    firm: str
    price: int
    """In whole euros."""

    days: int
    author: str
    """Name of its author."""


@dataclass(frozen=True)
class OfferLimits:
    """Limits of a plan."""

    days: int
    """Days of all works together, at most."""

    per_firm: int
    """Works of one firm, at most."""

    def allow(self, offers: Sequence[WorkOffer]) -> bool:
        """Whether a choice of offers is within the limits."""
        return self.excess(offers) == 0

    def excess(self, offers: Sequence[WorkOffer]) -> int:
        """Return by how much a choice exceeds the limits; one excess work counts as three days."""
        days, over, works = -self.days, 0, dict[str, int]()
        for each in offers:
            days += each.days
            works[each.firm] = works.get(each.firm, 0) + 1
            over += works[each.firm] > self.per_firm
        return max(0, days) + 3 * over


@lru_cache(maxsize=256)
def best_plan(offers: tuple[WorkOffer, ...], limits: OfferLimits) -> tuple[str, ...]:
    """Return the numbers of the cheapest plan in ascending order, by branch and bound.

    Returns:
        An empty tuple if there is no plan, or no unique cheapest one.
    """
    groups = [sorted(each, key=lambda offer: offer.price) for each in _by_work(offers).values()]
    groups.sort(key=len)
    left = range(len(groups) + 1)
    shortest = [sum(min(each.days for each in group) for group in groups[place:]) for place in left]
    # Lower bounds of what is left: the price, with days at a rate, less the days still allowed.
    bounds = [
        (rate, [sum(min(each.price + rate * each.days for each in group) for group in groups[place:])
                for place in left])
        for rate in _RATES
    ]  # fmt: skip
    best, found = [10**9], list[tuple[WorkOffer, ...]]()

    def descend(taken: tuple[WorkOffer, ...], price: int, days: int, firms: dict[str, int]) -> None:
        place, spare = len(taken), limits.days - days
        if spare < shortest[place]:
            return
        if any(price + bound[place] - rate * spare > best[0] for rate, bound in bounds):
            return
        if place == len(groups):
            if price < best[0]:
                best[0] = price
                found.clear()
            found.append(taken)
            return
        for offer in groups[place]:
            used = firms.get(offer.firm, 0)
            if used < limits.per_firm:
                descend((*taken, offer), price + offer.price, days + offer.days,
                        {**firms, offer.firm: used + 1})  # fmt: skip

    descend((), 0, 0, {})
    return _numbers(found[0]) if len(found) == 1 else ()


@lru_cache(maxsize=32)
def listed_plans(offers: tuple[WorkOffer, ...], limits: OfferLimits) -> list[tuple[str, ...]]:
    """Return every cheapest plan, by trying all choices."""
    groups = list(_by_work(offers).values())
    if not groups:
        return []
    price = _sums([[each.price for each in group] for group in groups])
    allowed = _sums([[each.days for each in group] for group in groups]) <= limits.days
    for firm in sorted({each.firm for each in offers}):
        works = _sums([[int(each.firm == firm) for each in group] for group in groups])
        allowed &= works <= limits.per_firm
    if not allowed.any():
        return []
    price = np.where(allowed, price, 10**9)
    return [
        _numbers(group[index] for group, index in zip(groups, choice, strict=True))
        for choice in np.argwhere(price == price.min())
    ]


@lru_cache(maxsize=64)
def hasty_plan(offers: tuple[WorkOffer, ...], limits: OfferLimits) -> tuple[str, ...]:
    """Return the plan that greedy single exchanges reach from the cheapest offer for each work.

    While a limit is exceeded, the exchange with the lowest cost per reduction is made; then those
    that save most.
    """
    groups = list(_by_work(offers).values())
    taken = [min(group, key=lambda each: each.price) for group in groups]
    while limits.excess(taken):
        taken = min(
            (each for each in _exchanges(taken, groups)
             if limits.excess(each) < limits.excess(taken)),
            key=lambda each: (_price(each) - _price(taken))
            / (limits.excess(taken) - limits.excess(each)),
            default=[],
        )  # fmt: skip
        if not taken:
            return ()
    while True:
        better = min((each for each in _exchanges(taken, groups) if limits.allow(each)),
                     key=_price, default=taken)  # fmt: skip
        if _price(better) >= _price(taken):
            return _numbers(taken)
        taken = better


def draw_offers(scene: WebScene, authors: Sequence[str]) -> tuple[WorkOffer, ...]:
    """Draw offers for seven works, in the order of their numbers.

    Args:
        scene: Source of the draws.
        authors: Names of the people who enter offers, some of them authorised.
    """
    works, firms = scene.sample(WORKS, _COUNT), [scene.say(*each.split("|")) for each in _FIRMS]
    drawn = []
    for work in works:
        base = int(scene.rng.integers(400, 1_800))
        for firm in scene.sample(firms, _OFFERS):
            haste = float(scene.rng.random())
            days = max(1, round(11 - 8 * haste + float(scene.rng.normal(0, 1.2))))
            price = base * (0.75 + 0.6 * haste + float(scene.rng.normal(0, 0.1)))
            drawn.append((scene.say(*work.split("|")), firm, max(60, round(price)), days))
    numbers = sorted(scene.sample(range(101, 500), len(drawn)))
    return tuple(
        WorkOffer(f"O-{number}", work, firm, price, days, scene.pick(authors))
        for number, (work, firm, price, days) in zip(
            numbers, scene.sample(drawn, len(drawn)), strict=True
        )
    )


def draw_limits(scene: WebScene, offers: tuple[WorkOffer, ...]) -> OfferLimits | None:
    """Draw limits for which greedy exchanges miss the unique best plan.

    Returns:
        None if there are none.
    """
    groups = _by_work(offers).values()
    low = sum(min(each.days for each in group) for group in groups)
    high = sum(min(group, key=lambda each: each.price).days for group in groups)
    for days in scene.sample(range(low + 3, max(low + 4, high - 3)), 30):
        limits = OfferLimits(days, 2)
        best = best_plan(offers, limits)
        if best and best != hasty_plan(offers, limits):
            return limits
    return None


def priced_anew(
    scene: WebScene, offers: Sequence[WorkOffer], counting: Sequence[WorkOffer],
    plan: Sequence[str],
) -> tuple[WorkOffer, ...]:  # fmt: skip
    """Return the offers after a change: one was removed, added or repriced.

    Args:
        scene: Source of the draw.
        offers: Those on the page.
        counting: Those that count.
        plan: Numbers of the current plan.
    """
    taken = [each for each in counting if each.number in plan]
    others = [each for each in counting if each.number not in plan]
    if not taken or not others:
        return tuple(offers)
    kind = scene.pick(("gone", "dearer", "cheaper", "new"))
    if kind in ("gone", "dearer"):
        old = scene.pick(taken)
        dearer = _with_price(old, old.price + int(scene.rng.integers(40, 200)))
        return tuple(dearer if each is old else each for each in offers
                     if each is not old or kind == "dearer")  # fmt: skip
    old = scene.pick(others)
    price = round(old.price * float(scene.rng.uniform(0.6, 0.9)))
    if kind == "cheaper":
        return tuple(_with_price(old, price) if each is old else each for each in offers)
    known = {each.number for each in offers}
    number = next(f"O-{each}" for each in count(500) if f"O-{each}" not in known)
    return (*offers, WorkOffer(number, old.work, old.firm, price, old.days, old.author))


def _with_price(offer: WorkOffer, price: int) -> WorkOffer:
    return replace(offer, price=price)


def _by_work(offers: Iterable[WorkOffer]) -> Mapping[str, list[WorkOffer]]:
    groups: dict[str, list[WorkOffer]] = {}
    for offer in offers:
        groups.setdefault(offer.work, []).append(offer)
    return groups


def _sums(groups: Sequence[Sequence[int]]) -> NDArray[np.int32]:
    """Return the sum of every choice of one number from each group; one axis for each."""
    sums = np.zeros((), dtype=np.int32)
    for group in groups:
        sums = np.add.outer(sums, np.array(group, dtype=np.int32))
    return sums


def _exchanges(
    taken: Sequence[WorkOffer], groups: Sequence[Sequence[WorkOffer]]
) -> Iterable[list[WorkOffer]]:
    """Yield every choice that differs in one work."""
    for place, group in enumerate(groups):
        for offer in group:
            if offer is not taken[place]:
                yield [*taken[:place], offer, *taken[place + 1 :]]


def _price(offers: Iterable[WorkOffer]) -> int:
    return sum(each.price for each in offers)


def _numbers(offers: Iterable[WorkOffer]) -> tuple[str, ...]:
    return tuple(sorted(each.number for each in offers))
