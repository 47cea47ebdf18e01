"""Members of teams as lists in order: the last move of each person, ties, and missing grades."""

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

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
from hexathlon.tasks.task import SPLITS

__all__ = ["draw"]

_DAY = "2024-01-01"
_FIRST = ("Ba De Ko Lu Mi Ra Su Ta", "Be Do Ka Li Mo Re Sa Tu", "Bi Du Ke La Me Ro Si To",
          "Bo Da Ki Le Ma Ri So Te")  # fmt: skip
_LAST = "nor lin mar tek vas dun sil rok bel han"
_TABLES = (
    QuestionTable("teams", (("id", "INTEGER"), ("name", "TEXT"))),
    QuestionTable("people", (("id", "INTEGER"), ("nickname", "TEXT"))),
    QuestionTable(
        "moves",
        (("id", "INTEGER"), ("person", "INTEGER"), ("team", "INTEGER"), ("since", "DATE"),
         ("grade", "INTEGER")),
    ),
)  # fmt: skip


class _Spec(NamedTuple):
    day: str
    missing_last: bool
    mark: str
    top: int
    hard: bool


def draw(drawn: EngineDraw) -> EngineQuestion:
    """Draw a question about the members of each team on a day."""
    values = drawn.values("spec")
    spec = _Spec(
        shifted(_DAY, values.between(110, 130)), values.chance(0.5),
        values.pick(("; ", " / ", ", ")), values.between(2, 3), drawn.hard,
    )  # fmt: skip
    missing = (
        "a move without a grade counts less than any with one"
        if spec.missing_last
        else "a move without a grade counts more than any with one"
    )
    text = (
        f"Who was in which team at the end of {spec.day}? A person is in the team of their last "
        "move up to and including that day. If there are several on the same day, the one with "
        f"the higher grade counts; {missing}; if that leaves several, the one with the larger id. "
        "A person whose last move names no team has left. For every team that has members on that "
        "day, give its name, the number of its members, and their nicknames as one text: in "
        "alphabetical order without regard to capitals, spelt as they are stored, separated by "
        f"'{spec.mark}'."
    )
    if spec.hard:
        text += (
            f" In a fourth column, give the nicknames of the {spec.top} members of the team who "
            "have been in it for the longest time since their last move, in the same form but in "
            "the order of the day of that move, the earliest first, and among equal days in "
            f"alphabetical order without regard to capitals; of a team with fewer than {spec.top} "
            "members, all of them."
        )
    return EngineQuestion(
        text, _TABLES, partial(_populate, drawn), partial(_by_hand, spec),
        in_each_dialect((_sqlite, _duckdb, _postgresql), spec),
    )  # fmt: skip


def _populate(drawn: EngineDraw, seed: int, visible: bool) -> StoredTables:
    values = drawn.values("rows", seed)
    first = _FIRST[SPLITS.index(drawn.split)].split()
    nicknames = values.sample([a + b for a in first for b in _LAST.split()], values.between(50, 60))
    people = [
        (own + 1, name.lower() if values.chance(0.4) else name)
        for own, name in enumerate(nicknames)
    ]
    teams = [(own + 1, name) for own, name in enumerate(drawn.names("place", 8))]
    moves: list[tuple[int, int | None, str, int | None]] = []
    for person, _ in people:
        day = shifted(_DAY, values.below(60))
        for _ in range(values.between(1, 4)):
            for _ in range(values.pick((1, 1, 2, 3))):
                team = None if values.chance(0.08) else values.between(1, len(teams))
                grade = None if values.chance(0.35) else values.between(1, 3)
                moves.append((person, team, day, grade))
            day = shifted(day, values.between(5, 40))
    order = values.rng.permutation(len(moves)).tolist()
    numbered = [(place + 1, *moves[old]) for place, old in enumerate(order)]
    return {"teams": teams, "people": people, "moves": numbered}


def _by_hand(spec: _Spec, rows: StoredTables) -> list[Row]:
    nicknames = {own: str(name) for own, name in rows["people"]}
    last: dict[object, tuple[object, ...]] = {}
    teams: dict[object, object] = {}
    for own, person, team, since, grade in rows["moves"]:
        missing = -1 if spec.missing_last else 99
        key = (str(since), missing if grade is None else grade, own)
        if str(since) <= spec.day and key > last.get(person, ("",)):
            last[person], teams[person] = key, team
    members: dict[object, list[tuple[str, str, str]]] = defaultdict(list)
    for person, team in teams.items():
        name = nicknames[person]
        members[team].append((str(last[person][0]), name.lower(), name))
    answer: list[Row] = []
    for team, name in rows["teams"]:
        own = members[team]
        if own:
            by_name = [item[2] for item in sorted(own, key=lambda item: item[1])]
            oldest = [item[2] for item in sorted(own)[: spec.top]]
            row = (name, len(own), spec.mark.join(by_name))
            answer.append((*row, spec.mark.join(oldest)) if spec.hard else row)
    return answer


def _ranked(spec: _Spec, grade: str, *, upto: str = "<=", ties: str = ", id DESC") -> str:
    """Return the last move of each person, by a rank."""
    return (
        "SELECT person, team, since FROM (SELECT person, team, since, ROW_NUMBER() OVER "
        f"(PARTITION BY person ORDER BY since DESC, {grade}{ties}) AS k FROM moves "
        f"WHERE since {upto} '{spec.day}') AS ranked WHERE k = 1"
    )


def _grade(spec: _Spec) -> str:
    return f"COALESCE(grade, {-1 if spec.missing_last else 99}) DESC"


def _amiss(spec: _Spec, build: Callable[..., str]) -> dict[str, str]:
    """Return near misses that every dialect has."""
    nulls = "FIRST" if spec.missing_last else "LAST"
    present = _ranked(spec, _grade(spec)).replace("WHERE since", "WHERE team IS NOT NULL AND since")
    return {
        "missing_the_wrong_way": build(_ranked(spec, f"grade DESC NULLS {nulls}")),
        "day_before": build(_ranked(spec, _grade(spec), upto="<")),
        "never_left": build(present),
        "without_grades": build(_ranked(spec, "id DESC", ties="")),
        "moves_for_people": build(
            f"SELECT person, team, since FROM moves WHERE since <= '{spec.day}'"
        ),
    }


def _sqlite(spec: _Spec) -> EngineTexts:
    def build(
        last: str, names: str = "lower(nickname)", oldest: str = "since, lower(nickname)",
        top: int = spec.top,
    ) -> str:  # fmt: skip
        def listed(order: str, most: str) -> str:
            return (
                f"(SELECT group_concat(nickname, '{spec.mark}') FROM (SELECT nickname FROM last l "
                f"JOIN people p ON p.id = l.person WHERE l.team = t.id ORDER BY {order}{most}))"
            )

        fourth = f", {listed(oldest, f' LIMIT {top}')}" if spec.hard else ""
        return (
            f"WITH last AS ({last}) SELECT t.name, COUNT(*), {listed(names, '')}{fourth} "
            "FROM teams t JOIN last ON last.team = t.id GROUP BY t.id, t.name"
        )

    right = _ranked(spec, _grade(spec))
    window = (
        f"WITH last AS ({right}), named AS (SELECT team, group_concat(nickname, '{spec.mark}') "
        "OVER (PARTITION BY team ORDER BY lower(nickname) ROWS BETWEEN UNBOUNDED PRECEDING AND "
        "UNBOUNDED FOLLOWING) AS names, ROW_NUMBER() OVER (PARTITION BY team ORDER BY since, "
        f"lower(nickname)) AS k, group_concat(nickname, '{spec.mark}') OVER (PARTITION BY team "
        "ORDER BY since, lower(nickname) ROWS UNBOUNDED PRECEDING) AS oldest, COUNT(*) OVER "
        "(PARTITION BY team) AS n FROM last JOIN people p ON p.id = last.person WHERE team IS NOT "
        f"NULL) SELECT t.name, n, names{', oldest' if spec.hard else ''} FROM named JOIN teams t "
        f"ON t.id = named.team WHERE k = MIN(n, {spec.top})"
    )
    bare = (
        "SELECT person, team, MAX(since) AS since FROM moves "
        f"WHERE since <= '{spec.day}' GROUP BY person"
    )
    wrong = _amiss(spec, build) | {
        "capitals_first": build(right, names="nickname"),
        "order_of_storage": build(right, names="p.id"),
        "any_row_of_the_day": build(bare),
    }
    if spec.hard:
        wrong["latest_first"] = build(right, oldest="since DESC, lower(nickname)")
        wrong["one_more"] = build(right, top=spec.top + 1)
        wrong["ties_in_capitals_first"] = build(right, oldest="since, p.id")
    return EngineTexts(build(right), {"windows": window}, wrong)


def _aggregated(
    spec: _Spec, last: str, names: str = " ORDER BY lower(nickname)",
    oldest: str = "since, lower(nickname)", top: int | None = None, head: str = "",
) -> str:  # fmt: skip
    """Return the query with ordered aggregates."""
    lateral = (
        f" CROSS JOIN LATERAL (SELECT string_agg(nickname, '{spec.mark}' ORDER BY {oldest}) AS "
        f"names FROM (SELECT nickname, since FROM members m WHERE m.team = t.id ORDER BY {oldest} "
        f"LIMIT {top or spec.top}) AS few) AS oldest"
    )
    return (
        f"WITH {head}last AS ({last}), members AS (SELECT team, since, nickname FROM last "
        "JOIN people p ON p.id = last.person WHERE team IS NOT NULL) "
        f"SELECT t.name, COUNT(*), string_agg(members.nickname, '{spec.mark}'{names}) "
        f"{', oldest.names' if spec.hard else ''} FROM teams t JOIN members ON members.team = t.id"
        f"{lateral if spec.hard else ''} GROUP BY t.id, "
        f"t.name{', oldest.names' if spec.hard else ''}"
    )


def _more_amiss(spec: _Spec, build: Callable[..., str], right: str) -> dict[str, str]:
    wrong = _amiss(spec, build) | {"order_of_storage": build(right, names="")}
    if spec.hard:
        wrong["latest_first"] = build(right, oldest="since DESC, lower(nickname)")
        wrong["one_more"] = build(right, top=spec.top + 1)
    return wrong


def _duckdb(spec: _Spec) -> EngineTexts:
    build: Callable[..., str] = partial(_aggregated, spec)
    right = (
        f"SELECT person, team, since FROM moves WHERE since <= '{spec.day}' QUALIFY ROW_NUMBER() "
        f"OVER (PARTITION BY person ORDER BY since DESC, {_grade(spec)}, id DESC) = 1"
    )
    wrong = _more_amiss(spec, build, right)
    wrong["capitals_first"] = build(right, names=" ORDER BY nickname")
    return EngineTexts(build(right), {"ranks": build(_ranked(spec, _grade(spec)))}, wrong)


def _postgresql(spec: _Spec) -> EngineTexts:
    build: Callable[..., str] = partial(_aggregated, spec)
    nulls = "LAST" if spec.missing_last else "FIRST"
    right = (
        f"SELECT DISTINCT ON (person) person, team, since FROM moves WHERE since <= '{spec.day}' "
        f"ORDER BY person, since DESC, grade DESC NULLS {nulls}, id DESC"
    )
    wrong = _more_amiss(spec, build, right)
    wrong["first_of_each"] = build(right.replace("since DESC", "since"))
    wrong["capitals_first"] = build(right, names=' ORDER BY nickname COLLATE "C"')
    return EngineTexts(build(right), {"ranks": build(_ranked(spec, _grade(spec)))}, wrong)
