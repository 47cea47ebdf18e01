"""Points, gift cards, parcels and warranties of a day: what follows an order, and defects."""

import pytest

from hexathlon.tasks.shopping.world.shift.lapses import lapse
from hexathlon.tasks.shopping.world.shift.linked import LINKED, follow, kept_points, linked_due
from hexathlon.tasks.shopping.world.tables import Base, Tables

OLD = {"street": "1 Mill Lane", "city": "Ashby", "postcode": "10000"}
NEW = {"street": "2 Hill Road", "city": "Ashby", "postcode": "20000"}


def line(number: str, cents: int, state: str = "ordered", variant: str = "P-01") -> dict:
    return {"line": number, "cents": cents, "state": state, "variant": variant}


def order(key: str, status: str, *lines: dict) -> dict:
    return {"id": key, "customer": "C1", "status": status, "gift": "gift-1", "address": OLD,
            "lines": list(lines), "refunds": {}}  # fmt: skip


@pytest.fixture
def tables() -> Tables:
    sent = order("O1", "delivered", line("1", 1999), line("2", 250))
    waiting = order("O2", "pending", line("1", 999))
    return Tables(Base({
        "customers": {"C1": {"id": "C1", "points": 100, "orders": ["O1", "O2"]},
                      "C2": {"id": "C2", "points": 50, "orders": []}},
        "cards": {"C1": {"card": "gift-1", "balance_cents": 500}},
        "orders": {"O1": sent, "O2": waiting},
        "warranties": {"O1": {"order": "O1", "lines": {"1": "P-01", "2": "P-01"}}},
        "parcels": {"O2": {"order": "O2", "label": OLD, "slot": {"day": 1, "part": "morning"}}},
    }))  # fmt: skip


def saved(tables: Tables, key: str, *defects: dict, **fields: object) -> None:
    old = tables.get("orders", key)
    assert old is not None
    new = {**old, **fields}
    tables.put("orders", key, new)
    kinds = {defect["kind"]: defect for defect in defects}
    follow(tables, old, new, kinds.get)


def state_of(tables: Tables) -> dict:
    return {
        f"{table}/{key}": (tables.get(table, key) or {})[field]
        for table, field in LINKED.items()
        for key in tables.keys(table)
        if key != "C2"
    }


def test_points_count_full_units_of_each_line_kept():
    assert kept_points(order("O1", "delivered", line("1", 1999), line("2", 250, "returned"))) == 19


def test_what_belongs_to_an_order_follows_it_in_both_derivations(tables):
    assert state_of(tables) == linked_due(tables, "C1")
    returned = [line("1", 1999, "returned"), line("2", 250, "exchanged", "P-02")]
    saved(tables, "O1", lines=returned, refunds={"gift-1": 1509})
    saved(tables, "O2", lines=[line("1", 999, "cancelled")], address=NEW)
    assert state_of(tables) == linked_due(tables, "C1") == {
        "customers/C1": 100 - 19 - 9, "cards/C1": 2009, "warranties/O1": {"1": "", "2": "P-02"},
        "parcels/O2": NEW,
    }  # fmt: skip
    saved(tables, "O1", lines=[line("1", 1999), line("2", 250)], refunds={})
    saved(tables, "O2", lines=[line("1", 999)], address=OLD)
    assert tables.difference() == {}


RETURN = {"lines": [line("1", 1999, "returned"), line("2", 250)], "refunds": {"gift-1": 1509}}


@pytest.mark.parametrize(
    ("defect", "wrong"),
    [
        ({"kind": "points"}, {"customers/C1": 100}),
        ({"kind": "namesake", "other": "C2"}, {"customers/C1": 100}),
        ({"kind": "card"}, {"cards/C1": 2000}),
        ({"kind": "warranty"}, {"warranties/O1": {"1": "P-01", "2": "P-01"}}),
    ],
)
def test_a_defect_affects_one_of_the_records_that_follow_a_return(tables, defect, wrong):
    saved(tables, "O1", defect, **RETURN)
    assert state_of(tables) == {**linked_due(tables, "C1"), **wrong}
    other = tables.get("customers", "C2")
    assert other is not None and other["points"] == (31 if "other" in defect else 50)


def test_a_label_that_does_not_follow(tables):
    saved(tables, "O2", {"kind": "label"}, address=NEW)
    assert state_of(tables)["parcels/O2"] == OLD != linked_due(tables, "C1")["parcels/O2"]


@pytest.mark.parametrize(
    ("kind", "key"),
    [("points back", "C1"), ("card reset", "C1"), ("warranty back", "O1"), ("relabelled", "O2")],
)
def test_a_lapse_brings_the_value_of_the_morning_back(tables, kind, key):
    saved(tables, "O1", **RETURN)
    saved(tables, "O2", address=NEW)
    before = linked_due(tables, "C1")
    lapse(tables, {"kind": kind, "order": key}, dict)
    changed = {name for name, value in state_of(tables).items() if value != before[name]}
    assert len(changed) == 1 and changed.pop().endswith(key)
