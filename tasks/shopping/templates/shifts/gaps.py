"""Choice of a day's defects: in saves of the reference actions, and between two customers.

A defect names in `affects` all records (`table/key`) that it makes wrong. No record is affected by
two defects of a day, so each has to be set right by itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hexathlon.tasks.shopping.templates.shifts.day import TRAIN_TRAPS, TRAPS, CounterDay, Rejected
from hexathlon.tasks.shopping.world.shift.lapses import MORNING
from hexathlon.tasks.shopping.world.shift.linked import LINKED, owner_of
from hexathlon.tasks.shopping.world.tables import Record

__all__ = ["choose_defects"]

_FEWEST, _MOST = 7, 9
"""Numbers of unannounced gaps on a day."""

_LAPSES = 3
"""Smallest number of lapses: defects that affect records of cases that are closed."""

_SYSTEM = 5
"""Smallest number of defects of the system, as far as there are as many."""

_HUMAN = 3
"""Largest number of gaps in the records and in what customers do not say."""

_GOODWILL = ("already_paid", "budget_spent")
"""Reasons for a refusal that depend on the goodwill paid so far."""


def choose_defects(day: CounterDay) -> list[dict[str, Any]]:
    """Draw the defects of the day's system, so that the number of gaps fits.

    Raises:
        Rejected: If too few are possible, or the records have too many gaps already.
    """
    if len(day.traps) > _HUMAN:
        raise Rejected("too many gaps in the records")
    total = _FEWEST + int(day.rng.integers(_MOST - _FEWEST + 1))
    total = max(total, min(len(day.traps) + _SYSTEM, _MOST))
    chosen: list[dict[str, Any]] = []
    _draw(day, list(_lapses(day)), _LAPSES + int(day.rng.integers(2)), chosen)
    if len(chosen) < _LAPSES:
        raise Rejected("too few gaps in closed cases")
    linked = list(_linked(day))
    _draw(day, linked, len(chosen) + 1, chosen)
    offers = [{**offer, "affects": _affected_by(offer)} for offer in day.offers]
    _draw(day, [*offers, *linked], total - len(day.traps), chosen)
    if len(chosen) + len(day.traps) < _FEWEST:
        raise Rejected("too few gaps")
    return chosen


def _draw(
    day: CounterDay, offers: Sequence[dict[str, Any]], most: int, chosen: list[dict[str, Any]]
) -> None:
    """Add defects of kinds drawn at random to `chosen`, up to a number."""
    allowed = TRAIN_TRAPS if day.scene.split == "train" else TRAPS
    known = {defect["kind"] for defect in chosen}
    kinds = sorted({offer["kind"] for offer in offers} & set(allowed) - known)
    touched = {key for defect in chosen for key in _touched_by(defect)}
    for place in day.rng.permutation(len(kinds)).tolist():
        if len(chosen) >= most:
            return
        fitting = [
            offer for offer in offers
            if offer["kind"] == kinds[place] and touched.isdisjoint(_touched_by(offer))
        ]  # fmt: skip
        if fitting:
            chosen.append(day.pick(fitting))
            touched.update(_touched_by(chosen[-1]))


def _touched_by(defect: Mapping[str, Any]) -> list[str]:
    """Return the records that a defect affects, and those (`beside`) that change along with them.

    The latter are right again once the affected records are.
    """
    return [*defect["affects"], *defect.get("beside", ())]


def _affected_by(defect: Mapping[str, Any]) -> list[str]:
    """Return the records that a defect of an order, a payment or a basket affects."""
    if defect["kind"] == "undone":
        return [f"orders/{defect['other']}"]
    table = {"goodwill": "goodwill", "substituted": "baskets"}.get(defect["kind"], "orders")
    return [f"{table}/{defect['order']}"]


def _linked(day: CounterDay) -> Iterator[dict[str, Any]]:
    """Yield defects in what follows the orders that the reference actions change."""
    changed: set[str] = set()
    for plan in day.plans:
        # A line that is put back has the right entry again, whether it was taken out or not.
        restored = {a["order"] for name, a in plan["actions"] if name == "restore_lines"}
        for name, arguments in plan["actions"]:
            key = arguments.get("order", "")
            if name in ("cancel_lines", "return_lines", "exchange_line"):
                if key not in changed:
                    if day.order(key)["status"] == "delivered" and key not in restored:
                        affects = [f"warranties/{key}"]
                        yield {"kind": "warranty", "order": key, "affects": affects}
                    if name != "exchange_line":
                        yield from _points_defects(day, key)
                changed.add(key)
            elif name == "change_address":
                yield {"kind": "label", "order": key, "affects": [f"parcels/{key}"]}
            elif name == "set_appointment":
                yield from _astray(day, key)
            elif name == "set_refund" and key in changed:
                record = day.order(key)
                affects = [f"customers/{record['customer']}"]
                yield {"kind": "points undone", "order": key, "affects": affects}
                if arguments["refund_to"] == record["gift"] and arguments["cents"] % 100:
                    affects = [f"cards/{record['customer']}"]
                    yield {"kind": "card", "order": key, "affects": affects}


def _points_defects(day: CounterDay, key: str) -> Iterator[dict[str, Any]]:
    """Yield defects of the points at the first change of an order's lines."""
    record = day.order(key)
    account = f"customers/{record['customer']}"
    yield {"kind": "points", "order": key, "affects": [account]}
    tables = day.counter.tables
    name = (tables.get("customers", record["customer"]) or {})["name"]
    served = {each for case in day.cases for each in case["accounts"]}
    for other in tables.keys("customers"):
        if other not in served and (tables.get("customers", other) or {})["name"] == name:
            yield {"kind": "namesake", "order": key, "other": other,
                   "affects": [account, f"customers/{other}"]}  # fmt: skip


def _astray(day: CounterDay, key: str) -> Iterator[dict[str, Any]]:
    """Yield appointments that are saved with another parcel of the customer."""
    account = day.counter.tables.get("customers", day.order(key)["customer"]) or {}
    for other in account["orders"]:
        if other != key and day.order(other)["status"] == "pending":
            yield {"kind": "slot elsewhere", "order": key, "other": other,
                   "affects": [f"parcels/{key}", f"parcels/{other}"]}  # fmt: skip


def _lapses(day: CounterDay) -> Iterator[dict[str, Any]]:
    """Yield changes of closed cases that could get lost while another customer is there.

    Never the customer's own next case, whose net amount would be in doubt.
    """
    due: dict[str, Any] = {}
    served: set[str] = set()
    for number in range(1, len(day.cases)):
        due.update(day.counter.state.closes[number - 1]["changes"])
        served |= set(day.cases[number - 1]["accounts"])
        present = set(day.cases[number]["accounts"])
        for name, record in due.items():
            table, _, key = name.partition("/")
            if record is None or owner_of(day.counter.tables, table, key) not in served - present:
                continue
            for defect in _lapses_of(day, table, key, record, number):
                yield {"order": key, "case": number, "affects": [name], **defect}


def _lapses_of(
    day: CounterDay, table: str, key: str, record: Record, number: int
) -> Iterator[dict[str, Any]]:
    """Yield what could happen to one record before a case; `record` is how it should be then."""
    morning = day.counter.tables.base.tables[table].get(key) if table != "baskets" else None
    for kind, linked in MORNING.items():
        field = LINKED[linked]
        if linked == table and morning and record[field] != morning[field]:
            if table != "parcels" or day.order(key)["status"] == "pending":
                yield {"kind": kind}
    plan = day.plans[number]["actions"]
    if table == "parcels" and morning and record["slot"] != morning["slot"]:
        if day.order(key)["status"] == "pending":
            later = {**record["slot"], "day": record["slot"]["day"] + day.span(1, 2)}
            yield {"kind": "slot moved", "slot": later}
    elif table == "goodwill" and morning is None and not any(map(_about_goodwill, plan)):
        yield {"kind": "goodwill lapsed"}
    elif table == "baskets" and not any(name == "place_order" for name, _ in plan):
        yield {"kind": "basket changed"}
    elif table == "orders" and morning:
        yield from _lost_fields(day, key, record, morning)


def _lost_fields(
    day: CounterDay, key: str, record: Record, morning: Record
) -> Iterator[dict[str, Any]]:
    status = day.order(key)["status"]
    fields = {"delivered": ("refunds",), "pending": ("note", "carrier")}.get(status, ())
    for field in fields:
        if record[field] != morning[field]:
            card = field == "refunds" and record["gift"] in record["refunds"]
            cards = [f"cards/{record['customer']}"] if card else []
            yield {"kind": "sync", "field": field, "affects": [f"orders/{key}"], "beside": cards}


def _about_goodwill(action: Sequence[Any]) -> bool:
    name, arguments = action
    return name == "pay_goodwill" or arguments.get("reason") in _GOODWILL
