"""Search with operators and words.

The operators are `from:`, `to:`, `subject:`, `filename:`, `before:`, `after:`, `has:attachment`,
`label:`, `in:` and `is:starred`; a leading `-` negates.
"""

import re
from typing import Any

__all__ = ["parse_query"]

_TOKEN = re.compile(r'(-?)(?:(\w+):)?(?:"([^"]*)"|(\S+))')
_MAX_TERMS = 40
"""Maximum number of search terms; further ones are ignored."""

_LIKE = {
    "from": "(m.sender LIKE ? OR m.sender_name LIKE ?)",
    "to": "(m.recipients LIKE ? OR m.cc LIKE ?)",
    "subject": "m.subject LIKE ?",
    "filename": "m.files LIKE ?",
}
_WORD = "(m.subject LIKE ? OR m.body LIKE ? OR m.sender_name LIKE ? OR m.files LIKE ?)"


def parse_query(text: str) -> tuple[str, list[Any]]:
    """Return the SQL condition of a query and its values; messages have the alias `m`.

    Without `in:`, spam and trash are left out; `in:anywhere` includes them.
    """
    conditions: list[str] = []
    values: list[Any] = []
    folders_given = False
    for minus, operator, quoted, plain in _TOKEN.findall(text)[:_MAX_TERMS]:
        value = quoted or plain
        condition, own = _condition(operator.lower(), value)
        folders_given |= operator.lower() == "in"
        conditions.append(f"NOT {condition}" if minus else condition)
        values += own
    if not folders_given:
        conditions.append("m.folder NOT IN ('spam', 'trash')")
    return " AND ".join(conditions), values


def _condition(operator: str, value: str) -> tuple[str, list[Any]]:
    if operator in _LIKE:
        condition = _LIKE[operator]
        return condition, [f"%{value}%"] * condition.count("?")
    if operator in ("before", "after") and re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        return ("date(m.sent) < ?" if operator == "before" else "date(m.sent) > ?"), [value]
    if operator == "has" and value.startswith("attachment"):
        return "m.files != ''", []
    if operator == "is" and value == "starred":
        return "m.starred = 1", []
    if operator == "in" and value.lower() == "anywhere":
        return "1", []
    if operator == "in":
        return "lower(m.folder) = lower(?)", [value]
    if operator == "label":
        own = "EXISTS (SELECT 1 FROM tagged g WHERE g.message = m.id AND lower(g.label) = lower(?))"
        return own, [value]
    word = f"{operator}:{value}" if operator else value
    return _WORD, [f"%{word}%"] * 4
