"""The price of a cart: bundles, coupons, shipping. Integer cents, pure functions, no catalogue.

The order is fixed, and the shopper is told it in the same words (`docs/notes/shopping_search.md`):
bundle discounts first; then the coupons in the given order, each on the remainder of the lines that
it covers; then shipping on the remainder of the goods. Every percentage is rounded down to a whole
cent in the shop's favour, line by line.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

__all__ = [
    "Address",
    "Bundle",
    "CartLine",
    "Coupon",
    "PriceBreakdown",
    "Rules",
    "ShippingRate",
    "price_cart",
]

Region = Literal["city", "country", "island"]
Speed = Literal["standard", "express"]


@dataclass(frozen=True, slots=True)
class Address:
    """A delivery address; only the region affects prices."""

    street: str
    city: str
    postcode: str
    region: Region = "city"


@dataclass(frozen=True, slots=True)
class CartLine:
    """A variant in a cart, with the properties that coupons and bundles depend on."""

    product_id: str
    variant_id: str
    quantity: int
    unit_cents: int
    category: str
    brand: str
    seller: str
    bundles: tuple[str, ...] = ()
    """`<bundle id>/<part>` of each bundle part that the product belongs to, part 0 or 1."""

    def __post_init__(self) -> None:
        if self.quantity < 1 or self.unit_cents < 0:
            raise ValueError(f"a line needs a quantity >= 1 and a price >= 0, not {self}")

    @property
    def cents(self) -> int:
        """Quantity times unit price."""
        return self.quantity * self.unit_cents


@dataclass(frozen=True, slots=True)
class Coupon:
    """A discount code; empty inclusions mean everything."""

    code: str
    kind: Literal["percent", "amount", "shipping"]
    value: int
    """Percent or cents; unused by `shipping`, which makes shipping free."""
    minimum_cents: int = 0
    """Minimum value of the covered lines, after bundles and earlier coupons."""
    maximum_cents: int | None = None
    """Maximum discount of a percentage coupon."""
    categories: tuple[str, ...] = ()
    excluded_categories: tuple[str, ...] = ()
    excluded_brands: tuple[str, ...] = ()
    excluded_sellers: tuple[str, ...] = ()
    first_order_only: bool = False
    stackable: bool = False
    """Whether it combines with other coupons; two that are not stackable never combine."""
    last_day: int | None = None
    """Last day of validity in the shop's calendar."""

    def covers(self, line: CartLine) -> bool:
        """Whether the coupon applies to this line."""
        return (
            (not self.categories or line.category in self.categories)
            and line.category not in self.excluded_categories
            and line.brand not in self.excluded_brands
            and line.seller not in self.excluded_sellers
        )


@dataclass(frozen=True, slots=True)
class Bundle:
    """A discount for goods bought together: one item of each part makes a set."""

    id: str
    families: tuple[int, int]
    percent: int
    """Discount on every item of a complete set."""


@dataclass(frozen=True, slots=True)
class ShippingRate:
    """The price of shipping to one region."""

    standard_cents: int
    express_cents: int
    free_from_cents: int | None
    """Goods worth at least this much ship free by standard shipping; None: never."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The shop's price rules on one day."""

    shipping: Mapping[Region, ShippingRate]
    bundles: Mapping[str, Bundle] = field(default_factory=dict)
    max_coupons: int = 2
    today: int = 0
    """Current day in the shop's calendar."""
    first_order: bool = False


@dataclass(frozen=True, slots=True)
class PriceBreakdown:
    """A priced cart; `total_cents` is the amount charged."""

    subtotal_cents: int
    bundle_cents: int
    """Discount from bundles, as a positive number."""
    coupon_cents: Mapping[str, int]
    """Discount from each accepted coupon, in order of use."""
    shipping_cents: int
    total_cents: int
    refused: Mapping[str, str]
    """Coupon code -> reason: repeated, expired, first_order, too_many, not_stackable, excluded,
    minimum."""


def price_cart(
    lines: Sequence[CartLine],
    coupons: Iterable[Coupon],
    address: Address,
    rules: Rules,
    speed: Speed = "standard",
) -> PriceBreakdown:
    """Price a cart.

    An invalid coupon is refused with a reason and has no effect.
    """
    left = [line.cents for line in lines]
    subtotal = sum(left)
    bundle_off = _apply_bundles(lines, left, rules.bundles)
    taken: dict[str, int] = {}
    refused: dict[str, str] = {}
    used: list[Coupon] = []
    for coupon in coupons:
        reason = _refusal(coupon, used, lines, left, rules)
        if reason is not None:
            refused.setdefault(coupon.code, reason)
            continue
        used.append(coupon)
        taken[coupon.code] = _apply_coupon(coupon, lines, left)
    goods = sum(left)
    shipping = _shipping(goods, bool(lines), rules.shipping[address.region], speed)
    for coupon in used:
        if coupon.kind == "shipping":
            taken[coupon.code] = shipping
            shipping = 0
    return PriceBreakdown(subtotal, bundle_off, taken, shipping, goods + shipping, refused)


def _apply_bundles(
    lines: Sequence[CartLine], left: list[int], bundles: Mapping[str, Bundle]
) -> int:
    """Subtract bundle discounts from `left` in place; one unit belongs to at most one set."""
    free = [line.quantity for line in lines]
    total = 0
    named = {part.split("/")[0] for line in lines for part in line.bundles}
    for bundle in (bundles[name] for name in sorted(named) if name in bundles):
        sides = [
            [i for i, line in enumerate(lines) if f"{bundle.id}/{side}" in line.bundles]
            for side in range(2)
        ]
        sets = min(sum(free[i] for i in side) for side in sides)
        for side in sides:
            total += _discount_units(side, sets, bundle.percent, lines, free, left)
    return total


def _discount_units(
    members: list[int],
    sets: int,
    percent: int,
    lines: Sequence[CartLine],
    free: list[int],
    left: list[int],
) -> int:
    total = 0
    for i in sorted(members, key=lambda i: (-lines[i].unit_cents, i)):
        units = min(sets, free[i])
        off = units * (lines[i].unit_cents * percent // 100)
        free[i] -= units
        sets -= units
        left[i] -= off
        total += off
    return total


def _refusal(
    coupon: Coupon,
    used: Sequence[Coupon],
    lines: Sequence[CartLine],
    left: Sequence[int],
    rules: Rules,
) -> str | None:
    covered = [cents for line, cents in zip(lines, left, strict=True) if coupon.covers(line)]
    if any(other.code == coupon.code for other in used):
        return "repeated"
    if coupon.last_day is not None and rules.today > coupon.last_day:
        return "expired"
    if coupon.first_order_only and not rules.first_order:
        return "first_order"
    if len(used) >= rules.max_coupons:
        return "too_many"
    if used and not (coupon.stackable and all(other.stackable for other in used)):
        return "not_stackable"
    if not covered:
        return "excluded"
    return "minimum" if sum(covered) < coupon.minimum_cents else None


def _apply_coupon(coupon: Coupon, lines: Sequence[CartLine], left: list[int]) -> int:
    """Subtract one coupon from `left` in place and return the amount subtracted."""
    if coupon.kind == "shipping":
        return 0
    covered = [i for i, line in enumerate(lines) if coupon.covers(line)]
    percent = coupon.kind == "percent"
    room = coupon.maximum_cents if percent else coupon.value
    taken = 0
    for i in covered:
        off = left[i] * coupon.value // 100 if percent else left[i]
        if room is not None:
            off = min(off, room - taken)
        left[i] -= off
        taken += off
    return taken


def _shipping(goods: int, any_goods: bool, rate: ShippingRate, speed: Speed) -> int:
    if not any_goods:
        return 0
    if speed == "express":
        return rate.express_cents
    if rate.free_from_cents is not None and goods >= rate.free_from_cents:
        return 0
    return rate.standard_cents
