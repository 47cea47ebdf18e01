"""Shares held through chains of companies: recursion over paths, products, and cycles."""

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from hexathlon.tasks.errors import GenerationExhausted
from hexathlon.tasks.sql.draws import shifted
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

_DAY = "2024-06-01"
_FIRMS = 16
_PERCENT = (12, 18, 23, 27, 35, 41)
_TABLES = (
    QuestionTable("firms", (("id", "INTEGER"), ("name", "TEXT"))),
    QuestionTable(
        "stakes",
        (("id", "INTEGER"), ("owner", "INTEGER"), ("firm", "INTEGER"), ("percent", "INTEGER"),
         ("first", "DATE"), ("last", "DATE")),
    ),
)  # fmt: skip


class _Spec(NamedTuple):
    day: str
    root: int
    name: str
    least: int
    hard: bool


def draw(drawn: EngineDraw) -> EngineQuestion:
    """Draw a question about the shares of one company."""
    values = drawn.values("spec")
    names = drawn.names("company", _FIRMS)
    ids = [place + 1 for place in values.sample(range(_FIRMS), _FIRMS)]
    root = values.between(0, 2)
    spec = _Spec(
        shifted(_DAY, values.between(-10, 10)), ids[root], names[root], values.pick((5, 10)),
        drawn.hard,
    )  # fmt: skip
    chain = (
        "A chain leads from one firm to the next by stakes held on that day; its share is the "
        "product of their percentages, so that 50 % of a firm that holds 40 % of another is 20 % "
        "of that one. The stakes of a firm in another add up if it holds several, each of which "
        "makes a chain of its own."
    )
    cycle = (
        " Some firms hold each other in a circle: a chain never comes to the same firm twice, the "
        f"one where it begins included, and so {spec.name} has no share in itself."
        if spec.hard else ""
    )  # fmt: skip
    text = (
        f"What did {spec.name} hold on {spec.day}, directly and through other firms? A stake is "
        "held from its first to its last day, both included; without a last day it is still held. "
        f"{chain}{cycle}\n\nFor every other firm in which {spec.name} held a share by one or more "
        "chains, give its name, the sum of the shares of all chains as a percentage (between 0 "
        "and 100, not rounded), the number of chains, and the number of stakes in the shortest "
        "of them."
    )
    if spec.hard:
        text += (
            f" Leave out firms of which {spec.name} held less than {spec.least} % in all. In a "
            "fifth column, give the shortest chain as the names of its firms from "
            f"{spec.name} to the firm, joined by ' > '; if several are the shortest, the first "
            "in alphabetical order of these texts."
        )
    return EngineQuestion(
        text, _TABLES, partial(_populate, drawn, ids, names, root), partial(_by_hand, spec),
        in_each_dialect((_sqlite, _duckdb, _postgresql), spec),
    )  # fmt: skip


def _populate(
    drawn: EngineDraw, ids: list[int], names: list[str], root: int, seed: int, visible: bool
) -> StoredTables:
    """Draw stakes in firms from up to five places before; at level hard, also in earlier ones."""
    values = drawn.values("rows", seed)
    stakes: list[tuple[int, int, int, str, str | None]] = [
        (root, root + step, values.pick(_PERCENT), shifted(_DAY, -500), None) for step in (1, 3)
    ]
    for firm in range(1, _FIRMS):
        for owner in values.sample(range(max(0, firm - 5), firm), values.pick((1, 2, 2, 3))):
            percent = values.pick(_PERCENT)
            for _ in range(values.pick((1, 1, 1, 1, 2))):
                first, last = _days(drawn, values.below(1 << 30))
                stakes.append((owner, firm, percent, first, last))
        if drawn.hard and firm > 3 and values.chance(0.35):
            back = values.between(max(0, firm - 6), firm - 1)
            first, last = _days(drawn, values.below(1 << 30))
            stakes.append((firm, back, values.pick(_PERCENT), first, last))
    order = values.rng.permutation(len(stakes)).tolist()
    return {
        "firms": sorted(zip(ids, names, strict=True)),
        "stakes": [
            (place + 1, ids[stakes[old][0]], ids[stakes[old][1]], *stakes[old][2:])
            for place, old in enumerate(order)
        ],
    }


def _days(drawn: EngineDraw, seed: int) -> tuple[str, str | None]:
    values = drawn.values("days", seed)
    first = shifted(_DAY, -values.between(20, 900))
    if values.chance(0.08):
        return shifted(_DAY, values.between(11, 90)), None
    if values.chance(0.12):
        return first, shifted(_DAY, -values.between(11, 19))
    return first, None if values.chance(0.6) else shifted(_DAY, values.between(11, 400))


def _by_hand(spec: _Spec, rows: StoredTables) -> list[Row]:
    names = {own: str(name) for own, name in rows["firms"]}
    held: dict[object, list[tuple[object, int]]] = defaultdict(list)
    for _, owner, firm, percent, first, last in rows["stakes"]:
        if str(first) <= spec.day and (last is None or str(last) >= spec.day):
            held[owner].append((firm, int(percent or 0)))
    chains: dict[object, list[tuple[int, int, str]]] = defaultdict(list)

    def follow(path: tuple[object, ...], share: int) -> None:
        for firm, percent in held[path[-1]]:
            if firm not in path:
                # Whole numbers: a share in units that make a chain of seven stakes exact.
                own = share * percent // 100
                chains[firm].append((own, len(path), " > ".join(names[k] for k in (*path, firm))))
                follow((*path, firm), own)

    follow((spec.root,), 100**15)
    answer: list[Row] = []
    for firm, own in chains.items():
        total = sum(share for share, _, _ in own)
        if spec.hard and total == spec.least * 100**14:
            raise GenerationExhausted("a share at the limit, which rounding decides")
        if spec.hard and total < spec.least * 100**14:
            continue
        row = (names[firm], total / 100**14, len(own), min(length for _, length, _ in own))
        best = min(own, key=lambda one: one[1:])
        answer.append((*row, best[2]) if spec.hard else row)
    return answer


class _Means(NamedTuple):
    """Parts that differ between dialects."""

    share: str = "w.share * t.percent / 100.0"
    union: str = "UNION ALL"
    start: str = "CAST('/' || t.owner || '/' || t.firm || '/' AS TEXT)"
    step: str = "w.path || t.firm || '/'"
    fresh: str = "w.path NOT LIKE '%/' || t.firm || '/%'"
    root: str = "firm <> owner"
    one: str = "CAST(100 AS REAL)"
    held: str = "first <= '{day}' AND (last IS NULL OR last >= '{day}')"


def _query(spec: _Spec, means: _Means, *, least: str = "", best: str = "n, names") -> str:
    fresh = f" AND {means.fresh}" if spec.hard else ""
    ranked = (
        f", ranked AS (SELECT firm, names, ROW_NUMBER() OVER (PARTITION BY firm ORDER BY {best}) "
        "AS k FROM walked)"
    )
    more = ", MAX(r.names)" if spec.hard else ""
    joined = " JOIN ranked r ON r.firm = w.firm AND r.k = 1" if spec.hard else ""
    having = f" HAVING {least or f'SUM(w.share) >= {spec.least}'}" if spec.hard else ""
    return (
        f"WITH RECURSIVE held AS (SELECT * FROM stakes WHERE {means.held.format(day=spec.day)}), "
        "walked AS ("
        f"SELECT t.firm AS firm, {means.one} * t.percent / 100 AS share, 1 AS n, {means.start} AS "
        "path, CAST(o.name || ' > ' || f.name AS TEXT) AS names FROM held t JOIN firms o ON "
        f"o.id = t.owner JOIN firms f ON f.id = t.firm WHERE t.owner = {spec.root} {means.union} "
        f"SELECT t.firm, {means.share}, w.n + 1, {means.step}, w.names || ' > ' || f.name "
        f"FROM walked w JOIN held t ON t.owner = w.firm JOIN firms f ON f.id = t.firm "
        f"WHERE w.n < 15{fresh}){ranked if spec.hard else ''} "
        f"SELECT f.name, SUM(w.share), COUNT(*), MIN(w.n){more} FROM walked w "
        f"JOIN firms f ON f.id = w.firm{joined} GROUP BY f.id, f.name{having}"
    )


def _amiss(spec: _Spec, means: _Means) -> dict[str, str]:
    query: Callable[..., str] = partial(_query, spec)
    wrong = {
        "equal_chains_once": query(means._replace(union="UNION", start="CAST('' AS TEXT)",
                                                  step="w.path")).replace(
            " AND w.path NOT LIKE", " AND w.n < 9 AND w.path NOT LIKE"),
        "ended_ones_too": query(means._replace(held="first <= '{day}'")),
        "open_ones_missing": query(means._replace(held="first <= '{day}' AND last >= '{day}'")),
        "future_ones_too": query(means._replace(held="(last IS NULL OR last >= '{day}')")),
        "direct_only": query(means).replace("WHERE w.n < 15", "WHERE w.n < 1"),
    }  # fmt: skip
    if spec.hard:
        wrong["only_the_last_firm"] = query(means._replace(fresh="w.n < 5 AND t.firm <> w.firm"))
        wrong["more_than_the_least"] = query(means, least=f"MAX(w.share) >= {spec.least}")
        wrong["largest_share"] = query(means, best="share DESC, names")
    return wrong


def _sqlite(spec: _Spec) -> EngineTexts:
    means = _Means()
    query: Callable[..., str] = partial(_query, spec)
    other = means._replace(
        fresh="instr(w.path, '/' || t.firm || '/') = 0", share="w.share / 100 * t.percent"
    )
    wrong = _amiss(spec, means)
    wrong["whole_numbers"] = query(means._replace(one="100", share="w.share * t.percent / 100"))
    if spec.hard:
        wrong["digits_of_other_ids"] = query(
            means._replace(fresh="w.path NOT LIKE '%' || t.firm || '%'")
        )
    return EngineTexts(query(means), {"positions": query(other)}, wrong)


def _duckdb(spec: _Spec) -> EngineTexts:
    means = _Means(one="CAST(100 AS DOUBLE)")
    listed = means._replace(
        start="[t.owner, t.firm]", step="list_append(w.path, t.firm)",
        fresh="NOT list_contains(w.path, t.firm)",
    )  # fmt: skip
    wrong = _amiss(spec, means)
    wrong["whole_numbers"] = _query(
        spec, means._replace(one="100", share="w.share * t.percent // 100")
    ).replace("t.percent / 100 AS share", "t.percent // 100 AS share")
    return EngineTexts(_query(spec, means), {"lists": _query(spec, listed)}, wrong)


def _postgresql(spec: _Spec) -> EngineTexts:
    means = _Means(one="CAST(100 AS DOUBLE PRECISION)")
    listed = means._replace(
        start="ARRAY[t.owner, t.firm]", step="w.path || t.firm", fresh="t.firm <> ALL (w.path)",
    )  # fmt: skip
    wrong = _amiss(spec, means)
    wrong["whole_numbers"] = _query(
        spec, means._replace(one="CAST(100 AS BIGINT)", share="w.share * t.percent / 100")
    )
    return EngineTexts(_query(spec, means), {"arrays": _query(spec, listed)}, wrong)
