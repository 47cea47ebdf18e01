"""Asynchronous environments are played concurrently, and their faults are recorded."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hexathlon.baselines.harness.verify import verify_run
from hexathlon.envs.aio import AsyncEnvironment
from hexathlon.envs.errors import EnvFault
from hexathlon.envs.tools import tool
from hexathlon.tasks.task import Task
from support.events import records, register_toy, toy_run, unregister

SLOW = "harness/Slow-v0"
STEP = 0.05


class SlowEnv(AsyncEnvironment):
    """The toy event with asynchronous steps and a random outcome."""

    family, version = "toy", "1"
    default_taskset = "toy"
    system_prompt = "You count."
    at_once = most_at_once = failures = 0

    async def on_reset(self, task: Task) -> str:  # type: ignore[override]
        self.counter, self.submitted, self.concluded = 0, False, False
        if SlowEnv.failures > 0:
            SlowEnv.failures -= 1
            raise EnvFault("the backend is gone")
        return task.instruction

    @tool
    async def tool_add(self, amount: int) -> str:
        SlowEnv.at_once += 1
        SlowEnv.most_at_once = max(SlowEnv.at_once, SlowEnv.most_at_once)
        await asyncio.sleep(STEP)
        SlowEnv.at_once -= 1
        self.counter += amount
        return f"The counter stands at {self.counter}."

    @tool
    async def tool_submit(self) -> str:
        self.submitted = True
        self.finish()
        return "Submitted."

    async def conclude(self) -> None:
        self.concluded = True

    def final_state(self) -> dict[str, Any]:
        return {
            "counter": self.counter,
            "submitted": self.submitted,
            "concluded": self.concluded,
        }


@pytest.fixture
def slow() -> Iterator[None]:
    register_toy(SLOW, f"{__name__}:SlowEnv")
    SlowEnv.at_once = SlowEnv.most_at_once = SlowEnv.failures = 0
    yield
    unregister(SLOW)


@pytest.mark.usefixtures("slow")
def test_sixteen_slow_environments_step_concurrently(tmp_path: Path) -> None:
    toy_run(tmp_path / "run", envs=(SLOW,), tasks=16, concurrency=16)
    result = records(tmp_path / "run")
    assert [record["reward"] for record in result] == [1.0] * 16
    assert SlowEnv.most_at_once == 16


@pytest.mark.usefixtures("slow")
def test_final_state_is_collected_for_every_ending(tmp_path: Path) -> None:
    toy_run(tmp_path / "run", envs=(SLOW,), tasks=2, limit_wall_seconds=1e-9)
    assert [record["stop"] for record in records(tmp_path / "run")] == ["truncated_time"] * 2
    assert all(record["final_state"]["concluded"] for record in records(tmp_path / "run"))


@pytest.mark.usefixtures("slow")
def test_faults_are_retried_and_the_run_is_verified(tmp_path: Path) -> None:
    SlowEnv.failures = 2
    toy_run(tmp_path / "run", envs=(SLOW,), tasks=2, concurrency=1)
    assert [record["attempt"] for record in records(tmp_path / "run")] == [3, 1]
    assert verify_run(tmp_path / "run").sound
