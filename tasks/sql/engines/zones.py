"""Moments in UTC as days and hours on the clocks of several time zones."""

from collections import defaultdict
from collections.abc import Callable
from datetime import date, datetime, timedelta
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

_ZONES = {
    "Europe/Berlin": (60, "EU"), "Europe/Lisbon": (0, "EU"), "Europe/Helsinki": (120, "EU"),
    "America/New_York": (-300, "US"), "America/Los_Angeles": (-480, "US"),
    "America/Chicago": (-360, "US"), "Asia/Kolkata": (330, ""), "Asia/Tokyo": (540, ""),
}  # fmt: skip
"""Minutes of standard time, and whose rules of summer time hold."""
_TABLES = (
    QuestionTable("sites", (("id", "INTEGER"), ("name", "TEXT"), ("zone", "TEXT"))),
    QuestionTable(
        "offsets",
        (("id", "INTEGER"), ("zone", "TEXT"), ("starts", "TIMESTAMP"), ("minutes", "INTEGER")),
    ),
    QuestionTable(
        "calls",
        (("id", "INTEGER"), ("site", "INTEGER"), ("started", "TIMESTAMP"), ("seconds", "INTEGER")),
    ),
)  # fmt: skip


class _Spec(NamedTuple):
    first: str
    last: str
    opens: int
    hard: bool


def draw(drawn: EngineDraw) -> EngineQuestion:
    """Draw a question about calls by the clocks of their sites."""
    values = drawn.values("spec")
    year = values.between(2021, 2024)
    start = date(year, 3, values.between(4, 9)) if values.chance(0.5) else date(year, 10, 24)
    days = values.between(25, 34)
    spec = _Spec(
        start.isoformat(), (start + timedelta(days=days)).isoformat(), values.between(6, 9),
        drawn.hard,
    )  # fmt: skip
    what = (
        "the number of these calls, and their mean length in seconds, of those whose length is "
        "known"
    )
    if spec.hard:
        what = (
            "the day on which most of its calls started (as YYYY-MM-DD; if there are several, the "
            "earliest), the number of calls that started on that day, and the whole minutes "
            "between the starts of the first and of the last of them, by UTC; seconds that do not "
            "make up a minute are dropped"
        )
    which = "such calls"
    if not spec.hard:
        which = (
            "calls among them that started on a Saturday or Sunday, or before "
            f"{spec.opens:02d}:00 on another day"
        )
    text = (
        "All times in the database are UTC. What the clocks at a site show follows from `offsets`: "
        "the minutes to add to UTC in the site's zone from a moment on, until the next entry of "
        "that zone. Days, hours and weekdays below are those that the clocks at the site show. "
        f"Take the calls that started from {spec.first} to {spec.last}, both days included. For "
        f"every site with {which}, give its name, {what}.{'' if spec.hard else ' Do not round.'}"
    )
    return EngineQuestion(
        text, _TABLES, partial(_populate, drawn, spec, year), partial(_by_hand, spec),
        in_each_dialect((_sqlite, _duckdb, _postgresql), spec),
    )  # fmt: skip


def _nth_sunday(year: int, month: int, number: int) -> date:
    """Return a Sunday of a month; number 0 is the last one."""
    if number == 0:
        day = date(year, month + 1, 1) - timedelta(days=1)
        return day - timedelta(days=(day.weekday() + 1) % 7)
    day = date(year, month, 1)
    return day + timedelta(days=(6 - day.weekday()) % 7 + 7 * (number - 1))


def _changes(minutes: int, rules: str, year: int) -> list[tuple[datetime, int]]:
    """Return the moments of a year, in UTC, at which a zone's offset changes."""
    if not rules:
        return []
    if rules == "EU":
        spring, autumn = _nth_sunday(year, 3, 0), _nth_sunday(year, 10, 0)
        hours = (1 * 60, 1 * 60)
    else:
        spring, autumn = _nth_sunday(year, 3, 2), _nth_sunday(year, 11, 1)
        hours = (2 * 60 - minutes, 2 * 60 - minutes - 60)
    return [
        (_midnight(spring) + timedelta(minutes=hours[0]), minutes + 60),
        (_midnight(autumn) + timedelta(minutes=hours[1]), minutes),
    ]


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day)


def _populate(drawn: EngineDraw, spec: _Spec, year: int, seed: int, visible: bool) -> StoredTables:
    values = drawn.values("rows", seed)
    zones = drawn.values("zones").sample(sorted(_ZONES), 6)
    names = drawn.names("city", 6)
    sites = [(place + 1, names[place], zone) for place, zone in enumerate(zones)]
    offsets: list[tuple[str, str, int]] = []
    for zone in sorted(_ZONES):
        minutes, rules = _ZONES[zone]
        offsets.append((zone, "2019-12-01 00:00:00", minutes))
        for own in range(2020, 2026):
            offsets += [(zone, str(moment), to) for moment, to in _changes(minutes, rules, own)]
    order = values.rng.permutation(len(offsets)).tolist()
    first = datetime.fromisoformat(spec.first) - timedelta(days=2)
    days = (date.fromisoformat(spec.last) - date.fromisoformat(spec.first)).days + 5
    calls: list[Row] = []
    for own in range(1, values.between(380, 440)):
        moment = first + timedelta(days=values.below(days), seconds=values.below(86_400))
        seconds = None if values.chance(0.2) else values.between(20, 900)
        calls.append((own, values.between(1, len(sites)), str(moment), seconds))
    return {
        "sites": sites,
        "offsets": [(place + 1, *offsets[old]) for place, old in enumerate(order)],
        "calls": calls,
    }


def _by_hand(spec: _Spec, rows: StoredTables) -> list[Row]:
    entries: dict[object, list[tuple[str, int]]] = defaultdict(list)
    for _, zone, starts, minutes in rows["offsets"]:
        entries[zone].append((str(starts), int(minutes or 0)))
    answer: list[Row] = []
    for site, name, zone in rows["sites"]:
        own: list[tuple[datetime, datetime, object]] = []
        for _, at, started, seconds in rows["calls"]:
            if at == site:
                _, minutes = max(item for item in entries[zone] if item[0] <= str(started))
                moment = datetime.fromisoformat(str(started))
                local = moment + timedelta(minutes=minutes)
                if spec.first <= local.date().isoformat() <= spec.last:
                    own.append((local, moment, seconds))
        if spec.hard:
            by_day: dict[str, list[datetime]] = defaultdict(list)
            for local, moment, _ in own:
                by_day[local.date().isoformat()].append(moment)
            if by_day:
                day = min(by_day, key=lambda one: (-len(by_day[one]), one))
                gap = max(by_day[day]) - min(by_day[day])
                answer.append((name, day, len(by_day[day]), int(gap.total_seconds()) // 60))
        else:
            out = [s for local, _, s in own if local.weekday() > 4 or local.hour < spec.opens]
            known = [int(str(s)) for s in out if s is not None]
            if out:
                answer.append((name, len(out), sum(known) / len(known) if known else None))
    return answer


class _Means(NamedTuple):
    """Expressions of one dialect on `c.started`, and on the column `clock` of the site's time."""

    clock: str
    day: str
    weekend: str
    early: str
    gap: str


_ZONED = "(c.started AT TIME ZONE 'UTC') AT TIME ZONE s.zone"
_MISZONED = "CAST(c.started AT TIME ZONE s.zone AS TIMESTAMP)"
"""The clock of a site on engines that know zones, and what takes UTC for that clock."""


def _query(
    spec: _Spec, means: _Means, *, entry: str = "", until: str = "", known: str = "AVG(seconds)",
    ties: str = ", day",
) -> str:  # fmt: skip
    entry = entry or (
        "f.starts = (SELECT MAX(g.starts) FROM offsets g WHERE g.zone = s.zone "
        "AND g.starts <= c.started)"
    )
    joined = f" JOIN offsets f ON f.zone = s.zone AND {entry}" if "f." in means.clock else ""
    until = until or f"{means.day} <= '{spec.last}'"
    local = (
        f"WITH local AS (SELECT s.id, s.name, c.started, c.seconds, {means.clock} AS clock "
        f"FROM calls c JOIN sites s ON s.id = c.site{joined}), own AS (SELECT id, name, started, "
        f"seconds, clock, {means.day} AS day FROM local WHERE {means.day} >= '{spec.first}' AND "
        f"{until})"
    )
    if not spec.hard:
        return (
            f"{local} SELECT name, COUNT(*), {known} FROM own WHERE {means.weekend} OR "
            f"{means.early} GROUP BY id, name"
        )
    return (
        f"{local}, days AS (SELECT id, name, day, COUNT(*) AS n, {means.gap} AS gap, "
        f"ROW_NUMBER() OVER (PARTITION BY id ORDER BY COUNT(*) DESC{ties}) AS k FROM own "
        "GROUP BY id, name, day) SELECT name, day, n, gap FROM days WHERE k = 1"
    )


def _common(spec: _Spec, means: _Means, query: Callable[..., str]) -> dict[str, str]:
    wrong = {
        "by_utc": query(means._replace(clock="c.started")),
        "offset_of_today": query(
            means, entry="f.starts = (SELECT MAX(g.starts) FROM offsets g WHERE g.zone = s.zone)"
        ),
    }
    if spec.hard:
        wrong["latest_of_ties"] = query(means, ties=", day DESC")
    else:
        wrong["clock_below_last_day"] = query(means, until=f"clock <= '{spec.last}'")
        wrong["unknown_as_zero"] = query(means, known="SUM(seconds) * 1.0 / COUNT(*)")
        wrong["weekends_only"] = query(means._replace(early="1 = 0"))
    return wrong


def _sqlite(spec: _Spec) -> EngineTexts:
    means = _Means(
        clock="datetime(c.started, f.minutes || ' minutes')", day="date(clock)",
        weekend="strftime('%w', clock) IN ('0', '6')",
        early=f"CAST(strftime('%H', clock) AS INTEGER) < {spec.opens}",
        gap="(strftime('%s', MAX(started)) - strftime('%s', MIN(started))) / 60",
    )  # fmt: skip
    query: Callable[..., str] = partial(_query, spec)
    other = means._replace(
        clock="datetime(strftime('%s', c.started) + 60 * f.minutes, 'unixepoch')",
        day="substr(clock, 1, 10)", weekend="strftime('%w', day) IN ('0', '6')",
        early=f"substr(clock, 12) < '{spec.opens:02d}:00'",
        gap="CAST((julianday(MAX(started)) - julianday(MIN(started))) * 1440 + 1e-4 AS INTEGER)",
    )  # fmt: skip
    wrong = _common(spec, means, query) | {
        "the_other_way": query(means._replace(clock=means.clock.replace("f.minutes ||",
                                                                        "-f.minutes ||"))),
        "local_time": query(means._replace(clock="datetime(c.started, 'localtime')")),
    }  # fmt: skip
    if spec.hard:
        gap = "(julianday(MAX(started)) - julianday(MIN(started))) * 1440"
        wrong["rounded_minutes"] = query(means._replace(gap=f"CAST(ROUND({gap}) AS INTEGER)"))
        wrong["part_of_a_minute"] = query(means._replace(gap=gap))
    else:
        wrong["monday_as_weekend"] = query(
            means._replace(weekend="strftime('%w', clock) IN ('6', '7')")
        )
    return EngineTexts(query(means), {"seconds": query(other)}, wrong)


def _duckdb(spec: _Spec) -> EngineTexts:
    means = _Means(
        clock="c.started + to_minutes(f.minutes)", day="CAST(clock AS DATE)",
        weekend="isodow(clock) >= 6", early=f"hour(clock) < {spec.opens}",
        gap="CAST(date_diff('second', MIN(started), MAX(started)) AS BIGINT) // 60",
    )  # fmt: skip
    query: Callable[..., str] = partial(_query, spec)
    other = means._replace(clock=_ZONED, gap="datesub('minute', MIN(started), MAX(started))")
    wrong = _common(spec, means, query) | {
        "zone_of_the_clock": query(means._replace(clock=_MISZONED)),
    }
    if spec.hard:
        wrong["minutes_begun"] = query(
            means._replace(gap="date_diff('minute', MIN(started), MAX(started))")
        )
        seconds = "date_diff('second', MIN(started), MAX(started)) / 60"
        wrong["part_of_a_minute"] = query(means._replace(gap=seconds))
    else:
        wrong["monday_as_weekend"] = query(means._replace(weekend="dayofweek(clock) >= 6"))
    return EngineTexts(query(means), {"time_zones": query(other)}, wrong)


def _postgresql(spec: _Spec) -> EngineTexts:
    means = _Means(
        clock="c.started + f.minutes * INTERVAL '1 minute'", day="CAST(clock AS DATE)",
        weekend="extract(isodow FROM clock) >= 6",
        early=f"extract(hour FROM clock) < {spec.opens}",
        gap="CAST(extract(epoch FROM MAX(started) - MIN(started)) AS BIGINT) / 60",
    )  # fmt: skip
    query: Callable[..., str] = partial(_query, spec)
    other = means._replace(
        clock=_ZONED, gap="floor(extract(epoch FROM MAX(started) - MIN(started)) / 60)"
    )
    wrong = _common(spec, means, query) | {
        "zone_of_the_clock": query(means._replace(clock=_MISZONED)),
    }
    if spec.hard:
        part = "extract(epoch FROM MAX(started) - MIN(started)) / 60"
        wrong["part_of_a_minute"] = query(means._replace(gap=part))
        wrong["minutes_of_the_hour"] = query(
            means._replace(gap="extract(minute FROM MAX(started) - MIN(started))")
        )
    else:
        wrong["monday_as_weekend"] = query(means._replace(weekend="extract(dow FROM clock) >= 6"))
    return EngineTexts(query(means), {"time_zones": query(other)}, wrong)
