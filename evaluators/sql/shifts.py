"""The strict rule for shifts: every ticket's answer, and the database at every report.

The environment describes the database whenever a ticket is handed in. The expected databases are
the pristine one after the expected statements of the tickets and the statements of routines, so
that a verdict follows from the stored reports alone.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import closing
from decimal import Decimal, InvalidOperation, Overflow
from functools import lru_cache
from typing import Any

from hexathlon.evaluators.sql.images import OTHER, describe_content, image_rows
from hexathlon.evaluators.sql.runs import GraderFault
from hexathlon.evaluators.sql.strict import unscored, wrong
from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.sql.world.backends.base import (
    WRITE_KINDS,
    Database,
    QueryLimits,
    SqlError,
    StoredValue,
)
from hexathlon.tasks.sql.world.backends.choice import today_of
from hexathlon.tasks.sql.world.backends.sqlite import open_sqlite
from hexathlon.tasks.sql.world.database import database_bytes
from hexathlon.tasks.task import Task

__all__ = ["describe_report", "sql_shift"]

_TOLERANCE = Decimal("0.001")
_LIMITS = QueryLimits(seconds=60.0, steps=3_000_000_000)
_CACHE_SIZE = 32
_expected: OrderedDict[str, list[dict[str, Any]]] = OrderedDict()


def sql_shift(
    task: Task,
    params: Mapping[str, Any],
    final_state: Mapping[str, Any],
    transcript: Sequence[Mapping[str, Any]],
) -> Verdict:
    """Score 1 if every ticket was handed in as expected, with the expected database each time.

    Params: `tickets`, each with `statements` (SQL, applied in order), `after` (statements of
    routines that run after the report), and `answer` (values in order), `reason` and `evidence` of
    a refusal, or none of them. The partial score is the share of tickets that are right in both.
    """
    reports = final_state.get("reports")
    if not isinstance(reports, Sequence) or not reports:
        return wrong("nothing_handed_in")
    tickets = params["tickets"]
    try:
        expected = _databases(task, tickets)
    except GraderFault as fault:
        return unscored(fault)
    answers = [_answered(ticket, report) for ticket, report in zip(tickets, reports, strict=False)]
    differing = [
        _differing(right, report.get("database") or {})
        for right, report in zip(expected, reports, strict=False)
    ]
    right = [told and not parts for told, parts in zip(answers, differing, strict=True)]
    done = len(reports) == len(tickets)
    score = float(done and all(right))
    return Verdict(
        score=score,
        partial=sum(right) / len(tickets),
        terms={
            "tickets": sum(right) / len(tickets),
            "answers": sum(answers) / len(tickets),
            "databases": sum(not parts for parts in differing) / len(tickets),
            "all_handed_in": float(done),
        },
        evidence={
            "wrong_answers": [place + 1 for place, told in enumerate(answers) if not told],
            "differing": {str(place + 1): parts for place, parts in enumerate(differing) if parts},
        },
    )


def describe_report(image: bytes, start: bytes) -> dict[str, Any]:
    """Return what distinguishes a database from that of the morning, as JSON.

    Tables of the morning are described by digests of their rows and their declared columns; new
    tables by a digest in which equal numbers are equal, whatever numeric type is declared.
    """
    now, before = _described(image), _described(start)
    changed: dict[str, Any] = {}
    new = [name for name in now["tables"] if name not in before["tables"]]
    rows = image_rows(image, new) if new else {}
    for name, table in now["tables"].items():
        if name in before["tables"] and table != before["tables"][name]:
            declared = _short(repr(sorted(table["columns"].items())))
            changed[name] = [table["rows"], declared]
    for name in new:
        changed[name] = [_loose_digest(list(now["tables"][name]["columns"]), rows[name])]
    for name in before["tables"]:
        if name not in now["tables"]:
            changed[name] = []
    if now["other"] != before["other"]:
        changed[OTHER] = [now["other"]]
    return changed


@lru_cache(maxsize=16)  # two for each of several days that are played in turn
def _described(image: bytes) -> dict[str, Any]:
    """Describe a database; most are those of the morning or of the ticket before."""
    return describe_content(image)


def _loose_digest(columns: Sequence[str], rows: Sequence[Sequence[StoredValue]]) -> str:
    order = sorted(range(len(columns)), key=columns.__getitem__)
    lines = sorted("\x1f".join(_loose(row[place]) for place in order) for row in rows)
    return _short("\x1e".join([*sorted(columns), "", *lines]))


def _loose(value: StoredValue) -> str:
    if value is None:
        return "n"
    if isinstance(value, bool | int | float):
        return f"r{round(float(value), 4) + 0.0:.12g}"
    return f"t{value!r}"


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _differing(expected: Mapping[str, Any], got: Mapping[str, Any]) -> list[str]:
    names = sorted({*expected, *got})
    return [name for name in names if expected.get(name) != got.get(name)]


def _answered(ticket: Mapping[str, Any], report: Mapping[str, Any]) -> bool:
    """Whether a ticket was answered, carried out or refused as expected."""
    kind = report.get("kind")
    if ticket.get("evidence"):
        given = str(report.get("evidence") or "").strip().strip("'\"`").lower()
        accepted = {str(each).strip().lower() for each in ticket["evidence"]}
        return bool(
            kind == "impossible" and report.get("reason") == ticket["reason"] and given in accepted
        )
    if kind == "impossible":
        return False
    label = ticket.get("answer")
    if label is None:
        return True
    answer = report.get("answer")
    if not isinstance(answer, Sequence) or isinstance(answer, str) or len(answer) != len(label):
        return False
    return all(_same(str(a), str(b)) for a, b in zip(label, answer, strict=True))


def _same(expected: str, given: str) -> bool:
    """Whether two values are equal: numbers nearly, texts apart from case and outer blanks."""
    try:
        difference = Decimal(expected.strip()) - Decimal(given.strip())
    except (InvalidOperation, Overflow):
        return expected.strip().lower() == given.strip().lower()
    return difference.is_finite() and abs(difference) <= _TOLERANCE


def _databases(task: Task, tickets: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the expected database at every report, as `describe_report` describes it.

    Raises:
        GraderFault: If an expected statement fails.
    """
    key = task.hash
    if key not in _expected:
        start = database_bytes(task.params)
        described = []
        with closing(
            open_sqlite(start, writes=WRITE_KINDS, today=today_of(task.params))
        ) as database:
            for place, ticket in enumerate(tickets):
                _run_all(database, ticket["statements"], f"a statement of ticket {place + 1}")
                described.append(describe_report(database.sqlite_image(), start))
                _run_all(database, ticket["after"], f"a routine after ticket {place + 1}")
        _expected[key] = described
        if len(_expected) > _CACHE_SIZE:
            _expected.popitem(last=False)
    return _expected[key]


def _run_all(database: Database, statements: Sequence[str], what: str) -> None:
    """Run expected statements.

    Raises:
        GraderFault: If one fails.
    """
    for statement in statements:
        try:
            database.run(statement, _LIMITS)
        except SqlError as error:
            raise GraderFault(f"{what} fails: {error.message}") from error
