"""Plans as a hurried clerk makes them: greedy choices, improved by exchanges.

Days are drawn for which all of this leads to another plan than the best one.
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
    firms = _mended(table, table.price.argmin(axis=1))
    while firms is not None:
        choices = _single(table, firms)
        cost, excess = _costs(table, choices)
        place = int(np.where(excess > 0, NONE, cost).argmin())
        if cost[place] >= _costs(table, firms[None])[0][0]:
            return table.plan(firms)
        firms = choices[place]
    return ()


@lru_cache(maxsize=64)
def exchanged_plan(
    offers: Offers, terms: PlanTerms, former: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Return the cheapest of `exchanged_plans`; nothing if there are none."""
    table = table_of(offers, terms)
    found = list(_exchanged(table, former))
    if not found:
        return ()
    return table.plan(found[int(_costs(table, np.array(found))[0].argmin())])


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
    yield from map(table.plan, _exchanged(table, former))


def _exchanged(table: PlanTable, former: tuple[str, ...]) -> Iterator[Ints]:
    for beginning in _beginnings(table, former):
        firms = _mended(table, beginning)
        if firms is not None:
            yield _improved(table, firms)


# Beginnings ------------------------------------------------------------------------------------


def _beginnings(table: PlanTable, former: tuple[str, ...]) -> Iterator[Ints]:
    """Yield choices of a firm for each work, which need not be allowed."""
    price, once = table.price, table.charges[:, 1]
    cheapest = price.argmin(axis=1)
    if former:
        known = [[row.index(each) for each in former if each in row] for row in table.numbers]
        kept = [found[0] if found else firm for found, firm in zip(known, cheapest, strict=True)]
        yield np.array(kept, dtype=np.int32)
    yield cheapest
    yield (price + once).argmin(axis=1)
    share = price + once // table.terms.works
    yield share.argmin(axis=1)
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


def _single(table: PlanTable, firms: Ints) -> Ints:
    """Return all choices that differ in at most one work."""
    works, count = table.price.shape
    choices = np.tile(firms, (works * count, 1))
    choices[np.arange(works * count), np.repeat(np.arange(works), count)] = np.tile(
        np.arange(count), works
    )
    return choices


def _mended(table: PlanTable, firms: Ints) -> Ints | None:
    """Exchange what costs least for what it mends until the terms are kept; None if it fails."""
    while True:
        (cost,), (excess,) = _costs(table, firms[None])
        if excess == 0 and cost < NONE:
            return firms
        choices = _single(table, firms)
        dearer, after = _costs(table, choices)
        better = (after < excess) & (dearer < NONE)
        if not better.any():
            return None
        rates = (dearer - cost) / np.maximum(excess - after, 1)
        firms = choices[int(np.where(better, rates, np.inf).argmin())]


def _improved(table: PlanTable, firms: Ints) -> Ints:
    """Exchange one or two works at a time, always what saves most."""
    works, count = table.price.shape
    first, second = np.triu_indices(works, 1)
    while True:
        saved = _savings(table, firms, first, second)
        pair, one, other = np.unravel_index(int(saved.argmax()), saved.shape)
        if saved[pair, one, other] <= 0:
            return firms
        firms = firms.copy()
        firms[first[pair]], firms[second[pair]] = one, other


def _savings(table: PlanTable, firms: Ints, first: Places, second: Places) -> Ints:
    """Return what exchanging two works saves, by the two works and the firms they go to."""
    price, days, charges, terms = table.price, table.days, table.charges, table.terms
    works, count = price.shape
    pairs, every = np.arange(len(first)), np.arange(count)
    number = np.bincount(firms, minlength=count)
    used = np.bincount(firms, days[np.arange(works), firms], count).astype(np.int32)
    number, used = np.tile(number, (len(pairs), 1)), np.tile(used, (len(pairs), 1))
    for places in (first, second):
        number[pairs, firms[places]] -= 1
        used[pairs, firms[places]] -= days[places, firms[places]]
    fixed = price[np.arange(works), firms]
    left = fixed.sum() - fixed[first] - fixed[second] + charges[every, number].sum(axis=1)
    now = fixed.sum() + charges[every, np.bincount(firms, minlength=count)].sum()
    one_more = charges[every, np.minimum(number + 1, works)] - charges[every, number]
    two_more = charges[every, np.minimum(number + 2, works)] - charges[every, number]
    fits = [
        (used + days[each] <= terms.days) & (number < terms.works) & (price[each] < NONE)
        for each in (first, second)
    ]
    cost = left[:, None, None] + (price[first] + one_more)[:, :, None]
    cost = cost + (price[second] + one_more)[:, None, :]
    able = fits[0][:, :, None] & fits[1][:, None, :]
    cost[:, every, every] = left[:, None] + price[first] + price[second] + two_more
    able[:, every, every] &= (used + days[first] + days[second] <= terms.days) & (
        number + 2 <= terms.works
    )
    for pair, apart in ((table.apart, True), (table.together, False)):
        if pair:
            same = [
                np.where(
                    (first == each)[:, None, None],
                    every[None, :, None],
                    np.where((second == each)[:, None, None], every, firms[each]),
                )
                for each in pair
            ]
            able &= (same[0] == same[1]) != apart
    return np.where(able, now - cost, -NONE)
