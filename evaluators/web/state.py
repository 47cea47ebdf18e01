"""Checks that the sites changed exactly as requested and that the typed answer is right.

The final state lists every change of business data, so any unrequested change fails the task.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import Messages
from hexathlon.tasks.task import Task
from hexathlon.tasks.web.world.sites.table import site_named

__all__ = ["same_value", "web_state"]

_Row = Mapping[str, Any]


def web_state(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: Messages
) -> Verdict:
    """Compare changes, answer and evidence with the request.

    Args:
        task: Not used.
        params: `changes` (by site and table: `added` rows, `removed` keys, `changed` pairs of key
            and new values), `answer` (`status`, `data`, `record`, `ordered`), `evidence` (regular
            expressions of URLs that must have been opened), and optionally `parts` (parts of
            `changes` by name, each scored as a separate term). For a shift also `requests`: by
            request, its `answer`, its `part` of the changes, and optionally the values that the
            task's `records` have at the time of its report; partial credit is then the share of
            requests with all of these right.
        final_state: The web environment's final state.
        transcript: Not used.
    """
    answer = final_state.get("answer")
    wanted = params["answer"]
    faults = _change_faults(params["changes"], final_state.get("changes", {}))
    terms = {
        "changes": not faults,
        "ended": answer is not None,
        "status": answer is not None and answer["status"] == wanted["status"],
        "data": answer is not None and _same_data(wanted, answer.get("retrieved_data")),
        "record": answer is not None and _same_record(wanted["record"], answer.get("record", "")),
        "evidence": _has_evidence(params.get("evidence", ()), final_state.get("trace", ())),
    }
    for name, part in params.get("parts", {}).items():
        terms[f"part {name}"] = _holds(part, final_state.get("changes", {}))
    requests = _requests_right(params.get("requests", ()), final_state)
    terms |= {f"request {number}": right for number, right in enumerate(requests, 1)}
    values = {name: float(met) for name, met in terms.items()}
    counted = requests or list(terms.values())
    return Verdict(
        score=float(all(terms.values())),
        partial=sum(counted) / len(counted),
        terms=values,
        evidence={
            "faults": faults[:20],
            "look": final_state.get("look", ""),
            "blocked": list(final_state.get("blocked", ()))[:10],
        },
    )


def same_value(wanted: Any, given: Any) -> bool:
    """Whether a given value matches the expected one.

    Texts are compared without regard to case and white space; numbers, amounts of money and texts
    that look like them by value.
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
    if _plain(wanted) == _plain(given):
        return True
    left, right = _number(wanted), _number(given)
    return left is not None and left == right


def _change_faults(expected: Mapping[str, Any], changes: Mapping[str, Any]) -> list[str]:
    """Return one line for each difference between the actual and the expected changes."""
    faults = []
    for site in sorted({*expected, *changes}):
        tables = {*expected.get(site, {}), *changes.get(site, {})}
        for table in sorted(tables):
            faults += _table_faults(
                site,
                table,
                expected.get(site, {}).get(table, {}),
                changes.get(site, {}).get(table, {}),
            )
    return faults


def _requests_right(
    requests: Sequence[Mapping[str, Any]], final_state: Mapping[str, Any]
) -> list[bool]:
    """Return, by request of a shift, whether report, part of the changes and records are right."""
    reports = list(final_state.get("reports", ()))
    reports += [None] * (len(requests) - len(reports))
    return [
        report is not None
        and report["status"] == request["answer"]["status"]
        and _same_data(request["answer"], report.get("retrieved_data"))
        and _same_record(request["answer"]["record"], report.get("record", ""))
        and _holds(request["part"], final_state.get("changes", {}))
        and _same_records(request.get("records", ()), report.get("records", ()))
        for request, report in zip(requests, reports, strict=False)
    ]


def _holds(part: Mapping[str, Any], changes: Mapping[str, Any]) -> bool:
    """Whether a part of the expected changes took place, regardless of other changes.

    Columns under `kept` have these values at the end, changed or not.
    """
    for site, tables in part.items():
        for table, wanted in tables.items():
            volatile = set(site_named(site).volatile.get(table, ()))
            done = changes.get(site, {}).get(table, {})
            after = {str(next(iter(row.values()))): row for _, row in done.get("changed", ())}
            for row in wanted.get("added", ()):
                if not any(_row_matches(row, each, volatile) for each in done.get("added", ())):
                    return False
            for key, columns in wanted.get("changed", ()):
                row = after.get(str(key), {})
                if not all(same_value(columns[name], row.get(name)) for name in columns):
                    return False
            for key, columns in wanted.get("kept", ()):
                row = after.get(str(key), columns)
                if not all(same_value(columns[name], row.get(name)) for name in columns):
                    return False
    return True


def _table_faults(site: str, table: str, expected: _Row, changes: _Row) -> list[str]:
    volatile = set(site_named(site).volatile.get(table, ()))
    place = f"{site}.{table}"
    faults = []
    keys = {str(key) for key in expected.get("removed", ())}
    # A new row may reuse the number of a removed one.
    reused = [pair for pair in changes.get("changed", ()) if _key(pair[0]) in keys]
    left = [dict(row) for row in (*changes.get("added", ()), *(after for _, after in reused))]
    for wanted in expected.get("added", ()):
        match = next((row for row in left if _row_matches(wanted, row, volatile)), None)
        if match is None:
            faults.append(f"{place}: a row that should have been added is not there")
        else:
            left.remove(match)
    faults += [f"{place}: a row was added that nobody asked for"] * len(left)
    gone = [_key(row) for row in (*changes.get("removed", ()), *(before for before, _ in reused))]
    if sorted(gone) != sorted(keys):
        faults.append(f"{place}: other rows were removed than should have been")
    wanted_by_key = {str(key): columns for key, columns in expected.get("changed", ())}
    for before, after in changes.get("changed", ()):
        key = _key(before)
        if key in keys:
            continue
        wanted = wanted_by_key.pop(key, {})
        for column in after:
            if column in wanted:
                if not same_value(wanted[column], after[column]):
                    faults.append(f"{place} {key}: {column} has another value")
            elif column not in volatile and before[column] != after[column]:
                faults.append(f"{place} {key}: {column} was changed")
    faults += [f"{place} {key}: it should have been changed" for key in wanted_by_key]
    return faults


def _key(row: _Row) -> str:
    return str(next(iter(row.values())))


def _row_matches(wanted: _Row, row: _Row, volatile: set[str]) -> bool:
    """Whether an added row matches an expected one; columns that are not named must be volatile."""
    return all(
        same_value(wanted[column], row[column]) if column in wanted else column in volatile
        for column in row
    )


def _same_data(wanted: Mapping[str, Any], given: Any) -> bool:
    expected = wanted["data"]
    if not expected:
        return not given
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != len(expected):
        return False
    if wanted.get("ordered", True):
        return all(map(_same_item, expected, given))
    left = list(given)
    for item in expected:
        match = next((i for i, other in enumerate(left) if _same_item(item, other)), None)
        if match is None:
            return False
        left.pop(match)
    return True


def _same_item(wanted: Any, given: Any) -> bool:
    """Whether a reported value matches the expected one; record numbers may have a leading `#`."""
    bare = isinstance(wanted, str) and wanted.startswith("#")
    return same_value(wanted, given) or (bare and same_value(wanted[1:], given))


def _same_records(wanted: Sequence[Any], given: Sequence[Any]) -> bool:
    """Whether all records had exactly the expected values at the time of a report.

    Other spellings do not count: the sites' defects depend on values as they are expected.
    """
    return not wanted or [*map(str, wanted)] == [*map(str, given)]


def _same_record(wanted: str, given: Any) -> bool:
    """Whether the blocking record is named, with or without a leading `#`."""
    return str(given).strip().lstrip("#").casefold() == wanted.strip().lstrip("#").casefold()


def _has_evidence(patterns: Sequence[str], trace: Sequence[Sequence[Any]]) -> bool:
    # A GET answered with 303 led elsewhere, to the sign-in page for instance.
    opened = [
        str(url)
        for method, url, _, status in trace
        if int(status) == 200 or (method == "POST" and int(status) == 303)
    ]
    return all(any(re.search(pattern, url) for url in opened) for pattern in patterns)


def _plain(value: Any) -> str:
    return " ".join(str(value).split()).casefold()


def _number(value: Any) -> Decimal | None:
    text = re.sub(r"^(-?)[€$£¥]\s?|\s?[€$£¥]$", r"\1", str(value).strip())
    if re.fullmatch(r"-?\d{1,3}([ ,\u00a0\u202f])\d{3}(?:\1\d{3})*(\.\d+)?", text):
        text = re.sub(r"[ ,\u00a0\u202f]", "", text)
    if not re.fullmatch(r"-?\d+(\.\d+)?", text):
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None
