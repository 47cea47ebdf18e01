"""The bookings that follow from all matters of a case together."""

from collections.abc import Collection
from typing import Any

from hexathlon.tasks.shopping.templates.talks.case import TalkCase
from hexathlon.tasks.shopping.world.talk.amounts import (
    Goes,
    Refund,
    late_days,
    refund_again,
    refund_due,
    split,
)

__all__ = ["OVERSIGHTS", "DeskPlan", "Unsettled", "resolve"]

_Call = tuple[str, dict[str, Any]]

OVERSIGHTS = (
    "second thought", "last word", "coupon", "delivery fee", "points", "opened", "damaged",
    "claimed day", "plus", "final sale", "late and returned", "coupon and match", "match window",
    "reset skipped", "arrival", "expired promise", "gift card", "booking order",
    "points of a match",
)  # fmt: skip
"""What somebody can overlook."""


class Unsettled(Exception):
    """A case without a settlement beyond doubt."""


class DeskPlan:
    """Bookings and refusals under construction.

    Args:
        case: The case.
        ignore: What is overlooked.
        rules: Number of each rule.
    """

    def __init__(self, case: TalkCase, ignore: Collection[str], rules: dict[str, str]) -> None:
        self.case, self.ignore, self.rules = case, ignore, rules
        self.wish = case.first if "second thought" in ignore else case.last
        self.calls: list[_Call] = []
        self.net = 0
        self.points = int(case.account["points"])
        self._gift: dict[str, int] = {}
        self._due: dict[str, Refund] = {}
        self._booked: dict[str, frozenset[str]] = {}

    def decline(self, reason: str, record: str, rule: str) -> None:
        """Decline one matter."""
        arguments = {"reason": reason, "record": record, "rule": self.rules[rule]}
        self.calls.append(("decline", arguments))

    def within(self, key: str, days: int) -> bool:
        """Whether an order was received at most `days` days ago."""
        order = self.case.orders[key]
        day = order["scans"][-1][0]
        if "claimed day" in self.ignore:
            day = self.case.claimed.get(key, order["scans"][1][0])
        return bool(self.case.today - day <= days)

    @property
    def window(self) -> int:
        """Days within which goods can be returned."""
        return self.case.numbers["return_days"] if "plus" in self.ignore else self.case.window

    def returned(self, key: str) -> Goes:
        """Return the lines of an order that go back, and decline the others."""
        order, lines = self.case.orders[key], set()
        damaged = set() if "damaged" in self.ignore else {
            n for o, n in self.case.damaged if o == key}  # fmt: skip
        for number in sorted(self.wish.back.get(key, ())):
            line = next(each for each in order["lines"] if each["line"] == number)
            record = f"{key}/{number}"
            if order["status"] == "pending" or number in damaged:
                lines.add(number)
            elif line["final"] and "final sale" not in self.ignore:
                self.decline("final_sale", record, "final")
            elif not self.within(key, self.window):
                self.decline("window_passed", record, "window")
            else:
                lines.add(number)
        opened = set() if "opened" in self.ignore else {
            n for o, n in self.case.opened if o == key}  # fmt: skip
        return Goes(frozenset(lines), frozenset(damaged & lines), frozenset(opened & lines))

    def refund(self, key: str, goes: Goes) -> None:
        """Book lines that go back.

        Raises:
            Unsettled: If the two derivations disagree or the refund is negative.
        """
        order = self.case.orders[key]
        seen = {**order, **({"coupon": None} if "coupon" in self.ignore else {})}
        numbers = dict(self.case.numbers)
        if "delivery fee" in self.ignore:
            numbers["free_cents"] = 0
        due = refund_due(seen, goes, numbers)
        if not self.ignore and due != refund_again(seen, goes, numbers):
            raise Unsettled("two derivations of a refund disagree")
        before = self._due.get(key, Refund(0, 0))
        self._due[key] = due
        cents = self.less_points(due.cents - before.cents, due.earned - before.earned)
        if not self.ignore and cents < 0:
            raise Unsettled("a refund is negative")
        gift, card = self.parts(key, cents)
        lines = goes.lines - self._booked.get(key, frozenset())
        self._booked[key] = goes.lines
        call: dict[str, Any] = {"order": key, "lines": sorted(lines), "gift_cents": gift,
                                "card_cents": card}  # fmt: skip
        if goes.damaged & lines:
            call["damaged"] = sorted(goes.damaged & lines)
        self.calls.append(("refund_lines", call))
        self.net += cents

    def less_points(self, cents: int, earned: int) -> int:
        """Take points back and return what is left of an amount."""
        if "points" in self.ignore:
            return cents
        missing = max(earned - self.points, 0)
        self.take(min(earned, self.points))
        return cents - missing * self.case.numbers["point_cents"]

    def parts(self, key: str, cents: int) -> tuple[int, int]:
        """Split an amount over gift card and card."""
        if "gift card" in self.ignore:
            return 0, cents
        gift, card = split(self.case.orders[key], cents, self._gift.get(key, 0))
        self._gift[key] = self._gift.get(key, 0) + gift
        return gift, card

    def take(self, points: int) -> None:
        """Take points back."""
        if points:
            self.calls.append(("take_points", {"points": points}))
            self.points -= points


def resolve(
    case: TalkCase, rules: dict[str, str], ignore: Collection[str] = ()
) -> tuple[list[_Call], int]:
    """Return the calls that settle a case, and the net amount.

    Args:
        case: The case.
        rules: Number of each rule.
        ignore: Oversights; none for the right settlement.

    Raises:
        Unsettled: If the case cannot be settled beyond doubt.
    """
    plan = DeskPlan(case, ignore, rules)
    goes = {key: plan.returned(key) for key in plan.wish.back}
    for key, number in plan.wish.devices:
        _device(plan, key, number, goes)
    for key in _booking_order(plan, goes):
        plan.refund(key, goes[key])
    for (key, number), variant in sorted(plan.wish.exchange.items()):
        _exchange(plan, key, number, variant)
    for key, number in plan.wish.match:
        _match(plan, key, number, goes.get(key, Goes(frozenset())))
    for key in plan.wish.late:
        _late(plan, key, goes.get(key, Goes(frozenset())))
    for key, cents in plan.wish.promised:
        if case.binding[key] or "expired promise" in ignore:
            plan.calls.append(("pay_goodwill", {"order": key, "cents": cents}))
            plan.net += cents
        else:
            plan.decline("not_promised", key, "promise")
    for key, place in plan.wish.address.items():
        _address(plan, key, place, goes.get(key, Goes(frozenset())))
    if case.final is not None:
        key, number = case.final
        plan.calls.append(("finish_case", {"net_cents": plan.net}))
        if "last word" not in ignore:
            known = goes.get(key, Goes(frozenset()))
            if number in known.lines:
                raise Unsettled("the line has been cancelled before")
            plan.refund(key, known._replace(lines=known.lines | {number}))
    return plan.calls, plan.net


def _booking_order(plan: DeskPlan, goes: dict[str, Goes]) -> list[str]:
    """Return the orders of which something goes back, the one placed first at the front.

    Raises:
        Unsettled: If two of them were placed on the same day; the policy names no order for these.
    """
    placed = {key: plan.case.orders[key]["placed"] for key in goes if goes[key].lines}
    if len(set(placed.values())) < len(placed):
        raise Unsettled("two orders were placed on the same day")
    return sorted(placed, key=placed.__getitem__, reverse="booking order" in plan.ignore)


def _device(plan: DeskPlan, key: str, number: str, goes: dict[str, Goes]) -> None:
    case, record = plan.case, f"{key}/{number}"
    works = (key, number) in case.works
    steps = 1 if case.logs[record]["honest"] else 2
    if "reset skipped" in plan.ignore:
        works, steps = False, 0
    for _ in range(steps):
        plan.calls.append(("guide_customer", {"order": key, "line": number}))
    if works:
        plan.decline("works", record, "device")
    else:
        goes[key] = Goes(frozenset({number}), frozenset({number}))


def _exchange(plan: DeskPlan, key: str, number: str, variant: str) -> None:
    case = plan.case
    line = next(each for each in case.orders[key]["lines"] if each["line"] == number)
    record = f"{key}/{number}"
    if line["final"] and "final sale" not in plan.ignore:
        plan.decline("final_sale", record, "final")
    elif not plan.within(key, plan.window):
        plan.decline("window_passed", record, "window")
    else:
        extra = max(case.variants[variant]["cents"] - line["cents"], 0)
        plan.calls.append(("exchange_line", {"order": key, "line": number, "variant": variant,
                                             "extra_cents": extra}))  # fmt: skip
        plan.net -= extra


def _match(plan: DeskPlan, key: str, number: str, goes: Goes) -> None:
    case = plan.case
    order = case.orders[key]
    line = next(each for each in order["lines"] if each["line"] == number)
    now = next(v["cents"] for v in case.variants.values()
               if v["goods"] == line["goods"] and v["colour"] == line["colour"])  # fmt: skip
    record = f"{key}/{number}"
    kept = sum(x["cents"] for x in order["lines"] if x["line"] not in goes.lines - goes.damaged)
    coupon = order["coupon"]
    if line["final"] and "final sale" not in plan.ignore:
        plan.decline("final_sale", record, "final")
    elif not plan.within(key, case.numbers["match_days"]) and "match window" not in plan.ignore:
        plan.decline("window_passed", record, "match")
    elif coupon and kept >= coupon["min"] and "coupon and match" not in plan.ignore:
        plan.decline("not_allowed", record, "match")
    else:
        cents = line["cents"] - now
        due = plan.less_points(cents, 0 if "points of a match" in plan.ignore else cents // 100)
        gift, card = plan.parts(key, due)
        plan.calls.append(("match_price", {"order": key, "line": number, "gift_cents": gift,
                                           "card_cents": card}))  # fmt: skip
        plan.net += due


def _late(plan: DeskPlan, key: str, goes: Goes) -> None:
    case = plan.case
    back = goes.lines - goes.damaged
    days = late_days(case.orders[key])
    if "claimed day" in plan.ignore:
        days = case.claimed.get(key, case.orders[key]["scans"][1][0]) - case.orders[key]["promised"]
    if days <= case.numbers["late_days"] or (back and "late and returned" not in plan.ignore):
        plan.decline("not_due", key, "late")
        return
    double = case.account["tier"] == "plus" and "plus" not in plan.ignore
    cents = case.numbers["late_cents"] * (2 if double else 1)
    plan.calls.append(("pay_goodwill", {"order": key, "cents": cents}))
    plan.net += cents


def _address(plan: DeskPlan, key: str, place: dict[str, str], goes: Goes) -> None:
    case = plan.case
    order = case.orders[key]
    if len(goes.lines) == len(order["lines"]):
        raise Unsettled("nothing of the order is left to be sent")
    side = "north" if place["postcode"][0] in "1234" else "south"
    missed = case.hour >= case.numbers[f"{side}_hour"]
    arrives = case.today + case.numbers[f"{side}_days"] + missed
    late = arrives > order["promised"] and "arrival" not in plan.ignore
    if late and not case.consents[key]:
        plan.decline("customer_declined", key, "address")
        return
    plan.calls.append(("change_address", {"order": key, **place}))
