"""The value of items: in SQL, in other SQL, in Python, and with mistakes.

All amounts are whole cents by construction (quantities in halves, prices in steps of 0.40,
discounts in steps of 5 %), so that no sum depends on how it is rounded.
"""

import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from hexathlon.tasks.sql.shifts.ground import Ground
from hexathlon.tasks.sql.shifts.preparing import key_of

__all__ = ["ValuedItem", "other_valued", "slips_of", "valued", "valued_items"]

Kept = TypeVar("Kept")


def slips_of(ground: Ground) -> dict[str, bool]:
    """Return the mistakes that are possible, and whether each of them ignores a trap."""
    spec = ground.spec
    slips = {"other_date": False, "one_date": False, "class_now": False, "price_now": False,
             "no_minimum": False, "minimum_now": False}  # fmt: skip
    if spec.states != spec.old_states:
        slips["old_states"] = spec.stale_view
    if spec.unit_switch:
        slips["unit_ignored"] = True
    if spec.late:
        slips["late_ignored"] = True
    if spec.superseded:
        slips["replaced_counted"] = True
    if spec.soiled:
        slips["keys_as_written"] = True
    if spec.kept_kind:
        slips["kept_kind_ignored"] = True
    if spec.app_unit_days[0]:
        slips["app_unit_ignored"] = True
    return slips


def valued(ground: Ground, slips: Collection[str] = ()) -> str:
    """Return a query of the items that count.

    Columns: `no`, `region`, `cls` (class on the item's day), `kind`, `month`, `value`, and `src`.
    """
    spec, names, theme = ground.spec, ground.names, ground.theme
    first, then = ("i.@item.booked", "i.@item.done")
    if (spec.day_first == "done") != ("other_date" in slips):
        first, then = then, first
    early = f"i.@item.entered < '{spec.day_switch}'"
    if spec.kept_kind and "kept_kind_ignored" not in slips:
        early += f" OR i.@item.kind = '{spec.kept_kind}'"
    day = f"CASE WHEN {early} THEN {first} ELSE {then} END"
    if "one_date" in slips:
        day = "i.@item.booked"
    small = []
    if spec.unit_switch and "unit_ignored" not in slips:
        small.append(f"i.@item.entered < '{spec.unit_switch}'")
    if spec.app_unit_days[0] and "app_unit_ignored" not in slips:
        start, end = spec.app_unit_days
        small.append(f"i.@item.source = 'app' AND i.@item.entered BETWEEN '{start}' AND '{end}'")
    qty = "i.@item.qty"
    if small:
        qty = (
            f"CASE WHEN {' OR '.join(small)} THEN i.@item.qty / {theme.unit[2]}.0 "
            "ELSE i.@item.qty END"
        )
    key = "i.@item.no" if "keys_as_written" in slips else "UPPER(TRIM(i.@item.no))"
    states = spec.old_states if "old_states" in slips else spec.states
    month = "SUBSTR(x.day, 1, 7)"
    if spec.late and "late_ignored" not in slips:
        month = (
            "CASE WHEN x.entered > e.@period.closed THEN SUBSTR(x.entered, 1, 7) "
            "ELSE SUBSTR(x.day, 1, 7) END"
        )
    now = f"'{ground.today}'"
    minimum = now if "minimum_now" in slips else "x.day"
    value = "x.qty * p.@price.price * (1 - d.@setting.value / 100.0)"
    if "no_minimum" not in slips:
        value = f"MAX({value}, m.@setting.value)"
    cls = now if "class_now" in slips else "x.day"
    price = now if "price_now" in slips else "x.day"
    replaced = "" if "replaced_counted" in slips else " AND i.@item.by IS NULL"
    return names(
        f"SELECT x.no AS no, a.@account.region AS region, h.@history.cls AS cls, x.kind AS kind, "
        f"{month} AS month, {value} AS value, x.src AS src "
        f"FROM (SELECT {key} AS no, i.@item.kind AS kind, {day} AS day, i.@item.entered AS entered,"
        f" {qty} AS qty, i.@item.source AS src FROM @item i WHERE i.@item.state IN "
        f"({', '.join(repr(state) for state in states)}){replaced}) x "
        "JOIN @account a ON a.@account.no = x.no "
        f"JOIN @history h ON h.@history.no = x.no AND {_in_force('h.@history', cls)} "
        "JOIN @price p ON p.@price.kind = x.kind AND p.@price.region = a.@account.region "
        f"AND {_in_force('p.@price', price)} "
        "JOIN @setting d ON d.@setting.name = 'discount_' || h.@history.cls "
        f"AND {_in_force('d.@setting', 'x.day')} "
        f"JOIN @setting m ON m.@setting.name = 'minimum_charge' "
        f"AND {_in_force('m.@setting', minimum)} "
        "LEFT JOIN @period e ON e.@period.month = SUBSTR(x.day, 1, 7)"
    )


def _in_force(row: str, day: str) -> str:
    return f"{row}.first <= {day} AND ({row}.last IS NULL OR {row}.last >= {day})"


def other_valued(ground: Ground) -> str:
    """Return a query with the same result in other words."""
    spec, theme = ground.spec, ground.theme
    first, then = ("b", "d") if spec.day_first == "booked" else ("d", "b")
    day = f"IIF(f.e >= '{spec.day_switch}' AND f.k <> '{spec.kept_kind}', f.{then}, f.{first})"
    qty = "f.q"
    if spec.unit_switch:
        qty += f" * IIF(f.e < '{spec.unit_switch}', 1.0 / {theme.unit[2]}, 1.0)"
    if spec.app_unit_days[0]:
        start, end = spec.app_unit_days
        qty += (
            f" * IIF(f.src <> 'app' OR f.e < '{start}' OR f.e > '{end}', 1.0, "
            f"1.0 / {theme.unit[2]})"
        )
    month = "SUBSTR(g.day, 1, 7)"
    if spec.late:
        month = (
            "SUBSTR(IIF(COALESCE((SELECT e.@period.closed FROM @period e WHERE e.@period.month = "
            "SUBSTR(g.day, 1, 7)), '9999-12-31') < g.e, g.e, g.day), 1, 7)"
        )
    setting = (
        "(SELECT s.@setting.value FROM @setting s WHERE s.@setting.name = {} AND "
        "s.@setting.first <= g.day ORDER BY s.@setting.first DESC LIMIT 1)"
    )
    discount = setting.format("'discount_' || g.cls")
    amount = (
        "g.q * (SELECT p.@price.price FROM @price p WHERE p.@price.kind = g.k AND "
        "p.@price.region = g.r AND g.day BETWEEN p.@price.first AND "
        f"COALESCE(p.@price.last, '9999-12-31')) * (100 - {discount}) / 100.0"
    )
    least = setting.format("'minimum_charge'")
    return ground.names(
        "WITH f AS (SELECT a.@account.no AS no, a.@account.region AS r, i.@item.kind AS k, "
        "i.@item.booked AS b, i.@item.done AS d, i.@item.entered AS e, i.@item.qty AS q, "
        "i.@item.source AS src FROM @item i JOIN @account a ON a.@account.no = "
        "TRIM(UPPER(i.@item.no)) WHERE i.@item.by IS NULL AND ("
        + " OR ".join(f"i.@item.state = '{state}'" for state in spec.states)
        + f")), g0 AS (SELECT f.*, {day} AS day FROM f), "
        "g AS (SELECT f.*, (SELECT h.@history.cls FROM @history h WHERE h.@history.no = f.no AND "
        "h.@history.first <= f.day ORDER BY h.@history.first DESC LIMIT 1) AS cls FROM g0 f) "
        f"SELECT g.no AS no, g.r AS region, g.cls AS cls, g.k AS kind, {month} AS month, "
        f"CASE WHEN {amount.replace('g.q', qty.replace('f.', 'g.'))} < {least} THEN {least} ELSE "
        f"{amount.replace('g.q', qty.replace('f.', 'g.'))} END AS value, g.src AS src FROM g"
    )


@dataclass(frozen=True, slots=True)
class ValuedItem:
    """An item that counts."""

    no: str
    region: str
    cls: str
    kind: str
    month: str
    cents: int


def valued_items(connection: sqlite3.Connection, ground: Ground) -> list[ValuedItem]:
    """Return the items that count, computed from rows without SQL's joins or arithmetic."""
    spec, names = ground.spec, ground.names

    def rows(role: str) -> list[tuple[Any, ...]]:
        return connection.execute(f"SELECT * FROM {names.tables[role]}").fetchall()

    region = {str(row[0]): str(row[2]) for row in rows("account")}
    history: dict[str, list[tuple[str, str, str]]] = {}
    for no, cls, first, last in rows("history"):
        history.setdefault(str(no), []).append((str(first), str(last or "9999"), str(cls)))
    prices: dict[tuple[str, str], list[tuple[str, str, int]]] = {}
    for kind, code, first, last, price in rows("price"):
        version = (str(first), str(last or "9999"), _hundredths(price))
        prices.setdefault((str(kind), str(code)), []).append(version)
    settings: dict[str, list[tuple[str, str, int]]] = {}
    for name, value, first, last, _ in rows("setting"):
        version = (str(first), str(last or "9999"), _hundredths(value))
        settings.setdefault(str(name), []).append(version)
    closed = {str(month): day for month, day in rows("period")}
    app_from, app_until = spec.app_unit_days
    found = []
    for _, no, kind, booked, done, entered, qty, state, by, origin in rows("item"):
        if state not in spec.states or by is not None:
            continue
        own, entry = key_of(no), str(entered)
        early = entry < spec.day_switch or kind == spec.kept_kind
        day = str(booked if early == (spec.day_first == "booked") else done)
        in_app_unit = origin == "app" and app_from <= entry <= app_until
        small = entry < spec.unit_switch or in_app_unit
        factor = ground.theme.unit[2] if small else 1
        end = closed.get(day[:7])
        moved = spec.late and end is not None and entry > str(end)
        cls = _at(history.get(own, []), day)
        price = _at(prices.get((str(kind), region.get(own, "")), []), day)
        if cls is None or price is None:
            continue
        discount = _at(settings["discount_" + cls], day) or 0
        least = _at(settings["minimum_charge"], day) or 0
        # All of them are hundredths, so that the quotient is in cents; it leaves no rest.
        cents = _hundredths(qty) * price * (10_000 - discount) // (factor * 1_000_000)
        month = (entry if moved else day)[:7]
        found.append(ValuedItem(own, region[own], cls, str(kind), month, max(cents, least)))
    return found


def _hundredths(value: object) -> int:
    return round(float(value) * 100)  # type: ignore[arg-type]


def _at(versions: Sequence[tuple[str, str, Kept]], day: str) -> Kept | None:
    return next((kept for first, last, kept in versions if first <= day <= last), None)
