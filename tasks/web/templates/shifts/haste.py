"""Plans as a hurried clerk makes them: greedy choices, improved by exchanges.

Only days on which all of these lead to a plan other than the best one are kept.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hexathlon.tasks.seeding import generator_for
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

_Places = NDArray[np.intp]

_RATES = (20, 50, 100, 200)
"""Euros at which a day is valued."""

_SETS = 4
"""Number of cheapest-looking sets of firms to begin with."""

_CHANCES, _CHEAPEST = 8, 4
"""Number of random starting points, and of the cheapest offers of a work from which they draw."""


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
    price, once = table.price, table.charges
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
    share = table.price + table.charges // table.terms.works
    for rate in _RATES:
        yield (share + rate * table.days).argmin(axis=1)
    yield from _by_bundles(table)
    yield from _by_sets(table)
    yield from _by_chance(table)


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
    looks = table.price[:, sets].min(axis=2).sum(axis=0) + table.charges[sets].sum(axis=1)
    for place in np.argsort(looks, kind="stable")[:_SETS]:
        yield sets[place][table.price[:, sets[place]].argmin(axis=1)]


def _by_chance(table: PlanTable) -> Iterator[Ints]:
    """Yield choices among the cheapest offers for each work, always the same ones."""
    works, firms = table.price.shape
    ranks = generator_for("plans at random", 0).integers(
        min(_CHEAPEST, firms), size=(_CHANCES, works)
    )
    order = np.argsort(table.price, axis=1, kind="stable")
    for each in ranks:
        yield order[np.arange(works), each]


# Exchanges -------------------------------------------------------------------------------------


def _sets(table: PlanTable, choices: Ints) -> Ints:
    """Return the set of works of every firm, by choice."""
    works, firms = table.price.shape
    taken = choices[:, :, None] == np.arange(firms)
    sets: Ints = (taken * _bits(works)[:, None]).sum(axis=1, dtype=np.int32)
    return sets


def _bits(works: int) -> Ints:
    return np.int32(1) << np.arange(works, dtype=np.int32)


def _places(sets: Ints) -> _Places:
    """Return where the values of sets of works are, with firms in the last axis.

    Adding a work to a set moves its places by the work's bit times the number of firms.
    """
    firms = sets.shape[-1]
    places: _Places = sets.astype(np.intp) * firms + np.arange(firms)
    return places


def _at(values: Ints, places: _Places) -> Ints:
    # All places are valid; `clip` only saves the check of each of them, which is slow.
    taken: Ints = values.ravel().take(places, mode="clip")
    return taken


def _costs(table: PlanTable, choices: Ints) -> tuple[Ints, Ints]:
    """Return what choices of firms cost, and by how much they exceed the terms."""
    places = _places(_sets(table, choices))
    cost, excess = (_at(each, places).sum(axis=1) for each in (table.cost, table.excess))
    return np.minimum(cost, NONE), excess


def _single(table: PlanTable, choices: Ints) -> tuple[Ints, Ints]:
    """Return `_costs` of exchanging one work, by choice, the work and the firm it goes to."""
    bit = _bits(len(table.price))[:, None]
    left = _places(_sets(table, choices)[:, None] & ~bit)
    more = left + bit * np.intp(table.price.shape[1])

    def total(values: Ints) -> Ints:
        rest = _at(values, left)
        whole: Ints = rest.sum(axis=2, keepdims=True) - rest + _at(values, more)
        return whole

    return np.minimum(total(table.cost), NONE), total(table.excess)


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
    allowed, choices, rows = table.allowed, choices.copy(), np.arange(len(choices))
    while len(rows):
        sets = _sets(table, choices[rows])
        cost = _double(allowed, sets, first, second).reshape(len(rows), -1)
        place = cost.argmin(axis=1)
        better = cost[np.arange(len(rows)), place] < _at(allowed, _places(sets)).sum(axis=1)
        rows, place = rows[better], place[better]
        pair, one, other = np.unravel_index(place, (len(first), count, count))
        choices[rows, first[pair]], choices[rows, second[pair]] = one, other
    return choices


def _double(allowed: Ints, sets: Ints, first: _Places, second: _Places) -> Ints:
    """Return the cost of exchanging two works, by choice, by both and by the firms they go to.

    It is `NONE` or more if the result is not allowed.
    """
    every = np.arange(sets.shape[1])
    one, other = (np.int32(1) << each.astype(np.int32)[:, None] for each in (first, second))
    left = _places(sets[:, None] & ~(one | other))
    rest = _at(allowed, left)
    whole = rest.sum(axis=2, dtype=np.int32)[:, :, None]
    firms = np.intp(sets.shape[1])
    rises = [_at(allowed, left + each * firms) - rest for each in (one, other, one | other)]
    cost: Ints = (whole + rises[0])[:, :, :, None] + rises[1][:, :, None]
    cost[:, :, every, every] = whole + rises[2]
    return cost
