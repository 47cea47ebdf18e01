"""Paused and resumed rollouts have the same records as uninterrupted ones, on every event."""

import asyncio
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hexathlon.baselines.agents.base import Agent
from hexathlon.baselines.agents.noisy import NoisyAgent
from hexathlon.baselines.agents.replay import ReplayAgent
from hexathlon.baselines.agents.scripted import ScriptedAgent
from hexathlon.baselines.agents.trivial import RandomAgent
from hexathlon.baselines.harness.replaying import replay_differences
from hexathlon.baselines.pipeline.collect import Collector, GroupPlan
from hexathlon.baselines.pipeline.structures import ForkPoint
from hexathlon.baselines.rollout.executor import LocalExecutor
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.rollout.prefix import Prefix
from hexathlon.baselines.rollout.rollout import EnvironmentSlot
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.evaluators.records import RecordWriter
from support.resuming import (
    EVENTS,
    FORMS,
    finished,
    key_of,
    paused,
    record_bytes,
    slot_of,
    stretch,
    whole,
)

TESTS = Path(__file__).resolve().parents[1]
LIMITS = {"turns": 8}
"""Limits of the environments, so that random agents terminate."""


@pytest.fixture(scope="module", params=EVENTS)
def slots(request: pytest.FixtureRequest) -> Iterator[tuple[str, EnvironmentSlot, EnvironmentSlot]]:
    """An event with two slots."""
    here = slot_of(request.param, limits=LIMITS)
    there = slot_of(request.param, limits=LIMITS)
    yield request.param, here, there
    here.close()
    there.close()


def places(turns: int) -> list[int]:
    """Return the first turn, one in the middle, and the one before the last."""
    return sorted({1, turns // 2, turns - 1} & set(range(1, turns)))


def require_resumed(agent: Agent, env: str, here: EnvironmentSlot, there: EnvironmentSlot) -> None:
    # Snapshots of the terminal event contain no screen: in this trial, nothing is typed at random.
    trial = 1 if agent.name == "random" and "Terminal" in env else 0
    key = key_of(env, trial=trial)
    undisturbed = whole(agent, here, key)
    assert not trial or b"send_keys" not in record_bytes(undisturbed)
    for after in places(len(undisturbed.record["steps"])):
        prefix = paused(agent, here, key, after)
        for name, form in FORMS.items():
            slots = (here, there) if name == "snapshot" else (there,)
            for slot in slots:
                again = finished(agent, slot, key, form(prefix))
                assert record_bytes(again) == record_bytes(undisturbed), (after, name)


@pytest.mark.parametrize(
    "agent", [ScriptedAgent("oracle"), NoisyAgent(1.0), RandomAgent()], ids=lambda one: one.name
)
def test_scripted_agents_resume(
    agent: Agent, slots: tuple[str, EnvironmentSlot, EnvironmentSlot]
) -> None:
    require_resumed(agent, *slots)


def test_replayed_actions_resume(
    slots: tuple[str, EnvironmentSlot, EnvironmentSlot], tmp_path: Path
) -> None:
    env, here, _ = slots
    record = whole(ScriptedAgent("oracle"), here, key_of(env)).record
    with RecordWriter(tmp_path, "0" * 64, "never") as writer:
        writer.append(record)
    require_resumed(ReplayAgent(tmp_path), *slots)


def test_prefix_resumes_in_another_process(
    slots: tuple[str, EnvironmentSlot, EnvironmentSlot], tmp_path: Path
) -> None:
    env, here, _ = slots
    agent, key = ScriptedAgent("oracle"), key_of(env)
    undisturbed = whole(agent, here, key)
    assert len(undisturbed.record["steps"]) > 1
    path = tmp_path / "prefix.pickle"
    path.write_bytes(pickle.dumps(paused(agent, here, key, 1).portable()))
    command = [sys.executable, "-m", "support.resuming", str(path), "agent:oracle"]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == record_bytes(undisturbed)


def test_forks_share_turns_and_sample_independently(
    slots: tuple[str, EnvironmentSlot, EnvironmentSlot], tmp_path: Path
) -> None:
    env, here, _ = slots
    _, task, seed, _ = key_of(env)
    executor = LocalExecutor(RandomAgent(), lambda name: slot_of(name, limits=LIMITS).get(), 2)
    plan = GroupPlan(task, env, TrialLimits(), 3, seed)
    alone = collected(executor, plan)
    forked = collected(executor, plan, ForkPoint(2, 3))
    executor.close()
    assert [one.key[3] for one in forked] == [0, 1, 2]
    assert record_bytes(forked[0]) == record_bytes(alone[0])
    shared = [one.record["steps"][:2] for one in forked]
    assert shared[0] == shared[1] == shared[2] != alone[1].record["steps"][:2]
    rest = [str(one.record["steps"][2:]) for one in forked]
    assert len(set(rest)) == 3
    with RecordWriter(tmp_path, "0" * 64, "never") as writer:
        for one in forked:
            writer.append(one.record)
    for one in forked:
        again = whole(ReplayAgent(tmp_path), here, one.key)
        assert replay_differences(one.record, again.record) == []


def collected(executor: LocalExecutor, plan: GroupPlan, *splits: ForkPoint) -> list[Trajectory]:
    """Play a group and return its trajectories."""
    kept: list[Trajectory] = []

    def keep(batch: list[Trajectory]) -> list[Trajectory]:
        kept.extend(batch)
        return batch

    asyncio.run(Collector(executor, splits, keep).collect([plan]))
    return kept


def test_restored_state_equals_replayed_state(
    slots: tuple[str, EnvironmentSlot, EnvironmentSlot],
) -> None:
    env, here, there = slots
    agent, key = ScriptedAgent("oracle"), key_of(env)
    actions = [step["action"] for step in whole(agent, here, key).record["steps"]]
    for after in places(len(actions)):
        prefix = paused(agent, here, key, after)
        assert prefix.state is not None
        repeated = stretch(agent, there, key, prefix.portable(), after=after)
        assert isinstance(repeated, Prefix) and repeated.steps == prefix.steps
        assert here.get().final_state() == there.get().final_state()
        here.get().restore(prefix.state)
        for action in actions[after:]:
            assert here.get().step(action) == there.get().step(action)
        assert here.get().final_state() == there.get().final_state()
