"""What is to be judged: the trials of a run, each with its rubric, and the header of the result."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.baselines.harness.errors import UsageError, near_miss
from hexathlon.baselines.harness.plan import open_row
from hexathlon.evaluators.judges.audit.document import Audit
from hexathlon.evaluators.judges.families import family_of, kinship
from hexathlon.evaluators.judges.rubric import Rubric, RubricError
from hexathlon.evaluators.judges.rubric_files import get_rubric
from hexathlon.evaluators.judges.transcript import JudgedTranscript
from hexathlon.evaluators.records import check_chain, read_content, record_key
from hexathlon.evaluators.records.plan import TrialKey, read_plan
from hexathlon.evaluators.records.reader import located_records, record_at
from hexathlon.tasks.errors import TaskError
from hexathlon.tasks.taskset import TaskSet

__all__ = ["KINDS", "JudgedTrial", "JudgingPlan", "trials_of"]

KINDS = ("pointwise", "pairwise", "groupwise")


@dataclass(frozen=True, slots=True)
class JudgingPlan:
    """What is judged, by whom."""

    run: Path
    rubric: Rubric | None
    """None takes each task's own."""

    kind: str = "pointwise"
    judges: Sequence[Mapping[str, Any]] = ()
    """Identities, as records hold them; none where code decides everything."""

    families: tuple[str, ...] = ()
    audits: Sequence[Audit | None] = ()
    """Each judge's audit, None for an unaudited judge."""

    permutations: int = 2
    salt: str | None = None


class JudgedTrial(NamedTuple):
    """Where a trial's record stands, and the rubric it is judged by."""

    run: Path
    start: int
    """The byte at which its line begins; the record is read anew when it is judged."""

    head: Mapping[str, Any]
    """The record's key, hash and reward."""

    rubric: Rubric

    @property
    def key(self) -> TrialKey:
        """The trial's key."""
        return record_key(self.head)

    def record(self) -> dict[str, Any]:
        """Read the record."""
        return record_at(self.run, self.start)

    def transcript(self, *, images: bool) -> JudgedTranscript:
        """Read the record as what a judge is shown, with or without its images."""
        load = partial(read_content, self.run) if images else None
        return JudgedTranscript.of_record(self.record(), load)


def trials_of(plan: JudgingPlan) -> tuple[dict[str, Any], list[JudgedTrial]]:
    """Return the header of the judged file, and the trials.

    Raises:
        UsageError: If the plan does not fit the run, or no rubric can be had.
        PlanError: If the run has no plan that reads.
        RecordError: If a record does not read.
    """
    if plan.kind not in KINDS:
        raise UsageError(near_miss("kind of judge", plan.kind, KINDS))
    if plan.kind != "pointwise" and len(plan.judges) != 1:
        raise UsageError(f"judging {plan.kind} needs one model: --model")
    stored = read_plan(plan.run)
    faults = check_chain(plan.run, stored["plan_hash"])
    if faults:
        raise UsageError(f"{plan.run}: {faults[0]}; a run whose chain is broken is not judged")
    rubric_of = _rubrics(plan, stored)
    found: dict[TrialKey, JudgedTrial] = {}
    for start, record in located_records(plan.run):
        rubric = None if record["status"] == "infra" else rubric_of(record)
        if rubric is not None:
            head = {name: record[name] for name in ("key", "hash", "reward")}
            found[record_key(record)] = JudgedTrial(plan.run, start, head, rubric)
    trials = list(found.values())
    if not plan.judges and any(trial.rubric.judged for trial in trials):
        raise UsageError("the rubric has criteria that no code decides: give a judge by --model")
    if not trials:
        raise UsageError(
            f"no trial of {plan.run} can be judged: its tasks name none; give one by --rubric"
        )
    return _header(plan, stored, trials), trials


def _header(
    plan: JudgingPlan, stored: Mapping[str, Any], trials: Sequence[JudgedTrial]
) -> dict[str, Any]:
    model = stored["model"]
    own = () if model["kind"] == "agent" else family_of(str(model["name"]))
    kin = "different" if model["kind"] == "agent" else kinship(plan.families, own)
    rubrics = {trial.rubric.hash: trial.rubric for trial in trials}
    return {
        "run_id": stored["run_id"],
        "plan_hash": stored["plan_hash"],
        "kind": plan.kind,
        "judges": [dict(one) for one in plan.judges],
        "rubrics": {name: one.model_dump(mode="json") for name, one in sorted(rubrics.items())},
        "audits": [None if one is None else one.hash for one in plan.audits],
        "audited": bool(plan.audits) and all(one is not None for one in plan.audits),
        "experimental": _experimental(plan.audits, list(rubrics.values())),
        "kinship": kin if len(plan.families) < 3 else "panel",
        "permutations": plan.permutations if plan.kind == "groupwise" else None,
    }


def _experimental(audits: Sequence[Audit | None], rubrics: Sequence[Rubric]) -> list[str]:
    """Return the judged criteria that not every judge's audit establishes."""
    found: set[str] = set()
    for rubric in rubrics:
        for audit in audits or (None,):
            ids = [one.id for one in rubric.judged]
            found.update(ids if audit is None else audit.experimental(rubric))
    return sorted(found)


def _rubrics(
    plan: JudgingPlan, stored: Mapping[str, Any]
) -> Callable[[Mapping[str, Any]], Rubric | None]:
    """Return a function from a record to its rubric."""
    if plan.rubric is not None:
        chosen = plan.rubric
        return lambda record: chosen
    sets: dict[tuple[str, str], TaskSet] = {
        (row["taskset"], row["split"]): open_row(row, plan.salt) for row in stored["envs"]
    }

    def named(record: Mapping[str, Any]) -> Rubric | None:
        task_id = record["key"]["task"]
        try:
            task = sets[task_id.partition("/")[0], record["split"]].get(task_id)
            return None if task.rubric is None else get_rubric(task.rubric)
        except (KeyError, TaskError, RubricError) as error:
            raise UsageError(f"{task_id}: {error}") from None

    return named
