"""The strict rule for write tasks: the complete final database equals the expected one.

Every table's rows and columns are compared, and indexes, views and triggers too, so an unrequested
change is as wrong as a missing one.
"""

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

from hexathlon.evaluators.sql.images import changed_parts, describe_content
from hexathlon.evaluators.sql.runs import GraderFault
from hexathlon.evaluators.sql.strict import unscored, wrong
from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.cache.keys import folder_digest
from hexathlon.tasks.cache.values import stored
from hexathlon.tasks.sql.world.backends.base import (
    DEFAULT_TODAY,
    WRITE_KINDS,
    QueryLimits,
    SqlError,
)
from hexathlon.tasks.sql.world.backends.choice import today_of
from hexathlon.tasks.sql.world.backends.sqlite import open_sqlite
from hexathlon.tasks.sql.world.database import database_bytes
from hexathlon.tasks.stored.sources import CACHED_SOURCES
from hexathlon.tasks.task import Task

__all__ = ["after_statements", "expected_content", "sql_write"]

_LIMITS = QueryLimits(seconds=60.0, steps=3_000_000_000)
_expected: OrderedDict[tuple[str, int], tuple[Any, Any]] = OrderedDict()
_CACHE_SIZE = 192


def sql_write(
    task: Task,
    params: Mapping[str, Any],
    final_state: Mapping[str, Any],
    transcript: Sequence[Mapping[str, Any]],
) -> Verdict:
    """Score 1 if the final database is the pristine one after the expected statements.

    Params: `statements` (SQL, applied in order).
    """
    if final_state.get("kind") != "database":
        return wrong("not_handed_in")
    actual = final_state.get("database")
    if not isinstance(actual, Mapping):
        return wrong("no_database")
    try:
        pristine = database_bytes(task.params)
        expected, before = expected_content(task, params["statements"], pristine)
    except GraderFault as fault:
        return unscored(fault)
    differing = changed_parts(expected, actual, before)
    requested = changed_parts(expected, before, before)
    terms = {
        "asked": float(not set(requested) & set(differing)),
        "nothing_else": float(not set(differing) - set(requested)),
    }
    return Verdict(
        score=float(not differing),
        partial=1 - len(differing) / max(len({*requested, *differing}), 1),
        terms=terms,
        evidence={"differing": differing},
    )


def after_statements(image: bytes, statements: Sequence[str], today: str = DEFAULT_TODAY) -> bytes:
    """Return the database after the statements.

    Raises:
        GraderFault: If one of them fails.
    """
    with closing(open_sqlite(image, writes=WRITE_KINDS, today=today)) as database:
        for statement in statements:
            try:
                database.run(statement, _LIMITS)
            except SqlError as error:
                raise GraderFault(f"an expected statement fails: {error.message}") from error
        return database.sqlite_image()


def expected_content(
    task: Task, statements: Sequence[str], image: bytes, place: int = 0
) -> tuple[Any, Any]:
    """Return descriptions of a database after the expected statements, and before them.

    Args:
        task: The task.
        statements: SQL, applied in order.
        image: The database before them.
        place: Place of the database among the task's; 0 is the visible one.

    Raises:
        GraderFault: If a statement fails.
    """
    key = (task.hash, place)
    if key not in _expected:
        _expected[key] = _stored_content(task, statements, image, place)
        if len(_expected) > _CACHE_SIZE:
            _expected.popitem(last=False)
    return _expected[key]


def _stored_content(
    task: Task, statements: Sequence[str], image: bytes, place: int
) -> tuple[Any, Any]:
    """Return both descriptions from the cache on disk, which has those of generated tasks."""

    def descriptions() -> bytes:
        after = after_statements(image, statements, today_of(task.params))
        return json.dumps([describe_content(after), describe_content(image)]).encode()

    code = _code()
    if code is None or task.generator not in CACHED_SOURCES or task.split == "heldout":
        value = descriptions()
    else:
        parts = (code, task.hash, json.dumps(list(statements)), str(place))
        value = stored("sql content", "sql", parts, descriptions)
    expected, before = json.loads(value)
    return expected, before


@cache
def _code() -> str | None:
    return folder_digest(Path(__file__).parent)
