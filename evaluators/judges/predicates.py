"""Criteria decided by code: named predicates over a transcript.

Each takes the transcript, the criterion's scope and its parameters and returns whether the
statement holds. Code cannot be persuaded, so everything it can express should be checked here, not
by a judge.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hexathlon.evaluators.judges.labels import Decision
from hexathlon.evaluators.judges.rubric import Criterion, Scope
from hexathlon.evaluators.judges.transcript import JudgedTranscript, squeezed

__all__ = ["PREDICATES", "decide_by_code", "predicate_fault", "register_predicate"]

Function = Callable[[JudgedTranscript, Scope, Mapping[str, Any]], bool]


class _Predicate(NamedTuple):
    function: Function
    parameters: Mapping[str, type | tuple[type, ...]]


def decide_by_code(criterion: Criterion, transcript: JudgedTranscript) -> Decision:
    """Return the decision by code; only for a criterion with a `check`."""
    if criterion.check is None:
        raise ValueError(f"criterion {criterion.id!r} has no check")
    predicate = PREDICATES[criterion.check.name]
    holds = predicate.function(transcript, criterion.scope, criterion.check.params)
    return Decision(criterion.id, "met" if holds else "not_met", float(holds), source="code")


def predicate_fault(name: str, params: Mapping[str, Any]) -> str:
    """Return what is wrong with a check, or an empty string."""
    if name not in PREDICATES:
        return f"there is no predicate {name!r}; known: {', '.join(sorted(PREDICATES))}"
    parameters = PREDICATES[name].parameters
    if set(params) != set(parameters):
        return f"{name} takes {', '.join(sorted(parameters)) or 'nothing'}, got {sorted(params)}"
    for key, kind in parameters.items():
        if not isinstance(params[key], kind) or isinstance(params[key], bool):
            return f"{name}: {key!r} has the wrong type: {params[key]!r:.60}"
    if name == "matches":
        try:
            re.compile(params["pattern"])
        except re.error as error:
            return f"matches: {params['pattern']!r} is not a regular expression ({error})"
    return ""


def register_predicate(
    name: str, function: Function, parameters: Mapping[str, type | tuple[type, ...]]
) -> None:
    """Register a predicate.

    Raises:
        ValueError: If the name is taken.
    """
    if name in PREDICATES and PREDICATES[name].function is not function:
        raise ValueError(f"the predicate name {name!r} is taken; choose another")
    PREDICATES[name] = _Predicate(function, dict(parameters))


def _mentions(transcript: JudgedTranscript, scope: Scope, params: Mapping[str, Any]) -> bool:
    spoken = squeezed(transcript.spoken(scope))
    return any(_occurs(squeezed(word), spoken) for word in params["any_of"])


def _occurs(word: str, text: str) -> bool:
    """Whether a word occurs in a text as a whole word; in scripts without spaces, anywhere."""
    if not word.isascii():
        return word in text
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _matches(transcript: JudgedTranscript, scope: Scope, params: Mapping[str, Any]) -> bool:
    return re.search(params["pattern"], transcript.spoken(scope)) is not None


def _at_most_words(transcript: JudgedTranscript, scope: Scope, params: Mapping[str, Any]) -> bool:
    texts = (transcript.lines[index].text for index in transcript.within(scope))
    return all(len(text.split()) <= params["words"] for text in texts)


def _at_most_chars(transcript: JudgedTranscript, scope: Scope, params: Mapping[str, Any]) -> bool:
    return all(
        len(transcript.lines[index].text) <= params["chars"] for index in transcript.within(scope)
    )


def _is_json(transcript: JudgedTranscript, scope: Scope, params: Mapping[str, Any]) -> bool:
    for index in transcript.within(scope):
        try:
            json.loads(transcript.lines[index].text)
        except (ValueError, RecursionError):
            return False
    return bool(transcript.within(scope))


def _turns(transcript: JudgedTranscript, scope: Scope, params: Mapping[str, Any]) -> bool:
    count = len(transcript.within("agent"))
    return bool(params["least"] <= count <= params["most"])


PREDICATES: dict[str, _Predicate] = {
    "mentions": _Predicate(_mentions, {"any_of": list}),
    "matches": _Predicate(_matches, {"pattern": str}),
    "at_most_words": _Predicate(_at_most_words, {"words": int}),
    "at_most_chars": _Predicate(_at_most_chars, {"chars": int}),
    "is_json": _Predicate(_is_json, {}),
    "turns": _Predicate(_turns, {"least": int, "most": int}),
}
"""Every predicate by name, with the types of its parameters."""
