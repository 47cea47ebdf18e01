"""Two Ray nodes on this machine, as separate processes with their own resources."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ray")

from hexathlon.baselines.agents.scripted import ScriptedAgent
from hexathlon.baselines.rollout.executor import LocalExecutor, Request
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.tasks.taskset import TaskSet
from support.events import TOY
from support.gated_toys import GatedToys
from support.resuming import record_bytes

TESTS = Path(__file__).resolve().parents[2]


def test_a_pool_lands_on_its_node_and_survives_the_node(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "support.two_nodes", str(tmp_path)],
        cwd=TESTS,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    told = json.loads(result.stdout)
    assert told["nodes"] == [False, True], "the head has no place for the pool"
    assert told["first_workers_in_place"] == [True, True]
    assert told["later_workers_elsewhere"] and all(told["later_workers_elsewhere"])
    assert (told["lost"], told["replayed"]) == (2, 2)
    executor = LocalExecutor(ScriptedAgent("oracle"), GatedToys(), 1)
    requests = [Request((TOY, task, 3, 0)) for task in TaskSet("toy", "test", None).ids(6)]
    expected = [
        record_bytes(outcome).decode()
        for outcome in asyncio.run(executor.run(requests))
        if isinstance(outcome, Trajectory)
    ]
    assert told["records"] == expected
