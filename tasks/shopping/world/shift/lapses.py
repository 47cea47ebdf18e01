"""Lapses: records of closed cases that the shop's system changes between two customers."""

from collections.abc import Callable, Mapping
from typing import Any

from hexathlon.tasks.shopping.world.shift.linked import LINKED
from hexathlon.tasks.shopping.world.tables import Record, Tables

__all__ = ["LAPSES", "MORNING", "lapse"]

MORNING: Mapping[str, str] = {
    "relabelled": "parcels",
    "points back": "customers",
    "card reset": "cards",
    "warranty back": "warranties",
}
"""Table whose linked field (`LINKED`) gets the value of the morning again, by kind."""

LAPSES = ("sync", "slot moved", "goodwill lapsed", "basket changed", *MORNING)
"""Kinds of defects that happen before the customer with the number `case`."""


def lapse(
    tables: Tables, defect: Mapping[str, Any], substitute: Callable[[Record], Record]
) -> None:
    """Change a record that was as agreed.

    Args:
        tables: The day's records.
        defect: `kind`, `order` (key of the record), and for `slot moved` the new `slot`. Kind
            `sync` is handled by the counter, since linked records follow the order.
        substitute: Returns a basket in which an offer was replaced.
    """
    kind, key = defect["kind"], defect["order"]
    if kind in MORNING:
        table = MORNING[kind]
        field = LINKED[table]
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
