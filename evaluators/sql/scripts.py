"""The strict rule for scripts of changes: right on the visible and on all hidden databases.

The script runs on fresh copies, so a script that repeats the rows of the visible database fails.
Every table is compared, with its columns, and indexes, views and triggers too.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from hexathlon.evaluators.sql.images import changed_parts, describe_content, image_rows
from hexathlon.evaluators.sql.runs import GraderFault, images
from hexathlon.evaluators.sql.strict import unscored, wrong
from hexathlon.evaluators.sql.writes import after_statements, expected_content
from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.sql.world.backends.base import QueryLimits, SqlError, first_word
from hexathlon.tasks.sql.world.backends.choice import open_image, today_of
from hexathlon.tasks.task import Task

__all__ = ["sql_script", "statements_of"]

_MOST_STATEMENTS = 40


def sql_script(
    task: Task,
    params: Mapping[str, Any],
    final_state: Mapping[str, Any],
    transcript: Sequence[Mapping[str, Any]],
) -> Verdict:
    """Score 1 if the script makes exactly the expected changes on every database.

    Params: `statements` (SQL, applied in order); `runs`, how often in a row the script is run: only
    the first run may change anything. The evidence has, by table, the numbers of rows that are
    missing and that should not be there, on the first database that differs.
    """
    script = final_state.get("sql")
    if final_state.get("kind") != "script" or not isinstance(script, str):
        return wrong("no_script")
    statements = list(statements_of(script))
    if not 0 < len(statements) <= _MOST_STATEMENTS:
        return wrong("empty" if not statements else "too_long")
    dialect = str(final_state.get("dialect") or "sqlite")
    place, partial = 0, 0.0
    try:
        for place, image in enumerate(images(task)):
            expected, before = expected_content(task, params["statements"], image, place)
            got = image
            for run in range(1, int(params.get("runs", 1)) + 1):
                again = {"run": run} if run > 1 else {}
                got, error = _after_script(got, task, dialect, statements)
                if error:
                    return _failed(place, partial, {"problem": f"error_{error}", **again})
                differing = changed_parts(expected, describe_content(got), before)
                if differing:
                    right = after_statements(image, params["statements"], today_of(task.params))
                    rows = _row_difference(right, got)
                    return _failed(place, partial, {"differing": differing, "rows": rows, **again})
            partial = 0.5
    except GraderFault as fault:
        return unscored(fault)
    return Verdict(
        score=1.0, partial=1.0, terms={"visible": 1.0, "hidden": 1.0},
        evidence={"databases": place + 1},
    )  # fmt: skip


def statements_of(script: str) -> Iterator[str]:
    """Yield the statements of a script, without comments that stand alone.

    Semicolons within texts and comments do not separate statements.
    """
    pending = ""
    for piece in script.split(";"):
        pending += piece
        if sqlite3.complete_statement(pending + ";"):
            if first_word(pending):
                yield pending.strip()
            pending = ""
        else:
            pending += ";"
    if first_word(pending):
        yield pending.removesuffix(";").strip()


def _after_script(
    image: bytes, task: Task, dialect: str, statements: Sequence[str]
) -> tuple[bytes, str]:
    """Return the database after a script, and the kind of the error that ended it.

    Raises:
        GraderFault: If the machine was too busy.
    """
    limits = QueryLimits(seconds=task.limits.seconds_per_action)
    with closing(open_image(image, task.params, dialect, purpose="agent")) as database:
        for statement in statements:
            try:
                database.run(statement, limits)
            except SqlError as error:
                if error.kind == "stalled":
                    raise GraderFault(f"on the submitted script, {error.message}") from error
                return image, error.kind
        return database.sqlite_image(), ""


def _failed(place: int, partial: float, evidence: dict[str, Any]) -> Verdict:
    where = "visible" if place == 0 else f"hidden {place}"
    terms = {"visible": float(place > 0), "hidden": 0.0}
    return Verdict(
        score=0.0, partial=partial, terms=terms, evidence={**evidence, "database": where}
    )


def _row_difference(expected: bytes, got: bytes) -> dict[str, list[int]]:
    """Return, by table, how many rows are missing and how many should not be there."""
    right, found = image_rows(expected), image_rows(got)
    counts = {}
    for name in sorted({*right, *found}):
        left, other = (Counter(map(repr, rows.get(name, ()))) for rows in (right, found))
        numbers = [(left - other).total(), (other - left).total()]
        if any(numbers):
            counts[name] = numbers
    return counts
