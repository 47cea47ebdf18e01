"""Second derivations, in Python, of what tickets about prices, deliveries and results ask for.

A day whose statements lead to other rows is drawn again.
"""

from collections.abc import Callable, Mapping

from hexathlon.tasks.sql.draws import shifted
from hexathlon.tasks.sql.schema import Row, Value
from hexathlon.tasks.sql.shifts.books import log_agrees, totals_agree
from hexathlon.tasks.sql.shifts.figures import reports_agree
from hexathlon.tasks.sql.shifts.metric import valued_items
from hexathlon.tasks.sql.shifts.preparing import key_of
from hexathlon.tasks.sql.shifts.tickets import TicketDesk

__all__ = ["CHECKS"]


def prices_agree(desk: TicketDesk) -> bool:
    """Whether the prices are those of the morning with the price list brought in."""
    ground = desk.ground
    versions = {(row[0], row[1], row[2]): list(row) for row in ground.rows["price"]}
    lines: dict[tuple[Value, Value], Row] = {}
    for row in sorted(ground.rows["list"], key=lambda row: str(row[0]).zfill(4)):
        lines[row[1], row[2]] = row
    for _, kind, region, first, price in lines.values():
        day = str(first)
        own = versions.get((kind, region, first))
        if own is not None:
            own[4] = price
            continue
        valid = next(
            row
            for row in versions.values()
            if (row[0], row[1]) == (kind, region)
            and str(row[2]) <= day <= str(row[3] or "9999-12-31")
        )
        if valid[4] != price:
            versions[kind, region, first] = [kind, region, first, valid[3], price]
            valid[3] = shifted(day, -1)
    found = desk.rows("SELECT * FROM @price")
    return sorted(map(repr, found)) == sorted(repr(tuple(row)) for row in versions.values())


def delivery_agrees(desk: TicketDesk) -> bool:
    """Whether the rows from the delivery are those of its lines without their faults."""
    ground, batch = desk.ground, desk.notes.batch
    _, small, factor, _ = ground.theme.unit
    open_ = {str(row[0]) for row in ground.rows["account"] if row[4] != "closed"}
    seen = set()
    wanted = []
    for line, account, kind, booked, done, qty, unit in ground.rows["stage"]:
        first, last = sorted((_iso(str(booked)), _iso(str(done))))
        no = key_of(account)
        quantity = float(qty or 0) / (factor if unit == small else 1)
        said = (no, str(kind).strip().lower(), first, last)
        if no not in open_ or (*said, quantity) in seen:
            continue
        seen.add((*said, quantity))
        number = batch * 1000 + int(line or 0)
        wanted.append((number, *said, ground.today, quantity, "final", None, "import"))
    found = desk.rows("SELECT * FROM @item WHERE @item.source IN ('import', 'auto')")
    return sorted(map(repr, found)) == sorted(map(repr, wanted))


def _iso(day: str) -> str:
    return day if day[4] == "-" else f"{day[6:]}-{day[3:5]}-{day[:2]}"


def results_agree(desk: TicketDesk) -> bool:
    """Whether the table of results is what the items that count add up to."""
    rows = desk.connection.execute(f"SELECT * FROM {desk.kept_tables['results'].table}").fetchall()
    first = desk.notes.results_from
    totals: dict[tuple[str, str], tuple[int, int]] = {}
    for each in valued_items(desk.connection, desk.ground):
        if each.month >= first:
            place = (getattr(each, desk.notes.results_by), each.month)
            count, cents = totals.get(place, (0, 0))
            totals[place] = (count + 1, cents + each.cents)
    return {(group, month): (count, round(value * 100)) for group, month, count, value in rows} == (
        totals
    )


def all_agree(desk: TicketDesk) -> bool:
    """Whether all tables that have to be kept are up to date after the last ticket."""
    return results_agree(desk) and totals_agree(desk) and log_agrees(desk) and reports_agree(desk)


CHECKS: Mapping[str, Callable[[TicketDesk], bool]] = {
    "prices": prices_agree,
    "delivery": delivery_agrees,
    "again": all_agree,
}
"""Checks to make after tickets, by their kind."""
