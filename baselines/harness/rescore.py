"""Judges stored trials again, without environment or model, into a new set of records.

The verifiers of today see the final state and the transcript that were recorded. The new run
folder names what it was made from, and each of its records what it replaces.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.baselines.harness.errors import UsageError
from hexathlon.baselines.harness.plan import open_row
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
from hexathlon.evaluators.records.plan import PLAN_FILE, PlanError, plan_hash, read_plan, write_plan
from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import verify
from hexathlon.tasks.task import Task
from hexathlon.tasks.taskset import TaskSet

__all__ = ["Rescored", "judged_again", "rescore_run", "transcript_of"]


Load = Callable[[Any], Content]


def _text_only(content: Any) -> Content:
    if not isinstance(content, str):
        raise RecordError("the record has images or files: read it with their bytes")
    return content


class Rescored(NamedTuple):
    """What rescoring a run did."""

    run: Path
    records: int
    changed: tuple[tuple[str, float | None, float | None], ...]
    """Task, old and new reward of the first hundred trials whose reward changed."""

    changes: int


def rescore_run(run: Path, out: Path, salt: str | None = None) -> Rescored:
    """Judge every recorded trial of `run` again and write the result to `out`.

    Raises:
        UsageError: If the run does not read, its tasks are others now, or `out` is in use.
    """
    if out.is_file() or (out / PLAN_FILE).exists():
        raise UsageError(f"{out} is in use: expected a new folder for the records judged again")
    try:
        plan = read_plan(run)
        faults = check_chain(run, plan["plan_hash"])
        if faults:
            raise UsageError(f"{run}: {faults[0]}; a run whose chain is broken is not rescored")
        return _rescore(run, plan, out, salt)
    except (PlanError, RecordError, OSError) as error:
        raise UsageError(str(error)) from None


def _rescore(run: Path, plan: dict[str, Any], out: Path, salt: str | None) -> Rescored:
    sets = {(row["taskset"], row["split"]): open_row(row, salt) for row in plan["envs"]}
    source = {"run_id": plan["run_id"], "plan_hash": plan["plan_hash"]}
    new_plan = {**plan, "rescored_from": source}
    changed: list[tuple[str, float | None, float | None]] = []
    count = changes = 0
    with RecordWriter(out, plan_hash(new_plan)) as writer:
        write_plan(out, new_plan)
        with Progress("rescoring", len(plan["keys"])) as progress:
            for record in read_records(run):
                again = _judged(record, sets, run)
                writer.append(again, stored_media(run, record))
                count += 1
                if again["reward"] != record["reward"]:
                    changes += 1
                    if len(changed) < 100:
                        changed.append((record["key"]["task"], record["reward"], again["reward"]))
                progress.advance()
    return Rescored(out, count, tuple(changed), changes)


def _judged(
    record: dict[str, Any], sets: Mapping[tuple[str, str], TaskSet], run: Path
) -> dict[str, Any]:
    task = sets[record["key"]["task"].partition("/")[0], record["split"]].get(record["key"]["task"])
    return judged_again(task, record, partial(read_content, run))


def judged_again(task: Task, record: Mapping[str, Any], load: Load = _text_only) -> dict[str, Any]:
    """Return a recorded trial with the verdict that its final state and transcript get now.

    Args:
        task: The task that was played.
        record: The trial.
        load: Returns content of the record with its bytes; by default, of text alone.

    Raises:
        UsageError: If the task is another one than the one that was played.
    """
    former = {name: record.get(name) for name in ("hash", "reward", "checks")}
    again = {**record, "rescored": former}
    if record["status"] == "infra":
        return again
    if task.hash != record["task_hash"]:
        raise UsageError(f"{task.id} is another task now; run it again instead of rescoring")
    return again | _verdict(task, record, load)


def _verdict(task: Task, record: Mapping[str, Any], load: Load) -> dict[str, Any]:
    lost = _lost(record["final_state"])
    if lost:
        verdict = Verdict(score=0.0, status="unscored")
    else:
        verdict = verify(task, record["final_state"], transcript_of(record, load))
    scored = verdict.status == "scored"
    stop = record["stop"]
    if scored and stop == Status.ERROR_JUDGE:
        stop = Status.COMPLETED.value
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
    """Return why there is no final state to judge; a worker that was killed leaves none."""
    return str(final_state["lost"]) if set(final_state) == {"lost"} else ""


def transcript_of(record: Mapping[str, Any], load: Load = _text_only) -> list[Message]:
    """Return the messages of a recorded trial; the answers to several calls stay one message.

    Args:
        record: The trial.
        load: Returns content of the record with its bytes; by default, of text alone.
    """
    messages = [make_message("user", load(record["opening"]))]
    for step in record["steps"]:
        action = parse_text(step["action"])
        messages.append(assistant_message(action))
        call_id = action.calls[0].id if action.calls else ""
        role = "tool" if action.calls else "user"
        messages.append(make_message(role, load(step["observation"]), call_id))
    return messages
