"""Rescoring: verifies stored trials again, without environment or model, and writes a new run.

The current verifiers receive the recorded final state and transcript. The new plan names the run it
was made from, and each new record the hash and reward of the record it replaces.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import tee
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.baselines.harness.errors import UsageError
from hexathlon.baselines.harness.plan import open_row
from hexathlon.baselines.harness.processes import Distribute, distributed, workers_of
from hexathlon.baselines.harness.progress import Progress
from hexathlon.baselines.rollout.trial_record import checks_of
from hexathlon.envs.messages import Message, assistant_message, make_message, parse_text
from hexathlon.envs.status import Status
from hexathlon.evaluators.content import Content
from hexathlon.evaluators.judges.recorded import decided_by_code
from hexathlon.evaluators.records import (
    RecordError,
    RecordWriter,
    check_chain,
    read_content,
    read_records,
    stored_media,
)
from hexathlon.evaluators.records.consistency import stop_of
from hexathlon.evaluators.records.plan import PLAN_FILE, PlanError, plan_hash, read_plan, write_plan
from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import verify
from hexathlon.tasks.task import Task
from hexathlon.tasks.validation import reason

__all__ = ["Rescored", "rescore_record", "rescore_run", "transcript_of"]


Load = Callable[[Any], Content]


def _text_only(content: Any) -> Content:
    if not isinstance(content, str):
        raise RecordError("the record has images or files: pass a `load` that reads their bytes")
    return content


class Rescored(NamedTuple):
    """Result of rescoring a run."""

    run: Path
    records: int
    changed: tuple[tuple[str, float | None, float | None], ...]
    """Task, old and new reward of the first hundred trials whose reward changed."""

    changes: int


def rescore_run(
    run: Path,
    out: Path,
    salt: str | None = None,
    workers: int = 1,
    distribute: Distribute = distributed,
) -> Rescored:
    """Rescore every recorded trial of `run` and write the new records to `out`.

    Args:
        run: The directory.
        out: The new directory.
        salt: The secret of a held-out round.
        workers: Number of processes; 0 for one per core if there are many records.
        distribute: Distributes the records; by default over processes of this machine.

    Raises:
        UsageError: If the run cannot be read, its tasks have changed, or `out` is in use.
    """
    if out.is_file() or (out / PLAN_FILE).exists():
        raise UsageError(f"{out} is in use: expected a new directory for the rescored records")
    try:
        plan = read_plan(run)
        faults = check_chain(run, plan["plan_hash"])
        if faults:
            raise UsageError(f"{run}: {faults[0]}; a run with a broken chain cannot be rescored")
        if next(read_records(run), None) is None:
            raise UsageError(f"{run} has a plan but no record yet; continue it with resume")
        return _rescore(run, plan, out, salt, workers, distribute)
    except (PlanError, RecordError) as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"cannot use {error.filename or run}: {reason(error)}") from None


def _rescore(
    run: Path,
    plan: dict[str, Any],
    out: Path,
    salt: str | None,
    workers: int,
    distribute: Distribute,
) -> Rescored:
    source = {"run_id": plan["run_id"], "plan_hash": plan["plan_hash"]}
    new_plan = {**plan, "rescored_from": source}
    changed: list[tuple[str, float | None, float | None]] = []
    count = changes = 0
    env_ids = [str(row.get("id")) for row in plan["envs"]]
    processes = workers_of(workers, len(plan["keys"]), env_ids)
    with (  # the workers first: nothing is written if a task set cannot be opened
        distribute(partial(_Rescorer, run, plan["envs"], salt), processes) as rescores,
        RecordWriter(out, plan_hash(new_plan)) as writer,
    ):
        write_plan(out, new_plan)
        with Progress("rescoring", len(plan["keys"])) as progress:
            originals, source_records = tee(read_records(run))
            for record, rescored in zip(originals, rescores(source_records), strict=True):
                writer.append(rescored, stored_media(run, record))
                count += 1
                old, new = record["reward"], rescored["reward"]
                if new != old:
                    changes += 1
                    if len(changed) < 100:
                        changed.append((record["key"]["task"], old, new))
                progress.advance()
    return Rescored(out, count, tuple(changed), changes)


class _Rescorer:
    """Rescores one record after another; an `ItemWorker`."""

    def __init__(self, run: Path, rows: Sequence[Mapping[str, Any]], salt: str | None) -> None:
        self._run = run
        self._sets = {(row["taskset"], row["split"]): open_row(row, salt) for row in rows}

    def __call__(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return the record with its new verdict."""
        task_id = record["key"]["task"]
        task = self._sets[task_id.partition("/")[0], record["split"]].get(task_id)
        return rescore_record(task, record, partial(read_content, self._run))

    def close(self) -> None:
        """Do nothing: task sets hold no resource."""


def rescore_record(
    task: Task, record: Mapping[str, Any], load: Load = _text_only
) -> dict[str, Any]:
    """Return a trial record with the verdict that its final state and transcript now receive.

    Args:
        task: The task that was played.
        record: The trial.
        load: Loads content of the record with its bytes; the default supports text only.

    Raises:
        UsageError: If the task has changed since the trial was played.
    """
    former = {name: record.get(name) for name in ("hash", "reward", "checks")}
    rescored = {**record, "rescored": former}
    if record["status"] == "infra":
        return rescored
    if task.hash != record["task_hash"]:
        raise UsageError(f"{task.id} has changed since the run; play it again instead of rescoring")
    return rescored | _verdict(task, record, load)


def _verdict(task: Task, record: Mapping[str, Any], load: Load) -> dict[str, Any]:
    lost = _lost(record["final_state"])
    if lost:
        verdict = Verdict(score=0.0, status="unscored")
    else:
        verdict = verify(task, record["final_state"], transcript_of(record, load))
    scored = verdict.status == "scored"
    stop = record["stop"]
    if scored and stop == Status.ERROR_JUDGE:
        stop = stop_of(record) or Status.COMPLETED.value
    return {
        "stop": stop if scored else Status.ERROR_JUDGE.value,
        "status": verdict.status,
        "cause": None if scored else "judge",
        "error": f"the final state was lost: {lost}" if lost else None,
        "reward": verdict.score if scored else None,
        "partial": verdict.partial if scored else None,
        "terms": dict(verdict.terms),
        "evidence": dict(verdict.evidence),
        "checks": checks_of(task),
        "judges": decided_by_code(task.rubric, record["opening"], record["steps"]),
    }


def _lost(final_state: Mapping[str, Any]) -> str:
    """Return why the final state is missing (a killed worker leaves none); empty if it is not."""
    return str(final_state["lost"]) if set(final_state) == {"lost"} else ""


def transcript_of(record: Mapping[str, Any], load: Load = _text_only) -> list[Message]:
    """Return the messages of a recorded trial; results of parallel calls stay one message.

    Args:
        record: The trial.
        load: Loads content of the record with its bytes; the default supports text only.
    """
    messages = [make_message("user", load(record["opening"]))]
    for step in record["steps"]:
        action = parse_text(step["action"])
        messages.append(assistant_message(action))
        call_id = action.calls[0].id if action.calls else ""
        role = "tool" if action.calls else "user"
        messages.append(make_message(role, load(step["observation"]), call_id))
    return messages
