"""Scans of one card shortly after each other: the key finds the neighbours, a formula does not."""

from bisect import bisect_left, bisect_right
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

_GATES = 6
_TABLES = (
    QuestionTable("gates", (("id", "INTEGER"), ("name", "TEXT"))),
    QuestionTable(
        "scans",
        (("id", "INTEGER"), ("card", "INTEGER"), ("gate", "INTEGER"), ("second", "INTEGER")),
        (("card", "second"),),
    ),
)  # fmt: skip


class _Spec(NamedTuple):
    window: int
    back: int
    hard: bool


def draw(drawn: EngineDraw) -> EngineQuestion:
    """Draw a question about scans of one card at several gates."""
    values = drawn.values("spec")
    window = 60 * values.between(4, 7)
    spec = _Spec(window, window * values.between(2, 3), drawn.hard)
    text = (
        "Which scans are suspicious? A scan is suspicious if the same card was scanned at another "
        f"gate at most {spec.window} seconds later, this limit included; a scan in the same "
        "second does not count. For every gate with suspicious scans, give its name, the number of "
        "its suspicious scans, and the number of pairs of a suspicious scan of this gate and a "
        "later scan that makes it suspicious"
    )
    if spec.hard:
        text += (
            "; and in a fourth column, how many of its suspicious scans have no earlier scan of "
            f"the same card, at whatever gate, within {spec.back} seconds before them (this limit "
            "included, the same second not)"
        )
    return EngineQuestion(
        f"{text}.", _TABLES, partial(_populate, drawn, spec), partial(_by_hand, spec),
        {"sqlite": _texts(spec)}, steps=340_000 if spec.hard else 280_000,
    )  # fmt: skip


def _populate(drawn: EngineDraw, spec: _Spec, seed: int, visible: bool) -> StoredTables:
    values = drawn.values("rows", seed)
    number, cards = (4_000, 8) if visible else (3_000, 6)
    scans: list[Row] = []
    second = [0] * cards
    for own, (card, gate, gap, kind) in enumerate(
        values.rng.integers(0, 1 << 30, (number, 4)).tolist(), 1
    ):
        place = card % cards
        after = gap % spec.window if kind % 5 < 2 else spec.window + gap % (6 * spec.window)
        if kind % 23 == 0:
            after = (0, spec.window, spec.back)[gap % 3]
        second[place] += after
        scans.append((own, 1 + place, 1 + gate % _GATES, second[place]))
    order = values.rng.permutation(number).tolist()
    mixed = [(k + 1, *scans[old][1:]) for k, old in enumerate(order)]
    names = drawn.names("place", _GATES)
    return {"gates": [(k + 1, name) for k, name in enumerate(names)], "scans": mixed}


def _by_hand(spec: _Spec, rows: StoredTables) -> list[Row]:
    times: dict[object, list[tuple[int, int]]] = defaultdict(list)
    for _, card, gate, second in rows["scans"]:
        times[card].append((int(str(second)), int(str(gate))))
    found: dict[object, list[int]] = defaultdict(lambda: [0, 0, 0])
    for own in times.values():
        own.sort()
        for second, gate in own:
            later = own[
                bisect_right(own, (second, 99)) : bisect_right(own, (second + spec.window, 99))
            ]
            number = sum(other != gate for _, other in later)
            if number:
                low, high = bisect_left(own, (second - spec.back, 0)), bisect_left(own, (second, 0))
                total = found[gate]
                total[0] += 1
                total[1] += number
                total[2] += low == high
    return [
        (name, *found[gate][: 3 if spec.hard else 2])
        for gate, name in rows["gates"]
        if gate in found
    ]


def _texts(spec: _Spec) -> EngineTexts:
    def query(
        near: str = f"b.second > a.second AND b.second <= a.second + {spec.window}",
        other: str = " AND b.gate <> a.gate",
        before: str = f"c.second < a.second AND c.second >= a.second - {spec.back}",
        card: str = "b.card = a.card", counted: str = "COUNT(*)",
    ) -> str:  # fmt: skip
        fresh = ""
        if spec.hard:
            fresh = (
                ", SUM(NOT EXISTS (SELECT 1 FROM scans c WHERE c.card = a.card AND " + before + "))"
            )
        return (
            f"WITH a AS MATERIALIZED (SELECT a.id, a.card, a.gate, a.second, {counted} AS n FROM "
            f"scans a JOIN scans b ON {card} AND {near}{other} GROUP BY a.id) "
            f"SELECT g.name, COUNT(*), SUM(a.n){fresh} FROM a JOIN gates g ON g.id = a.gate "
            "GROUP BY g.id, g.name"
        )

    apart = f"b.second - a.second > 0 AND b.second - a.second <= {spec.window}"
    wrong = {
        "difference": query(near=apart),
        "absolute_difference": query(
            near=f"b.second > a.second AND abs(b.second - a.second) <= {spec.window}"
        ),
        "all_later_ones": query(near="b.second > a.second").replace(
            "COUNT(*) AS n", f"SUM(b.second - a.second <= {spec.window}) AS n"
        ),
        "limit_left_out": query(
            near=f"b.second > a.second AND b.second < a.second + {spec.window}"
        ),
        "same_second_too": query(
            near=f"b.second >= a.second AND b.second <= a.second + {spec.window}"
        ),
        "same_gate_too": query(other=""),
        "either_side": query(
            near=f"b.second <> a.second AND b.second BETWEEN a.second - {spec.window} AND "
            f"a.second + {spec.window}"
        ),
        "cards_as_text": query(card="b.card || '' = a.card || ''"),
    }
    if spec.hard:
        wrong["before_by_difference"] = query(
            before=f"a.second - c.second > 0 AND a.second - c.second <= {spec.back}"
        )
        wrong["before_within_the_window"] = query(
            before=f"c.second < a.second AND c.second >= a.second - {spec.window}"
        )
    between = query(
        near=f"b.second BETWEEN a.second + 1 AND a.second + {spec.window}",
        before=f"c.second BETWEEN a.second - {spec.back} AND a.second - 1",
    )
    return EngineTexts(query(), {"between": between}, wrong)
