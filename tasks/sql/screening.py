"""Acceptance tests for drafted questions.

A draft is kept if its answer is neither empty nor constant, a computation without SQL agrees with
it, no answer depends on the last digits of real numbers, the alternative texts agree, and the
hidden databases distinguish enough near misses. Further databases with rows at the draft's bounds
are added, as far as they distinguish queries that are off by one.
"""

import math
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hexathlon.tasks.sql.bench import EVALUATED, Bench, Population
from hexathlon.tasks.sql.bounds import bound_values, off_by_one
from hexathlon.tasks.sql.mutations import ESSENTIAL, mutants
from hexathlon.tasks.sql.programs.compute import order_key
from hexathlon.tasks.sql.programs.evaluate import Rows, evaluate
from hexathlon.tasks.sql.programs.relation import Relation
from hexathlon.tasks.sql.programs.relations import is_ordered
from hexathlon.tasks.sql.programs.text import GOLD, OTHER, Style, sql_text
from hexathlon.tasks.sql.templates.draft import QueryDraft

__all__ = ["LEAST_MUTANTS", "MOST_ROWS", "DraftRejected", "Kept", "same_answer", "screen"]

LEAST_MUTANTS = 10
MOST_ROWS = 500
"""Maximum number of rows of an answer on the visible database; nobody reads more."""
_MOST_MUTANTS = 30
_BOUND_DRAWS = 36
"""Maximum number of populations with rows at bounds to try."""
_MOST_AT_BOUNDS = 6
"""Maximum number of such populations to keep; each takes time when a query is judged."""
_MOST_REPEATS = 2
"""Maximum occurrences of one answer among the visible and the hidden databases."""


class DraftRejected(Exception):
    """The draft is rejected; the message is a short slug of the reason."""


@dataclass(frozen=True, slots=True)
class Kept:
    """An accepted draft, with the texts that validate it."""

    gold: str
    ordered: bool
    columns: int
    alternatives: Mapping[str, str]
    mutants: Mapping[str, str]
    """Wrong queries by name; each differs from the gold query on a hidden database."""
    at_bounds: tuple[Mapping[str, Any], ...]
    """Addresses of further hidden populations, which distinguish queries that are off by one."""


def screen(draft: QueryDraft, bench: Bench, correlated: bool) -> Kept:
    """Screen a draft.

    Args:
        draft: The draft to screen.
        bench: The databases.
        correlated: Whether an alternative may turn windows into correlated sub-queries, whose cost
            is quadratic in the rows.

    Raises:
        DraftRejected: If the draft is not accepted.
    """
    gold = sql_text(draft.program)
    ordered = is_ordered(draft.program)
    visible = bench.visible.answer(gold)
    if len(visible) > MOST_ROWS:
        raise DraftRejected("long")
    hidden = [population.answer(gold) for population in bench.hidden]
    _check_answers(visible, hidden)
    _check_derivation(draft.program, bench, visible, hidden, ordered)
    alternatives = dict(_alternatives(draft, gold, correlated))
    for text in alternatives.values():
        for population, right in zip(bench.hidden, hidden, strict=True):
            if not same_answer(population.answer(text), right, ordered):
                raise DraftRejected("alternative_differs")
    if not alternatives:
        raise DraftRejected("no_alternative")
    killed = _killed(draft, gold, bench.hidden, hidden, ordered)
    further = _at_bounds(draft.program, bench, gold, hidden, alternatives.values(), ordered)
    addresses = tuple(population.address() for population in further)
    return Kept(gold, ordered, len(draft.program.columns), alternatives, killed, addresses)


def _check_answers(visible: Rows, hidden: Sequence[Rows]) -> None:
    if _trivial(visible):
        raise DraftRejected("empty")
    if sum(map(_trivial, hidden)) > 1:
        raise DraftRejected("empty_hidden")
    answers = [_canonical(rows) for rows in (visible, *hidden)]
    if max(answers.count(answer) for answer in answers) > _MOST_REPEATS:
        raise DraftRejected("constant")


def _at_bounds(
    program: Relation, bench: Bench, gold: str, hidden: Sequence[Rows],
    alternatives: Collection[str], ordered: bool,
) -> list[Population]:  # fmt: skip
    """Return populations that distinguish programs that are off by one."""
    texts = {sql_text(near): constant for near, constant in off_by_one(program, bench.schema)}
    wrong = {
        text for text in texts
        if text != gold and _killer(text, 0, bench.hidden, hidden, ordered) is None
    }  # fmt: skip
    bounds = bound_values(program, bench.schema, bench.hidden[0].rows)
    found: list[tuple[Population, set[str]]] = []
    left = set(wrong)
    for number in range(_BOUND_DRAWS if bounds else 0):
        if not left:
            break
        population = bench.at_bounds(bounds, number)
        right = population.answer(gold)

        def differs(text: str, one: Population = population, right: Rows = right) -> bool:
            return _killer(text, 0, [one], [right], ordered) is not None

        if any(map(differs, left)) and _reliable(
            program, bench, population, right, alternatives, ordered
        ):
            found.append((population, set(filter(differs, wrong))))
            left -= found[-1][1]
    kept, missed = _cover(found, wrong)
    if any(texts[text] for text in missed):
        raise DraftRejected("loose_bound")
    return kept


def _cover(
    found: list[tuple[Population, set[str]]], wrong: set[str]
) -> tuple[list[Population], set[str]]:
    """Return few populations that together distinguish the most texts, and the remaining texts."""
    left = set(wrong)
    kept: list[Population] = []
    while left and found and len(kept) < _MOST_AT_BOUNDS:
        population, kills = max(found, key=lambda item: len(item[1] & left))
        if not kills & left:
            break
        kept.append(population)
        left -= kills
    return kept, left


def _reliable(
    program: Relation, bench: Bench, population: Population, right: Rows,
    alternatives: Collection[str], ordered: bool,
) -> bool:  # fmt: skip
    """Whether all right queries agree on a population."""
    second = evaluate(program, population.rows, bench.columns)
    return (
        not second.fragile
        and same_answer(second.rows, right, ordered)
        and all(same_answer(population.answer(text), right, ordered) for text in alternatives)
    )


def _trivial(rows: Rows) -> bool:
    return all(value is None or value == 0 for row in rows for value in row)


def _check_derivation(
    program: Relation, bench: Bench, visible: Rows, hidden: Sequence[Rows], ordered: bool
) -> None:
    checked: list[tuple[Population, Rows]] = list(zip(bench.hidden, hidden, strict=True))
    if bench.visible.size <= EVALUATED:
        checked.append((bench.visible, visible))
    for population, right in checked:
        second = evaluate(program, population.rows, bench.columns)
        if second.fragile:
            raise DraftRejected("fragile")
        if not same_answer(second.rows, right, ordered):
            raise DraftRejected("derivations_disagree")


def _alternatives(draft: QueryDraft, gold: str, correlated: bool) -> Iterator[tuple[str, str]]:
    styles: dict[str, Style] = {"other_style": OTHER}
    if correlated:
        styles["correlated"] = replace(OTHER, windows="correlated", match="exists")
    seen = {gold}
    for name, style in styles.items():
        text = sql_text(draft.program, style)
        if text not in seen:
            seen.add(text)
            yield name, text
    if draft.other is not None:
        yield "other_algebra", sql_text(draft.other, GOLD)


def _killed(
    draft: QueryDraft,
    gold: str,
    populations: Sequence[Population],
    right: Sequence[Rows],
    ordered: bool,
) -> dict[str, str]:
    """Return the mutants that hidden databases distinguish; each database must distinguish some."""
    killed: dict[str, str] = {}
    killers: set[int] = set()
    candidates = _candidates(draft, gold)
    for number, (label, text) in enumerate(candidates):
        killer = _killer(text, number, populations, right, ordered)
        if killer is None:
            if label in ESSENTIAL:
                raise DraftRejected(f"idle_{label}")
            continue
        killers.add(killer)
        count = sum(name.split(".")[0] == label for name in killed)
        killed[f"{label}.{count + 1}" if count else label] = text
    if len(killed) < LEAST_MUTANTS:
        raise DraftRejected("few_mutants")
    for place in range(len(populations)):
        alone = slice(place, place + 1)
        if place not in killers and not any(
            _killer(text, 0, populations[alone], right[alone], ordered) is not None
            for text in killed.values()
        ):
            raise DraftRejected("blind_database")
    return killed


def _candidates(draft: QueryDraft, gold: str) -> list[tuple[str, str]]:
    """Return mutant texts: essential ones first, then as many kinds as possible."""
    seen = {gold}
    groups: dict[str, list[tuple[str, str]]] = {}
    wrong = [("misreading", program) for _, program in draft.wrong]
    for label, program in (*wrong, *mutants(draft.program)):
        try:
            text = sql_text(program)
        except KeyError:  # it removed a column that it reads
            continue
        if text not in seen:
            seen.add(text)
            groups.setdefault(label, []).append((label, text))
    first = [item for label in groups if label in ESSENTIAL for item in groups[label]]
    rest: list[tuple[str, str]] = []
    others = [list(items) for label, items in groups.items() if label not in ESSENTIAL]
    while any(others) and len(first) + len(rest) < _MOST_MUTANTS:
        rest += [items.pop(0) for items in others if items]
    return first + rest


def _killer(
    text: str, start: int, populations: Sequence[Population], right: Sequence[Rows], ordered: bool
) -> int | None:
    """Return the first hidden database, cycling from `start`, on which the mutant differs."""
    for step in range(len(populations)):
        place = (start + step) % len(populations)
        try:
            rows = populations[place].answer(text)
        except sqlite3.Error:
            return None
        if not same_answer(rows, right[place], ordered):
            return place
    return None


def same_answer(left: Rows, right: Rows, ordered: bool, tolerance: float = 1e-9) -> bool:
    """Compare answers as lists, or as multisets if no order is requested.

    Real numbers are compared with a relative tolerance.
    """
    if len(left) != len(right) or (left and len(left[0]) != len(right[0])):
        return False
    if not ordered:
        left, right = sorted(left, key=_row_key), sorted(right, key=_row_key)
    return all(_same(a, b, tolerance) for one, two in zip(left, right, strict=True)
               for a, b in zip(one, two, strict=True))  # fmt: skip


def _row_key(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(order_key(round(v, 6) if isinstance(v, float) else v) for v in row)


def _same(left: Any, right: Any, tolerance: float) -> bool:
    if isinstance(left, float) or isinstance(right, float):
        if isinstance(left, int | float) and isinstance(right, int | float):
            return math.isclose(left, right, rel_tol=tolerance, abs_tol=1e-9)
        return False
    return type(left) is type(right) and bool(left == right)


def _canonical(rows: Rows) -> tuple[Any, ...]:
    return tuple(sorted(map(_row_key, rows)))
