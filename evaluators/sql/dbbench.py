"""DBBench's rule: answers compared after a loose normalisation, writes by short row hashes.

Known flaws, kept for comparison: an empty answer, `none`, `nan` and `0` are all the same; floats
agree within 0.01; a row's hash has 20 bits, and only the first 1,024 characters of a table's hashes
count. The original evaluates the answer's text as Python; here a list is parsed explicitly.
"""

import ast
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hexathlon.evaluators.sql.images import image_rows
from hexathlon.evaluators.sql.runs import GraderFault
from hexathlon.evaluators.sql.strict import unscored, wrong
from hexathlon.evaluators.sql.writes import after_statements
from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.sql.world.backends.base import StoredRow, StoredValue
from hexathlon.tasks.sql.world.database import database_bytes
from hexathlon.tasks.task import Task

__all__ = [
    "answers_agree",
    "dbbench",
    "is_empty",
    "normalised",
    "table_hash",
    "tables_hash",
]

_NOTHING = frozenset(
    ("none", "null", "undefined", "nan", "inf", "infinity", "-inf", "-infinity", "")
)
_TOLERANCE = 0.01
_GROUP_CONCAT_LIMIT = 1_024
"""Characters that MySQL's GROUP_CONCAT keeps by default."""


def dbbench(
    task: Task,
    params: Mapping[str, Any],
    final_state: Mapping[str, Any],
    transcript: Sequence[Mapping[str, Any]],
) -> Verdict:
    """Score by DBBench's rule.

    Params: `label` (list of values) for questions; for writes `hash` (the published one) or, if
    there is none, `statements`.
    """
    if "label" in params:
        terms = {"empty_gold": 1.0} if is_empty(params["label"]) else {}
        if final_state.get("kind") != "answer":
            verdict = wrong("no_answer")
            return verdict.model_copy(update={"terms": {**verdict.terms, **terms}})
        agree = answers_agree(final_state.get("answer"), params["label"])
        return Verdict(score=float(agree), terms=terms)
    if final_state.get("kind") != "database":
        return wrong("not_handed_in")
    try:
        expected = params.get("hash") or _hash_after(task, params["statements"])
    except GraderFault as fault:
        return unscored(fault)
    return Verdict(score=float(final_state.get("row_hash") == expected))


def answers_agree(answer: Any, label: Any) -> bool:
    """Whether an answer matches the label."""
    actual, expected = normalised(answer), normalised(label)
    numbers_got, numbers_expected = list(map(_number, actual)), list(map(_number, expected))
    if None in numbers_got or None in numbers_expected:
        return (
            actual == expected
            if len(actual) == len(expected) == 1
            else set(actual) == set(expected)
        )
    if len(actual) != len(expected):
        return False
    unmatched = [number for number in numbers_expected if number is not None]
    for number in numbers_got:
        near = next((n for n in unmatched if number is not None and _near(number, n)), None)
        if near is None:
            return False
        unmatched.remove(near)
    return True


def is_empty(label: Sequence[Any]) -> bool:
    """Whether an expected answer has no value: nothing, or only blanks and words for nothing."""
    return all(
        item is None or str(item).strip().strip("'\"").strip().lower() in _NOTHING
        for item in map(_only, label)
    )


def normalised(answer: Any) -> list[str]:
    """Return an answer as a list of cleaned texts."""
    if answer is None:
        return ["0"]
    if isinstance(answer, str):
        text = answer.strip()
        if text.startswith("[") and text.endswith("]"):
            return [_cleaned(part) for part in _parts(text[1:-1])]
        return [_cleaned(text)]
    if isinstance(answer, Sequence):
        return [_cleaned(_only(item)) for item in answer]
    return [_cleaned(answer)]


def table_hash(rows: Iterable[StoredRow]) -> str:
    """Return the MD5 over the sorted five-digit MD5 prefixes of the rows; NULLs are skipped."""
    digests = sorted(
        _md5(",".join(_as_mysql_text(cell) for cell in row if cell is not None))[:5] for row in rows
    )
    return _md5(",".join(digests)[:_GROUP_CONCAT_LIMIT])


def tables_hash(tables: Mapping[str, Iterable[StoredRow]]) -> str:
    """Return the tables' hashes, sorted and joined."""
    return "_".join(sorted(table_hash(rows) for rows in tables.values()))


def _hash_after(task: Task, statements: Sequence[str]) -> str:
    return tables_hash(image_rows(after_statements(database_bytes(task.params), statements)))


def _parts(text: str) -> list[str]:
    """Split a list's text at commas outside quotes and brackets."""
    parts, current, quote, depth = [], "", "", 0
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0) if not quote else 0
        if character == "," and not quote and depth <= 0:
            parts.append(current)
            current = ""
        else:
            current += character
    parts.append(current)
    cleaned = [part.strip() for part in parts]
    return [_unescaped(_untupled(part)) for part in cleaned if part]


def _unescaped(text: str) -> str:
    r"""Return a quoted text with its escapes resolved, such as `\u00e9`, as the original does."""
    if "\\" not in text or text[:1] not in ("'", '"') or text[-1:] != text[:1]:
        return text
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, str) else text


def _untupled(text: str) -> str:
    """Return `('x',)` as `'x'`."""
    inner = text[1:-1].strip() if text.startswith("(") and text.endswith(")") else text
    return inner.removesuffix(",").strip() if inner is not text else text


def _only(item: Any) -> Any:
    return item[0] if isinstance(item, (tuple, list)) and len(item) == 1 else item


def _cleaned(value: Any) -> str:
    text = "none" if value is None else str(value).strip().strip("'\"").strip()
    if text.endswith("%"):
        return text[:-1].strip()
    if "," in text and not text.startswith("[") and not text.endswith("]"):
        text = text.replace(",", "")
    return "0" if text.lower() in _NOTHING else text


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _near(left: float, right: float) -> bool:
    return abs(left - right) <= _TOLERANCE


def _as_mysql_text(value: StoredValue) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
