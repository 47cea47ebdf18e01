"""One task directory of Harbor or Terminal-Bench, played and shown by `terminal run`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hexathlon.baselines import interrupts
from hexathlon.baselines.agents.base import Agent
from hexathlon.baselines.agents.spec import BUILT_IN
from hexathlon.baselines.harness.config import EvalConfig, ExecutionConfig
from hexathlon.baselines.harness.environments import find_environment, make_environment
from hexathlon.baselines.harness.errors import EnvironmentUnavailable, ExitCode, UsageError
from hexathlon.baselines.harness.models import open_model
from hexathlon.baselines.harness.tables import ReportTable
from hexathlon.baselines.rollout.drivers import TrialCoroutine, play, play_async
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.rollout.rollout import EnvironmentSlot, FatalError, Rollout
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.evaluators.records.trial import TrialRecord
from hexathlon.tasks.errors import TaskError
from hexathlon_cli.output import note, print_table, print_text

__all__ = ["run_directory"]

_ENV = "hexathlon/Terminal-v1"


def run_directory(
    path: Path,
    agent: str,
    sandbox: str | None,
    base: str | None,
    verifier: str,
    out: Path | None,
    *,
    as_json: bool,
) -> int:
    """Run `hexathlon terminal run`; exit code 3 if the task was not solved."""
    if verifier not in ("separate", "shared"):
        raise UsageError(f"--verifier must be separate or shared, got {verifier!r}")
    task_id = _task_at(path)
    options = {"sandbox": sandbox, "base": base, "verifier": verifier}
    find_environment(_ENV)
    record = _played(task_id, _agent(agent), options)
    if out is not None:
        out.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if record["status"] == "infra":
        raise EnvironmentUnavailable(f"{path}: {record['cause']}: {record['error']}")
    if as_json:
        print_text(json.dumps(_summary(record), indent=2, ensure_ascii=False))
    else:
        _show(path, record)
    if record["status"] == "unscored":
        return ExitCode.UNSCORED
    return ExitCode.FINE if record["reward"] == 1.0 else ExitCode.NOT_VERIFIED


def _task_at(path: Path) -> str:
    from hexathlon.tasks.terminal.directories import directory_source

    if not path.is_dir():
        raise UsageError(f"there is no directory {path}; expected one with task.toml or task.yaml")
    try:
        return directory_source(path)[1]
    except TaskError as error:
        raise UsageError(str(error)) from None


def _agent(name: str) -> Agent:
    model = f"agent:{name}" if name in BUILT_IN else name
    return open_model(EvalConfig(model=model, envs=(_ENV,)), ExecutionConfig()).agent


def _played(task_id: str, agent: Agent, options: Mapping[str, Any]) -> TrialRecord:
    slot = EnvironmentSlot(make_environment(_ENV, TrialLimits(), options))
    course = Rollout(agent, retries=0).trial(slot, (_ENV, task_id, 0, 0))
    try:
        if agent.asynchronous:
            return interrupts.run(_awaited(course, agent)).record
        return play(course).record
    except FatalError as error:
        raise EnvironmentUnavailable(str(error)) from error
    finally:
        slot.close()


async def _awaited(course: TrialCoroutine[Trajectory], agent: Agent) -> Trajectory:
    try:
        return await play_async(course)
    finally:
        engine = getattr(agent, "engine", None)
        if engine is not None:
            await engine.close()


def _summary(record: TrialRecord) -> dict[str, Any]:
    names = ("reward", "partial", "terms", "status", "stop", "sandbox", "evidence", "turns")
    return {
        "task": record["key"]["task"],
        **{name: record[name] for name in names},  # type: ignore[literal-required]
        "mode": record["final_state"].get("mode"),
        "steps": record["final_state"].get("steps", []),
    }


def _show(path: Path, record: TrialRecord) -> None:
    rows = []
    for step in record["final_state"].get("steps", []):
        rows += [(step["name"], name, outcome) for name, outcome in step["tests"]]
        if step["reward"] is not None:
            given = ", ".join(f"{name} {value:g}" for name, value in step["reward"].items())
            rows.append((step["name"], "reward", given))
        if step["fault"]:
            rows.append((step["name"], "fault", step["fault"]))
    print_table(
        ReportTable(
            f"{path.name}, in {record['sandbox']}", ("step", "test", "outcome"), tuple(rows)
        )
    )
    flags = record["evidence"].get("flags", [])
    if flags:
        note(f"flags: {', '.join(flags)}")
    reward = "none" if record["reward"] is None else f"{record['reward']:.3f}"
    print_text(f"score {reward}, {record['turns']} turns, {record['stop']}")
