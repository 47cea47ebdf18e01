"""Strict parsing of judges' replies: anything but an exact answer is a fault, never a number.

An answer is one JSON object. It may be inside a fence or after lines of prose, and it may be
repeated verbatim. A second, different object, a duplicate key, a label that was not offered or a
quote that is not in the transcript invalidates the whole reply.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hexathlon.evaluators.judges.labels import ABSTAIN, Why
from hexathlon.evaluators.judges.rubric import Criterion
from hexathlon.evaluators.judges.transcript import JudgedTranscript

__all__ = [
    "FirstError",
    "GroupVerdict",
    "PairVerdict",
    "PointVerdict",
    "ReplyFault",
    "first_error_of",
    "group_of",
    "pair_of",
    "point_of",
    "read_criteria",
    "read_first_error",
    "read_group",
    "read_object",
    "read_pair",
    "read_point",
]

_LONGEST = 200_000
_THINKING = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"\A```[a-zA-Z]*\s*\n(.*)\n\s*```\Z", re.DOTALL)
_REFUSAL = re.compile(
    r"\b(?:I(?:'m| am)? (?:sorry|unable|not able)|I (?:cannot|can't|can not|won't|will not)\b|"
    r"as an AI\b)|我(?:无法|不能|很抱歉)|抱歉",
    re.IGNORECASE,
)


class ReplyFault(ValueError):
    """A reply without a valid answer."""

    def __init__(self, why: Why, message: str) -> None:
        super().__init__(message)
        self.why = why


class PointVerdict(NamedTuple):
    """One label with its evidence."""

    label: str
    quote: str
    turn: int | None


class PairVerdict(NamedTuple):
    """The better of two: `first`, `second`, `tie` or `cannot_tell`."""

    label: str
    quote: str


class GroupVerdict(NamedTuple):
    """Values of a group's members, in the order shown; 0 to 1."""

    values: tuple[float, ...]
    quotes: tuple[str, ...]


class FirstError(NamedTuple):
    """Whether and where a trajectory first went wrong."""

    label: str
    turn: int | None
    quote: str


def read_object(text: str, key: str) -> dict[str, Any]:
    """Return the answer of a reply: its only JSON object with this key.

    Raises:
        ReplyFault: If there is none, one is malformed, or two disagree.
    """
    if len(text) > _LONGEST:
        raise ReplyFault("malformed", f"the reply has {len(text)} characters")
    bare = _THINKING.sub("", text, count=1).strip()
    fenced = _FENCED.match(bare)
    bare = fenced.group(1).strip() if fenced else bare
    objects = _objects(bare)
    if not objects and _REFUSAL.search(bare[:300]):
        raise ReplyFault("refused", "the judge refused")
    answers = [value for value in objects if key in value]
    if not answers:
        raise ReplyFault("malformed", f"no JSON object with {key!r}: {bare[:80]!r}")
    if any(answer != answers[-1] for answer in answers):
        raise ReplyFault("contradiction", "the reply has two different answers")
    return answers[-1]


def read_point(text: str, criterion: Criterion, transcript: JudgedTranscript) -> PointVerdict:
    """Read a verdict on one criterion.

    Raises:
        ReplyFault: If the reply is not such a verdict.
    """
    return point_of(read_object(text, "label"), criterion, transcript)


def point_of(
    data: Mapping[str, Any], criterion: Criterion, transcript: JudgedTranscript
) -> PointVerdict:
    """Read a verdict from its object, as `read_point`."""
    label = _label(data, (*criterion.menu, ABSTAIN))
    quote = _text(data, "evidence")
    if label == ABSTAIN:
        return PointVerdict(label, "", None)
    turn = transcript.find(quote, criterion.scope)
    if turn is None:
        raise ReplyFault("no_evidence", f"the quote is not in the expected text: {quote[:80]!r}")
    return PointVerdict(label, quote, turn)


def read_pair(text: str, first: JudgedTranscript, second: JudgedTranscript) -> PairVerdict:
    """Read a verdict on two transcripts.

    Raises:
        ReplyFault: If the reply is not such a verdict.
    """
    return pair_of(read_object(text, "label"), first, second)


def pair_of(
    data: Mapping[str, Any], first: JudgedTranscript, second: JudgedTranscript
) -> PairVerdict:
    """Read a verdict from its object, as `read_pair`."""
    label = _label(data, ("first", "second", "tie", ABSTAIN))
    quote = _text(data, "evidence")
    if label == ABSTAIN:
        return PairVerdict(label, "")
    if first.find(quote, "agent") is None and second.find(quote, "agent") is None:
        raise ReplyFault("no_evidence", f"the quote is in neither text: {quote[:80]!r}")
    return PairVerdict(label, quote)


def read_group(text: str, group: Sequence[JudgedTranscript], letters: str) -> GroupVerdict:
    """Read a ranking (best first) or scores (0 to 10) of a whole group.

    A rank becomes 1 - rank/(n - 1), counted from 0; a score is divided by 10.

    Raises:
        ReplyFault: If the reply is neither, or omits a candidate.
    """
    return group_of(read_object(text, "evidence"), group, letters)


def group_of(
    data: Mapping[str, Any], group: Sequence[JudgedTranscript], letters: str
) -> GroupVerdict:
    """Read values from their object, as `read_group`."""
    names = list(letters[: len(group)])
    quotes = data.get("evidence")
    if not isinstance(quotes, dict) or sorted(quotes) != names:
        raise ReplyFault("malformed", f"expected evidence for each of {', '.join(names)}")
    for name, transcript in zip(names, group, strict=True):
        quote = quotes[name]
        if not isinstance(quote, str) or transcript.find(quote, "agent") is None:
            raise ReplyFault("no_evidence", f"the quote for {name} is not in its text")
    if ("ranking" in data) == ("scores" in data):
        raise ReplyFault("malformed", "expected either a ranking or scores")
    ranked = "ranking" in data
    values = _ranked(data["ranking"], names) if ranked else _scored(data["scores"], names)
    return GroupVerdict(values, tuple(quotes[name] for name in names))


def read_first_error(text: str, transcript: JudgedTranscript) -> FirstError:
    """Read where a trajectory first went wrong.

    Raises:
        ReplyFault: If it is not stated, or names a turn that is not the agent's.
    """
    return first_error_of(read_object(text, "label"), transcript)


def first_error_of(data: Mapping[str, Any], transcript: JudgedTranscript) -> FirstError:
    """Read a first error from its object, as `read_first_error`."""
    label = _label(data, ("error", "no_error", ABSTAIN))
    quote, turn = _text(data, "evidence"), data.get("turn")
    if label == ABSTAIN:
        return FirstError(label, None, "")
    quoted_turn = transcript.find(quote, "agent")
    if quoted_turn is None:
        raise ReplyFault(
            "no_evidence", f"the quote is not in any turn of the agent: {quote[:80]!r}"
        )
    if label == "no_error":
        if turn is not None:
            raise ReplyFault("contradiction", f"no error, but a turn is named: {turn!r:.40}")
        return FirstError(label, None, quote)
    if type(turn) is not int or turn not in transcript.within("agent"):
        raise ReplyFault("malformed", f"{turn!r:.40} is not a turn of the agent")
    if JudgedTranscript((transcript.lines[turn],)).find(quote, "agent") is None:
        raise ReplyFault("no_evidence", f"the quote is not in turn {turn}")
    return FirstError(label, turn, quote)


def read_criteria(text: str, least: int, most: int) -> list[tuple[str, float]]:
    """Read criteria written by a judge: text and weight of each.

    Raises:
        ReplyFault: If they do not have the requested form.
    """
    rows = read_object(text, "criteria")["criteria"]
    if not isinstance(rows, list) or not least <= len(rows) <= most:
        raise ReplyFault("malformed", f"expected a list of {least} to {most} criteria")
    criteria = []
    for row in rows:
        if not isinstance(row, dict) or set(row) != {"text", "weight"}:
            raise ReplyFault("malformed", f"expected text and weight, got {row!r:.80}")
        weight = row["weight"]
        if not _is_number(weight) or not 0 < weight <= 10:
            raise ReplyFault("malformed", f"expected 0 < weight <= 10, got {weight!r:.40}")
        criteria.append((_text(row, "text").strip(), float(weight)))
    if len({name for name, _ in criteria}) < len(criteria):
        raise ReplyFault("malformed", "a criterion is repeated")
    return criteria


def _objects(text: str) -> list[dict[str, Any]]:
    """Return the JSON objects in a text, each at the start of a line.

    A brace that opens no valid JSON, a list around objects, or words on the line before or
    anywhere after an object invalidate the whole reply: 'not {"label": "met"}' is not a verdict.
    """
    objects: list[dict[str, Any]] = []
    at = text.find("{")
    while at >= 0:
        before = text[:at].rpartition("\n")[2].strip()
        if before or text.startswith("["):
            raise ReplyFault("malformed", f"words before the answer: {before[:40]!r}")
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise ReplyFault("malformed", f"broken JSON: {error}") from None
        objects.append(value)
        at = text.find("{", end)
        between = (text[end:] if at < 0 else text[end:at]).strip().strip("`").strip()
        if between:
            raise ReplyFault("malformed", f"words after the answer: {between[:40]!r}")
    return objects


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        raise ValueError("a key is repeated")
    return mapping


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not a number")


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_refuse)


def _label(data: Mapping[str, Any], menu: Sequence[str]) -> str:
    label = data.get("label")
    if not isinstance(label, str) or label not in menu:
        raise ReplyFault("off_menu", f"expected one of {', '.join(menu)}, got {label!r:.60}")
    return label


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    if not isinstance(value, str):
        raise ReplyFault("malformed", f"expected text for {key!r}, got {value!r:.60}")
    return value


def _ranked(ranking: Any, names: list[str]) -> tuple[float, ...]:
    if not isinstance(ranking, list) or not all(isinstance(name, str) for name in ranking):
        raise ReplyFault("malformed", "expected a list of letters")
    if sorted(ranking) != names:
        raise ReplyFault("malformed", f"expected each of {', '.join(names)} once")
    last = max(1, len(names) - 1)
    return tuple(1.0 - ranking.index(name) / last for name in names)


def _scored(scores: Any, names: list[str]) -> tuple[float, ...]:
    if not isinstance(scores, dict) or sorted(scores) != names:
        raise ReplyFault("malformed", f"expected a score for each of {', '.join(names)}")
    for value in scores.values():
        if not _is_number(value) or not 0 <= value <= 10:
            raise ReplyFault("off_menu", f"expected a score from 0 to 10, got {value!r:.40}")
    return tuple(float(scores[name]) / 10.0 for name in names)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)
