"""Coupons, bundles and shipping rates of a catalogue, drawn from its seed."""

from collections.abc import Mapping
from functools import lru_cache

from hexathlon.tasks.catalogue.goods import CATEGORIES
from hexathlon.tasks.catalogue.money import Bundle, Coupon, Region, ShippingRate
from hexathlon.tasks.catalogue.names import brands, sellers
from hexathlon.tasks.catalogue.noise import Stream

__all__ = ["bundle_parts", "draw_bundles", "draw_coupons", "draw_rates"]

_COUPONS = 24
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"


@lru_cache(maxsize=8)
def draw_bundles(noise: int, families: int) -> tuple[Bundle, ...]:
    """Return the bundles: one per ten families, with no family in two of them."""
    deck = Stream(noise, 61).shuffled(range(families)) if families <= 2_000 else []
    stream = Stream(noise, 62)
    count = max(2, min(families, 2_000) // 10)
    if not deck:
        step = families // (2 * count)
        deck = [i * step + stream.below(step) for i in range(2 * count)]
    return tuple(
        Bundle(f"B{i + 1:04d}", (deck[2 * i], deck[2 * i + 1]), 5 * (1 + stream.below(4)))
        for i in range(count)
    )


@lru_cache(maxsize=8)
def bundle_parts(noise: int, families: int) -> Mapping[int, tuple[str, ...]]:
    """Return a mapping from family to its parts, `<bundle id>/<part>`."""
    return {
        family: (f"{bundle.id}/{part}",)
        for bundle in draw_bundles(noise, families)
        for part, family in enumerate(bundle.families)
    }


@lru_cache(maxsize=8)
def draw_coupons(noise: int) -> tuple[Coupon, ...]:
    """Return the shop's coupons; their days count from 0, the shop's current day."""
    return tuple(_coupon(noise, number) for number in range(_COUPONS))


def draw_rates(noise: int) -> Mapping[Region, ShippingRate]:
    """Return the shipping rate of each region."""
    stream = Stream(noise, 64)
    base = 390 + 100 * stream.below(3)
    free = 4_900 + 1_000 * stream.below(4)
    return {
        "city": ShippingRate(base, base + 600, free),
        "country": ShippingRate(base + 200, base + 1_100, free + 2_000),
        "island": ShippingRate(base + 900, base + 2_400, None),
    }


def _coupon(noise: int, number: int) -> Coupon:
    stream = Stream(noise, 63, number)
    slugs = [category.slug for category in CATEGORIES]
    code = "".join(stream.pick(_LETTERS) for _ in range(4)) + f"{10 + number}"
    kind = ("percent", "amount", "percent", "shipping")[number % 4]
    percent = kind == "percent"
    value = 5 * (1 + stream.below(5)) if percent else 100 * (3 + stream.below(10))
    narrow = stream.chance(40)
    picked = stream.shuffled(slugs)
    houses = [brand.en for brand in stream.shuffled(brands(noise))[:8]]
    shops = [slug for slug, _ in stream.shuffled(sellers(noise))[:6]]
    return Coupon(
        code=code,
        kind=kind,  # type: ignore[arg-type]
        value=0 if kind == "shipping" else value,
        minimum_cents=1_000 * stream.below(9) if kind != "amount" else value * 4,
        maximum_cents=1_000 * (2 + stream.below(4)) if percent and stream.chance(50) else None,
        categories=tuple(picked[:4]) if narrow else (),
        excluded_categories=() if narrow else tuple(picked[: stream.below(4)]),
        excluded_brands=tuple(houses) if stream.chance(40) else (),
        excluded_sellers=tuple(shops) if stream.chance(30) else (),
        first_order_only=stream.chance(10),
        stackable=stream.chance(50),
        last_day=stream.below(60) - 12,
    )
