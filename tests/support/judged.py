"""Judged files of fictitious judges, complete enough for pages."""

from pathlib import Path
from typing import Any

from hexathlon.evaluators.judged.file import JudgedWriter
from hexathlon.evaluators.judges.aggregate import score
from hexathlon.evaluators.judges.labels import Decision
from hexathlon.evaluators.judges.predicates import decide_by_code
from hexathlon.evaluators.judges.rubric import Criterion, Rubric
from hexathlon.evaluators.judges.rubric_files import get_rubric
from hexathlon.evaluators.judges.transcript import Transcript
from hexathlon.evaluators.records import read_records
from hexathlon.evaluators.records.plan import read_plan

RUBRIC = get_rubric("roleplay")


def header(run: Path, **changes: Any) -> dict[str, Any]:
    return {
        "plan_hash": read_plan(run)["plan_hash"], "kind": "pointwise",
        "judges": [{"model": "arbiter-9b"}], "audits": ["a" * 64], "audited": True,
        "rubrics": {RUBRIC.hash: RUBRIC.model_dump(mode="json")}, "experimental": [],
        "kinship": "different", **changes,
    }  # fmt: skip


def judge(
    run: Path,
    *,
    criterion: str = "own_voice",
    label: str = "met",
    share: float = 0.75,
    **changes: Any,
) -> Path:
    """Write a judged file: this share of the trials gets a 1, the others a 0."""
    records = list(read_records(run))
    with JudgedWriter(run, header(run, **changes)) as writer:
        for place, record in enumerate(records):
            value = float(place < share * len(records))
            decision = {"criterion": criterion, "label": label, "why": ""}
            writer.append(
                {
                    "key": record["key"], "record": record["hash"], "rubric": RUBRIC.hash,
                    "judges": [decision], "score": value, "bounds": [value, value],
                    "undecided": 0,
                }
            )  # fmt: skip
        control = {"id": "roleplay/own_voice/1", "expected": "met", "label": "met", "hit": True}
        writer.append({"control": {**control, "why": ""}})
        usage = {"calls": 40, "input": 9_000, "output": 300, "cost": 0.25}
        writer.append({"usage": usage, "timing": {"latencies": [0.5, 1.0]}})
    return writer.path


def judge_by(run: Path, rubric: Rubric) -> Path:
    """Write what a model that says `not_met` of everything, controls apart, would leave."""
    with JudgedWriter(
        run, header(run, rubrics={rubric.hash: rubric.model_dump(mode="json")})
    ) as writer:
        for record in read_records(run):
            decisions = [_decision(one, record) for one in rubric.decided]
            found = score(rubric, {one.criterion: one.value for one in decisions})
            writer.append(
                {
                    "key": record["key"], "record": record["hash"], "rubric": rubric.hash,
                    "reward": record["reward"], "judges": [one.as_json() for one in decisions],
                    "score": found.value, "bounds": [found.low, found.high],
                    "undecided": found.undecided,
                }
            )  # fmt: skip
        for one in rubric.judged:
            for number, control in enumerate(one.controls, start=1):
                row = {"id": f"{rubric.id}/{one.id}/{number}", "expected": control.label}
                writer.append({"control": {**row, "label": control.label, "hit": True, "why": ""}})
    return writer.path


def _decision(criterion: Criterion, record: dict[str, Any]) -> Decision:
    if criterion.check is not None:
        return decide_by_code(criterion, Transcript.of_record(record))
    return Decision(criterion.id, criterion.menu[0], 0.0)
