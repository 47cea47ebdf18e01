"""Contradictions between a judged file and the run it judges.

The checks cover everything that follows from the records, the rubric and the labels: which trials
were judged, decisions by code, planted controls, and scores. A model's labels, its audit and its
usage cannot be confirmed.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hexathlon.evaluators.judged.file import JudgedFile
from hexathlon.evaluators.judges.aggregate import score
from hexathlon.evaluators.judges.labels import ABSTAIN
from hexathlon.evaluators.judges.predicates import decide_by_code
from hexathlon.evaluators.judges.rubric import Criterion, Rubric, RubricError
from hexathlon.evaluators.judges.rubric_files import get_rubric
from hexathlon.evaluators.judges.transcript import JudgedTranscript
from hexathlon.evaluators.records.canonical import content_hash
from hexathlon.evaluators.records.consistency import Contradiction
from hexathlon.evaluators.records.plan import TrialKey
from hexathlon.evaluators.records.reader import read_records
from hexathlon.evaluators.records.trial import record_key
from hexathlon.tasks.validation import explain

__all__ = ["COMPARISONS", "DECIDING", "judged_contradictions", "unjudged_trials"]

DECIDING = ("pointwise", "turns", "first_error")
"""Kinds of judging that decide criteria."""

COMPARISONS = ("pairwise", "groupwise")
"""Kinds that compare the trials of a task."""


def judged_contradictions(judged: JudgedFile, run: Path) -> Iterator[Contradiction]:
    """Yield the contradictions between a judged file and its run, its rubrics or itself.

    Args:
        judged: The parsed file, with its hash chain verified.
        run: The directory of the run.

    Raises:
        RecordError: If the run's records cannot be read.
    """
    rubrics: dict[str, Rubric] = {}
    for digest, content in judged.header["rubrics"].items():
        fault = _rubric_fault(digest, content)
        if fault:
            yield Contradiction(f"header.rubrics.{digest[:8]}", fault)
        else:
            rubrics[digest] = Rubric.model_validate(content)
    yield from _header_faults(judged.header, list(rubrics.values()))
    yield from _control_faults(judged, list(rubrics.values()))
    lines: dict[TrialKey, list[tuple[int, Mapping[str, Any]]]] = {}
    for number, row in enumerate(judged.lines, start=2):
        if "key" in row:
            lines.setdefault(record_key(row), []).append((number, row))
    last = {record_key(record): record["hash"] for record in read_records(run)}
    for record in read_records(run):
        if last[record_key(record)] != record["hash"]:
            continue
        for number, line in lines.pop(record_key(record), []):
            for field, message in _line_faults(line, record, rubrics, judged.header):
                yield Contradiction(f"line {number}, {field}", message)
    for rest in lines.values():
        yield Contradiction(f"line {rest[0][0]}, key", "does not name a trial of the run")


def unjudged_trials(judged: JudgedFile, run: Path) -> int:
    """Return how many trials of the judged environments and task sets have no line in a file.

    Trials that ended in infrastructure failures are not judged and not counted.
    """
    found = {record_key(line) for line in judged.lines if "key" in line}
    sources = {_source(key) for key in found}
    played = {record_key(row) for row in read_records(run) if row["status"] != "infra"}
    return sum(_source(key) in sources for key in played - found)


def _source(key: TrialKey) -> tuple[str, str]:
    env, task, _, _ = key
    return env, task.partition("/")[0]


def _rubric_fault(digest: str, content: Any) -> str:
    try:
        rubric = Rubric.model_validate(content)
    except ValidationError as error:
        return f"is not a rubric: {explain(error, most=1)}"
    if rubric.hash != digest:
        return f"has the hash {rubric.hash}: its text was changed"
    try:
        known = get_rubric(rubric.id)
    except RubricError:
        return ""
    if known.version == rubric.version and known.hash != digest:
        return f"is not the registered rubric {rubric.id} v{rubric.version}"
    return ""


def _header_faults(header: Mapping[str, Any], rubrics: Sequence[Rubric]) -> Iterator[Contradiction]:
    kind, judges = header["kind"], header["judges"]
    if kind not in (*DECIDING, *COMPARISONS):
        yield Contradiction("header.kind", f"{kind!r:.80} is not a kind of judging")
    if kind in COMPARISONS and len(judges) != 1:
        yield Contradiction("header.judges", f"{kind} judging has one judge, found {len(judges)}")
    elif not judges and any(rubric.judged for rubric in rubrics):
        yield Contradiction("header.judges", "names none, but the rubric has criteria for judges")


def _control_faults(judged: JudgedFile, rubrics: Sequence[Rubric]) -> Iterator[Contradiction]:
    """Check the planted controls; runs without judges and comparisons have none."""
    planted = {
        f"{rubric.id}/{criterion.id}/{number}": control.label
        for rubric in rubrics
        for criterion in rubric.judged
        for number, control in enumerate(criterion.controls, start=1)
    }
    seen = set()
    for number, line in enumerate(judged.lines, start=2):
        if "control" not in line:
            continue
        row = line["control"]
        seen.add(row["id"])
        place = f"line {number}, control"
        if row["expected"] != planted.get(row["id"]):
            yield Contradiction(place, f"{row['id']} expects {planted.get(row['id'])!r}")
        elif row["hit"] is not (row["label"] == row["expected"]):
            yield Contradiction(place, f"{row['id']}: 'hit' does not follow from the labels")
    missing = sorted(planted.keys() - seen)
    if missing and judged.header["judges"] and judged.header["kind"] in DECIDING:
        yield Contradiction(
            "controls", f"{len(missing)} planted controls were not judged, first {missing[0]}"
        )


def _line_faults(
    line: Mapping[str, Any],
    record: Mapping[str, Any],
    rubrics: Mapping[str, Rubric],
    header: Mapping[str, Any],
) -> Iterator[tuple[str, str]]:
    if line["record"] != record["hash"]:
        yield "record", f"the trial's record is {record['hash']}"
    if line["reward"] != record["reward"]:
        yield "reward", f"the trial's reward is {record['reward']}, not {line['reward']}"
    rubric = rubrics.get(line["rubric"])
    if rubric is None:
        yield "rubric", "is not one of the header's rubrics"
    elif header["kind"] in DECIDING:
        yield from _decision_faults(line["judges"], rubric, record)
        yield from _score_faults(line, rubric)
    else:
        yield from _comparison_faults(line)


def _comparison_faults(line: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    value, bounds = line["score"], line["bounds"]
    if line["judges"]:
        yield "judges", "a comparison decides no criteria"
    if value is not None and not 0 <= value <= 1:
        yield "score", f"is {value}, expected a number from 0 to 1"
    if bounds != ([0.0, 1.0] if value is None else [value, value]):
        yield "bounds", f"the score is {value}, the bounds are {bounds}"


def _decision_faults(
    decisions: Sequence[Mapping[str, Any]], rubric: Rubric, record: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    names, expected = [one["criterion"] for one in decisions], [one.id for one in rubric.decided]
    if names != expected:
        yield "judges", f"decides {names}, the rubric has {expected}"
        return
    transcript = JudgedTranscript.of_record(record)
    for criterion, one in zip(rubric.decided, decisions, strict=True):
        place = f"judges.{criterion.id}"
        if criterion.check is not None:
            by_code = decide_by_code(criterion, transcript)
            if (one["label"], one["value"]) != (by_code.label, by_code.value):
                yield place, f"is {one['label']!r}, code decides {by_code.label!r}"
        elif one["value"] != _value(criterion, one):
            yield place, f"the label {one['label']!r} does not have the value {one['value']}"


def _value(criterion: Criterion, decision: Mapping[str, Any]) -> float | None:
    label = decision["label"]
    if decision.get("why") or label in (None, ABSTAIN) or label not in criterion.menu:
        return None
    return criterion.value_of(label)


def _score_faults(line: Mapping[str, Any], rubric: Rubric) -> Iterator[tuple[str, str]]:
    found = score(rubric, {one["criterion"]: one["value"] for one in line["judges"]})
    for name, value in (
        ("score", found.value),
        ("bounds", [found.low, found.high]),
        ("undecided", found.undecided),
    ):
        if content_hash(line[name]) != content_hash(value):
            yield name, f"is {line[name]}, the decisions give {value}"
