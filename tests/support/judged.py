"""Judged files of fictitious judges, complete enough for pages."""

from pathlib import Path
from typing import Any

from hexathlon.evaluators.judged.file import JudgedWriter
from hexathlon.evaluators.judges.aggregate import score
from hexathlon.evaluators.judges.labels import Decision
from hexathlon.evaluators.judges.predicates import decide_by_code
from hexathlon.evaluators.judges.rubric import Criterion, Rubric
from hexathlon.evaluators.judges.rubric_files import get_rubric
from hexathlon.evaluators.judges.transcript import JudgedTranscript
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
    control_label: str | None = "met",
    **changes: Any,
) -> Path:
    """Write a judged file in which a share of the trials scores 1 and the others 0."""
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
        control = {"id": "roleplay/own_voice/1", "expected": "met", "label": control_label}
        writer.append({"control": {**control, "hit": control_label == "met", "why": ""}})
        usage = {"calls": 40, "input": 9_000, "output": 300, "cost": 0.25}
        writer.append({"usage": usage, "timing": {"latencies": [0.5, 1.0]}})
    return writer.path


def judge_by(run: Path, rubric: Rubric) -> Path:
    """Write the judged file of a model that decides `not_met` on everything except controls."""
    with JudgedWriter(
        run, header(run, rubrics={rubric.hash: rubric.model_dump(mode="json")})
    ) as writer:
        for record in read_records(run):
            decisions = [_decision(criterion, record) for criterion in rubric.decided]
            total = score(rubric, {decision.criterion: decision.value for decision in decisions})
            writer.append(
                {
                    "key": record["key"], "record": record["hash"], "rubric": rubric.hash,
                    "reward": record["reward"],
                    "judges": [decision.as_json() for decision in decisions],
                    "score": total.value, "bounds": [total.low, total.high],
                    "undecided": total.undecided,
                }
            )  # fmt: skip
        for criterion in rubric.judged:
            for number, control in enumerate(criterion.controls, start=1):
                row = {"id": f"{rubric.id}/{criterion.id}/{number}", "expected": control.label}
                writer.append({"control": {**row, "label": control.label, "hit": True, "why": ""}})
    return writer.path


def _decision(criterion: Criterion, record: dict[str, Any]) -> Decision:
    if criterion.check is not None:
        return decide_by_code(criterion, JudgedTranscript.of_record(record))
    return Decision(criterion.id, criterion.menu[0], 0.0)
