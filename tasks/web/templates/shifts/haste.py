"""Plans as a hurried clerk makes them: greedy choices, improved by exchanges.

Only days on which all of these lead to a plan other than the best one are kept.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hexathlon.tasks.web.templates.shifts.plans import (
    NONE,
    Ints,
    Offers,
    PlanTable,
    PlanTerms,
    bundles_of,
    table_of,
)

__all__ = ["exchanged_plan", "exchanged_plans", "hasty_plan"]

Places = NDArray[np.intp]

_RATES = (20, 50, 100, 200)
"""Euros at which a day is valued."""

_SETS = 4
"""Number of cheapest-looking sets of firms to begin with."""


@lru_cache(maxsize=64)
def hasty_plan(offers: Offers, terms: PlanTerms) -> tuple[str, ...]:
    """Return the plan that single exchanges lead to, from the cheapest offer for each work."""
    table = table_of(offers, terms)
    for firms in _mended(table, table.price.argmin(axis=1)[None]):
        while True:
            cost, excess = _single(table, firms[None])
            able = np.where(excess[0] > 0, NONE, cost[0])
            work, firm = np.unravel_index(int(able.argmin()), able.shape)
            if able[work, firm] >= _costs(table, firms[None])[0][0]:
                return table.plan(firms)
            firms[work] = firm
    return ()


@lru_cache(maxsize=64)
def exchanged_plan(
    offers: Offers, terms: PlanTerms, former: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Return the cheapest of `exchanged_plans`; nothing if there are none."""
    table = table_of(offers, terms)
    found = np.concatenate(list(_exchanged(table, former)))
    return table.plan(found[int(_costs(table, found)[0].argmin())]) if len(found) else ()


def exchanged_plans(
    offers: Offers, terms: PlanTerms, former: tuple[str, ...] = ()
) -> Iterator[tuple[str, ...]]:
    """Yield the plans that exchanges of one or two works lead to, from several beginnings.

    Args:
        offers: Those that count.
        terms: Terms of the plan.
        former: Numbers of the plan that held before.
    """
    table = table_of(offers, terms)
    for found in _exchanged(table, former):
        yield from map(table.plan, found)


def _exchanged(table: PlanTable, former: tuple[str, ...]) -> Iterator[Ints]:
    """Yield the results in batches, those of the quickest beginnings first."""
    for batch in (_by_prices(table, former), _by_firms(table)):
        beginnings = np.array(list(batch), dtype=np.int32)
        yield _improved(table, _distinct(_mended(table, _distinct(beginnings))))


def _distinct(choices: Ints) -> Ints:
    """Return choices without repetitions, in their order."""
    return np.array(list(dict.fromkeys(map(tuple, choices.tolist()))), dtype=np.int32).reshape(
        -1, choices.shape[1]
    )


# Beginnings ------------------------------------------------------------------------------------


def _by_prices(table: PlanTable, former: tuple[str, ...]) -> Iterator[Ints]:
    """Yield choices by work, which need not be allowed: those of before, and the lowest prices."""
    price, once = table.price, table.charges[:, 1]
    cheapest = price.argmin(axis=1)
    if former:
        known = [[row.index(each) for each in former if each in row] for row in table.numbers]
        kept = [found[0] if found else firm for found, firm in zip(known, cheapest, strict=True)]
        yield np.array(kept, dtype=np.int32)
    yield cheapest
    yield (price + once).argmin(axis=1)
    yield (price + once // table.terms.works).argmin(axis=1)


def _by_firms(table: PlanTable) -> Iterator[Ints]:
    """Yield choices with a value for days, by bundles and by sets of firms."""
    share = table.price + table.charges[:, 1] // table.terms.works
    for rate in _RATES:
        yield (share + rate * table.days).argmin(axis=1)
    yield from _by_bundles(table)
    yield from _by_sets(table)


def _by_bundles(table: PlanTable) -> Iterator[Ints]:
    """Give away the bundle that is cheapest for its works, again and again; by two measures."""
    masks, member, cost = bundles_of(table)
    lowest = member @ table.price.min(axis=1)
    sizes = member.sum(axis=1)
    for measure in (
        cost / np.maximum(lowest, 1)[:, None],
        (cost - lowest[:, None]) / np.maximum(sizes, 1)[:, None],
    ):
        measure = np.where((cost < NONE) & (sizes > 0)[:, None], measure, np.inf)
        firms, left = table.price.argmin(axis=1), (1 << len(table.price)) - 1
        while left:
            able = np.where((masks & ~left == 0)[:, None], measure, np.inf)
            bundle, firm = np.unravel_index(able.argmin(), able.shape)
            if not np.isfinite(able[bundle, firm]):
                break
            firms[member[bundle] > 0] = firm
            left &= ~int(masks[bundle])
            measure[:, firm] = np.inf
        yield firms


def _by_sets(table: PlanTable) -> Iterator[Ints]:
    """Yield the cheapest offers within the cheapest-looking sets of firms."""
    works, firms = table.price.shape
    size = min(firms, -(-works // table.terms.works))
    sets = np.array(list(combinations(range(firms), size)))
    looks = table.price[:, sets].min(axis=2).sum(axis=0) + table.charges[sets, 1].sum(axis=1)
    for place in np.argsort(looks, kind="stable")[:_SETS]:
        yield sets[place][table.price[:, sets[place]].argmin(axis=1)]


# Exchanges -------------------------------------------------------------------------------------


def _costs(table: PlanTable, choices: Ints) -> tuple[Ints, Ints]:
    """Return what choices of firms cost, and by how much they exceed the terms."""
    (count, works), firms = choices.shape, table.price.shape[1]
    cells = (np.arange(count)[:, None] * firms + choices).ravel()
    every = np.arange(works)
    size = count * firms
    days = np.bincount(cells, table.days[every, choices].ravel(), size).reshape(count, firms)
    number = np.bincount(cells, minlength=size).reshape(count, firms)
    excess = np.maximum(days - table.terms.days, 0).sum(axis=1)
    excess = excess + 3 * np.maximum(number - table.terms.works, 0).sum(axis=1)
    for pair, apart in ((table.apart, True), (table.together, False)):
        if pair:
            excess = excess + 3 * ((choices[:, pair[0]] == choices[:, pair[1]]) == apart)
    cost = table.price[every, choices].sum(axis=1)
    cost = cost + table.charges[np.arange(firms), number].sum(axis=1)
    return np.minimum(cost, NONE), excess


def _single(table: PlanTable, choices: Ints) -> tuple[Ints, Ints]:
    """Return `_costs` of exchanging one work, by choice, the work and the firm it goes to."""
    price, days, charges, terms = table.price, table.days, table.charges, table.terms
    works, count = price.shape
    each, every = np.arange(works), np.arange(count)
    taken = (choices[:, :, None] == every).astype(np.int32)
    number, used = taken.sum(axis=1)[:, None], (taken * days).sum(axis=1)[:, None]
    fewer, less = number - taken, used - taken * days
    more, longer = fewer + 1, less + days

    def over(number: Ints, used: Ints) -> Ints:
        days, works = np.maximum(used - terms.days, 0), np.maximum(number - terms.works, 0)
        excess: Ints = days + 3 * works
        return excess

    left = over(fewer, less)
    excess = left.sum(axis=2, keepdims=True) + over(more, longer) - left
    due = charges[every, fewer]
    fixed = price[each, choices]
    cost = due.sum(axis=2, keepdims=True) - due + charges[every, more] + price
    cost += (fixed.sum(axis=1, keepdims=True) - fixed)[:, :, None]
    for pair, apart in ((table.apart, True), (table.together, False)):
        if pair:
            same = np.repeat(choices[:, pair[:1]] == choices[:, pair[1:]], works, axis=1)[
                :, :, None
            ]
            same = np.repeat(same, count, axis=2)
            for one, other in (pair, pair[::-1]):
                same[:, one] = choices[:, other, None] == every
            excess += 3 * (same == apart)
    return np.minimum(cost, NONE), excess


def _mended(table: PlanTable, choices: Ints) -> Ints:
    """Exchange what costs least for what it mends until the terms are kept.

    Returns:
        The choices for which that leads to allowed ones.
    """
    choices, failed = choices.copy(), np.zeros(len(choices), dtype=bool)
    while True:
        cost, excess = _costs(table, choices)
        rows = np.flatnonzero(((excess > 0) | (cost >= NONE)) & ~failed)
        if not len(rows):
            return choices[~failed]
        dearer, after = (each.reshape(len(rows), -1) for each in _single(table, choices[rows]))
        cost, excess = cost[rows, None], excess[rows, None]
        better = (after < excess) & (dearer < NONE)
        rates = np.where(better, (dearer - cost) / np.maximum(excess - after, 1), np.inf)
        work, firm = np.unravel_index(rates.argmin(axis=1), table.price.shape)
        failed[rows] = ~better.any(axis=1)
        choices[rows, work] = firm


def _improved(table: PlanTable, choices: Ints) -> Ints:
    """Exchange one or two works at a time, always what saves most."""
    works, count = table.price.shape
    first, second = np.triu_indices(works, 1)
    choices, rows = choices.copy(), np.arange(len(choices))
    while len(rows):
        saved = _savings(table, choices[rows], first, second).reshape(len(rows), -1)
        place = saved.argmax(axis=1)
        better = saved[np.arange(len(rows)), place] > 0
        rows, place = rows[better], place[better]
        pair, one, other = np.unravel_index(place, (len(first), count, count))
        choices[rows, first[pair]], choices[rows, second[pair]] = one, other
    return choices


def _savings(table: PlanTable, choices: Ints, first: Places, second: Places) -> Ints:
    """Return what exchanging two works saves, by choice, the two works and the firms they go to."""
    price, days, charges, terms = table.price, table.days, table.charges, table.terms
    works, count = price.shape
    every = np.arange(count)
    taken = (choices[:, :, None] == every).astype(np.int32)
    whole = taken.sum(axis=1)
    before = (taken * days).sum(axis=1)
    number, used = (
        total[:, None] - part[:, first] - part[:, second]
        for total, part in ((whole, taken), (before, taken * days))
    )
    fixed = price[np.arange(works), choices]
    total = fixed.sum(axis=1)[:, None]
    left = total - fixed[:, first] - fixed[:, second] + charges[every, number].sum(axis=2)
    now = total[:, 0] + charges[every, whole].sum(axis=1)
    one_more = charges[every, np.minimum(number + 1, works)] - charges[every, number]
    two_more = charges[every, np.minimum(number + 2, works)] - charges[every, number]
    fits = [
        (used + days[each] <= terms.days) & (number < terms.works) & (price[each] < NONE)
        for each in (first, second)
    ]
    cost = (left[:, :, None] + price[first] + one_more)[:, :, :, None]
    cost = cost + (price[second] + one_more)[:, :, None, :]
    able = fits[0][:, :, :, None] & fits[1][:, :, None, :]
    cost[:, :, every, every] = left[:, :, None] + price[first] + price[second] + two_more
    able[:, :, every, every] &= (used + days[first] + days[second] <= terms.days) & (
        number + 2 <= terms.works
    )
    for pair, apart in ((table.apart, True), (table.together, False)):
        if pair:
            one, other = (_whereabouts(table, choices, each, first, second) for each in pair)
            able &= (one == other) != apart
    return np.where(able, now[:, None, None, None] - cost, -NONE)


def _whereabouts(table: PlanTable, choices: Ints, work: int, first: Places, second: Places) -> Ints:
    """Return the firm of a work after all exchanges of two works, in the axes of `_savings`."""
    every = np.arange(table.price.shape[1], dtype=np.int32)
    return np.where(
        (first == work)[:, None, None],
        every[:, None],
        np.where((second == work)[:, None, None], every, choices[:, work, None, None, None]),
    )
