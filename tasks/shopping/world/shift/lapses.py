"""What the shop's system spoils between two customers, in records of cases that are closed."""

from collections.abc import Callable, Mapping
from typing import Any

from hexathlon.tasks.shopping.world.tables import Record, Tables

__all__ = ["LAPSES", "MORNING", "lapse"]

MORNING: Mapping[str, tuple[str, str]] = {
    "relabelled": ("parcels", "label"),
    "points back": ("customers", "points"),
    "card reset": ("cards", "balance_cents"),
    "warranty back": ("warranties", "lines"),
}
"""Table and field that get the value of the morning, by kind."""

LAPSES = ("sync", "slot moved", "goodwill lapsed", "basket changed", *MORNING)
"""Kinds of defects that happen before the customer with the number `case`."""


def lapse(
    tables: Tables, defect: Mapping[str, Any], substitute: Callable[[Record], Record]
) -> None:
    """Spoil a record.

    Args:
        tables: The day's records.
        defect: `kind`, `order` (key of the record), and for `slot moved` the new `slot`. Kind
            `sync` is not handled here, since what belongs to an order follows it.
        substitute: Returns a basket in which an offer was replaced.
    """
    kind, key = defect["kind"], defect["order"]
    if kind in MORNING:
        table, field = MORNING[kind]
        value = tables.base.tables[table][key][field]
        tables.put(table, key, {**(tables.get(table, key) or {}), field: value})
    elif kind == "slot moved":
        parcel = tables.get("parcels", key) or {}
        tables.put("parcels", key, {**parcel, "slot": defect["slot"]})
    elif kind == "goodwill lapsed":
        tables.put("goodwill", key, None)
    elif kind == "basket changed":
        basket = tables.get("baskets", key)
        if basket is not None:
            tables.put("baskets", key, substitute(basket))
