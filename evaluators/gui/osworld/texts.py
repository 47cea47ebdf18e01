"""OSWorld's metrics for texts, lists, JSON, tables and archives.

Each takes the result, usually the expected value, and options, and returns a score from 0 to 1.
A result that is missing or malformed scores 0.
"""

import csv
import difflib
import io
import json
import re
import sqlite3
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.evaluators.gui.osworld.rules import has_fields, matches_rule
from hexathlon.evaluators.gui.osworld.values import (
    MetricUnsupported,
    content_of,
    json_of,
    text_of,
)

__all__ = [
    "check_csv",
    "check_direct_json_object",
    "check_include_exclude",
    "check_json",
    "check_json_keybindings",
    "check_json_settings",
    "check_line_number",
    "check_list",
    "compare_config",
    "compare_python_pure_text",
    "compare_result_files",
    "compare_text_file",
    "compare_zip_files",
    "diff_text_file",
    "exact_match",
    "file_contains",
    "is_extension_installed",
    "is_in_list",
    "is_in_vm_clickboard",
    "literal_match",
    "match_in_list",
    "run_sqlite3",
]

MetricRules = Mapping[str, Any]

_CLOCK = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)")
_PREAMBLE = ("#!", "# -*- coding:", "# coding:", "# coding=")


def exact_match(result: Any, rules: MetricRules) -> float:
    """The result equals `expected`."""
    return float(result == rules["expected"])


def match_in_list(result: Any, rules: MetricRules) -> float:
    """The result is one of `expected`."""
    return float(result in rules["expected"])


def is_in_list(result: Any, rules: MetricRules) -> float:
    """`expected` is one of the results, or part of the text."""
    within = result if isinstance(result, (list, tuple)) else text_of(result)
    return float(within is not None and rules["expected"] in within)


def literal_match(
    result: Any, expected: Any, *, type: str = "str", ignore_case: bool = False
) -> float:
    """Result and expected value are equal as texts, or as lists of texts."""
    if type not in ("str", "list"):
        raise MetricUnsupported(f"literal_match of the type {type!r}")
    sides = []
    for side in (result, expected):
        if type == "list" and not isinstance(side, (list, tuple)):
            return 0.0
        texts = [str(each) for each in side] if type == "list" else [str(side)]
        sides.append([text.lower() for text in texts] if ignore_case else texts)
    return float(sides[0] == sides[1])


def check_include_exclude(result: Any, rules: MetricRules) -> float:
    """The text contains every part of `include` and none of `exclude`."""
    text = text_of(result)
    if text is None:
        return 0.0
    included = all(part in text for part in rules.get("include", ()))
    return float(included and all(part not in text for part in rules.get("exclude", ())))


def is_extension_installed(result: Any, rules: MetricRules) -> float:
    """The list of extensions contains `expected`, or not, by `type`."""
    if rules["type"] not in ("contain", "not_contain"):
        raise MetricUnsupported(f"is_extension_installed of the type {rules['type']!r}")
    text = text_of(result)
    if text is None:
        return 0.0
    return float((rules["expected"] in text) == (rules["type"] == "contain"))


def is_in_vm_clickboard(rules: MetricRules, result: Any) -> float:
    """The clipboard contains `expected`, or all of its parts; the arguments are in this order."""
    text = text_of(result)
    wanted = rules["expected"]
    parts = wanted if isinstance(wanted, list) else [wanted]
    return float(text is not None and all(part in text for part in parts))


def file_contains(result: Any, rules: MetricRules) -> float:
    """The file contains every text of `expected`."""
    text = text_of(result)
    return float(text is not None and all(part in text for part in rules["expected"]))


def diff_text_file(result: Any, expected: Any) -> float:
    """Similarity of the lines, as `difflib` measures it."""
    texts = text_of(result), text_of(expected)
    if texts[0] is None or texts[1] is None:
        return 0.0
    first, second = (text.splitlines() for text in texts if text is not None)
    return difflib.SequenceMatcher(a=first, b=second).ratio()


def compare_text_file(
    result: Any, expected: Any, *, ignore_blanks: bool = False, ignore_case: bool = False
) -> float:
    """The files have the same text, up to white space and case if asked."""
    texts = text_of(result), text_of(expected)
    if texts[0] is None or texts[1] is None:
        return 0.0
    sides = [text for text in texts if text is not None]
    if ignore_blanks:
        sides = [re.sub(r"\s+", " ", re.sub(r"[\t\n]", " ", text).strip()) for text in sides]
    if ignore_case:
        sides = [text.lower() for text in sides]
    return float(sides[0] == sides[1])


def compare_python_pure_text(result: Any, expected: Any) -> float:
    """The programs are equal without blank lines, trailing blanks and coding lines at the top."""
    texts = text_of(result), text_of(expected)
    if texts[0] is None or texts[1] is None:
        return 0.0
    return float(_code_lines(texts[0]) == _code_lines(texts[1]))


def compare_result_files(result: Any, expected: Any) -> float:
    """The files hold the same number or text; a text that contains the number suffices."""
    texts = text_of(result), text_of(expected)
    if texts[0] is None or texts[1] is None:
        return 0.0
    first, second = (text.strip() for text in texts if text is not None)
    try:
        number = float(second)
        return float(second in first or abs(float(first) - number) < 1e-4)
    except ValueError:
        return float(first == second)


def compare_config(result: Any, rules: MetricRules, *, containment_ok: bool = True) -> float:
    """The file has the text or JSON of `expected`; more may follow unless it must be equal."""
    text, wanted = text_of(result), rules.get("expected")
    if text is None or not wanted:
        return 0.0
    parsed = [_parsed(each) for each in (text, wanted)]
    both_json = not any(isinstance(each, _NotJson) for each in parsed)
    if containment_ok:
        return float(_contains(*parsed) if both_json else wanted.strip() in text)
    return float(text == wanted or (both_json and parsed[0] == parsed[1]))


def check_line_number(result: Any, rules: MetricRules) -> float:
    """The file has `expected` lines with a time of day."""
    text = text_of(result)
    if text is None:
        return 0.0
    return float(
        sum(bool(_CLOCK.search(line)) for line in text.splitlines()) == int(rules["expected"])
    )


def check_list(result: Any, rules: MetricRules) -> float:
    """Every pattern of `expect` is found in some line, and none of `unexpect`."""
    text = text_of(result)
    if text is None:
        return 0.0
    lines = text.splitlines()
    hits = [
        [any(re.search(pattern, line) for line in lines) for pattern in rules.get(key, ())]
        for key in ("expect", "unexpect")
    ]
    return float(all(hits[0]) and not any(hits[1]))


def check_csv(result: Any, rules: MetricRules) -> float:
    """Every record of `expect` is a row of the table, and none of `unexpect`."""
    text = text_of(result)
    if text is None:
        return 0.0
    try:
        rows = list(csv.DictReader(io.StringIO(text)))
    except csv.Error:
        return 0.0
    return float(_rows_fit(rows, rules))


def check_json(result: Any, rules: MetricRules, *, is_yaml: bool = False) -> float:
    """The values at the given keys satisfy the rules of `expect`, and not those of `unexpect`."""
    if is_yaml:
        raise MetricUnsupported("check_json of YAML")
    data = json_of(result)
    if data is None:
        return 0.0
    expected = [_at(data, rule["key"]) for rule in rules.get("expect", ())]
    if any(isinstance(value, _NotJson) for value in expected):
        return 0.0
    fits = all(map(matches_rule, expected, rules.get("expect", ())))
    unexpected = any(
        not isinstance(value := _at(data, rule["key"]), _NotJson) and matches_rule(value, rule)
        for rule in rules.get("unexpect", ())
    )
    return float(fits and not unexpected)


def check_json_settings(result: Any, rules: MetricRules) -> float:
    """The JSON object has every key of `expected` with its value."""
    data = json_of(result)
    return float(isinstance(data, dict) and has_fields(rules["expected"], data))


def check_json_keybindings(result: Any, rules: MetricRules) -> float:
    """The JSON list, possibly after a comment line, has the entry `expected`."""
    text = text_of(result)
    if text is None:
        return 0.0
    for candidate in (text, text.partition("\n")[2]):
        data = _parsed(candidate)
        if isinstance(data, list):
            return float(rules["expected"] in data)
    return 0.0


def check_direct_json_object(result: Any, rules: MetricRules) -> float:
    """The result, an object or its text, has the values of `expected` under the same keys.

    With `expect_in_result`, a text must contain the expected one, and a list is a choice.
    """
    data = _parsed(result.strip().replace("'", '"')) if isinstance(result, str) else result
    if not isinstance(data, dict):
        return 0.0
    expected = rules["expected"]
    if rules.get("expect_in_result", False):
        return float(all(_within(value, data.get(key)) for key, value in expected.items()))
    if expected.get("ignore_list_order", False):
        return float(
            all(_sorted(value) == _sorted(data.get(key)) for key, value in expected.items())
        )
    return float(all(data.get(key) == value for key, value in expected.items()))


def compare_zip_files(result: Any, expected: Any) -> float:
    """The archives hold files of the same names and contents."""
    contents = [_unzipped(content_of(each)) for each in (result, expected)]
    if contents[0] is None or contents[1] is None:
        return 0.0
    if any(name.lower().endswith(".pdf") for name in contents[1]):
        raise MetricUnsupported("compare_zip_files of PDF files")
    return float(contents[0] == contents[1])


def run_sqlite3(result: Any, rules: MetricRules) -> float:
    """The first value of a query on the database file, as a number from 0 to 1."""
    content = content_of(result)
    if not content:
        return 0.0
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(content)
        connection.set_authorizer(_read_only)
        row = connection.execute(rules["sql"]).fetchone()
        return min(max(float(row[0] or 0), 0.0), 1.0) if row else 0.0
    except (sqlite3.Error, MemoryError, TypeError, ValueError):
        return 0.0
    finally:
        connection.close()


class _NotJson:
    """Stands for a text that is not JSON, or for a missing key."""


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NotJson()


def _at(data: Any, keys: Sequence[Any]) -> Any:
    for key in keys:
        try:
            data = data[key]
        except (KeyError, IndexError, TypeError):
            return _NotJson()
    return data


def _contains(actual: Any, expected: Any) -> bool:
    """Whether an object has all keys of another, at every depth; lists must be equal."""
    if isinstance(expected, dict):
        return isinstance(actual, dict) and all(
            key in actual and _contains(actual[key], value) for key, value in expected.items()
        )
    return bool(actual == expected)


def _within(expected: Any, actual: Any) -> bool:
    if isinstance(expected, list):
        return any(
            each in actual if isinstance(actual, list) else each == actual for each in expected
        )
    return isinstance(expected, str) and isinstance(actual, str) and expected in actual


def _sorted(value: Any) -> Any:
    return sorted(value, key=str) if isinstance(value, list) else value


def _rows_fit(rows: Sequence[Mapping[str, Any]], rules: MetricRules) -> bool:
    expected = all(any(has_fields(want, row) for row in rows) for want in rules.get("expect", ()))
    return expected and not any(
        has_fields(ban, row) for ban in rules.get("unexpect", ()) for row in rows
    )


def _code_lines(text: str) -> list[str]:
    lines = text.splitlines()
    top = 0
    while top < min(3, len(lines)) and lines[top].strip().startswith(_PREAMBLE):
        top += 1
    return [line.expandtabs(4).rstrip() for line in lines[top:] if line.strip()]


_LARGEST_ARCHIVE = 64 << 20


def _unzipped(content: bytes | None) -> dict[str, bytes] | None:
    if content is None:
        return None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(each.file_size for each in archive.infolist()) > _LARGEST_ARCHIVE:
                return None
            return {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError):
        return None


_READING = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION)


def _read_only(action: int, *_: str | None) -> int:
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY
