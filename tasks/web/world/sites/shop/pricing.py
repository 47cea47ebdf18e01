"""Prices of carts and refunds of returns, by the shop's published rules."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = [
    "CartTotals",
    "cart_lines",
    "coupon_problem",
    "discount_of",
    "last_return_day",
    "line_discounts",
    "price_totals",
    "refund_of",
    "settings_of",
]

INSURANCE = 290
WRAPPING = 350


class CartTotals(NamedTuple):
    """A priced cart, in cents."""

    goods: int
    discount: int
    shipping: int
    insurance: int
    wrapping: int

    @property
    def total(self) -> int:
        """The amount to pay."""
        return self.goods - self.discount + self.shipping + self.insurance + self.wrapping


def settings_of(store: SiteStore) -> dict[str, int]:
    """Return the numbers of the shop's rules by name."""
    return {row["name"]: row["value"] for row in store.rows("SELECT * FROM _settings")}


def cart_lines(store: SiteStore, person: str) -> list[StoreRow]:
    """Return the lines of a cart with goods, prices and stock."""
    return store.rows(
        "SELECT c.id, c.variant, c.quantity, v.price, v.stock, v.options, p.id AS product, "
        "p.title, "
        "p.department, p.category, p.return_days, p.days FROM cart c JOIN variants v "
        "ON v.id = c.variant JOIN products p ON p.id = v.product WHERE c.person = ? ORDER BY c.id",
        (person,),
    )


def coupon_problem(coupon: StoreRow | None, lines: Sequence[StoreRow], today: date) -> str:
    """Return the label of a coupon's problem with a cart; empty if it applies."""
    if coupon is None:
        return "coupon_unknown"
    if coupon["ends"] < today.isoformat():
        return "coupon_ended"
    base = _base(coupon, lines)
    if base == 0:
        return "coupon_nothing"
    return "coupon_minimum" if base < coupon["minimum"] else ""


def discount_of(coupon: StoreRow | None, lines: Sequence[StoreRow]) -> int:
    """Return the discount on goods in cents; final-sale goods are excluded."""
    if coupon is None or coupon["kind"] == "shipping":
        return 0
    base = _base(coupon, lines)
    if coupon["kind"] == "percent":
        return int(base * coupon["amount"] // 100)
    return int(min(coupon["amount"], base))


def price_totals(
    lines: Sequence[StoreRow], coupon: StoreRow | None, method: str, slot_fee: int,
    settings: Mapping[str, int], *, insurance: bool = False, wrapping: bool = False,
) -> CartTotals:  # fmt: skip
    """Price a cart."""
    goods = sum(line["price"] * line["quantity"] for line in lines)
    discount = discount_of(coupon, lines)
    shipping = settings[f"shipping_{method}"]
    free = coupon is not None and coupon["kind"] == "shipping"
    if method == "standard" and (free or goods - discount >= settings["free_shipping"]):
        shipping = 0
    return CartTotals(
        goods,
        discount,
        shipping + slot_fee,
        INSURANCE if insurance else 0,
        WRAPPING if wrapping else 0,
    )


def last_return_day(delivered: str, days: int, settings: Mapping[str, int]) -> date | None:
    """Return the last day on which goods may be returned without a fault; None for final sale."""
    if days == 0:
        return None
    arrived = date.fromisoformat(delivered)
    last = arrived + timedelta(days=days)
    first, final, until = (
        date.fromordinal(settings[f"jubilee_{name}"]) for name in ("from", "to", "until")
    )
    return max(last, until) if first <= arrived <= final else last


def line_discounts(coupon: StoreRow | None, lines: Sequence[StoreRow]) -> list[int]:
    """Return every line's share of the discount; the last eligible line gets the remainder."""
    total, shares = discount_of(coupon, lines), [0] * len(lines)
    if coupon is None or total == 0:
        return shares
    base, left = _base(coupon, lines), total
    taking = [i for i, line in enumerate(lines) if _takes_part(coupon, line)]
    for i in taking:
        share = total * lines[i]["price"] * lines[i]["quantity"] // base
        shares[i] = left if i == taking[-1] else share
        left -= shares[i]
    return shares


def refund_of(item: StoreRow, quantity: int, condition: str, settings: Mapping[str, int]) -> int:
    """Return the refund in cents: what was paid for the goods, less the fee for opened ones."""
    paid = (item["price"] * item["quantity"] - item["discount"]) * quantity // item["quantity"]
    if condition == "opened" and item["price"] > settings["fee_over"]:
        paid = paid * (100 - settings["fee_percent"]) // 100
    return int(paid)


def _takes_part(coupon: StoreRow, line: StoreRow) -> bool:
    return bool(line["return_days"]) and coupon["department"] in ("", line["department"])


def _base(coupon: StoreRow, lines: Sequence[StoreRow]) -> int:
    return sum(line["price"] * line["quantity"] for line in lines if _takes_part(coupon, line))
