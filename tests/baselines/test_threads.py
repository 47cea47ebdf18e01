"""Blocking steps run in threads: no trial waits for the SQL statement of another."""

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from hexathlon.baselines.agents.base import Episode, Turn
from hexathlon.baselines.agents.scripted import ScriptedAgent, ScriptPlayer
from hexathlon.baselines.harness.config import ExecutionConfig, load_config
from hexathlon.baselines.harness.models import OpenedModel
from hexathlon.baselines.harness.run import evaluate
from hexathlon.envs.messages import Message
from hexathlon.envs.tools import tool
from hexathlon.evaluators.records import record_key
from hexathlon.tasks.task import Task
from support.events import records, register_toy, unregister
from support.toy import ToyEnv

BLOCKING = "harness/Blocking-v0"
TRIALS = 8
DEADLINE = 300.0


class BlockingEnv(ToyEnv):
    """The toy event; the first step of each episode waits until enough episodes have reached it."""

    meeting = threading.Barrier(1)
    threads: list[set[int]] = []

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.used = {threading.get_ident()}
        BlockingEnv.threads.append(self.used)

    def on_reset(self, task: Task) -> str:
        self.used.add(threading.get_ident())
        self.met = False
        return super().on_reset(task)

    @tool
    def tool_add(self, amount: int) -> str:
        self.used.add(threading.get_ident())
        if not self.met:
            self.meeting.wait(DEADLINE)
            self.met = True
        return super().tool_add(amount)

    def final_state(self) -> dict[str, Any]:
        self.used.add(threading.get_ident())
        return super().final_state()

    def close(self) -> None:
        self.used.add(threading.get_ident())
        super().close()


class WaitingOracle(ScriptedAgent):
    """The oracle as a remote agent."""

    asynchronous = True

    def __init__(self) -> None:
        super().__init__("oracle")

    def begin(self, episode: Episode) -> "WaitingPlayer":  # type: ignore[override]
        return WaitingPlayer(super().begin(episode))


class WaitingPlayer:
    def __init__(self, player: ScriptPlayer) -> None:
        self.player = player

    async def act(self, messages: Sequence[Message]) -> Turn:
        return self.player.act(messages)


def opened() -> OpenedModel:
    return OpenedModel(WaitingOracle(), {"kind": "agent", "name": "oracle", "place": ""}, None)


@pytest.fixture
def blocking() -> Iterator[None]:
    register_toy(BLOCKING, f"{__name__}:BlockingEnv")
    BlockingEnv.meeting = threading.Barrier(TRIALS)
    BlockingEnv.threads = []
    yield
    unregister(BLOCKING)


def blocking_run(run: Path, **flags: Any) -> list[dict[str, Any]]:
    config, execution = load_config(
        {"model": "agent:oracle", "envs": (BLOCKING,), "fsync": "never", **flags}
    )
    evaluate(config, execution, run, model=opened())
    return records(run)


@pytest.mark.usefixtures("blocking")
def test_eight_blocking_steps_run_concurrently(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    result = blocking_run(tmp_path / "run", tasks=TRIALS, concurrency=TRIALS)
    assert [record["reward"] for record in result] == [1.0] * TRIALS
    assert set(threading.enumerate()) <= before


@pytest.mark.usefixtures("blocking")
def test_environment_stays_in_one_thread(tmp_path: Path) -> None:
    blocking_run(tmp_path / "run", tasks=TRIALS, concurrency=TRIALS)
    here = {threading.get_ident()}  # where the run is planned
    lanes = [used for used in BlockingEnv.threads if used != here]
    assert [len(used) for used in lanes] == [1] * TRIALS
    assert len(set.union(*lanes) - here) == TRIALS


@pytest.mark.usefixtures("blocking")
def test_one_trial_at_a_time_needs_no_thread(tmp_path: Path) -> None:
    BlockingEnv.meeting = threading.Barrier(1)
    blocking_run(tmp_path / "run", tasks=3, concurrency=1)
    assert set.union(*BlockingEnv.threads) == {threading.get_ident()}


@pytest.mark.parametrize(("taskset", "tasks"), [("sql", 24), ("dbbench", 40), ("chinook", 37)])
def test_concurrent_sql_gives_the_same_records(tmp_path: Path, taskset: str, tasks: int) -> None:
    config, _ = load_config(
        {"model": "agent:oracle", "envs": ("SQL",), "taskset": taskset, "tasks": tasks}
    )
    result = []
    for name, concurrency in (("alone", 1), ("beside", TRIALS)):
        execution = ExecutionConfig(fsync="never", concurrency=concurrency)
        evaluate(config, execution, tmp_path / name, model=opened())
        outcome = {record_key(record): record for record in records(tmp_path / name)}
        result.append({key: bare(one) for key, one in outcome.items()})
    assert len(result[0]) == tasks
    assert result[0] == result[1]


def bare(record: dict[str, Any]) -> dict[str, Any]:
    return {**record, "timing": None, "hash": None, "prev": None}
