"""Tickets that ask: figures, the table of results, and a figure asked for again."""

from collections.abc import Iterable
from dataclasses import replace

from hexathlon.tasks.sql.draws import months_before
from hexathlon.tasks.sql.shifts.books import kept_reports
from hexathlon.tasks.sql.shifts.metric import (
    ValuedItem,
    other_valued,
    slips_of,
    valued,
    valued_items,
)
from hexathlon.tasks.sql.shifts.tickets import (
    AskedFigure,
    KeptTable,
    RoutineJob,
    SQLTicket,
    TicketDesk,
    TicketStep,
    spelt,
)

__all__ = ["again", "figure", "quick", "reports_agree", "results", "results_trimmed"]

_TRIES = 8


def figure(desk: TicketDesk) -> SQLTicket | None:
    """Ask for a figure over many months; every trap in the data must change it."""
    ground, draw, theme = desk.ground, desk.draw, desk.ground.theme
    form = draw.pick(("region", "class", "best", "kind"))
    items, account = theme.item[1], theme.account[0]
    slips = slips_of(ground)
    wrong = [slip for slip, trap in slips.items() if trap]
    kept = [*wrong, *draw.sample([slip for slip, trap in slips.items() if not trap], 3)]
    for _ in range(_TRIES):
        back = draw.between(11, 13)
        first, last = months_before(ground.today, back)[:7], months_before(ground.today, 0)[:7]
        span = f"month BETWEEN '{first}' AND '{last}'"
        spoken = f"from {first} to {last}, both included"
        code, name = draw.pick(ground.regions)
        cls, kind = draw.pick(theme.classes), draw.pick(theme.kinds)
        if form == "region":
            body = (
                "SELECT ROUND(SUM(value), 2) AS total FROM ({}) "
                f"WHERE region = '{code}' AND {span}"
            )
            text = (
                f"What is the counted value of the {items} of {theme.region[0]} {name} in the "
                f"months {spoken}? Report one number."
            )
        elif form == "class":
            body = (
                f"SELECT ROUND(SUM(value), 2) AS total FROM ({{}}) WHERE cls = '{cls}' AND {span}"
            )
            text = (
                f"What is the counted value of the {items} of {theme.class_word} {cls} in the "
                f"months {spoken}? Report one number."
            )
        elif form == "kind":
            body = (
                "SELECT COUNT(*), ROUND(SUM(value), 2) AS total FROM ({}) "
                f"WHERE kind = '{kind}' AND region <> '{code}' AND {span}"
            )
            text = (
                f"How many {items} of kind {kind} outside {theme.region[0]} {name} count in the "
                f"months {spoken}, and what is their counted value? Report two numbers: "
                "the count and the value."
            )
        else:
            body = (
                f"SELECT no, ROUND(SUM(value), 2) AS total FROM ({{}}) WHERE {span} "
                "GROUP BY no ORDER BY total DESC, no LIMIT 1"
            )
            text = (
                f"Which {account} has the highest counted value in the months {spoken}? Report "
                "two values: its number and its counted value."
            )
        made = SQLTicket(
            "figure", text, query=body.format(valued(ground)),
            other_query=body.format(other_valued(ground)),
            query_slips={
                f"figure_{slip}": body.format(valued(ground, (slip,)))
                for slip in kept
            },
        )  # fmt: skip
        right = desk.answer(made.query)
        if "None" not in right and all(
            desk.answer(made.query_slips[f"figure_{slip}"]) != right for slip in wrong
        ):
            scope = (form, code, cls, kind, first, last)
            if _by_hand(valued_items(desk.connection, ground), *scope) != right:
                return None
            _entered(desk, AskedFigure(desk.number(), made, right, scope))
            return made
    return None


def _entered(desk: TicketDesk, asked: AskedFigure) -> None:
    """Note a figure that a ticket asks for; on some days it has to be kept as a reported one."""
    desk.notes.figures.append(asked)
    if "reported" in desk.traps:
        desk.kept_tables["reported"] = kept_reports(desk)


def reports_agree(desk: TicketDesk) -> bool:
    """Whether the reported figures of today are what Python computes."""
    if "reported" not in desk.traps:
        return True
    found = desk.rows(
        "SELECT @reported.ticket, @reported.value FROM @reported WHERE @reported.day = "
        f"'{desk.ground.today}'"
    )
    items = valued_items(desk.connection, desk.ground)
    wanted = [(asked.number, _by_hand(items, *asked.scope)[-1]) for asked in desk.notes.figures]
    return sorted((ticket, spelt(value)) for ticket, value in found) == wanted


def _by_hand(
    counted: Iterable[ValuedItem], form: str, code: str, cls: str, kind: str, first: str, last: str
) -> tuple[str, ...]:
    """Return the same figure, computed in Python."""
    items = [each for each in counted if first <= each.month <= last]
    if form == "best":
        totals: dict[str, int] = {}
        for each in items:
            totals[each.no] = totals.get(each.no, 0) + each.cents
        best = min(totals, key=lambda no: (-totals[no], no))
        return best, _money([each for each in items if each.no == best])
    if form == "region":
        return (_money(each for each in items if each.region == code),)
    if form == "class":
        return (_money(each for each in items if each.cls == cls),)
    kept = [each for each in items if each.kind == kind and each.region != code]
    return str(len(kept)), _money(kept)


def _money(items: Iterable[ValuedItem]) -> str:
    return spelt(sum(each.cents for each in items) / 100)


def again(desk: TicketDesk) -> SQLTicket | None:
    """Ask for an earlier figure as it is now; it must have changed."""
    if not desk.notes.figures:
        return None
    asked = desk.notes.figures[0]
    number, made, before = asked.number, asked.ticket, asked.answer
    if desk.answer(made.query) == before:
        return None
    text = (
        f"Please report the figure of ticket {number} again, as it is now: the same months, in the "
        "same form."
    )
    _entered(desk, replace(asked, number=desk.number()))
    return replace(
        made, kind="again", text=text, query_slips={}, answer_slips={"stale_figure": before}
    )


def quick(desk: TicketDesk) -> SQLTicket | None:
    """Ask for a small number that is no counted value."""
    ground, draw, theme = desk.ground, desk.draw, desk.ground.theme
    code, name = draw.pick(ground.regions)
    status, cls = draw.pick(("active", "closed")), draw.pick(theme.classes)
    by_class = draw.chance(0.5)
    condition = f"@account.region = '{code}' AND @account.status = '{status}'"
    spoken = f"{status} {theme.account[1]}"
    if by_class:
        condition += f" AND @account.cls = '{cls}'"
        spoken += f" of {theme.class_word} {cls}"
    counted = sum(
        row[2] == code and row[4] == status and (row[3] == cls or not by_class)
        for row in desk.rows("SELECT * FROM @account")
    )
    query = desk.sql(f"SELECT COUNT(*) FROM @account WHERE {condition}")
    if desk.answer(query) != (str(counted),):
        return None
    text = f"How many {spoken} does {theme.region[0]} {name} have? Report one number."
    other = desk.sql(f"SELECT SUM({condition}) FROM @account")
    return SQLTicket("quick", text, query=query, other_query=other)


def _differ(desk: TicketDesk, query: str, other: str) -> bool:
    """Whether two queries have different rows, in whatever order."""
    first, second = (desk.connection.execute(each).fetchall() for each in (query, other))
    return sorted(map(repr, first)) != sorted(map(repr, second))


def results(desk: TicketDesk) -> SQLTicket | None:
    """Ask for a table of results, which has to be kept up to date from then on."""
    ground, draw, theme = desk.ground, desk.draw, desk.ground.theme
    words = {"region": theme.region[0] + " code", "kind": "kind", "cls": theme.class_word}
    by = draw.pick(tuple(words))
    first = months_before(ground.today, draw.between(9, 11))[:7]
    name = draw.pick(("desk_monthly", "month_overview", "counted_by_month", "monthly_value"))
    if by == "region":
        column = "region_code"
    else:
        column = "item_kind" if by == "kind" else "item_class"

    def rows(source: str) -> str:
        return (
            f"SELECT {by}, month, COUNT(*), ROUND(SUM(value), 2) FROM ({source}) "
            f"WHERE month >= '{first}' GROUP BY {by}, month"
        )

    query, other = rows(valued(ground)), rows(other_valued(ground))
    slips = {
        f"table_{slip}": (f"INSERT INTO {name} {rows(valued(ground, (slip,)))}",)
        for slip, trap in slips_of(ground).items()
        if trap and _differ(desk, query, rows(valued(ground, (slip,))))
    }
    body = f"({column} TEXT, month TEXT, items INTEGER, value REAL)"
    created = TicketStep(
        f"CREATE TABLE {name} {body}",
        f"CREATE TABLE {name} (value NUMERIC, items INTEGER, month TEXT, {column} TEXT)",
    )
    inserted = TicketStep(
        f"INSERT INTO {name} {query}",
        f"INSERT INTO {name} ({column}, month, items, value) {other}",
    )
    desk.coming_tables["results"] = KeptTable(
        "not_kept", name, query, f"SELECT * FROM {name}",
        (TicketStep(f"DELETE FROM {name}"), inserted),
    )  # fmt: skip
    desk.notes.results_by, desk.notes.results_from = by, first
    for slip in slips:
        desk.slips.setdefault(slip, desk.number())
    text = (
        f"We need a table of results named {name} with the columns {column}, month, items and "
        f"value. It has one row for each {words[by]} and month from {first} on in which "
        f"{theme.item[1]} count, with their number and their counted value, to the cent, and is "
        "kept up to date from now on."
    )
    return SQLTicket("results", text, (created, replace(inserted, slips=slips)))


def results_trimmed(desk: TicketDesk) -> RoutineJob | None:
    """A routine removes the oldest months from the table of results."""
    end = months_before(desk.notes.results_from + "-01", -2)[:7]
    table = desk.kept_tables["results"].table
    return RoutineJob((f"DELETE FROM {table} WHERE month < '{end}'",))
