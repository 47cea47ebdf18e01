"""Amounts of an order at the counter: what the kept goods cost, and what has to be refunded."""

from collections.abc import Collection, Mapping
from typing import Any

from hexathlon.tasks.shopping.world.tables import Record

__all__ = [
    "due_refund", "goods_cents", "keeps_coupon", "payable_cents", "placed_cents", "refund_by_lines",
]  # fmt: skip


def goods_cents(order: Record, *, leaving: Collection[str] = ()) -> int:
    """Return the value of the goods that count as kept; lines in `leaving` do not.

    Lines that were returned as damaged count.
    """
    return sum(
        line["cents"]
        for line in order["lines"]
        if (line["state"] in ("ordered", "exchanged") and line["line"] not in leaving)
        or line["state"] == "returned damaged"
    )


def keeps_coupon(order: Record) -> bool:
    """Whether the goods kept reach the minimum of the order's coupon."""
    coupon = order["coupon"]
    return bool(coupon) and goods_cents(order) >= coupon["min_cents"]


def payable_cents(order: Record, free_cents: int) -> int:
    """Return what the customer has to pay for an order as it stands.

    Lines that were returned as damaged cost nothing but count for coupon and delivery fee.
    """
    if all(line["state"] == "cancelled" for line in order["lines"]):
        return 0
    goods = goods_cents(order)
    damaged = sum(line["cents"] for line in order["lines"] if line["state"] == "returned damaged")
    discount = order["coupon"]["off_cents"] if keeps_coupon(order) else 0
    fee = 0 if goods >= free_cents else order["delivery_cents"]
    return int(goods - damaged - discount + fee)


def placed_cents(order: Record, free_cents: int) -> dict[str, int]:
    """Return `paid_cents` and `fee_cents` of an order as placed."""
    fee = 0 if goods_cents(order) >= free_cents else order["delivery_cents"]
    return {"paid_cents": payable_cents(order, free_cents), "fee_cents": fee}


def due_refund(order: Record, free_cents: int, late_cents: int = 0) -> int:
    """Return the total refund of an order: paid less payable, plus what is due for lateness."""
    return int(order["paid_cents"] - payable_cents(order, free_cents) + late_cents)


def refund_by_lines(order: Mapping[str, Any], free_cents: int) -> int:
    """Return the total refund of an order, derived line by line from what the customer gives up.

    This is the second derivation beside `due_refund`.
    """
    given = [line for line in order["lines"] if line["state"] in ("cancelled", "returned")]
    broken = [line for line in order["lines"] if line["state"] == "returned damaged"]
    refund = sum(line["cents"] for line in (*given, *broken))
    whole = sum(line["cents"] for line in order["lines"])
    if all(line["state"] == "cancelled" for line in order["lines"]):
        return int(order["paid_cents"])
    left = whole - sum(line["cents"] for line in given)
    coupon = order["coupon"]
    if coupon and whole >= coupon["min_cents"] > left:
        refund -= coupon["off_cents"]
    if whole >= free_cents > left:
        refund -= order["delivery_cents"]
    return int(refund)
