"""Records that follow an order: points, gift card, the parcel's label, and the warranty.

`follow` is what the shop's system does whenever an order is saved. `linked_due` derives the same
records from the orders as they stand, and is the second derivation beside it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from hexathlon.tasks.shopping.world.tables import Record, Tables

__all__ = [
    "LINKED",
    "OF_ACCOUNTS",
    "OF_ORDERS",
    "follow",
    "kept_points",
    "linked_due",
    "linked_start",
    "owner_of",
]

LINKED: Mapping[str, str] = {
    "parcels": "label",
    "warranties": "lines",
    "customers": "points",
    "cards": "balance_cents",
}
"""Field that follows the orders, by table."""

OF_ORDERS = ("orders", "goodwill", "parcels", "warranties")
"""Tables whose keys are orders."""

OF_ACCOUNTS = ("baskets", "customers", "cards")
"""Tables whose keys are accounts."""

_GONE = ("cancelled", "returned", "returned damaged")

Fires = Callable[[str], Mapping[str, Any] | None]
"""Returns the defect of a kind if it happens to this order now; each happens once."""


def owner_of(tables: Tables, table: str, key: str) -> str:
    """Return the account to which a record belongs; empty if to none."""
    if table in OF_ACCOUNTS:
        return key
    return str((tables.get("orders", key) or {})["customer"]) if table in OF_ORDERS else ""


def kept_points(order: Record) -> int:
    """Return the points of an order: one for every full unit of money of each line kept."""
    return sum(line["cents"] // 100 for line in order["lines"] if line["state"] not in _GONE)


def linked_start(order: Record, slot: Mapping[str, Any]) -> tuple[str, str, dict[str, Any]]:
    """Return table, key and content of the record that belongs to an order in the morning.

    Delivered orders have a warranty, others a parcel with the appointment `slot`.
    """
    if order["delivered"] is None:
        label = dict(order["address"])
        parcel = {"order": order["id"], "label": label, "slot": dict(slot)}
        return "parcels", order["id"], parcel
    entries = {line["line"]: line["variant"] for line in order["lines"]}
    return "warranties", order["id"], {"order": order["id"], "lines": entries}


def follow(tables: Tables, old: Record, new: Record, fires: Fires) -> None:
    """Update what belongs to an order after it was saved."""
    points = kept_points(new) - kept_points(old)
    if points:
        _book_points(tables, new["customer"], points, fires)
    gift = new["refunds"].get(new["gift"], 0) - old["refunds"].get(old["gift"], 0)
    if gift:
        card = tables.get("cards", new["customer"]) or {}
        rounded = gift > 0 and gift % 100 and fires("card") is not None
        booked = gift // 100 * 100 if rounded else gift
        balance = card["balance_cents"] + booked
        tables.put("cards", new["customer"], {**card, "balance_cents": balance})
    parcel = tables.get("parcels", new["id"])
    if parcel and old["address"] != new["address"] and fires("label") is None:
        tables.put("parcels", new["id"], {**parcel, "label": dict(new["address"])})
    warranty = tables.get("warranties", new["id"])
    if warranty:
        moved = {
            line["line"]: _entry(line)
            for line, former in zip(new["lines"], old["lines"], strict=True)
            if _entry(line) != _entry(former)
        }
        if moved and fires("warranty") is None:
            lines = {**warranty["lines"], **moved}
            tables.put("warranties", new["id"], {**warranty, "lines": lines})


def _book_points(tables: Tables, customer: str, points: int, fires: Fires) -> None:
    if fires("points") is not None:
        return
    astray = fires("namesake")
    key = astray["other"] if astray else customer
    account = tables.get("customers", key) or {}
    tables.put("customers", key, {**account, "points": account["points"] + points})


def _entry(line: Record) -> str:
    """Return the variant under warranty; empty if the line has gone."""
    return "" if line["state"] in _GONE else str(line["variant"])


def linked_due(tables: Tables, customer: str) -> dict[str, Any]:
    """Return what an account's linked records have to be, derived from its orders.

    Returns:
        By `table/key`: the points, the card's balance, the labels, and the entries of warranties.
    """
    base = tables.base.tables
    account = base["customers"][customer]
    orders = [(base["orders"][key], tables.get("orders", key) or {}) for key in account["orders"]]
    lost = sum(
        line["cents"] // 100
        for _, order in orders
        for line in order["lines"]
        if line["state"].startswith(("cancelled", "returned"))
    )
    to_card = sum(order["refunds"].get(order["gift"], 0) for _, order in orders)
    opening = base["cards"][customer]["balance_cents"]
    due: dict[str, Any] = {
        f"customers/{customer}": account["points"] - lost,
        f"cards/{customer}": opening + to_card,
    }
    for morning, order in orders:
        if order["status"] == "delivered":
            due[f"warranties/{order['id']}"] = {
                line["line"]: ""
                if line["state"].startswith("returned")
                else line["variant"]
                if line["state"] == "exchanged"
                else before["variant"]
                for line, before in zip(order["lines"], morning["lines"], strict=True)
            }
        elif order["status"] in ("pending", "packed"):
            due[f"parcels/{order['id']}"] = order["address"]
    return due
