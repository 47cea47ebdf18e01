"""Layouts of eight things on eight places: a quadratic assignment problem.

The best layout is found among all 40,320. `SiteLayout.hasty` works as people do by hand: it puts
one thing after the other where it fits best, and then exchanges two things, or two pairs of things.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

__all__ = ["COUNT", "MARGIN", "PAIRS", "SiteLayout", "Pair", "Placement"]

Pair = tuple[int, int]
"""Two things or two places, the smaller number first."""

Placement = tuple[int, ...]
"""A layout: the place of each thing; both are numbers from 0."""

_Ints = NDArray[np.int64]
Costs = NDArray[np.int16]
_Ranks = NDArray[np.uint16]
"""Layouts as their numbers in the order of all layouts."""

COUNT = 8
PAIRS: tuple[Pair, ...] = tuple(combinations(range(COUNT), 2))

_DIGITS = COUNT ** np.arange(COUNT - 1, -1, -1, dtype=np.int64)
"""Values of the digits of a number in base `COUNT`, highest first."""

MARGIN = 4
"""Every other layout costs at least so much more than the best one."""

_BOUND = 8_000
"""Cost of a thing on a place that is barred for it: more than all pairs together."""

_LISTED = 300
"""Number of best layouts that are searched for a rival."""

_MOVED = 5
"""Layouts in which at least so many things have other places are more than two exchanges apart."""


@dataclass(frozen=True)
class SiteLayout:
    """A problem whose solutions are layouts.

    The cost of a layout is the sum over all pairs of things: the pair's value times the steps
    between their places.
    """

    values: Mapping[Pair, int]
    """By pair of things, between -9 and 9; pairs that are left out have the value 0."""

    steps: tuple[int, ...]
    """By pair of places, in the order of `PAIRS`, at most 24."""

    barred: tuple[tuple[int, int], ...] = ()
    """Pairs of a thing and a place that is barred for it, at most three."""

    def far(self, one: int, other: int) -> int:
        """Return the steps between two places."""
        return self.steps[PAIRS.index((min(one, other), max(one, other)))]

    def cost(self, places: Placement) -> int:
        """Return what a layout costs."""
        return sum(
            value * self.far(places[one], places[other])
            for (one, other), value in self.values.items()
        )

    def given(self, values: Mapping[Pair, int]) -> "SiteLayout":
        """Return the same with other values; those of 0 are left out."""
        return replace(self, values={pair: value for pair, value in values.items() if value})

    def best(self) -> tuple[Placement, int]:
        """Return the cheapest layout and its margin, which is 0 if there are several."""
        first, second = np.partition(self._costs, 1)[:2].tolist()
        return _layout(int(self._costs.argmin())), second - first

    def rival(self, places: Placement) -> Placement:
        """Return the cheapest layout that two exchanges do not reach from another one."""
        near = np.argpartition(self._costs, _LISTED)[:_LISTED]
        moved = (_layouts()[near] != np.array(places)).sum(axis=1) >= _MOVED
        far = near[moved] if moved.any() else near
        return _layout(int(far[np.lexsort((far, self._costs[far]))[0]]))

    def hasty(self, *former: Placement) -> Iterator[set[Placement]]:
        """Yield the layouts that exchanges reach from several starting points, the quickest first.

        Args:
            *former: Layouts that held before.
        """
        first = _ranks([*former, self._central(), self._grown(0)])
        quick = self._climbed(first, 1)
        yield {_layout(rank) for rank in quick.tolist()}
        both = self._climbed(np.concatenate([first, quick]), 2)
        yield {_layout(rank) for rank in both.tolist()}
        more = _ranks([self._grown(place) for place in range(1, COUNT)])
        yield {_layout(rank) for rank in self._climbed(more, 1).tolist()}

    @cached_property
    def _costs(self) -> Costs:
        """The costs of all layouts."""
        far, costs = _distances(self.steps), np.zeros(len(_layouts()), dtype=np.int16)
        for pair, value in self.values.items():
            costs += np.int16(value) * far[PAIRS.index(pair)]
        for thing, place in self.barred:
            costs[_layouts()[:, thing] == place] += np.int16(_BOUND)
        return costs

    def _climbed(self, starts: _Ranks, depth: int) -> _Ranks:
        """Make the best of all single or double exchanges, again and again, until none helps."""
        ranks, rows = starts.copy(), np.arange(len(starts))
        while len(rows):
            after = _neighbours()[ranks[rows]]
            if depth > 1:
                after = _neighbours()[after].reshape(len(rows), -1)
            costs = self._costs[after]
            place = costs.argmin(axis=1)
            lowest = costs[np.arange(len(rows)), place]
            better = lowest < self._costs[ranks[rows]]
            ranks[rows[better]] = after[better, place[better]]
            rows = rows[better]
        return ranks

    # Starting points ----------------------------------------------------------------------------

    @cached_property
    def _matrices(self) -> tuple[list[list[int]], list[list[int]]]:
        """Values by thing and thing, steps by place and place."""
        values, steps = ([[0] * COUNT for _ in range(COUNT)] for _ in range(2))
        for (one, other), far in zip(PAIRS, self.steps, strict=True):
            steps[one][other] = steps[other][one] = far
            values[one][other] = values[other][one] = self.values.get((one, other), 0)
        return values, steps

    def _central(self) -> Placement:
        """Put the thing with the highest values on the most central place, and so on."""
        values, steps = self._matrices
        things = sorted(range(COUNT), key=lambda thing: -sum(values[thing]))
        central = sorted(range(COUNT), key=lambda place: sum(steps[place]))
        at = dict(zip(things, central, strict=True))
        return tuple(at[thing] for thing in range(COUNT))

    def _grown(self, start: int) -> Placement:
        """Begin with the highest values, and add what is tied most to those placed."""
        values, steps = self._matrices
        at = {max(range(COUNT), key=lambda thing: sum(values[thing])): start}
        while len(at) < COUNT:
            thing = max(
                (each for each in range(COUNT) if each not in at),
                key=lambda each: sum(abs(values[each][other]) for other in at),
            )
            row = values[thing]
            at[thing] = min(
                (place for place in range(COUNT) if place not in at.values()),
                key=lambda place: ((thing, place) in self.barred,
                                   sum(row[each] * steps[place][at[each]] for each in at)),
            )  # fmt: skip
        return tuple(at[thing] for thing in range(COUNT))


# All layouts -----------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _layouts() -> NDArray[np.int8]:
    """Return all layouts, one a row."""
    return np.array(list(permutations(range(COUNT))), dtype=np.int8)


@lru_cache(maxsize=1)
def _numbers() -> NDArray[np.int64]:
    """Return all layouts as numbers whose digits are the places, in ascending order."""
    return _layouts().astype(np.int64) @ _DIGITS


def _layout(rank: int) -> Placement:
    return tuple(_layouts()[rank].tolist())


def _ranks(layouts: list[Placement]) -> _Ranks:
    numbers = np.array(layouts, dtype=np.int64) @ _DIGITS
    return np.searchsorted(_numbers(), numbers).astype(np.uint16)


@lru_cache(maxsize=1)
def _neighbours() -> _Ranks:
    """Return, for each layout, itself and those that one exchange of two things leads to."""
    powers = COUNT ** np.arange(COUNT - 1, dtype=np.int64)  # the last place follows from the others
    layouts = _layouts().astype(np.int64)
    codes = layouts[:, :-1] @ powers
    ranks = np.zeros(COUNT ** (COUNT - 1), dtype=np.uint16)
    ranks[codes] = np.arange(len(layouts), dtype=np.uint16)
    found = [codes]
    for one, other in PAIRS:
        more = layouts[:, other] - layouts[:, one]
        weight = powers[one] - (powers[other] if other < COUNT - 1 else 0)
        found.append(codes + more * weight)
    return np.stack([ranks[each] for each in found], axis=1)


@lru_cache(maxsize=2)
def _distances(steps: tuple[int, ...]) -> Costs:
    """Return the steps between the things of each pair in all layouts."""
    far = np.zeros((COUNT, COUNT), dtype=np.int16)
    for (one, other), each in zip(PAIRS, steps, strict=True):
        far[one, other] = far[other, one] = each
    columns = np.ascontiguousarray(_layouts().T).astype(np.intp)
    return np.stack([far.ravel()[columns[one] * COUNT + columns[other]] for one, other in PAIRS])
