"""Pydantic's validation errors as plain sentences.

A sentence says which value is wrong, what was expected and what was received.
"""

import difflib
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import ValidationError

__all__ = ["choice_problem", "explain", "reason", "sentence"]

LocationText = Callable[[tuple[int | str, ...]], str]

_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "decimal": "a number",
    "bool": "true or false",
    "string": "a string",
    "list": "a list",
    "tuple": "a list",
    "set": "a list",
    "frozen_set": "a list",
    "dict": "a table",
    "model": "a table",
    "model_attributes": "a table",
    "dataclass": "a table",
    "mapping": "a table",
    "path": "a path",
}
"""Expected kind of value, by the prefix X of pydantic's error types `X_type` and `X_parsing`."""

_BOUNDS = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "more than"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "less than"),
    "multiple_of": ("multiple_of", "a multiple of"),
}
_LENGTHS = {
    "string_too_long": ("max_length", "at most", "characters"),
    "string_too_short": ("min_length", "at least", "characters"),
    "too_long": ("max_length", "at most", "entries"),
    "too_short": ("min_length", "at least", "entries"),
}


def explain(
    error: ValidationError,
    known: Iterable[str] = (),
    place: LocationText = lambda location: ".".join(map(str, location)),
    most: int | None = None,
) -> str:
    """Return the faults as one line.

    Args:
        error: The exception that pydantic raised.
        known: Names that would have been accepted in place of an unknown one.
        place: Writes the location of a fault.
        most: Maximum number of faults; all by default.

    >>> from pydantic import TypeAdapter
    >>> try:
    ...     TypeAdapter(int).validate_python("many")
    ... except ValidationError as error:
    ...     explain(error, place=lambda location: "--tasks")
    "--tasks must be a whole number, got 'many'"
    """
    names = list(known)
    faults = error.errors(include_url=False)[:most]
    return "; ".join(dict.fromkeys(sentence(one, place(one["loc"]), names) for one in faults))


def sentence(fault: Mapping[str, Any], place: str, known: Iterable[str] = ()) -> str:
    """Return one fault of `ValidationError.errors()` as a sentence without its full stop."""
    kind, context, got = fault["type"], fault.get("ctx", {}), f"got {fault['input']!r:.80}"
    name = place or "the value"
    if kind == "value_error":  # our own sentence, which states what was received
        return f"{place}: {context['error']}" if place else str(context["error"])
    if kind in ("missing", "missing_argument"):
        return f"{name} is missing"
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        owner, _, last = name.rpartition(".")
        start = f"{owner} has no setting" if owner else "there is no setting"
        return f"{start} {last!r}{_hint(last, known)}".removesuffix(".")
    if kind in ("literal_error", "enum"):
        return _choice(name, str(fault["input"]), str(context["expected"]))
    if kind == "finite_number":
        return f"{name} must be a finite number, {got}"
    if kind in _BOUNDS:
        bound, words = _BOUNDS[kind]
        return f"{name} must be {words} {context[bound]:g}, {got}"
    if kind in _LENGTHS:
        bound, words, unit = _LENGTHS[kind]
        unit = unit if context[bound] != 1 else {"entries": "entry"}.get(unit, unit[:-1])
        return f"{name} must have {words} {context[bound]} {unit}, {got}"
    if kind == "string_pattern_mismatch":
        return f"{name} must match {context['pattern']}, {got}"
    wanted = _KINDS.get(re.sub("_(type|parsing|parsing_size|from_float)$", "", kind))
    if wanted:
        return f"{name} must be {wanted}, {got}"
    return f"{name}: {fault['msg'][:1].lower()}{fault['msg'][1:]}, {got}"


def choice_problem(kind: str, value: object, known: Iterable[str]) -> str:
    """Return why a value is none of the known names; empty if it is one.

    >>> choice_problem("split", "tets", ["train", "dev", "test"])
    "there is no split 'tets'; did you mean 'test'? Known: train, dev, test"
    """
    names = list(known)
    if isinstance(value, str):
        return "" if value in names else _unknown(kind, value, names)
    return f"{kind} must be one of {', '.join(names)}, got {value!r:.80}"


def reason(error: Exception) -> str:
    """Return why a file could not be read or written, without numbers and class names.

    >>> reason(FileNotFoundError(2, "No such file or directory", "x"))
    'no such file or directory'
    >>> reason(UnicodeDecodeError("utf-8", b"x", 0, 1, "invalid start byte"))
    'it is not UTF-8 text'
    """
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[:1].lower() + error.strerror[1:]
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    if isinstance(error, json.JSONDecodeError):
        return f"it is not JSON: {error.msg}, line {error.lineno}, column {error.colno}"
    if isinstance(error, RecursionError):
        return "it is not JSON or TOML of a sensible depth"
    if isinstance(error, tomllib.TOMLDecodeError):
        return f"it is not TOML: {error}"
    return str(error)


def _choice(name: str, got: str, expected: str) -> str:
    return _unknown(name, got, re.findall(r"'([^']*)'", expected) or [expected])


def _unknown(kind: str, name: str, known: Iterable[str]) -> str:
    names = list(known)
    return f"there is no {kind} {name!r}{_hint(name, names)} Known: {', '.join(names)}"


def _hint(name: str, known: Iterable[str]) -> str:
    names = list(known)
    folded = {one.casefold(): one for one in names}
    near = difflib.get_close_matches(name.casefold(), folded, n=1)
    return f"; did you mean {folded[near[0]]!r}?" if near else "." if names else ""
