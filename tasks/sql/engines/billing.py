"""Invoices every few months: days that a month does not have, weekends, and ISO weeks."""

from collections import defaultdict
from collections.abc import Callable
from datetime import date, timedelta
from functools import partial
from typing import NamedTuple

from hexathlon.tasks.sql.engines.question import (
    EngineDraw,
    EngineQuestion,
    EngineTexts,
    QuestionTable,
    StoredTables,
    in_each_dialect,
)
from hexathlon.tasks.sql.schema import Row

__all__ = ["draw"]

_DAYS = (31, 31, 30, 30, 29, 28, 25, 18, 15, 11, 8, 1)
_TURNS = 24
"""Most invoices of a contract."""
_THURSDAY = "date(sent, '-3 days', 'weekday 4')"
_SQLITE_WEEK = (
    f"strftime('%Y', {_THURSDAY}) || '-W' || "
    f"printf('%02d', (strftime('%j', {_THURSDAY}) - 1) / 7 + 1)"
)


def draw(drawn: EngineDraw) -> EngineQuestion:
    """Draw a question about invoices: by day, or at level hard by week and with pauses."""
    values = drawn.values("spec")
    # Winters in which weeks and months of two years overlap, and February ends on a weekday.
    year = values.pick((2012, 2013, 2015, 2018, 2024))
    first = date(year, 12 if drawn.hard else values.pick((1, 2, 3, 4, 8)), 1)
    last = _added(first, 3 if drawn.hard else 2, 1) - timedelta(days=1)
    by = "ISO week" if drawn.hard else "day"
    on = "in" if drawn.hard else "on"
    form = "as YYYY-Www, such as 2019-W07" if drawn.hard else "as YYYY-MM-DD"
    paused = (
        " No invoice is due while its contract is paused; the first and the last day of a pause "
        "belong to it, and a pause without a last day has not ended."
        if drawn.hard else ""
    )  # fmt: skip
    text = (
        "A contract is invoiced every `months` months, for the first time that long after the day "
        "on which it was opened, and always on that same day of the month; in a month that does "
        "not have this day, on the month's last day. Nothing is due after the day on which the "
        f"contract was closed; on that day itself an invoice is still due.{paused} An invoice due "
        "on a Saturday or Sunday is sent on the Monday after; all others are sent on the day they "
        f"are due.\n\nFor every {by} {on} which invoices were sent from {first} to {last}, give "
        f"the {by} ({form}), the number of invoices, and the sum of their fees."
    )
    tables = [
        QuestionTable(
            "contracts",
            (("id", "INTEGER"), ("customer", "TEXT"), ("opened", "DATE"), ("closed", "DATE"),
             ("months", "INTEGER"), ("fee", "INTEGER")),
        )
    ]  # fmt: skip
    if drawn.hard:
        columns = (("id", "INTEGER"), ("contract", "INTEGER"), ("first", "DATE"), ("last", "DATE"))
        tables.append(QuestionTable("pauses", columns))
    return EngineQuestion(
        text, tuple(tables), partial(_populate, drawn, first),
        partial(_by_hand, drawn, first, last),
        in_each_dialect((_sqlite, _duckdb, _postgresql), drawn.hard, first, last),
    )  # fmt: skip


def _added(day: date, months: int, number: int) -> date:
    """Return a day of the month `months` later: that number, or the last one there is."""
    month = day.year * 12 + day.month - 1 + months
    for own in range(number, 0, -1):
        try:
            return date(month // 12, month % 12 + 1, own)
        except ValueError:
            continue
    raise AssertionError("every month has a first day")


def _populate(drawn: EngineDraw, first: date, seed: int, visible: bool) -> StoredTables:
    values = drawn.values("rows", seed)
    names = drawn.names("company", 40)
    contracts: list[Row] = []
    pauses: list[Row] = []
    for own in range(1, values.between(50, 70)):
        opened = _added(first, -values.between(1, 20), values.pick(_DAYS))
        closed = None
        months = values.pick((1, 1, 1, 2, 3))
        if values.chance(0.35):
            # Half of them on a day on which an invoice is due.
            closed = _added(opened, months * values.between(1, 14), opened.day)
            closed += timedelta(days=0 if values.chance(0.5) else values.between(-3, 3))
            closed = max(closed, opened)
        contracts.append((
            own, values.pick(names), opened.isoformat(), str(closed) if closed else None, months,
            values.between(20, 400),
        ))  # fmt: skip
        if drawn.hard and values.chance(0.5):
            start = _added(first, values.between(0, 2), values.pick((31, 30, 28, 15)))
            end = start + timedelta(days=values.pick((0, 0, 9, 30)))
            pauses.append(
                (len(pauses) + 1, own, start.isoformat(), None if values.chance(0.2)
                 else end.isoformat())
            )  # fmt: skip
    return {"contracts": contracts, "pauses": pauses}


def _by_hand(drawn: EngineDraw, first: date, last: date, rows: StoredTables) -> list[Row]:
    pauses: dict[object, list[tuple[str, str]]] = defaultdict(list)
    for _, contract, start, end in rows["pauses"]:
        pauses[contract].append((str(start), str(end or "9999-12-31")))
    totals: dict[str, list[int]] = {}
    for own, _, opened, closed, months, fee in rows["contracts"]:
        start = date.fromisoformat(str(opened))
        for turn in range(1, _TURNS + 1):
            due = _added(start, int(months or 0) * turn, start.day)
            if closed is not None and due.isoformat() > str(closed):
                break
            if any(low <= due.isoformat() <= high for low, high in pauses[own]):
                continue
            sent = due + timedelta(days=max(0, 7 - due.weekday()) if due.weekday() > 4 else 0)
            if first <= sent <= last:
                year, week, _ = sent.isocalendar()
                key = f"{year}-W{week:02d}" if drawn.hard else sent.isoformat()
                total = totals.setdefault(key, [0, 0])
                total[0] += 1
                total[1] += int(fee or 0)
    return [(key, *total) for key, total in totals.items()]


def _query(
    hard: bool, first: date, last: date, due: str, sent: str, key: str, *, closed: str = "",
    paused: str = "",
) -> str:  # fmt: skip
    """Return the query; `due` is a relation of (id, fee, closed, day)."""
    closed = closed or "(closed IS NULL OR day <= closed)"
    paused = paused or (
        " AND NOT EXISTS (SELECT 1 FROM pauses p WHERE p.contract = due.id AND p.first <= due.day "
        "AND (p.last IS NULL OR p.last >= due.day))"
    )
    return (
        f"WITH RECURSIVE due AS ({due}), mailed AS (SELECT fee, {sent} AS sent FROM due "
        f"WHERE {closed}{paused if hard else ''}) SELECT {key} AS period, COUNT(*), SUM(fee) "
        f"FROM mailed WHERE sent >= '{first}' AND sent <= '{last}' GROUP BY 1"
    )


def _sqlite(hard: bool, first: date, last: date) -> EngineTexts:
    turns = (
        "WITH RECURSIVE turns(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM turns "
        f"WHERE n < {_TURNS}) "
    )
    target = "date(opened, 'start of month', '+' || (n * months) || ' months'"
    clamped = (
        f"MIN(date({target[5:]}, '+' || (strftime('%d', opened) - 1) || ' days'), "
        f"{target}, '+1 month', '-1 day'))"
    )
    other = (
        "CASE WHEN strftime('%d', date(opened, '+' || (n * months) || ' months')) = "
        "strftime('%d', opened) THEN date(opened, '+' || (n * months) || ' months') ELSE "
        "date(opened, '+' || (n * months) || ' months', 'start of month', '-1 day') END"
    )

    def days(day: str) -> str:
        return f"{turns}SELECT id, fee, closed, {day} AS day FROM contracts CROSS JOIN turns"

    drifting = (
        "WITH RECURSIVE s AS (SELECT id, fee, closed, months, opened AS day, 0 AS n FROM contracts "
        "UNION ALL SELECT id, fee, closed, months, MIN(date(day, 'start of month', '+' || months "
        "|| ' months', '+' || (strftime('%d', day) - 1) || ' days'), date(day, 'start of month', "
        "'+' || months || ' months', '+1 month', '-1 day')), n + 1 FROM s WHERE n < "
        f"{_TURNS}) SELECT id, fee, closed, day FROM s WHERE n > 0"
    )
    sent = (
        "CASE strftime('%w', day) WHEN '6' THEN date(day, '+2 days') WHEN '0' THEN "
        "date(day, '+1 day') ELSE day END"
    )
    key = _SQLITE_WEEK if hard else "sent"
    build = partial(_query, hard, first, last)
    wrong = {
        "overflowing": build(days("date(opened, '+' || (n * months) || ' months')"), sent, key),
        "drifting": build(drifting, sent, key),
        "on_weekends": build(days(clamped), "day", key),
        "on_sundays": build(
            days(clamped),
            "CASE strftime('%w', day) WHEN '6' THEN date(day, '+2 days') ELSE day END",
            key,
        ),
        "closed_only": build(days(clamped), sent, key, closed="day <= closed"),
        "before_closing": build(
            days(clamped), sent, key, closed="(closed IS NULL OR day < closed)"
        ),
    }
    if hard:
        wrong |= _pause_slips(build, days(clamped), sent, key)
        wrong["simple_week"] = build(days(clamped), sent, "strftime('%Y-W%W', sent)")
        mixed = _SQLITE_WEEK.replace(f"strftime('%Y', {_THURSDAY})", "strftime('%Y', sent)")
        wrong["week_of_other_year"] = build(days(clamped), sent, mixed)
    other_sent = (
        "date(day, '+' || CASE strftime('%w', day) WHEN '6' THEN 2 WHEN '0' THEN 1 ELSE 0 END "
        "|| ' days')"
    )
    return EngineTexts(
        build(days(clamped), sent, key), {"other_days": build(days(other), other_sent, key)}, wrong
    )


def _pause_slips(build: Callable[..., str], due: str, sent: str, key: str) -> dict[str, str]:
    """Return queries that take pauses amiss."""
    ended = " AND NOT EXISTS (SELECT 1 FROM pauses p WHERE p.contract = due.id AND p.first "
    return {
        "open_pauses": build(due, sent, key, paused=f"{ended}<= due.day AND p.last >= due.day)"),
        "inner_days": build(
            due, sent, key,
            paused=f"{ended}< due.day AND (p.last IS NULL OR p.last > due.day))",
        ),
        "no_pauses": build(due, sent, key, paused=" "),
    }  # fmt: skip


class _Dates(NamedTuple):
    """Expressions of a dialect with dates, on the day `opened` and the turn `n` unless noted."""

    turns: str
    """The relation turns(n)."""

    right: str
    other: str
    """The same days as `right`, in other words."""

    thirty_days: str
    step: str
    """The day some months after the column `day`."""

    sent: str
    """The day on which an invoice due on `day` is sent; the next two, too."""

    from_sunday: str
    by_name: str
    week: str
    """The ISO week of the day `sent`, as the next two are meant to be."""

    simple_week: str
    week_of_other_year: str


def _with_dates(hard: bool, first: date, last: date, own: _Dates) -> EngineTexts:
    """Return the texts of a dialect with dates."""

    def days(day: str) -> str:
        return (
            f"SELECT id, fee, closed, CAST({day} AS DATE) AS day FROM contracts "
            f"CROSS JOIN {own.turns} AS turns(n)"
        )

    right, sent = days(own.right), own.sent
    drifting = (
        "SELECT id, fee, closed, day FROM (WITH RECURSIVE s AS (SELECT id, fee, closed, months, "
        "opened AS day, 0 AS n FROM contracts UNION ALL SELECT id, fee, closed, months, "
        f"CAST({own.step} AS DATE), n + 1 FROM s WHERE n < {_TURNS}) SELECT * FROM s WHERE n > 0) "
        "AS walked"
    )
    key = own.week if hard else "sent"
    build = partial(_query, hard, first, last)
    wrong = {
        "drifting": build(drifting, sent, key),
        "weeks_from_sunday": build(right, own.from_sunday, key),
        "closed_only": build(right, sent, key, closed="day <= closed"),
        "thirty_days": build(days(own.thirty_days), sent, key),
    }
    if hard:
        wrong |= _pause_slips(build, right, sent, key)
        wrong["simple_week"] = build(right, sent, own.simple_week)
        wrong["week_of_other_year"] = build(right, sent, own.week_of_other_year)
    other = build(days(own.other), own.by_name, key)
    return EngineTexts(build(right, sent, key), {"other_days": other}, wrong)


def _duckdb(hard: bool, first: date, last: date) -> EngineTexts:
    own = _Dates(
        turns=f"range(1, {_TURNS + 1})",
        right="opened + to_months(CAST(months * n AS INTEGER))",
        other="opened + INTERVAL 1 MONTH * (months * n)",
        thirty_days="opened + CAST(30 * months * n AS INTEGER)",
        step="day + to_months(CAST(months AS INTEGER))",
        sent="day + CASE isodow(day) WHEN 6 THEN 2 WHEN 7 THEN 1 ELSE 0 END",
        from_sunday="day + CASE dayofweek(day) WHEN 6 THEN 2 WHEN 7 THEN 1 ELSE 0 END",
        by_name="CASE dayname(day) WHEN 'Saturday' THEN day + 2 WHEN 'Sunday' THEN day + 1 ELSE "
        "day END",
        week="strftime(sent, '%G-W%V')",
        simple_week="strftime(sent, '%Y-W%W')",
        week_of_other_year="strftime(sent, '%Y-W%V')",
    )
    return _with_dates(hard, first, last, own)


def _postgresql(hard: bool, first: date, last: date) -> EngineTexts:
    own = _Dates(
        turns=f"generate_series(1, {_TURNS})",
        right="opened + make_interval(months => CAST(months * n AS INTEGER))",
        other="opened + months * n * INTERVAL '1 month'",
        thirty_days="opened + months * n * INTERVAL '30 days'",
        step="day + months * INTERVAL '1 month'",
        sent="day + CASE extract(isodow FROM day) WHEN 6 THEN 2 WHEN 7 THEN 1 ELSE 0 END",
        from_sunday="day + CASE extract(dow FROM day) WHEN 6 THEN 2 WHEN 7 THEN 1 ELSE 0 END",
        by_name="CASE to_char(day, 'ID') WHEN '6' THEN day + 2 WHEN '7' THEN day + 1 ELSE day END",
        week="to_char(sent, 'IYYY\"-W\"IW')",
        simple_week="to_char(sent, 'YYYY\"-W\"WW')",
        week_of_other_year="to_char(sent, 'YYYY\"-W\"IW')",
    )
    return _with_dates(hard, first, last, own)
