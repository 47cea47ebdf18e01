"""Judged files of fictitious judges, complete enough for pages."""

from pathlib import Path
from typing import Any

from hexathlon.evaluators.judged.file import JudgedWriter
from hexathlon.evaluators.judges.rubric_files import get_rubric
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
