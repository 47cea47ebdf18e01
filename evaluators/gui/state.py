"""Checks that the phone's rows changed exactly as requested and that the report is right.

The final state lists every change of every table, so any unrequested change fails the task.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import Messages
from hexathlon.tasks.gui.world.apps.table import app_named
from hexathlon.tasks.task import Task

__all__ = ["gui_state", "matches_value"]

_PhoneChanges = Mapping[str, Any]


def gui_state(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: Messages
) -> Verdict:
    """Compare the changes and the report with the request.

    Args:
        task: Not used.
        params: `changes` (by table: `added` rows, `removed` keys, `changed` pairs of key and new
            values), `answer` (`status`, `data`, `record`, `ordered`), and optionally `parts` (parts
            of `changes` by name, each scored as a separate term). Shifts also have `requests`,
            each with its `answer`, its `part` of the changes, and `then`, the changes required
            when it was reported, and nothing else if `whole`; partial credit is the share of
            requests that are right in all three.
        final_state: The environment's final state: `changes`, `reports`.
        transcript: Not used.
    """
    reports = list(final_state.get("reports", ()))
    count = len(params.get("requests", ())) or 1
    report = reports[-1] if len(reports) == count else None
    wanted = params["answer"]
    changes = final_state.get("changes", {})
    faults = _faults(params["changes"], changes)
    terms = {
        "changes": not faults,
        "ended": report is not None,
        **_report_terms(wanted, report),
    }
    for name, part in params.get("parts", {}).items():
        terms[f"part {name}"] = _holds(part, changes)
    requests = [
        all(_report_terms(each["answer"], given).values())
        and _holds(each["part"], changes)
        and _held(each, (given or {}).get("changes", {}))
        for each, given in zip(
            params.get("requests", ()), [*reports, *[None] * count], strict=False
        )
    ]
    terms |= {f"request {number}": right for number, right in enumerate(requests, 1)}
    counted = requests or list(terms.values())
    return Verdict(
        score=float(all(terms.values())),
        partial=sum(counted) / len(counted),
        terms={name: float(met) for name, met in terms.items()},
        evidence={"faults": faults[:20], "look": final_state.get("look", ""),
                  "blocked": list(final_state.get("blocked", ()))[:10]},
    )  # fmt: skip


def _report_terms(wanted: Mapping[str, Any], report: Mapping[str, Any] | None) -> dict[str, bool]:
    if report is None:
        return {"status": False, "data": False, "record": False}
    return {
        "status": report["status"] == wanted["status"],
        "data": _same_data(wanted, report.get("answer")),
        "record": _same_record(wanted["record"], report.get("record", "")),
    }


def matches_value(wanted: Any, given: Any) -> bool:
    """Whether a given value matches the expected one.

    Texts are compared without regard to case and white space; numbers, amounts of money and texts
    that look like them by value. A wanted value may be a matcher: `{"any": true}`,
    `{"one_of": [...]}` or `{"words": [...]}`.
    """
    if isinstance(wanted, Mapping):
        text = _plain(given)
        if "words" in wanted:
            return all(_plain(word) in text for word in wanted["words"])
        if "one_of" in wanted:
            return text in map(_plain, wanted["one_of"])
        return bool(wanted.get("any")) and bool(text)
    if isinstance(wanted, bool) or isinstance(given, bool) or wanted is None or given is None:
        return wanted is given
    if isinstance(wanted, list | tuple) and isinstance(given, list | tuple):
        return len(wanted) == len(given) and all(map(matches_value, wanted, given))
    if _plain(wanted) == _plain(given):
        return True
    left, right = _amount(wanted), _amount(given)
    return left is not None and left == right


# Rows ------------------------------------------------------------------------------------------


def _faults(expected: _PhoneChanges, changes: _PhoneChanges) -> list[str]:
    """Return one line for each difference between the actual and the expected changes."""
    faults: list[str] = []
    for table in sorted({*expected, *changes}):
        faults += _table_faults(table, expected.get(table, {}), changes)
    return faults


def _table_faults(table: str, expected: _PhoneChanges, whole: _PhoneChanges) -> list[str]:
    """Return the faults of one table, given the actual changes of all tables."""
    volatile, changes = _volatile(table), whole.get(table, {})
    faults = []
    left = list(changes.get("added", ()))
    for wanted in expected.get("added", ()):
        match = next((row for row in left if _row_fits(table, wanted, row, whole)), None)
        if match is None:
            faults.append(f"{table}: a row that should have been added is not there")
        else:
            left.remove(match)
    faults += [f"{table}: a row was added that nobody asked for"] * len(left)
    gone = [str(row["id"]) for row in changes.get("removed", ())]
    if sorted(gone) != sorted(map(str, expected.get("removed", ()))):
        faults.append(f"{table}: other rows were removed than should have been")
    wanted_by_key: dict[str, dict[str, Any]] = {}
    for key, columns in expected.get("changed", ()):
        wanted_by_key.setdefault(str(key), {}).update(columns)
    for before, after in changes.get("changed", ()):
        columns = wanted_by_key.pop(str(after["id"]), {})
        for name in {**before, **after}:
            if name in columns:
                if not matches_value(columns[name], after.get(name)):
                    faults.append(f"{table} {after['id']}: {name} has another value")
            elif name not in volatile and before.get(name) != after.get(name):
                faults.append(f"{table} {after['id']}: {name} was changed")
    faults += [f"{table} {key}: it should have been changed" for key in wanted_by_key]
    return faults


def _volatile(table: str) -> frozenset[str]:
    """Return the columns of a table that are not compared."""
    app, _, name = table.partition(".")
    if app == "system":
        return frozenset({"id"})
    return frozenset(app_named(app).tables.get(name, ())) | {"id"}


def _row_fits(
    table: str, wanted: Mapping[str, Any], row: Mapping[str, Any], changes: _PhoneChanges
) -> bool:
    """Whether an added row matches an expected one; columns that are not named must be volatile."""
    volatile = _volatile(table)
    return all(name in row for name in wanted) and all(
        _fits_column(table, name, wanted[name], row[name], changes)
        if name in wanted else name in volatile
        for name in row
    )  # fmt: skip


def _fits_column(table: str, name: str, wanted: Any, given: Any, changes: _PhoneChanges) -> bool:
    """Whether a column matches: by value, or as the key of an added row that matches."""
    if not isinstance(wanted, Mapping) or "row" not in wanted:
        return matches_value(wanted, given)
    app, _, rows = table.partition(".")
    other = app_named(app).references[rows][name]
    return any(row["id"] == given and _row_fits(other, wanted["row"], row, changes)
               for row in changes.get(other, {}).get("added", ()))  # fmt: skip


def _held(request: Mapping[str, Any], changes: _PhoneChanges) -> bool:
    """Whether the phone was as a request requires when it was reported."""
    if request.get("whole"):
        return not _faults(request["then"], changes)
    return _holds(request["then"], changes)


def _holds(part: Mapping[str, Any], changes: _PhoneChanges) -> bool:
    """Whether a part of the expected changes took place, regardless of other changes."""
    for table, wanted in part.items():
        done = changes.get(table, {})
        after = {str(row["id"]): row for _, row in done.get("changed", ())}
        gone = {str(row["id"]) for row in done.get("removed", ())}
        for row in wanted.get("added", ()):
            if not any(_row_fits(table, row, each, changes) for each in done.get("added", ())):
                return False
        for key, columns in wanted.get("changed", ()):
            row = after.get(str(key), {})
            if not all(matches_value(columns[name], row.get(name)) for name in columns):
                return False
        if not {str(key) for key in wanted.get("removed", ())} <= gone:
            return False
    return True


# Reports ---------------------------------------------------------------------------------------


def _same_data(wanted: Mapping[str, Any], given: str | None) -> bool:
    expected = wanted["data"]
    if not expected:  # no answer was asked for, so any is accepted
        return True
    if not given:
        return False
    if len(expected) == 1 and matches_value(expected[0], given):
        return True
    for pattern in (r"[;；\n]", r"[;；,，、\n]"):
        values = [value.strip() for value in re.split(pattern, given) if value.strip()]
        if len(values) == len(expected) and _same_values(expected, values, wanted["ordered"]):
            return True
    return False


def _same_values(expected: Sequence[Any], values: Sequence[str], ordered: bool) -> bool:
    if ordered:
        return all(map(matches_value, expected, values))
    left = list(values)
    for item in expected:
        place = next((i for i, value in enumerate(left) if matches_value(item, value)), None)
        if place is None:
            return False
        left.pop(place)
    return True


def _same_record(wanted: str, given: Any) -> bool:
    """Whether the blocking entry is named, with or without a leading `#`; amounts by value."""
    if not wanted or matches_value(wanted, given):
        return True
    return _plain(given).lstrip("#") == _plain(wanted).lstrip("#")


def _plain(value: Any) -> str:
    return " ".join(str(value).split()).casefold()


def _amount(value: Any) -> Decimal | None:
    text = re.sub(r"^(-?)[€$£¥]\s?|\s?(?:[€$£¥]|EUR|元)$", r"\1", str(value).strip())
    if re.fullmatch(r"-?\d{1,3}([ ,\u00a0\u202f])\d{3}(?:\1\d{3})*(\.\d+)?", text):
        text = re.sub(r"[ ,\u00a0\u202f]", "", text)
    if not re.fullmatch(r"-?\d+(\.\d+)?", text):
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None
