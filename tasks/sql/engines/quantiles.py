"""Percentiles of durations: interpolated or not, without missing values, and shares."""

from collections import defaultdict
from collections.abc import Callable
from functools import partial

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

_KINDS = ("delivery", "pickup", "repair", "survey")
_DAY = "2024-01-01"
_TABLES = (
    QuestionTable("depots", (("id", "INTEGER"), ("name", "TEXT"))),
    QuestionTable(
        "jobs",
        (("id", "INTEGER"), ("depot", "INTEGER"), ("kind", "TEXT"), ("day", "DATE"),
         ("minutes", "INTEGER")),
    ),
)  # fmt: skip


def draw(drawn: EngineDraw) -> EngineQuestion:
    """Draw a question about percentiles of each depot's jobs."""
    values = drawn.values("spec")
    kind = values.pick(_KINDS)
    inner, outer = values.pick((25, 75)), values.pick((60, 80, 90, 95))
    least = values.between(5, 8)
    cut = "median" if not drawn.hard else f"{outer}th percentile"
    place = "(n + 1) / 2" if not drawn.hard else f"1 + {outer / 100} (n - 1)"
    text = (
        f"How long do jobs of the kind {kind} take? A job whose minutes are missing was not "
        f"measured and does not count anywhere. For every depot with at least {least} measured "
        f"jobs of this kind, give its name; their number; the {cut} of the minutes, interpolated: "
        f"of n values in ascending order, the one at place {place}, where a place between two "
        "values takes its share of both, so that place 3.25 is the third value plus a quarter of "
        "the difference to the fourth; and the smallest of these values that at least "
        f"{inner} per cent of them do not exceed, without interpolation."
    )
    if drawn.hard:
        text += (
            f" In a fifth column, give the percentage, between 0 and 100, of the "
            f"depot's measured jobs of this kind that took longer than the interpolated {cut} of "
            "all measured jobs of this kind in all depots together, those of depots with fewer "
            "jobs included."
        )
    text += " Do not round."
    spec = (kind, inner, outer if drawn.hard else 50, least)
    return EngineQuestion(
        text, _TABLES, partial(_populate, drawn), partial(_by_hand, drawn.hard, *spec),
        in_each_dialect((_sqlite, _duckdb, _postgresql), drawn.hard, *spec),
    )  # fmt: skip


def _populate(drawn: EngineDraw, seed: int, visible: bool) -> StoredTables:
    values = drawn.values("rows", seed)
    depots = [(own + 1, name) for own, name in enumerate(drawn.names("city", 9))]
    jobs: list[Row] = []
    for depot, _ in depots:
        base = values.between(15, 60)
        for kind in _KINDS:
            for _ in range(values.between(2, 5) if depot % 4 == 0 else values.between(9, 24)):
                minutes = base + values.between(0, 12) ** 2
                jobs.append((
                    len(jobs) + 1, depot, kind, shifted(_DAY, values.below(90)),
                    None if values.chance(0.15) else minutes,
                ))  # fmt: skip
    return {"depots": depots, "jobs": jobs}


def _by_hand(
    hard: bool, kind: str, inner: int, outer: int, least: int, rows: StoredTables
) -> list[Row]:
    measured: dict[object, list[int]] = defaultdict(list)
    for _, depot, own, _, minutes in rows["jobs"]:
        if own == kind and minutes is not None:
            measured[depot].append(int(minutes))
    limit = _interpolated([value for own in measured.values() for value in own], outer)
    answer: list[Row] = []
    for depot, name in rows["depots"]:
        own = sorted(measured[depot])
        if len(own) >= least:
            at_least = next(v for k, v in enumerate(own, 1) if 100 * k >= inner * len(own))
            share = 100 * sum(value > limit for value in own) / len(own)
            row = (name, len(own), _interpolated(own, outer), at_least)
            answer.append((*row, share) if hard else row)
    return answer


def _interpolated(values: list[int], percent: int) -> float:
    own = sorted(values)
    low, part = divmod(percent * (len(own) - 1), 100)
    high = min(low + 1, len(own) - 1)
    return own[low] + (own[high] - own[low]) * part / 100


def _sqlite(hard: bool, kind: str, inner: int, outer: int, least: int) -> EngineTexts:
    def query(
        measured: str = " AND minutes IS NOT NULL", minutes: str = "minutes", of: str = "n - 1",
        hundred: str = "100.0", cut: int = outer, at: str = f"100 * k >= {inner} * n",
        over: str = "limits.cut", value: str = "",
    ) -> str:  # fmt: skip
        def middle(count: str) -> str:
            place = f"{cut} * ({of.replace('n', count)})"
            return (
                f"SUM(CASE k WHEN {place} / 100 + 1 THEN m * (1 - {place} % 100 / {hundred}) "
                f"WHEN {place} / 100 + 2 THEN m * ({place} % 100 / {hundred}) END)"
            )

        everyone = (
            f", every AS (SELECT m, ROW_NUMBER() OVER (ORDER BY m) AS k, COUNT(*) OVER () AS n "
            f"FROM own), limits AS (SELECT {middle('n')} AS cut FROM every)"
        )
        share = f", {hundred} * SUM(m > {over}) / COUNT(*)"
        return (
            f"WITH own AS (SELECT depot, {minutes} AS m FROM jobs WHERE kind = "
            f"'{kind}'{measured}), "
            "ranked AS (SELECT depot, m, ROW_NUMBER() OVER (PARTITION BY depot ORDER BY m) AS k, "
            f"COUNT(*) OVER (PARTITION BY depot) AS n FROM own){everyone if hard else ''} "
            f"SELECT d.name, COUNT(*), {value or middle('n')}, MIN(CASE WHEN {at} THEN m END)"
            f"{share if hard else ''} FROM ranked JOIN depots d ON d.id = ranked.depot"
            f"{' CROSS JOIN limits' if hard else ''} GROUP BY d.id, d.name "
            f"HAVING COUNT(*) >= {least}"
        )

    wrong = {
        "missing_as_zero": query(measured="", minutes="COALESCE(minutes, 0)"),
        "whole_numbers": query(hundred="100"),
        "place_of_n": query(of="n"),
        "average": query(value="AVG(m)"),
        "one_too_low": query(at=f"k >= {inner} * n / 100"),
    }
    if hard:
        wrong["limit_of_average"] = query(over="(SELECT AVG(m) FROM own)")
        wrong["limit_of_rows_shown"] = query().replace(
            "FROM own), limits", f"FROM own WHERE depot IN (SELECT depot FROM own GROUP BY depot "
            f"HAVING COUNT(*) >= {least})), limits",
        )  # fmt: skip
    other = query().replace("SUM(CASE k", "TOTAL(CASE k")
    other = other.replace("WITH own AS", "WITH own AS MATERIALIZED", 1)
    return EngineTexts(query(), {"totals": other}, wrong)


def _aggregates(
    hard: bool, kind: str, least: int, cut: str, at: str, *, minutes: str = "minutes",
    limit: str = "", hundred: str = "100.0", divided: str = "/", measured: bool = True,
) -> str:  # fmt: skip
    """Return the query with an engine's own percentiles of the column m."""
    where = f"kind = '{kind}'" + (" AND minutes IS NOT NULL" if measured else "")
    share = (
        f", {hundred} * SUM(CASE WHEN m > (SELECT {limit or cut} FROM own) THEN 1 ELSE 0 END) "
        f"{divided} COUNT(*)"
    )
    return (
        f"WITH own AS (SELECT depot, {minutes} AS m FROM jobs WHERE {where}) "
        f"SELECT d.name, COUNT(*), {cut}, {at}{share if hard else ''} "
        "FROM own JOIN depots d ON d.id = own.depot GROUP BY d.id, d.name "
        f"HAVING COUNT(*) >= {least}"
    )


def _amiss(
    hard: bool, query: Callable[..., str], right: tuple[str, str], other: tuple[str, str],
    *, divided: str,
) -> dict[str, str]:  # fmt: skip
    """Return near misses of aggregates.

    Args:
        hard: Whether the question is of level hard.
        query: Returns the query with two percentiles.
        right: The first percentile, interpolated, and the second, not interpolated.
        other: The first one not interpolated, and the second one interpolated.
        divided: The operator that divides whole numbers.
    """
    cut, at = right
    wrong = {
        "missing_as_zero": query(cut, at, minutes="COALESCE(minutes, 0)", measured=False),
        "not_interpolated": query(other[0], at),
        "both_interpolated": query(cut, other[1]),
        "average": query("AVG(m)", at),
        "counting_all": query(cut, at, measured=False),
    }
    if hard:
        wrong["whole_percentages"] = query(cut, at, hundred="100", divided=divided)
        wrong["limit_of_average"] = query(cut, at, limit="AVG(m)")
    return wrong


def _duckdb(hard: bool, kind: str, inner: int, outer: int, least: int) -> EngineTexts:
    cut, at = f"quantile_cont(m, {outer / 100})", f"quantile_disc(m, {inner / 100})"
    query = partial(_aggregates, hard, kind, least)
    other_cut, other_at = f"quantile(m, {outer / 100})", f"quantile_cont(m, {inner / 100})"
    wrong = _amiss(hard, query, (cut, at), (other_cut, other_at), divided="//")
    within = (
        query(
            f"percentile_cont({outer / 100}) WITHIN GROUP (ORDER BY m)",
            f"percentile_disc({inner / 100}) WITHIN GROUP (ORDER BY m)",
        )
    )  # fmt: skip
    return EngineTexts(query(cut, at), {"within_groups": within}, wrong)


def _postgresql(hard: bool, kind: str, inner: int, outer: int, least: int) -> EngineTexts:
    def of(function: str, percent: int) -> str:
        return f"percentile_{function}({percent / 100}) WITHIN GROUP (ORDER BY m)"

    cut, at = of("cont", outer), of("disc", inner)
    query = partial(_aggregates, hard, kind, least)
    wrong = _amiss(hard, query, (cut, at), (of("disc", outer), of("cont", inner)), divided="/")
    other = query(cut, f"MIN(m) FILTER (WHERE 100 * k >= {inner} * n)").replace(
        "AS m FROM jobs",
        "AS m, ROW_NUMBER() OVER (PARTITION BY depot ORDER BY minutes) AS k, "
        "COUNT(*) OVER (PARTITION BY depot) AS n FROM jobs",
    )
    return EngineTexts(query(cut, at), {"ranks": other}, wrong)
