"""Refunds of the desk: what is due when lines of an order go back.

`refund_due` compares what the order costs before and after; `refund_again` begins with the lines
that go back and takes off what is lost. Both follow the same rules and share no arithmetic.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from hexathlon.tasks.shopping.world.tables import Record

__all__ = ["Goes", "Refund", "late_days", "refund_again", "refund_due", "split"]


class Goes(NamedTuple):
    """Lines of an order that go back."""

    lines: frozenset[str]
    damaged: frozenset[str] = frozenset()
    opened: frozenset[str] = frozenset()


class Refund(NamedTuple):
    """What is due for lines that go back."""

    cents: int
    """Amount before points that are missing."""

    earned: int
    """Points that the lines have earned."""


def late_days(order: Record) -> int:
    """Return how many days late an order came, by the last scan of its parcel."""
    return int(order["scans"][-1][0]) - int(order["promised"])


def _sum(order: Record, lines: Collection[str]) -> int:
    return sum(int(line["cents"]) for line in order["lines"] if line["line"] in lines)


def refund_due(order: Record, goes: Goes, policy: Mapping[str, int]) -> Refund:
    """Return the refund as the difference of what the order costs before and after.

    Args:
        order: The order as it was bought.
        goes: Lines that go back.
        policy: Numbers of the policy.
    """
    everything = {line["line"] for line in order["lines"]}
    kept = everything - goes.lines
    counted = kept | goes.damaged
    pending = order["status"] == "pending"
    before = _sum(order, everything)
    paid = before - _off(order, before) + order["fee_charged"]
    after = _sum(order, kept) - _off(order, _sum(order, counted))
    if not pending:
        after += order["fee_charged"]
    elif kept:
        after += 0 if _sum(order, counted) >= policy["free_cents"] else order["fee"]
    fees = sum(
        int(line["cents"]) * policy["opened_percent"] // 100
        for line in order["lines"]
        if line["line"] in goes.opened - goes.damaged
    )
    return Refund(paid - after - fees, _sum(order, goes.lines) // 100)


def _off(order: Record, goods: int) -> int:
    coupon = order["coupon"]
    return int(coupon["off"]) if coupon and goods >= coupon["min"] else 0


def refund_again(order: Record, goes: Goes, policy: Mapping[str, int]) -> Refund:
    """Return the refund from the prices of the lines that go back, less what is lost."""
    cents = spent = held = left = back = 0
    for line in order["lines"]:
        price = int(line["cents"])
        spent += price
        if line["line"] not in goes.lines:
            left += 1
            held += price
            continue
        back += price
        cents += price
        if line["line"] in goes.damaged:
            held += price
        elif line["line"] in goes.opened:
            cents -= price * policy["opened_percent"] // 100
    coupon = order["coupon"]
    if coupon and spent >= coupon["min"] > held:
        cents -= coupon["off"]
    if order["status"] == "pending":
        if not left:
            cents += order["fee_charged"]
        elif order["fee_charged"] == 0 and held < policy["free_cents"]:
            cents -= order["fee"]
    return Refund(cents, back // 100)


def split(order: Record, cents: int, booked: int = 0) -> tuple[int, int]:
    """Split a refund: first to the gift card up to what was paid with it, the rest to the card."""
    gift = min(max(int(order["gift_paid"]) - booked, 0), cents)
    return gift, cents - gift
