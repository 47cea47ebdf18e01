"""Grader runs: the submitted statement and the expected one, on pristine databases.

Both run under the same locks as the agent's statements, on connections that no agent has used.
A fault of the submission is a `SubmittedResult`; a fault of the grader's side is a `GraderFault`,
which makes the episode unscored and never worth 0.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import wraps
from itertools import chain
from typing import Any, NamedTuple

from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.sql.world.backends.base import (
    Database,
    QueryLimits,
    SqlError,
    StoredRow,
    first_word,
)
from hexathlon.tasks.sql.world.backends.choice import MissingBackend, open_image
from hexathlon.tasks.sql.world.database import database_bytes, hidden_bytes
from hexathlon.tasks.task import Task

__all__ = [
    "GraderFault",
    "ResultPair",
    "SubmittedResult",
    "gold_terms",
    "images",
    "marks_empty_gold",
    "pairs",
    "run_gold",
    "run_submitted",
]

_GOLD_LIMITS = QueryLimits(seconds=60.0, steps=3_000_000_000, rows=200_000, result_bytes=64_000_000)
_SUBMITTED_SECONDS = 10.0
_CACHED_CELLS = 200_000


class GraderFault(Exception):
    """The expected answer is unavailable: the task, not the submission, is at fault."""


class SubmittedResult(NamedTuple):
    """Result of the submitted statement on one database."""

    columns: int
    rows: Sequence[StoredRow]
    more: bool
    """Whether it returned more rows than the expected answer; they were not fetched."""

    error: str = ""
    """Kind of failure, as in `SqlError`; empty if it ran."""


class Gold(NamedTuple):
    """The expected result on one database."""

    columns: int
    rows: Sequence[StoredRow]


class ResultPair(NamedTuple):
    """Expected and submitted result on one database; `place` is 0 for the visible one."""

    place: int
    gold: Gold
    got: SubmittedResult


class _GoldCache:
    """Expected results, evicted least recently used first; thread-safe."""

    def __init__(self, cells: int) -> None:
        self._room = cells
        self._cells = 0
        self._held: OrderedDict[tuple[str, str, int], Gold] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: tuple[str, str, int]) -> Gold | None:
        with self._lock:
            gold = self._held.get(key)
            if gold is not None:
                self._held.move_to_end(key)
            return gold

    def put(self, key: tuple[str, str, int], gold: Gold) -> None:
        size = _cells(gold)
        with self._lock:
            if size > self._room // 4 or key in self._held:
                return
            self._held[key] = gold
            self._cells += size
            while self._cells > self._room:
                _, oldest = self._held.popitem(last=False)
                self._cells -= _cells(oldest)


_cache = _GoldCache(_CACHED_CELLS)


def images(task: Task) -> Iterator[bytes]:
    """Yield the bytes of the visible database, then those of the hidden ones."""
    return chain((database_bytes(task.params),), hidden_bytes(task.params))


def pairs(
    task: Task,
    gold_sql: str,
    submitted: str,
    final_state: Mapping[str, Any],
    *,
    spare_rows: int = 0,
    steps: int | None = None,
) -> Iterator[ResultPair]:
    """Run both statements on each database in turn, as far as the caller iterates.

    `spare_rows` is how many rows the submission may have beyond the expected ones before `more`,
    `steps` how many steps of SQLite it may take on each database; None is the usual safety limit.

    Raises:
        GraderFault: If the expected statement fails, or the submitted one cannot be run: see
            `run_submitted`.
    """
    dialect = str(final_state.get("dialect") or "sqlite")
    for place, image in enumerate(images(task)):
        key = (task.hash, gold_sql, place)
        gold = _cache.get(key)
        if gold is None:
            gold = run_gold(image, task.params, gold_sql)
            _cache.put(key, gold)
        room = len(gold.rows) + spare_rows
        yield ResultPair(place, gold, run_submitted(image, task, dialect, submitted, room, steps))


def gold_terms(task: Task, gold_sql: str) -> dict[str, float]:
    """Return the term `empty_gold` if the expected answer has no rows on the visible database.

    It is a property of the task, whatever was submitted: rules that look at rows alone accept any
    empty result there, so reports count these tasks separately.
    """
    key = (task.hash, gold_sql, 0)
    gold = _cache.get(key)
    if gold is None:
        try:
            gold = run_gold(database_bytes(task.params), task.params, gold_sql)
        except GraderFault:
            return {}
        _cache.put(key, gold)
    return {} if gold.rows else {"empty_gold": 1.0}


def marks_empty_gold(rule: Callable[..., Verdict]) -> Callable[..., Verdict]:
    """Add `gold_terms` to the verdicts of a rule whose check has the parameter `gold`."""

    @wraps(rule)
    def marked(
        task: Task,
        params: Mapping[str, Any],
        final_state: Mapping[str, Any],
        transcript: Sequence[Mapping[str, Any]],
    ) -> Verdict:
        verdict = rule(task, params, final_state, transcript)
        terms = gold_terms(task, params["gold"])
        return verdict.model_copy(update={"terms": {**verdict.terms, **terms}})

    return marked


def run_gold(image: bytes, params: Mapping[str, Any], sql: str) -> Gold:
    """Run the expected statement on SQLite, on separate connections.

    Raises:
        GraderFault: If it fails or returns more than 200,000 rows.
    """
    with closing(open_image(image, params, "sqlite", purpose="gold")) as database:
        try:
            result = database.run(sql, _GOLD_LIMITS)
        except SqlError as error:
            raise GraderFault(f"the expected statement fails: {error.message}") from error
    if result.more:
        raise GraderFault("the expected statement returns more than 200,000 rows")
    return Gold(len(result.columns), result.rows)


def run_submitted(
    image: bytes, task: Task, dialect: str, sql: str, expected: int, steps: int | None = None
) -> SubmittedResult:
    """Run the submitted statement on the engine of its dialect, fetching at most `expected` rows.

    `steps` is the limit of the task, if it has one; beyond it, the statement fails.

    Raises:
        GraderFault: If the machine was too busy, or the engine is not available on it.
    """
    seconds = max(task.limits.seconds_per_action, _SUBMITTED_SECONDS)
    limits = QueryLimits(seconds=seconds, rows=max(expected, 1), result_bytes=64_000_000)
    if steps is not None:
        limits = replace(limits, steps=steps, exact=True)
    if first_word(sql) not in {"select", "with", "values"}:
        return SubmittedResult(0, (), False, "refused")
    try:
        database: Database = open_image(image, task.params, dialect, purpose="grader")
    except MissingBackend as error:
        raise GraderFault(str(error)) from error
    with closing(database):
        try:
            result = database.run(sql, limits)
        except SqlError as error:
            if error.kind == "stalled":
                raise GraderFault(f"on the submitted statement, {error.message}") from error
            return SubmittedResult(0, (), False, error.kind)
    return SubmittedResult(len(result.columns), result.rows, result.more)


def _cells(gold: Gold) -> int:
    return len(gold.rows) * max(gold.columns, 1) + 1
