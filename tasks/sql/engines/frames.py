"""Comparison of bookings with those around them: frames by days and by groups of equal days."""

from collections import defaultdict
from collections.abc import Callable
from datetime import date
from functools import partial

from hexathlon.tasks.sql.draws import shifted
from hexathlon.tasks.sql.engines.question import (
    EngineDraw,
    EngineQuestion,
    EngineTexts,
    QuestionTable,
    StoredTables,
)
from hexathlon.tasks.sql.schema import Row

__all__ = ["draw"]

_DAY = "2024-01-01"
_LEAST = 3
_DAY_OF_MONTH, _WEEK = "CAST(strftime('%d', day) AS INTEGER)", "date_trunc('week', day)"
_TABLES = (
    QuestionTable("accounts", (("id", "INTEGER"), ("name", "TEXT"))),
    QuestionTable(
        "bookings",
        (("id", "INTEGER"), ("account", "INTEGER"), ("day", "DATE"), ("cents", "INTEGER")),
    ),
)  # fmt: skip


def draw(drawn: EngineDraw) -> EngineQuestion:
    """Draw a question about bookings that stand out."""
    values = drawn.values("spec")
    before, around = values.between(6, 12), values.between(2, 4)
    span = values.between(2, 4)
    text = (
        "We look for bookings that stand out. A booking is high if its cents are more than twice "
        f"the mean of the bookings of the same account in the {before} days before its own day, "
        f"that day itself not included; where there are fewer than {_LEAST} such bookings, it is "
        f"not high. The {before} days are calendar days; not every day has bookings, and some "
        "have several. For every account with bookings, give its name, the number of its high "
        f"bookings, and the largest total of cents that it booked on {span} booking days in a "
        "row. A booking day of an account is a day on which it has at least one booking, and two "
        "of them are in a row if it has no booking on a day between them; "
        f"accounts have at least {span} of them."
    )
    if drawn.hard:
        text += (
            " In a fourth column, give the number of its bookings whose cents are more than twice "
            f"the mean of the other bookings of the account from {around} days before to {around} "
            "days after its day, other bookings of that day included, the booking itself not; "
            "where there is no such other booking, it does not count."
        )
    spec = (before, span, around if drawn.hard else 0)
    return EngineQuestion(
        text, _TABLES, partial(_populate, drawn), partial(_by_hand, spec),
        {
            "sqlite": _texts(spec, "julianday(day)", "{}", _DAY_OF_MONTH),
            "duckdb": _texts(spec, "day", "INTERVAL {} DAY", _WEEK),
            "postgresql": _texts(spec, "day", "INTERVAL '{} days'", _WEEK),
        },
    )  # fmt: skip


def _populate(drawn: EngineDraw, seed: int, visible: bool) -> StoredTables:
    values = drawn.values("rows", seed)
    accounts = [(own + 1, name) for own, name in enumerate(drawn.names("company", 8))]
    bookings: list[Row] = []
    for account, _ in accounts:
        day = shifted(_DAY, values.below(5))
        for _ in range(values.between(15, 28)):
            for _ in range(values.pick((1, 1, 1, 2, 3))):
                cents = values.between(500, 1_500) * values.pick((1, 1, 2, 3))
                bookings.append((len(bookings) + 1, account, day, cents))
            day = shifted(day, values.pick((1, 1, 2, 3, 6, 14)))
    order = values.rng.permutation(len(bookings)).tolist()
    mixed = [(place + 1, *bookings[old][1:]) for place, old in enumerate(order)]
    return {"accounts": accounts, "bookings": mixed}


def _by_hand(spec: tuple[int, int, int], rows: StoredTables) -> list[Row]:
    before, span, around = spec
    own: dict[object, list[tuple[int, int]]] = defaultdict(list)
    for _, account, day, cents in rows["bookings"]:
        own[account].append((date.fromisoformat(str(day)).toordinal(), int(cents or 0)))
    answer: list[Row] = []
    for account, name in rows["accounts"]:
        booked = own[account]
        high = near = 0
        for place, (day, cents) in enumerate(booked):
            earlier = [c for d, c in booked if 1 <= day - d <= before]
            high += len(earlier) >= _LEAST and cents * len(earlier) > 2 * sum(earlier)
            others = [c for k, (d, c) in enumerate(booked) if k != place and abs(day - d) <= around]
            near += bool(others) and cents * len(others) > 2 * sum(others)
        totals: dict[int, int] = defaultdict(int)
        for day, cents in booked:
            totals[day] += cents
        by_day = [totals[day] for day in sorted(totals)]
        most = max(sum(by_day[k : k + span]) for k in range(len(by_day) - span + 1))
        answer.append((name, high, most, near) if around else (name, high, most))
    return answer


def _query(
    spec: tuple[int, int, int], order: str, days: str, *, frame: str = "RANGE", upto: str = "",
    other: str = "EXCLUDE CURRENT ROW", rows: str = "GROUPS", least: int = _LEAST,
    mean: str = "cents > 2 * mean", around: str = "", grouped: bool = False,
) -> str:  # fmt: skip
    before, span, near = spec
    upto = upto or f"{days.format(1)} PRECEDING"
    if frame != "RANGE":
        window = f"ORDER BY day ROWS BETWEEN {before} PRECEDING AND 1 PRECEDING"
    else:
        window = f"ORDER BY {order} RANGE BETWEEN {days.format(before)} PRECEDING AND {upto}"
    around = around or (
        f"ORDER BY {order} RANGE BETWEEN {days.format(near)} PRECEDING AND "
        f"{days.format(near)} FOLLOWING {other}"
    )
    fourth = f", AVG(cents) OVER (PARTITION BY account {around}) AS others" if near else ""
    near_high = ", SUM(CASE WHEN cents > 2 * others THEN 1 ELSE 0 END)" if near else ""
    total = (
        f"SUM(cents) OVER (PARTITION BY account ORDER BY day {rows} BETWEEN {span - 1} PRECEDING "
        "AND CURRENT ROW)"
    )
    days_only = (
        ", sums AS (SELECT account, MAX(total) AS total FROM (SELECT account, SUM(SUM(cents)) OVER "
        f"(PARTITION BY account ORDER BY day ROWS BETWEEN {span - 1} PRECEDING AND CURRENT ROW) AS "
        "total FROM bookings GROUP BY account, day) AS daily GROUP BY account)"
    )
    return (
        f"WITH seen AS (SELECT account, cents, AVG(cents) OVER (PARTITION BY account {window}) AS "
        f"mean, COUNT(*) OVER (PARTITION BY account {window}) AS n, {total} AS total{fourth} "
        f"FROM bookings){days_only if grouped else ''} "
        f"SELECT a.name, SUM(CASE WHEN n >= {least} AND {mean} THEN 1 ELSE 0 END), "
        f"MAX({'sums' if grouped else 'seen'}.total){near_high} "
        "FROM seen JOIN accounts a ON a.id = seen.account"
        f"{' JOIN sums ON sums.account = a.id' if grouped else ''} GROUP BY a.id, a.name"
    )


def _texts(spec: tuple[int, int, int], order: str, days: str, rough: str) -> EngineTexts:
    """Return the texts of a dialect; `rough` is an order that takes different days for one."""
    query: Callable[..., str] = partial(_query, spec)
    wrong = {
        "rows_for_days": query(order, days, frame="ROWS"),
        "own_day_too": query(order, days, upto="CURRENT ROW"),
        "bookings_for_days": query(order, days, rows="ROWS"),
        "few_are_enough": query(order, days, least=1),
        "other_order": query(rough, days),
        "one_day_less": _query((spec[0] - 1, *spec[1:]), order, days),
    }
    if spec[2]:
        wrong["itself_too"] = query(order, days, other="")
        wrong["equal_days_left_out"] = query(order, days, other="EXCLUDE GROUP")
        wrong["rows_around"] = query(
            order, days, around=f"ORDER BY day, id ROWS BETWEEN {spec[2]} PRECEDING AND {spec[2]} "
            "FOLLOWING EXCLUDE CURRENT ROW",
        )  # fmt: skip
    return EngineTexts(
        query(order, days), {"totals_by_day": query(order, days, grouped=True)}, wrong
    )
