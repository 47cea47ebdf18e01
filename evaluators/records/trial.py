"""The record of one trial: its fields, their shape, and its hash.

Reading and writing files of records is left to `hexathlon.evaluators.records.reader` and
`hexathlon.evaluators.records`; the meaning of scores to `hexathlon.evaluators.summary`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NotRequired, TypedDict

from hexathlon.evaluators.content import MAX_ANSWER_PARTS, MAX_PIXELS, ContentError, check_file
from hexathlon.evaluators.records.canonical import canonical_json, encode_text, sha256_hex
from hexathlon.evaluators.records.plan import TrialKey

RECORD_SCHEMA = "hexathlon.trial/1"
UNHASHED = ("timing", "hash")
"""Fields of a record outside its hash: clocks differ between two otherwise equal runs."""

TrialStatus = Literal["scored", "unscored", "infra"]
JsonContent = str | list[dict[str, Any]]
"""Text, or JSON parts that name their bytes by hash; see `hexathlon.evaluators.content`."""


class KeyFields(TypedDict):
    """Identity of a trial."""

    env: str
    task: str
    seed: int
    trial: int


class Earlier(TypedDict):
    """An earlier attempt at the same trial that failed in infrastructure."""

    attempt: int
    cause: str
    message: str


class Step(TypedDict):
    """One action and the observation that followed it."""

    index: int
    action: str
    observation: JsonContent
    reward: float
    status: str


class TrialRecord(TypedDict):
    """Complete record of one trial: key, outcome, trajectory, final state, timing.

    ``prev`` and ``hash`` are set by the writer.
    """

    schema: str
    key: KeyFields
    attempt: int
    earlier: list[Earlier]
    task_hash: str
    template: str
    level: str
    split: str
    stop: str
    status: TrialStatus
    cause: str | None
    error: str | None
    reward: float | None
    partial: float | None
    terms: dict[str, float]
    evidence: dict[str, Any]
    checks: list[dict[str, Any]]
    judges: list[dict[str, Any]]
    usage: dict[str, dict[str, Any]]
    turns: int
    tool_errors: int
    cut_chars: int
    sandbox: str
    flags: list[str]
    system_prompt_hash: str
    opening: JsonContent
    steps: list[Step]
    final_state: dict[str, Any]
    final_state_hash: str
    env_version: str
    timing: dict[str, Any]
    failed_action: NotRequired[str]
    """For an infrastructure failure: the action that the environment failed to carry out."""
    prev: NotRequired[str]
    hash: NotRequired[str]


class RecordError(Exception):
    """A trial record, or a file of them, is invalid."""


def record_key(record: Mapping[str, Any]) -> TrialKey:
    """Return (environment, task, seed, trial) of a record."""
    key = record["key"]
    return (key["env"], key["task"], key["seed"], key["trial"])


def record_hash(record: Mapping[str, Any]) -> str:
    """Return the hash of a record: everything in it but ``timing`` and ``hash``."""
    return sha256_hex(encode_text(hashed_text(record)))


def hashed_text(record: Mapping[str, Any]) -> str:
    """Return the canonical JSON of a record's hashed part."""
    return canonical_json({name: item for name, item in record.items() if name not in UNHASHED})


_MISSING = object()


class _Shape:
    """Types of a JSON object's required fields.

    Combinations of types that were found valid are remembered: most objects have one of a few.
    """

    def __init__(self, fields: Mapping[str, type | tuple[type, ...]]) -> None:
        self.fields = fields
        self._values = operator.itemgetter(*fields)
        self._valid: set[tuple[type, ...]] = set()

    def fits(self, holder: Any) -> bool:
        """Whether an object's types are a combination that was found valid; False if unknown."""
        try:
            return type(holder) is dict and tuple(map(type, self._values(holder))) in self._valid
        except KeyError:
            return False

    def fault(self, holder: dict[str, Any], prefix: str) -> tuple[str, str] | None:
        """Return (field, what is wrong with it) of the first field without its type, or None."""
        try:
            found = tuple(map(type, self._values(holder)))
        except KeyError:
            return self._first_fault(holder, prefix)
        if found in self._valid:
            return None
        fault = self._first_fault(holder, prefix)
        if fault is None:
            self._valid.add(found)
        return fault

    def _first_fault(self, holder: dict[str, Any], prefix: str) -> tuple[str, str] | None:
        for name, kind in self.fields.items():
            value = holder.get(name, _MISSING)
            if value is _MISSING:
                return prefix + name, "is missing"
            kinds = (kind,) if isinstance(kind, type) else kind
            if not isinstance(value, kinds) or (type(value) is bool and bool not in kinds):
                expected = " or ".join(each.__name__ for each in kinds)
                return prefix + name, f"expected {expected}, found {type(value).__name__}"
        return None


_STATUSES = ("scored", "unscored", "infra")
_NUMBER = (int, float)
_OPTIONAL_TEXT = (str, type(None))
_CONTENT = (str, list)
_OPTIONAL_NUMBER = (int, float, type(None))
_RECORD = _Shape(
    {
        "schema": str,
        "key": dict,
        "attempt": int,
        "earlier": list,
        "task_hash": str,
        "template": str,
        "level": str,
        "split": str,
        "stop": str,
        "status": str,
        "cause": _OPTIONAL_TEXT,
        "error": _OPTIONAL_TEXT,
        "reward": _OPTIONAL_NUMBER,
        "partial": _OPTIONAL_NUMBER,
        "terms": dict,
        "evidence": dict,
        "checks": list,
        "judges": list,
        "usage": dict,
        "turns": int,
        "tool_errors": int,
        "cut_chars": int,
        "sandbox": str,
        "flags": list,
        "system_prompt_hash": str,
        "opening": _CONTENT,
        "steps": list,
        "final_state": dict,
        "final_state_hash": str,
        "env_version": str,
        "timing": dict,
    }
)
_KEY = _Shape({"env": str, "task": str, "seed": int, "trial": int})
_STEP = _Shape(
    {
        "index": int,
        "action": str,
        "observation": _CONTENT,
        "reward": _NUMBER,
        "status": str,
    }
)


def record_fault(record: Any) -> tuple[str, str] | None:
    """Return (field, what is wrong with it) of the first malformed field, or None.

    Cheap: checks the shape, not hashes. Unknown fields are allowed, so that today's reader can read
        tomorrow's records.
    """
    if not isinstance(record, dict):
        return "record", f"expected an object, found {type(record).__name__}"
    if record.get("schema") != RECORD_SCHEMA:
        return "schema", f"expected {RECORD_SCHEMA!r}, found {record.get('schema')!r}"
    return (
        _RECORD.fault(record, "")
        or _KEY.fault(record["key"], "key.")
        or _outcome_fault(record)
        or _content_fault(record["opening"], "opening")
        or _steps_fault(record["steps"])
        or _details_fault(record)
    )


def _outcome_fault(record: dict[str, Any]) -> tuple[str, str] | None:
    status, reward = record["status"], record["reward"]
    if status not in _STATUSES:
        return "status", f"expected one of {', '.join(_STATUSES)}, found {status!r}"
    if status == "scored" and (reward is None or not 0.0 <= reward <= 1.0):
        return "reward", f"a scored trial has a reward from 0 to 1, found {reward!r}"
    if status != "scored" and reward is not None:
        return "reward", f"{status} trial has no reward, found {reward!r}"
    if status == "infra" and not record["cause"]:
        return "cause", "an infrastructure failure must have a cause"
    if record["attempt"] < 1:
        return "attempt", f"counts from 1, found {record['attempt']}"
    return None


def _steps_fault(steps: list[Any]) -> tuple[str, str] | None:
    for index, step in enumerate(steps):
        if _STEP.fits(step) and type(step["observation"]) is str and step["index"] == index:
            continue
        if not isinstance(step, dict):
            return f"steps[{index}]", f"expected an object, found {type(step).__name__}"
        fault = _STEP.fault(step, f"steps[{index}].")
        if fault is not None:
            return fault
        fault = _content_fault(step["observation"], f"steps[{index}].observation")
        if fault is not None:
            return fault
        if step["index"] != index:
            return f"steps[{index}].index", f"expected {index}, found {step['index']}"
    return None


_PARTS = {
    "text": _Shape({"type": str, "text": str}),
    "image": _Shape({"type": str, "sha256": str, "width": int, "height": int}),
    "file": _Shape({"type": str, "sha256": str, "name": str, "media_type": str, "size": int}),
}
_HASH = re.compile(r"[0-9a-f]{64}")


def _content_fault(content: str | list[Any], place: str) -> tuple[str, str] | None:
    if isinstance(content, str):
        return None
    if not 0 < len(content) <= MAX_ANSWER_PARTS:
        return place, f"expected 1 to {MAX_ANSWER_PARTS} parts, found {len(content)}"
    for index, part in enumerate(content):
        fault = _part_fault(part, f"{place}[{index}]")
        if fault is not None:
            return fault
    return None


def _part_fault(part: Any, place: str) -> tuple[str, str] | None:
    if not isinstance(part, dict) or not isinstance(part.get("type"), str):
        return place, "expected an object with a type"
    shape = _PARTS.get(part["type"])
    if shape is None:
        kinds = ", ".join(_PARTS)
        return f"{place}.type", f"expected one of {kinds}, found {part['type']!r:.80}"
    fault = shape.fault(part, f"{place}.")
    if fault is not None:
        return fault
    extra = sorted(part.keys() - shape.fields.keys())
    if extra:
        return place, f"a part of type {part['type']} has no field {extra[0]!r:.80}"
    if "sha256" in part and not _HASH.fullmatch(part["sha256"]):
        return f"{place}.sha256", "expected 64 hexadecimal digits"
    if part["type"] == "image":
        width, height = part["width"], part["height"]
        if width < 1 or height < 1 or width * height > MAX_PIXELS:
            return place, f"an image has 1 to {MAX_PIXELS:,} pixels, found {width} x {height}"
    if part["type"] == "file":
        try:
            check_file(part["name"], part["media_type"], part["size"])
        except ContentError as error:
            return place, str(error)
    return None


_USAGE = ("input", "output", "calls", "cost")


def _details_fault(record: dict[str, Any]) -> tuple[str, str] | None:
    """Check the fields that summaries add up, so that a foreign record cannot break them."""
    for name in ("earlier", "checks", "judges"):
        for item in record[name]:
            if type(item) is not dict:
                return name, "expected a list of objects"
    for flag in record["flags"]:
        if type(flag) is not str:
            return "flags", "expected a list of texts"
    if not _are_numbers(record["terms"].values()):
        return "terms", "expected numbers"
    for role, usage in record["usage"].items():
        if not isinstance(usage, dict):
            return f"usage.{role}", "expected an object"
        for name in _USAGE:
            value = usage.get(name)
            if value is not None and not (type(value) in _NUMBER and 0 <= value < 1e300):
                return f"usage.{role}.{name}", f"expected a number from 0, found {value!r}"
    return _timing_fault(record["timing"])


def _timing_fault(timing: dict[str, Any]) -> tuple[str, str] | None:
    latencies = timing.get("latencies", [])
    if not isinstance(latencies, list) or not _are_numbers(latencies):
        return "timing.latencies", "expected a list of numbers"
    for name in ("reset", "agent", "env", "grade"):
        value = timing.get(name)
        if value is not None and not _are_numbers((value,)):
            return f"timing.{name}", f"expected a number, found {value!r}"
    return None


def _are_numbers(values: Iterable[Any]) -> bool:
    for value in values:  # a loop: `all` costs more than the few comparisons
        if type(value) not in _NUMBER or not -1e300 < value < 1e300:
            return False
    return True
