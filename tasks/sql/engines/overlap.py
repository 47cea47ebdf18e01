"""Sessions at the same time: the peak of each room, without comparing every pair."""

from collections import defaultdict
from functools import partial
from typing import NamedTuple

from hexathlon.tasks.sql.engines.question import (
    EngineDraw,
    EngineQuestion,
    EngineTexts,
    QuestionTable,
    StoredTables,
)
from hexathlon.tasks.sql.schema import Row

__all__ = ["draw"]

_ROOMS = 3
_TABLES = (
    QuestionTable("rooms", (("id", "INTEGER"), ("name", "TEXT"))),
    QuestionTable(
        "sessions",
        (("id", "INTEGER"), ("room", "INTEGER"), ("first", "INTEGER"), ("last", "INTEGER"),
         ("cancelled", "INTEGER")),
        (("room", "first"),),
    ),
)  # fmt: skip


class _Spec(NamedTuple):
    crowd: int
    hard: bool


def draw(drawn: EngineDraw) -> EngineQuestion:
    """Draw a question about sessions that overlap."""
    values = drawn.values("spec")
    spec = _Spec(values.between(6, 8), drawn.hard)
    text = (
        "How full do the rooms get? `first` and `last` of a session are minutes since the opening "
        "of the house: it runs from its first minute to the one before `last`, so that a session "
        "that begins when another ends does not overlap with it. Cancelled sessions (cancelled is "
        "1) do not count. For every room with sessions that count, give its name, and the largest "
        "number of sessions that ran at the same time"
    )
    if spec.hard:
        text += (
            "; in a third column, the first minute in which so many ran; and in a fourth, the "
            f"number of minutes in which at least {spec.crowd} ran"
        )
    return EngineQuestion(
        f"{text}.", _TABLES, partial(_populate, drawn), partial(_by_hand, spec),
        {"sqlite": _texts(spec)}, steps=900_000 if spec.hard else 600_000,
    )  # fmt: skip


def _populate(drawn: EngineDraw, seed: int, visible: bool) -> StoredTables:
    values = drawn.values("rows", seed)
    number = 1_800 if visible else 1_400
    drawn_numbers = values.rng.integers(0, 1 << 30, (number, 4)).tolist()
    sessions: list[Row] = []
    span = number * 5 // 2
    for own, (room, first, length, more) in enumerate(drawn_numbers, 1):
        start = 5 * (first % (span // 5)) if more % 2 else first % span
        end = start + 5 * (1 + length % 12)
        sessions.append((own, 1 + room % _ROOMS, start, end, int(more % 11 == 0)))
    names = drawn.names("place", _ROOMS)
    return {"rooms": [(k + 1, name) for k, name in enumerate(names)], "sessions": sessions}


def _by_hand(spec: _Spec, rows: StoredTables) -> list[Row]:
    changes: dict[object, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for _, room, first, last, cancelled in rows["sessions"]:
        if not cancelled:
            changes[room][int(str(first))] += 1
            changes[room][int(str(last))] -= 1
    answer: list[Row] = []
    for room, name in rows["rooms"]:
        running, peak, at, crowded, before = 0, 0, 0, 0, 0
        for minute in sorted(changes[room]):
            crowded += (minute - before) * (running >= spec.crowd)
            running += changes[room][minute]
            before = minute
            if running > peak:
                peak, at = running, minute
        answer.append((name, peak, at, crowded) if spec.hard else (name, peak))
    return answer


def _texts(spec: _Spec) -> EngineTexts:
    def query(
        kept: str = "WHERE cancelled = 0", merged: bool = True, order: str = "minute",
        crowd: int = spec.crowd,
    ) -> str:  # fmt: skip
        events = (
            f"SELECT room, first AS minute, 1 AS step FROM sessions {kept} UNION ALL "
            f"SELECT room, last, -1 FROM sessions {kept}"
        )
        if merged:
            events = (
                f"SELECT room, minute, SUM(step) AS step FROM ({events}) AS e GROUP BY room, minute"
            )
        lead = (
            f", LEAD(minute) OVER (PARTITION BY room ORDER BY {order}) AS next" if spec.hard else ""
        )
        running = (
            f"WITH events AS ({events}), counted AS (SELECT room, minute, SUM(step) OVER "
            f"(PARTITION BY room ORDER BY {order} ROWS UNBOUNDED PRECEDING) AS n{lead} FROM events)"
        )
        if not spec.hard:
            return (
                f"{running} SELECT r.name, MAX(n) FROM counted JOIN rooms r ON r.id = room "
                "GROUP BY room"
            )
        return (
            f"{running}, peaks AS (SELECT room, MAX(n) AS peak, SUM(CASE WHEN n >= {crowd} THEN "
            "next - minute ELSE 0 END) AS crowded FROM counted GROUP BY room) "
            "SELECT r.name, p.peak, (SELECT MIN(c.minute) FROM counted c WHERE c.room = p.room AND "
            "c.n = p.peak), p.crowded FROM peaks p JOIN rooms r ON r.id = p.room"
        )

    kept = "x.cancelled = 0 AND y.cancelled = 0"
    joined = (
        "WITH c AS (SELECT x.room, x.id, x.first, COUNT(*) AS n FROM sessions x JOIN sessions y ON "
        f"y.room = x.room AND y.first <= x.first AND y.last > x.first WHERE {kept} GROUP BY x.id) "
        "SELECT r.name, MAX(n){} FROM c JOIN rooms r ON r.id = c.room GROUP BY c.room"
    ).format(", MIN(first), 0" if spec.hard else "")
    counted = (
        "SELECT r.name, (SELECT MAX((SELECT COUNT(*) FROM sessions y WHERE y.room = r.id AND "
        "y.cancelled = 0 AND y.first <= x.first AND y.last > x.first)) FROM sessions x WHERE "
        f"x.room = r.id AND x.cancelled = 0){', 0, 0' if spec.hard else ''} FROM rooms r"
    )
    minutes = (
        "WITH RECURSIVE m(minute) AS (SELECT 0 UNION ALL SELECT minute + 1 FROM m WHERE minute < "
        "(SELECT MAX(last) FROM sessions)) SELECT name, MAX(n){} FROM (SELECT r.name, m.minute, "
        "COUNT(*) AS n FROM m JOIN rooms r JOIN sessions s ON s.room = r.id AND s.cancelled = 0 "
        "AND s.first <= m.minute AND s.last > m.minute GROUP BY r.id, m.minute) AS all_minutes "
        "GROUP BY name"
    ).format(", 0, 0" if spec.hard else "")
    touching = query(merged=False, order="minute, step DESC")
    wrong = {
        "pairs": joined, "counted_again": counted, "every_minute": minutes,
        "touching_ones": touching, "cancelled_too": query(kept=""),
    }  # fmt: skip
    if spec.hard:
        wrong["more_than_the_crowd"] = query(crowd=spec.crowd + 1)
    return EngineTexts(query(), {"ends_first": query(merged=False, order="minute, step")}, wrong)
