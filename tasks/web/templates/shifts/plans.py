"""Plans of a shift: one offer for each of several works, under terms that join the works of a firm.

A firm charges a single call-out fee, its works have to fit into its days, and some pairs of works are
cheaper or dearer at the same firm. The cost of a work therefore depends on the firms chosen for all
others. The best plan is found in two ways: `best_plan` by dynamic programming over sets of works,
`plans_within` by a lower bound from prices per work, and all combinations of the bundles that this
bound leaves. Which offers count is decided by `rules`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "MARGIN",
    "NONE",
    "REBATED",
    "PlanTable",
    "PlanTerms",
    "WorkOffer",
    "best_plan",
    "bundles_of",
    "is_only_plan",
    "plan_cost",
    "plans_within",
    "table_of",
]

Ints = NDArray[np.int32]
Offers = tuple["WorkOffer", ...]

MARGIN = 3
"""Every other plan costs at least so many euros more."""

REBATED = 3
"""Works of a firm from which on it grants a rebate."""

NONE = 10**6
"""Price of what is not offered or not allowed."""

_WORK_TOO_MANY = 3
"""Days by which a work too many, or a broken condition, exceeds the terms."""


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
    """Name of whoever entered it."""


@dataclass(frozen=True)
class PlanTerms:
    """Terms of a plan."""

    days: int
    """Days of the works of one firm together, at most."""

    works: int
    """Works of one firm, at most."""

    charges: tuple[tuple[str, int], ...] = ()
    """Call-out charges by firm, due once if the firm gets a work."""

    apart: tuple[str, ...] = ()
    """Two works that different firms get; empty if there are none."""

    together: tuple[str, ...] = ()
    """Two works that the same firm gets; empty if there are none."""

    rebate: int = 0
    """Euros off for every firm that gets `REBATED` works or more."""

    savings: tuple[tuple[str, str, int], ...] = ()
    """Pairs of works, each with the euros off if the same firm gets both; negative if it is dearer."""

    def allow(self, offers: Sequence[WorkOffer]) -> bool:
        """Whether a choice of one offer for each work is within the terms."""
        firms = {each.work: each.firm for each in offers}
        return (
            all(
                sum(each.days for each in group) <= self.days and len(group) <= self.works
                for group in _by_firm(offers).values()
            )
            and (not self.apart or len({firms[each] for each in self.apart}) == 2)
            and (not self.together or len({firms[each] for each in self.together}) == 1)
        )


def plan_cost(offers: Sequence[WorkOffer], terms: PlanTerms) -> int:
    """Return what a plan costs: prices and charges, less rebates and savings."""
    charges, firms = dict(terms.charges), {each.work: each.firm for each in offers}
    saved = sum(
        amount
        for one, other, amount in terms.savings
        if one in firms and firms[one] == firms.get(other)
    )
    return -saved + sum(
        sum(each.price for each in group)
        + charges.get(firm, 0)
        - terms.rebate * (len(group) >= REBATED)
        for firm, group in _by_firm(offers).items()
    )


def _by_firm(offers: Iterable[WorkOffer]) -> Mapping[str, list[WorkOffer]]:
    groups: dict[str, list[WorkOffer]] = {}
    for offer in offers:
        groups.setdefault(offer.firm, []).append(offer)
    return groups


# Tables ----------------------------------------------------------------------------------------


class PlanTable(NamedTuple):
    """Offers and terms as arrays.

    Sets of works are bit masks; the last axis of all arrays is firms.
    """

    price: Ints
    """By work."""

    days: Ints
    """By work."""

    charges: Ints
    """The call-out charges."""

    cost: Ints
    """By set of works: what it costs with charge, rebate and savings, at most `NONE`."""

    excess: Ints
    """By set of works: by how much it exceeds the terms; 0 if it is allowed."""

    numbers: tuple[tuple[str, ...], ...]
    """Numbers of offers, by work and firm."""

    terms: PlanTerms

    @property
    def allowed(self) -> Ints:
        """Cost by set of works, `NONE` if it is not allowed."""
        return np.where(self.excess > 0, NONE, self.cost)

    def plan(self, firms: Sequence[int] | Ints) -> tuple[str, ...]:
        """Return the numbers of the offers, in ascending order, that give each work a firm."""
        return tuple(sorted(row[firm] for row, firm in zip(self.numbers, firms, strict=True)))


@lru_cache(maxsize=32)
def table_of(offers: Offers, terms: PlanTerms) -> PlanTable:
    """Return offers and terms as arrays.

    Raises:
        ValueError: If a firm has two offers for one work.
    """
    works = sorted({each.work for each in offers})
    firms = sorted({each.firm for each in offers})
    price = np.full((len(works), len(firms)), NONE, dtype=np.int32)
    days = np.zeros_like(price)
    numbers = [[""] * len(firms) for _ in works]
    for offer in offers:
        work, firm = works.index(offer.work), firms.index(offer.firm)
        if numbers[work][firm]:
            raise ValueError(f"{offer.firm} has two offers for {offer.work}")
        price[work, firm], days[work, firm] = offer.price, offer.days
        numbers[work][firm] = offer.number
    once = dict(terms.charges)
    charges = np.array([once.get(each, 0) for each in firms], dtype=np.int32)
    places = {work: place for place, work in enumerate(works)}
    cost, excess = _sets(price, days, charges, terms, places)
    return PlanTable(price, days, charges, cost, excess, tuple(map(tuple, numbers)), terms)


def _sets(
    price: Ints, days: Ints, charges: Ints, terms: PlanTerms, places: Mapping[str, int]
) -> tuple[Ints, Ints]:
    """Return cost and excess of all sets of works at every firm."""
    member = _members(len(price))
    sizes = member.sum(axis=1)
    saved = terms.rebate * (sizes >= REBATED)
    pairs = [each for each in terms.savings if each[0] in places and each[1] in places]
    if pairs:
        first = [places[one] for one, _, _ in pairs]
        second = [places[other] for _, other, _ in pairs]
        both = member[:, first] & member[:, second]
        saved = saved + both @ np.array([each[2] for each in pairs], dtype=np.int32)
    # Products of floats are exact here, and ten times as fast as those of integers.
    cost = member.astype(float) @ price + (sizes > 0)[:, None] * charges - saved[:, None]
    broken = _WORK_TOO_MANY * np.maximum(sizes - terms.works, 0)
    for pair, apart in ((terms.apart, True), (terms.together, False)):
        if pair and all(each in places for each in pair):
            one, other = (member[:, places[each]] > 0 for each in pair)
            broken += _WORK_TOO_MANY * (one & other if apart else one != other)
    excess = np.maximum(member.astype(float) @ days - terms.days, 0) + broken[:, None]
    return np.minimum(cost, NONE).astype(np.int32), excess.astype(np.int32)


@lru_cache(maxsize=8)
def _members(count: int) -> Ints:
    """Return, by set of works and work, 1 if it is in the set."""
    return np.arange(1 << count, dtype=np.int32)[:, None] >> np.arange(count, dtype=np.int32) & 1


# Bundles ---------------------------------------------------------------------------------------


class _Bundles(NamedTuple):
    """Sets of works that a firm may get, the empty one first, and how they make up larger sets."""

    masks: Ints
    member: Ints
    """By bundle and work: 1 if it is in the bundle."""

    rest: NDArray[np.intp]
    """For all pairs of disjoint sets of works and bundles, by their union: the set."""

    bundle: NDArray[np.intp]
    """The bundle of each pair."""

    start: NDArray[np.intp]
    """Place of the first pair of each union."""


@lru_cache(maxsize=8)
def _bundles(count: int, most: int) -> _Bundles:
    masks = np.array(
        [
            sum(1 << each for each in chosen)
            for size in range(most + 1)
            for chosen in combinations(range(count), size)
        ],
        dtype=np.int32,
    )
    every = np.arange(1 << count, dtype=np.int32)
    rests = [every[every & mask == 0] for mask in masks]
    rest = np.concatenate(rests)
    bundle = np.repeat(np.arange(len(masks), dtype=np.int32), [len(each) for each in rests])
    union = rest | masks[bundle]
    order = np.argsort(union, kind="stable")
    return _Bundles(
        masks,
        masks[:, None] >> np.arange(count) & 1,
        rest[order].astype(np.intp),
        bundle[order].astype(np.intp),
        np.searchsorted(union[order], every),
    )


def bundles_of(table: PlanTable) -> tuple[Ints, Ints, Ints]:
    """Return all bundles: their masks, their works, and what each costs at every firm."""
    count = len(table.price)
    every = _bundles(count, min(table.terms.works, count))
    return every.masks, every.member, table.allowed[every.masks]


@lru_cache(maxsize=512)
def best_plan(offers: Offers, terms: PlanTerms) -> tuple[str, ...]:
    """Return the numbers of the cheapest plan in ascending order.

    Firm by firm, every set of works is given the cheapest way to have it done by the firms so far:
    a bundle for this firm, and the cheapest way for the rest of the set.

    Returns:
        Nothing if there is no plan, or if several are the cheapest.
    """
    if not offers:
        return ()
    table = table_of(offers, terms)
    masks, _, cost = bundles_of(table)
    count, firms = table.price.shape
    layers = _layers(_bundles(count, min(terms.works, count)), cost)
    full = (1 << count) - 1
    best = int((layers[-1][full ^ masks] + cost[:, -1]).min())
    found = list[tuple[int, ...]]()

    def trace(firm: int, works: int, price: int, taken: tuple[int, ...]) -> None:
        """Go back from a set of works and its price to the bundles that make it up."""
        if firm < 0:
            found.append(taken)
            return
        fits = masks & works == masks
        before = layers[firm][works ^ np.where(fits, masks, 0)]
        for place in np.flatnonzero(fits & (before + cost[:, firm] == price) & (before < NONE)):
            if len(found) < 2:
                trace(
                    firm - 1,
                    works ^ int(masks[place]),
                    int(before[place]),
                    (int(masks[place]), *taken),
                )

    if best < NONE:
        trace(firms - 1, full, best, ())
    if len(found) != 1:
        return ()
    return table.plan(
        [
            next(firm for firm, mask in enumerate(found[0]) if mask >> work & 1)
            for work in range(count)
        ]
    )


def _layers(every: _Bundles, cost: Ints) -> list[Ints]:
    """Return the least cost of each set of works with the first 0, 1, … firms, all but the last."""
    layers = [np.full(len(every.start), NONE, dtype=np.int32) for _ in range(2)]
    layers[0][0] = 0
    columns = np.ascontiguousarray(cost.T[:-1])
    if not len(columns):
        return layers[:1]
    layers[1][every.masks] = np.minimum(columns[0], NONE)  # sets of one firm are its bundles
    ways, bundle = np.empty((2, len(every.rest)), dtype=np.int32)
    for each in columns[1:]:
        # `take` with an output array and `clip` is twice as fast as indexing.
        np.take(layers[-1], every.rest, out=ways, mode="clip")
        ways += np.take(each, every.bundle, out=bundle, mode="clip")
        layers.append(np.minimum(np.minimum.reduceat(ways, every.start), NONE))
    return layers


# Prices per work -------------------------------------------------------------------------------

_ROUNDS = 60
_PATIENCE = 5
"""Rounds without a better bound after which steps get smaller."""


@lru_cache(maxsize=64)
def plans_within(offers: Offers, terms: PlanTerms, most: int) -> list[tuple[str, ...]]:
    """Return all plans that cost at most so much.

    If every work is paid a fixed price, the prices less what each firm gains at most by a bundle
    are a lower bound of all plans. A plan costs this bound and what its bundles fall short of
    their firms' greatest gains, so only bundles that fall short by little can be in a cheap plan.
    """
    if not offers:
        return []
    table = table_of(offers, terms)
    masks, member, cost = bundles_of(table)
    prices, bound = _prices(member, cost, most)
    short = cost - (member @ prices)[:, None]
    short -= short.min(axis=0)
    slack = most - bound + 1e-6
    if slack < 0:
        return []
    able = [np.flatnonzero(each) for each in ((short <= slack) & (cost < NONE)).T]
    by_number = {each.number: each for each in offers}
    found = list[tuple[str, ...]]()
    for bundles in _combined(masks, short, slack, able):
        firms = member[bundles].argmax(axis=0)
        plan = [by_number[each] for each in table.plan(firms)]
        if terms.allow(plan) and plan_cost(plan, terms) <= most:
            found.append(tuple(each.number for each in plan))
    return found


def _prices(member: Ints, cost: Ints, most: int) -> tuple[NDArray[np.float64], float]:
    """Return prices per work, raised by subgradient steps, and the bound to which they lead.

    Polyak's step length, with `most` for the optimum, halved whenever the bound stops rising.
    """
    works = member.shape[1]
    prices = kept = np.full(works, most / works)
    best, pace, stale = -np.inf, 1.0, 0
    for _ in range(_ROUNDS):
        short = cost - (member @ prices)[:, None]
        bound = float(prices.sum() + short.min(axis=0).sum())
        if bound > best:
            best, kept, stale = bound, prices, 0
        else:
            stale += 1
        uncovered = 1 - member[short.argmin(axis=0)].sum(axis=0)
        if bound > most or not uncovered.any():
            break
        if stale == _PATIENCE:
            prices, pace, stale = kept, pace / 2, 0
        else:
            prices = prices + pace * (most + 1 - bound) / (uncovered**2).sum() * uncovered
    return kept, best


def _combined(
    masks: Ints, short: NDArray[np.float64], slack: float, able: Sequence[NDArray[np.intp]]
) -> NDArray[np.intp]:
    """Return all choices of a bundle for each firm that share no work and fall short by the slack.

    Together, the bundles have to contain every work.
    """
    chosen = np.zeros((1, len(able)), dtype=np.intp)
    done, left = np.zeros(1, dtype=np.int32), np.full(1, slack)
    for firm in sorted(range(len(able)), key=lambda firm: len(able[firm])):
        bundles = able[firm]
        fits = (done[:, None] & masks[bundles] == 0) & (short[bundles, firm] <= left[:, None])
        row, place = np.nonzero(fits)
        taken = bundles[place]
        chosen, done = chosen[row], done[row] | masks[taken]
        chosen[:, firm], left = taken, left[row] - short[taken, firm]
    whole: NDArray[np.intp] = chosen[done == np.bitwise_or.reduce(masks)]
    return whole


def is_only_plan(offers: Offers, terms: PlanTerms, plan: Sequence[str]) -> bool:
    """Whether a plan is allowed and every other one costs at least `MARGIN` more."""
    taken = [each for each in offers if each.number in plan]
    most = plan_cost(taken, terms) + MARGIN - 1
    return bool(plan) and plans_within(offers, terms, most) == [tuple(plan)]
