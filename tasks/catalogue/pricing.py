"""Prices and ratings of all products at once, from family headers and rows of codes.

The three price tiers are so far apart that a bound between them separates them regardless of
quality, noise and option surcharges.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import hexathlon.tasks.catalogue.columns as at
from hexathlon.tasks.catalogue.goods import CATEGORIES
from hexathlon.tasks.catalogue.grammar import Attribute
from hexathlon.tasks.catalogue.noise import mix_array

__all__ = ["draw_prices", "draw_ratings", "least_prices", "surcharges", "tier_bounds"]

_TIER = (1.0, 1.3, 1.69)
_SPREAD = 0.04
"""Prices within a tier vary by this share of the tier's price, up or down."""
_SURCHARGE = 0.06
"""Surcharge of the most expensive value of an ordered option, as a share of the base price."""


def tier_bounds(base: int, chance: float) -> tuple[int, int]:
    """Return two round prices in cents that separate the three tiers; `chance` is in [0, 1]."""
    grain = 50 if base >= 5_000 else 10
    share = 1.13 + 0.07 * chance
    low, high = (round(base * tier * share / grain) * grain for tier in _TIER[:2])
    return low, high


def surcharges(option: Attribute, base: int) -> Sequence[int]:
    """Return the surcharge of each option value, in cents, increasing with the value's rank."""
    values = len(option.values)
    if option.order == "none":
        return [0] * values
    return [int(base * _SURCHARGE * rank / (values - 1)) // 10 * 10 for rank in range(values)]


def draw_prices(
    noise: int, families: npt.NDArray[Any], codes: npt.NDArray[np.uint8]
) -> npt.NDArray[np.uint32]:
    """Draw prices by tier, with small effects of quality and noise; always x.x9."""
    base = np.repeat(families["base"].astype(np.float64), families["size"])
    category = np.repeat(families["category"], families["size"])
    quality = np.zeros(len(codes))
    for number in range(len(CATEGORIES)):
        ordered = [c for c in at.columns_of(number) if c.order != "none" and c.position < 10]
        rows = np.flatnonzero(category == number)
        for column in ordered:
            share = codes[rows, column.position] / (column.values - 1)
            quality[rows] += (share if column.order == "more" else 1 - share) / len(ordered)
    chance = mix_array(noise, 31, np.arange(len(codes))) / 2.0**64
    spread = 1 + _SPREAD * (1.2 * quality + 0.8 * chance - 1)
    cents = base * np.array(_TIER)[codes[:, at.PRICE]] * spread
    rounded: npt.NDArray[np.uint32] = (np.floor(cents / 10) * 10 + 9).astype(np.uint32)
    return rounded


def least_prices(
    families: npt.NDArray[Any], codes: npt.NDArray[np.uint8], prices: npt.NDArray[np.uint32]
) -> npt.NDArray[np.uint32]:
    """Return the price of each product's cheapest variant, in cents."""
    least = prices.copy()
    for family in families:
        rows = slice(int(family["first"]), int(family["first"]) + int(family["size"]))
        for i, option in enumerate(CATEGORIES[family["category"]].options):
            if option.order == "none":
                continue
            extra = surcharges(option, int(family["base"]))
            own, shared = np.split(np.array(extra, dtype=np.uint32)[family["palette"][i]], [4])
            least[rows] += np.minimum(own, shared.min())[codes[rows, at.FIRST_OPTION + i]]
    return least


def draw_ratings(noise: int, codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Draw ratings within each product's tier, in tenths of a star."""
    tier = codes[:, at.RATING]
    width = np.array([6, 5, 5])[tier]
    chance = mix_array(noise, 32, np.arange(len(codes))) % width.astype(np.uint64)
    return (np.array(at.RATING_FLOORS)[tier] + chance.astype(np.int64)).astype(np.uint8)
