"""Selection of the trials to judge, each with its rubric, and the header of the judged file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.baselines.harness.errors import UsageError, near_miss
from hexathlon.baselines.harness.plan import open_row
from hexathlon.evaluators.judged.consistency import COMPARISONS, DECIDING
from hexathlon.evaluators.judges.audit.document import Audit
from hexathlon.evaluators.judges.families import family_of, kinship
from hexathlon.evaluators.judges.rubric import Rubric, RubricError
from hexathlon.evaluators.judges.rubric_files import get_rubric
from hexathlon.evaluators.judges.transcript import JudgedTranscript
from hexathlon.evaluators.records import RecordError, check_chain, read_content, record_key
from hexathlon.evaluators.records.plan import PlanError, TrialKey, read_plan
from hexathlon.evaluators.records.reader import located_records, record_at
from hexathlon.tasks.errors import TaskError
from hexathlon.tasks.taskset import TaskSet

__all__ = [
    "KINDS",
    "JudgedTrial",
    "JudgingPlan",
    "experimental_criteria",
    "labelled_trials",
    "rubrics_of",
    "trials_of",
]

KINDS = (*DECIDING, *COMPARISONS)


@dataclass(frozen=True, slots=True)
class JudgingPlan:
    """A run with the judges and the rubric to judge it by."""

    run: Path
    rubric: Rubric | None
    """The rubric of all trials; None uses that of each task."""

    kind: str = "pointwise"
    judges: Sequence[Mapping[str, Any]] = ()
    """Identities of the judges, as in records; empty if code decides everything."""

    families: tuple[str, ...] = ()
    audits: Sequence[Audit | None] = ()
    """The audit of each judge; None for an unaudited judge."""

    permutations: int = 2
    salt: str | None = None


class JudgedTrial(NamedTuple):
    """The location of a trial's record, and the rubric it is judged by."""

    run: Path
    start: int
    """Byte offset of its line; the record is read again when it is judged."""

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
        """Return the record's transcript for a judge, with or without images."""
        load = partial(read_content, self.run) if images else None
        return JudgedTranscript.of_record(self.record(), load)


def trials_of(plan: JudgingPlan) -> tuple[dict[str, Any], list[JudgedTrial]]:
    """Return the header of the judged file, and the trials to judge.

    Raises:
        UsageError: If the plan does not match the run, or there is no rubric.
        PlanError: If the run's plan is missing or invalid.
        RecordError: If a record is invalid.
    """
    if plan.kind not in KINDS:
        raise UsageError(near_miss("kind of judge", plan.kind, KINDS))
    if plan.kind != "pointwise" and len(plan.judges) != 1:
        raise UsageError(f"{plan.kind} judging needs exactly one model: --model")
    stored = read_plan(plan.run)
    trials = _trials(plan.run, stored, plan.rubric, plan.salt)
    if not plan.judges and any(trial.rubric.judged for trial in trials):
        raise UsageError("the rubric has criteria that code cannot decide: name a judge by --model")
    if not trials:
        raise UsageError(
            f"no trial of {plan.run} can be judged: its tasks have no rubric; name one by --rubric"
        )
    return _header(plan, stored, trials), trials


def labelled_trials(run: Path, rubric: Rubric | None, salt: str | None) -> list[JudgedTrial]:
    """Return the trials of a run with a criterion that code cannot decide.

    Args:
        run: The run directory.
        rubric: The rubric of all trials; None uses that of each task.
        salt: The secret of a held-out round.

    Raises:
        UsageError: If the run cannot be read, or there is nothing to label.
    """
    try:
        trials = _trials(run, read_plan(run), rubric, salt)
    except (PlanError, RecordError, OSError) as error:
        raise UsageError(str(error)) from None
    trials = [trial for trial in trials if trial.rubric.judged]
    if not trials:
        raise UsageError(f"no trial of {run} has a criterion to label: name a rubric with --rubric")
    return trials


def _trials(
    run: Path, stored: Mapping[str, Any], rubric: Rubric | None, salt: str | None
) -> list[JudgedTrial]:
    faults = check_chain(run, stored["plan_hash"])
    if faults:
        raise UsageError(f"{run}: {faults[0]}; a run with a broken chain cannot be judged")
    rubric_of = rubrics_of(stored, rubric, salt)
    by_key: dict[TrialKey, JudgedTrial] = {}
    for start, record in located_records(run):
        found = None if record["status"] == "infra" else rubric_of(record)
        if found is not None:
            head = {name: record[name] for name in ("key", "hash", "reward")}
            by_key[record_key(record)] = JudgedTrial(run, start, head, found)
    return list(by_key.values())


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
        "judges": [dict(judge) for judge in plan.judges],
        "rubrics": {
            digest: item.model_dump(mode="json") for digest, item in sorted(rubrics.items())
        },
        "audits": [None if audit is None else audit.hash for audit in plan.audits],
        "audited": bool(plan.audits) and all(audit is not None for audit in plan.audits),
        "experimental": experimental_criteria(plan.audits, list(rubrics.values())),
        "rejected": sorted({why for audit in plan.audits if audit for why in audit.rejected}),
        "kinship": kin if len(plan.families) < 3 else "panel",
        "permutations": plan.permutations if plan.kind == "groupwise" else None,
    }


def experimental_criteria(audits: Sequence[Audit | None], rubrics: Sequence[Rubric]) -> list[str]:
    """Return the ids of judged criteria that are not established by the audits of all judges."""
    experimental: set[str] = set()
    for rubric in rubrics:
        for audit in audits or (None,):
            ids = [criterion.id for criterion in rubric.judged]
            experimental.update(ids if audit is None else audit.experimental(rubric))
    return sorted(experimental)


def rubrics_of(
    stored: Mapping[str, Any], chosen: Rubric | None, salt: str | None
) -> Callable[[Mapping[str, Any]], Rubric | None]:
    """Return a function from a record to its rubric, None for a task without one.

    Args:
        stored: The run's plan.
        chosen: The rubric of all trials; None uses that of each task.
        salt: The secret of a held-out round.
    """
    if chosen is not None:
        return lambda record: chosen
    sets: dict[tuple[str, str], TaskSet] = {
        (row["taskset"], row["split"]): open_row(row, salt) for row in stored["envs"]
    }

    def rubric_of_task(record: Mapping[str, Any]) -> Rubric | None:
        task_id = record["key"]["task"]
        try:
            task = sets[task_id.partition("/")[0], record["split"]].get(task_id)
            return None if task.rubric is None else get_rubric(task.rubric)
        except (KeyError, TaskError, RubricError) as error:
            raise UsageError(f"{task_id}: {error}") from None

    return rubric_of_task
