"""From a seed and a size to arrays: families, their headers, and one row of codes per product.

Besides the search index, this is the only slow part of building a catalogue; the store saves the
result. Families come in sibling pairs that differ only in the kind of goods, so that the kind is a
constraint like any other.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import hexathlon.tasks.catalogue.columns as at
from hexathlon.tasks.catalogue.design import FamilyPlan, plan_family
from hexathlon.tasks.catalogue.goods import CATEGORIES
from hexathlon.tasks.catalogue.names import BRANDS, SERIES, sellers
from hexathlon.tasks.catalogue.noise import Stream
from hexathlon.tasks.catalogue.pricing import (
    draw_prices,
    draw_ratings,
    least_prices,
    tier_bounds,
)
from hexathlon.tasks.seeding import derive_seed

__all__ = ["FAMILY", "LARGEST", "SMALLEST", "STAR", "Layout", "catalogue_seed", "lay_out"]

SMALLEST, LARGEST = 1_000, 4_000_000
"""Supported range of catalogue sizes."""
FAMILY = np.dtype(
    [
        ("first", "<u4"),
        ("size", "<u2"),
        ("category", "u1"),
        ("kind", "u1"),
        ("brand", "u1"),
        ("series", "u1"),
        ("base", "<u4"),
        ("bounds", "<u4", (2,)),
        ("axes", "<u4"),
        ("sellers", "u1", (3,)),
        ("palette", "u1", (2, 6)),
        ("star_first", "<u4"),
        ("stars", "u1"),
    ]
)
"""Families 2k and 2k+1 are siblings. `palette`: per option, the four values that distinguish
products, then the two that all offer. `bounds`: the prices that separate the tiers. `axes`: a bit
for each column that varies."""
STAR = np.dtype([("number", "<u4"), ("axes", "<u4")])
_MEMBERS = (20, 120)
_BRANDS_OF_CATEGORY = 40


@dataclass(frozen=True, slots=True)
class Layout:
    """A catalogue without texts."""

    families: npt.NDArray[Any]
    """Of dtype `FAMILY`."""
    stars: npt.NDArray[Any]
    """Of dtype `STAR`, in order of family."""
    codes: npt.NDArray[np.uint8]
    """(products, WIDTH)."""
    prices: npt.NDArray[np.uint32]
    """Cents before the surcharges of options."""
    least: npt.NDArray[np.uint32]
    """Cents of each product's cheapest variant."""
    ratings: npt.NDArray[np.uint8]
    """Tenths of a star."""


@dataclass(frozen=True, slots=True)
class _Pair:
    number: int
    category: int
    series: int
    """Position among the (brand, series) combinations of the category."""
    sizes: tuple[int, int]


def catalogue_seed(seed: int) -> int:
    """Return the seed of all random draws in the catalogue."""
    return derive_seed("shopping", "catalogue", seed)


def lay_out(seed: int, size: int) -> Layout:
    """Build the arrays of a catalogue; a pure function of both numbers."""
    if not SMALLEST <= size <= LARGEST:
        raise ValueError(f"a catalogue has {SMALLEST} to {LARGEST} products, not {size}")
    noise = catalogue_seed(seed)
    families: list[tuple[Any, ...]] = []
    stars: list[tuple[int, int]] = []
    codes = np.zeros((size, at.WIDTH), dtype=np.uint8)
    first = 0
    for pair in _pairs(noise, size):
        plan = plan_family(
            at.columns_of(pair.category), pair.sizes[0], Stream(noise, 21, pair.number)
        )
        header = _header(noise, pair)
        kinds = Stream(noise, 22, pair.number).shuffled(range(_kinds(pair.category)))
        for side, members in enumerate(pair.sizes):
            order = Stream(noise, 23, pair.number, side).shuffled(range(members))
            place = {row: first + i for i, row in enumerate(order)}
            codes[first : first + members] = [plan.rows[row] for row in order]
            own = [(place[star.row], _mask(star.axes)) for star in plan.stars]
            families.append(_family(first, members, kinds[side], pair, header, plan, len(stars)))
            stars.extend(own)
            first += members
    table = np.array(families, dtype=FAMILY)
    prices = draw_prices(noise, table, codes)
    return Layout(
        table,
        np.array(stars, dtype=STAR),
        codes,
        prices,
        least_prices(table, codes, prices),
        draw_ratings(noise, codes),
    )


def _pairs(noise: int, size: int) -> Iterator[_Pair]:
    """Divide the size among pairs of families; the first pairs cover every category."""
    stream = Stream(noise, 20)
    known = len(CATEGORIES)
    least = _MEMBERS[0]
    most = max(least + 4, min(_MEMBERS[1], size // known - 28))
    deck = stream.shuffled(range(known))
    seen = [0] * known
    number = 0
    left = size
    while left > 0:
        category = deck[number] if number < known else stream.below(known)
        if left > 2 * most:
            members = least + stream.below(min(most, (left - 2 * least) // 2) - least + 1)
            sizes = (members, members)
        else:
            sizes = ((left + 1) // 2, left // 2)
        yield _Pair(number, category, seen[category], sizes)
        seen[category] += 1
        number += 1
        left -= sum(sizes)


def _kinds(category: int) -> int:
    return len(CATEGORIES[category].kinds)


def _mask(axes: tuple[int, ...]) -> int:
    return sum(1 << axis for axis in axes)


def _header(noise: int, pair: _Pair) -> dict[str, Any]:
    """Draw the shared properties of a pair of families."""
    stream = Stream(noise, 24, pair.number)
    grammar = CATEGORIES[pair.category]
    low, high = grammar.price_cents
    base = (low + (high - low) * stream.below(1001) ** 2 // 1_000_000) // 10 * 10
    bounds = tier_bounds(base, stream.below(1001) / 1000)
    palette = [[0] * 6, [0] * 6]
    for i, option in enumerate(grammar.options):
        palette[i] = stream.shuffled(range(len(option.values)))[:6]
    shops = stream.shuffled(range(len(sellers(noise))))[:3]
    return {
        "base": base, "bounds": bounds, "palette": palette, "sellers": shops,
        "name": _line_name(noise, pair),
    }  # fmt: skip


def _line_name(noise: int, pair: _Pair) -> tuple[int, int]:
    """Return (brand, series), unique among the pairs of a category."""
    lines = _BRANDS_OF_CATEGORY * SERIES
    stream = Stream(noise, 25, pair.category)
    step = stream.below(lines // 6) * 6 + 1
    while np.gcd(step, lines) != 1:
        step += 6
    line = (stream.below(lines) + pair.series * step) % lines
    house = stream.shuffled(range(BRANDS))[:_BRANDS_OF_CATEGORY]
    return house[line % _BRANDS_OF_CATEGORY], line // _BRANDS_OF_CATEGORY


def _family(
    first: int,
    members: int,
    kind: int,
    pair: _Pair,
    header: dict[str, Any],
    plan: FamilyPlan,
    star_first: int,
) -> tuple[Any, ...]:
    brand, series = header["name"]
    return (
        first, members, pair.category, kind, brand, series, header["base"], header["bounds"],
        _mask(plan.axes), header["sellers"], header["palette"], star_first, len(plan.stars),
    )  # fmt: skip
