import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("harbor.job", reason="scripts/bridges harbor")

import asyncio

from bridges.guide import run_line, shell_line
from harbor.job import Job
from harbor.models.job.config import JobConfig
from harbor.models.task.task import Task
from harbor.models.trajectories.trajectory import Trajectory

from hexathlon.baselines.bridges.listing import TaskListing
from hexathlon.baselines.exchange.atif import from_atif, to_atif
from hexathlon.baselines.exchange.transcript import ChatTranscript
from hexathlon.envs.errors import EnvFault
from hexathlon.envs.sandbox.ladder import choose
from hexathlon.envs.terminal import building
from hexathlon.tasks.taskset import build_task
from hexathlon.tasks.terminal.harbor_registry import write_registry

CLASS = "hexathlon.baselines.bridges.harbor:SandboxEnvironment"


def exported(place: Path, count: int = 3) -> Path:
    """Export tasks, read them with Harbor's own models, and return their directory."""
    folder = place / "set"
    if folder.exists():
        return folder
    rows = TaskListing("Terminal", level="tiny").rows("test", 0, count)
    registry = json.loads(write_registry([row["task"] for row in rows], folder).read_text())
    for entry, row in zip(registry[0]["tasks"], rows, strict=True):  # Harbor's own models
        task = Task(Path(entry["path"]))
        assert task.instruction.strip() == build_task(row["task"]).instruction.strip()
    return folder


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported(tmp_path_factory.mktemp("tasks"))


def run(tasks: Path, agent: str, out: Path, concurrent: int = 1) -> list[Any]:
    config = JobConfig.model_validate({
        "job_name": agent, "jobs_dir": str(out), "n_concurrent_trials": concurrent, "quiet": True,
        "environment": {"import_path": CLASS}, "agents": [{"name": agent}],
        "datasets": [{"path": str(tasks)}],
    })  # fmt: skip

    async def go() -> Any:
        job = await Job.create(config)
        return await job.run()

    asyncio.run(go())
    results = sorted((out / agent).glob("*/result.json"))
    return [json.loads(path.read_text()) for path in results]


def rewards(results: list[Any]) -> list[float]:
    assert all(result["exception_info"] is None for result in results)
    return [result["verifier_result"]["rewards"]["reward"] for result in results]


def test_gold_earns_one_and_nothing_the_floor(tasks: Path, tmp_path: Path) -> None:
    choose("namespaces", absolute_paths=True)
    assert rewards(run(tasks, "oracle", tmp_path)) == [1.0] * 3
    assert rewards(run(tasks, "nop", tmp_path)) == [0.0] * 3
    assert rewards(run(tasks, "oracle", tmp_path / "together", concurrent=8)) == [1.0] * 3


@pytest.mark.parametrize("named", [False, True], ids=["directory", "registry"])
def test_the_guides_command_earns_one(tasks: Path, tmp_path: Path, named: bool) -> None:
    choose("namespaces", absolute_paths=True)
    (tmp_path / "tasks").symlink_to(tasks)
    words = shell_line("harbor", "harbor")
    if named:
        at = words.index("-p")
        registry = ["-d", "hexathlon-terminal", "--registry-path", "tasks/registry.json"]
        words[at : at + 2] = registry
        page = Path(__file__).resolve().parents[2] / "docs" / "guides" / "doors" / "harbor.md"
        assert " ".join(registry) in page.read_text("utf-8")
    done = run_line(words, tmp_path, {})
    assert done.returncode == 0, done.stdout + done.stderr
    results = [json.loads(path.read_text()) for path in tmp_path.glob("jobs/*/*/result.json")]
    assert rewards(results) == [1.0] * 3


def test_a_fault_is_an_error(tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise EnvFault("the disk is gone", cause="disk")

    monkeypatch.setattr(building, "open_directory", fail)
    results = run(tasks, "oracle", tmp_path)
    assert len(results) == 3
    for result in results:
        assert "the disk is gone" in result["exception_info"]["exception_message"]
        assert result["verifier_result"] is None


def test_exported_trajectories_are_atif() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "run", "arguments": '{"x": 1}'}}
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "List files."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "app"},
        {"role": "assistant", "content": "Done."},
    ]
    exported = ChatTranscript(messages, env="hexathlon/Terminal-v1", task="t", reward=0.5)
    document = Trajectory.model_validate(to_atif(exported))
    assert from_atif(document.model_dump(mode="json", exclude_none=True)) == exported
