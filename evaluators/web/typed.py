"""Comparison of a typed answer with the published one, guided by its JSON schema.

In published data, a list where a single value is expected means alternatives. In an answer it never
does, and an answer is never read as a pattern; otherwise it could name every value at once.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.evaluators.web.kinds import KINDS, ValueType

__all__ = ["matches", "same_items"]

JsonSchema = Mapping[str, Any]


def matches(wanted: Any, given: Any, schema: JsonSchema, *, ordered: bool = False) -> bool:
    """Whether an answer agrees with the published value.

    Args:
        wanted: Published value.
        given: Value of the answer or of a recorded request.
        schema: JSON schema of the value; where it is silent, values are strings.
        ordered: Whether the order of lists matters.
    """
    if wanted is None or given is None:
        return wanted is None and given is None
    kind = schema.get("type")
    if kind == "array":
        items = [wanted] if not isinstance(wanted, list | tuple) else wanted
        return same_items(items, given, schema.get("items", {}), ordered=ordered)
    if kind == "object" or isinstance(wanted, Mapping) and schema.get("format") is None:
        return _same_object(wanted, given, schema, ordered=ordered)
    return _same_value(wanted, given, _kind(schema))


def same_items(
    wanted: Sequence[Any], given: Any, schema: JsonSchema, *, ordered: bool = False
) -> bool:
    """Whether two lists agree, item by item or as bags."""
    if isinstance(given, str):
        given = _parsed(given)
    if not isinstance(given, list | tuple):
        given = (given,)
    if len(wanted) != len(given):
        return False
    if ordered:
        return all(matches(a, b, schema, ordered=True) for a, b in zip(wanted, given, strict=True))
    left = list(given)
    for item in wanted:
        place = next((i for i, other in enumerate(left) if matches(item, other, schema)), None)
        if place is None:
            return False
        left.pop(place)
    return True


def _same_object(wanted: Any, given: Any, schema: JsonSchema, *, ordered: bool) -> bool:
    if isinstance(given, str):
        given = _parsed(given)
    if not isinstance(wanted, Mapping) or not isinstance(given, Mapping):
        return False
    properties = schema.get("properties", {})
    return wanted.keys() == given.keys() and all(
        matches(value, given[name], properties.get(name, {}), ordered=ordered)
        for name, value in wanted.items()
    )


def _same_value(wanted: Any, given: Any, kind: ValueType) -> bool:
    try:
        read = kind.read(given)
        if kind is KINDS["string"]:
            # In an answer, what looks like a pattern is plain text.
            read = kind.read(f" {given}") if isinstance(given, str) else read
    except (ValueError, TypeError, OverflowError):
        return False
    choices = wanted if isinstance(wanted, list | tuple) else (wanted,)
    return any(kind.same(kind.read(choice), read) for choice in choices)


def _kind(schema: JsonSchema) -> ValueType:
    name = schema.get("format") or schema.get("type") or "string"
    if name not in KINDS:
        raise ValueError(f"unknown type {name!r} in a published schema")
    return KINDS[name]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
