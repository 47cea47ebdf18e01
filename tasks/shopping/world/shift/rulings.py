"""What the policy makes of a request: permitted, or declined with reason, record and rule."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hexathlon.tasks.shopping.world.shift.policy import (
    AUTHORITY,
    Memo,
    ShiftPolicy,
    rule_number,
    terms_at,
)
from hexathlon.tasks.shopping.world.tables import Record

__all__ = ["RULES", "Decline", "Facts", "late_cents", "refund_method", "ruling"]

RULES = {
    "not_owner": "own", "not_agreed": "claims", "already_packed": "cancel",
    "window_passed": "return", "final_sale": "final", "already_exchanged": "exchanged",
    "no_free_unit": "stock", "suspended": "exchange", "not_late": "late",
    "already_paid": "once", "budget_spent": "budget",
}  # fmt: skip
"""Reasons for refusals, in the order in which the tools name them, with the rule of each."""


class Decline(NamedTuple):
    """A refusal."""

    reason: str
    record: str
    rule: str


class Facts(NamedTuple):
    """What a ruling depends on, except the request."""

    policy: ShiftPolicy
    memos: Sequence[Memo]
    now: int
    """Time of day in minutes."""

    persons: Mapping[str, str]
    """Person by account; two accounts can belong to one person."""

    category: Mapping[str, str]
    """Category by item."""

    stock: Mapping[str, Record]
    """`units` and `reserved` by variant."""

    goodwill: Mapping[str, Record]
    """`cents` and `customer` by order."""


def ruling(request: Mapping[str, Any], order: Record, asker: str, facts: Facts) -> Decline | None:
    """Return the refusal of a request about one order, or one line of it; None if it is allowed.

    Args:
        request: `do` (`cancel`, `restore`, `address`, `carrier`, `note`, `return`, `exchange`,
            `late`, `goodwill`, `claim`), and for lines `line`, `damaged` and `variant`.
        order: The order.
        asker: Account of the customer who asks.
        facts: Records, policy and memos.
    """
    found = _reasons(request, order, asker, facts)
    if not found:
        return None
    known = [memo for memo in facts.memos if memo.at <= facts.now and memo.author == AUTHORITY]
    for memo in sorted(known, key=lambda memo: memo.at, reverse=True):
        # The memo without which the request would be allowed; it may be one that withdraws another.
        others = [other for other in facts.memos if other.id != memo.id]
        if not _reasons(request, order, asker, facts._replace(memos=others)):
            return Decline(*found[0][:2], memo.id)
    place = facts.policy.order.index
    reason, record, rule = min(found, key=lambda each: place(each[2]))
    return Decline(reason, record, rule_number(facts.policy, rule))


def _reasons(
    request: Mapping[str, Any], order: Record, asker: str, facts: Facts
) -> list[tuple[str, str, str]]:
    """Return every reason against a request, with its record and rule."""
    found: list[tuple[str, str]] = []
    what = request["do"]
    line = next((x for x in order["lines"] if x["line"] == request.get("line")), None)
    own = facts.persons[order["customer"]] == facts.persons[asker]
    if not own:
        found.append(("not_owner", order["id"]))
    if what in ("cancel", "restore", "address", "carrier", "note"):
        if order["status"] != "pending":
            found.append(("already_packed", order["id"]))
    if what == "claim" and own:
        found.append(("not_agreed", order["id"]))
    if what in ("return", "exchange") and line is not None:
        found += _line_reasons(request, order, line, facts)
    if what in ("late", "goodwill") and not _is_late(order, facts):
        found.append(("not_late", order["id"]))
    if what == "goodwill":
        found += _money_reasons(order, facts)
    rules = {**RULES}
    if what in ("address", "carrier", "note"):
        rules["already_packed"] = "change"
    if what == "exchange":
        rules["window_passed"] = "exchange"
    return [(reason, record, rules[reason]) for reason, record in found]


def _line_reasons(
    request: Mapping[str, Any], order: Record, line: Record, facts: Facts
) -> list[tuple[str, str]]:
    name = f"{order['id']}/{line['line']}"
    terms = terms_at(facts.policy, facts.memos, facts.now, facts.category[line["product"]])
    found = []
    damaged = bool(request.get("damaged"))
    limit = terms.return_days + (terms.plus_days if order["tier"] == "plus" else 0)
    agreed = request["do"] == "return" and line["line"] in order["agreed"]
    if -order["delivered"] > limit and not damaged and not agreed:
        found.append(("window_passed", name))
    if line["state"] == "exchanged" and not damaged:
        found.append(("already_exchanged", name))
    if request["do"] == "return" and line["final_sale"] and terms.final and not damaged:
        found.append(("final_sale", name))
    if request["do"] == "exchange":
        stock = facts.stock[request["variant"]]
        if stock["units"] <= stock["reserved"]:
            found.append(("no_free_unit", request["variant"]))
        if terms.suspended:
            found.append(("suspended", name))
    return found


def _is_late(order: Record, facts: Facts) -> bool:
    days = terms_at(facts.policy, facts.memos, facts.now, "").late_days
    return bool(order["delivered"] - order["promised"] > days)


def _money_reasons(order: Record, facts: Facts) -> list[tuple[str, str]]:
    person = facts.persons[order["customer"]]
    found = []
    former = [
        key for key, paid in facts.goodwill.items()
        if paid["cents"] and facts.persons[paid["customer"]] == person
    ]  # fmt: skip
    if former:
        found.append(("already_paid", former[0]))
    amount = terms_at(facts.policy, facts.memos, facts.now, "").goodwill_cents
    spent = sum(paid["cents"] for paid in facts.goodwill.values())
    if spent + amount > facts.policy.budget_cents:
        found.append(("budget_spent", order["id"]))
    return found


def late_cents(order: Record, facts: Facts) -> int:
    """Return what is refunded for lateness if it is asked for; 0 if the order was not late."""
    if order["delivered"] is None or not _is_late(order, facts):
        return 0
    return int(order["fee_cents"] * (2 if order["tier"] == "plus" else 1))


def refund_method(order: Record, facts: Facts) -> str:
    """Return the payment method for refunds of a return."""
    days = terms_at(facts.policy, facts.memos, facts.now, "").cash_days
    return str(order["payment"] if -order["delivered"] <= days else order["gift"])
