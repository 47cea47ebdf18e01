"""Rollouts played in parts, and the comparison of two trajectories.

Run as a script, it continues a pickled prefix in a process of its own: python -m support.resuming
PREFIX AGENT, which prints the record's canonical bytes.
"""

import asyncio
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium

from hexathlon.baselines.agents.base import Agent
from hexathlon.baselines.agents.spec import parse_model, scripted_agent
from hexathlon.baselines.rollout.drivers import play, play_async
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.rollout.prefix import Pause, Prefix
from hexathlon.baselines.rollout.rollout import EnvironmentSlot, Rollout
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.evaluators.records.canonical import canonical_bytes
from hexathlon.evaluators.records.plan import TrialKey
from hexathlon.tasks.taskset import TaskSet

EVENTS = {
    "hexathlon/SQL-v1": ("sql", "easy"),
    "hexathlon/Shopping-v1": ("shopping", "easy"),
    "hexathlon/Terminal-v1": ("terminal", "easy"),
    "hexathlon/RolePlay-v1": ("roleplay", "easy"),
}
"""Environment id to task source and level."""


def key_of(env: str, index: int = 0, trial: int = 0) -> TrialKey:
    source, level = EVENTS[env]
    return env, TaskSet(source, "test", level).task_id(index), 7, trial  # type: ignore[arg-type]


def slot_of(env: str, **settings: Any) -> EnvironmentSlot:
    def make() -> Any:
        return gymnasium.make(env, **settings).unwrapped

    return EnvironmentSlot(make)


def stretch(
    agent: Agent,
    slot: EnvironmentSlot,
    key: TrialKey,
    start: Prefix | None = None,
    after: int | None = None,
    limits: TrialLimits | None = None,
) -> Trajectory | Prefix:
    """Continue to the end, or until a number of turns was taken."""
    course = Rollout(agent, limits).advance(slot, key, start=start, pause=Pause(after))
    return asyncio.run(play_async(course)) if agent.asynchronous else play(course)


def whole(agent: Agent, slot: EnvironmentSlot, key: TrialKey) -> Trajectory:
    """Play without interruption."""
    trajectory = stretch(agent, slot, key)
    assert isinstance(trajectory, Trajectory)
    return trajectory


def paused(agent: Agent, slot: EnvironmentSlot, key: TrialKey, after: int) -> Prefix:
    """Play until a number of turns was taken."""
    prefix = stretch(agent, slot, key, after=after)
    assert isinstance(prefix, Prefix) and prefix.turns == after
    return prefix


def finished(agent: Agent, slot: EnvironmentSlot, key: TrialKey, start: Prefix) -> Trajectory:
    """Continue to the end."""
    trajectory = stretch(agent, slot, key, start)
    assert isinstance(trajectory, Trajectory)
    return trajectory


def record_bytes(trajectory: Trajectory) -> bytes:
    """Return a record's canonical JSON without timing."""
    return canonical_bytes({**trajectory.record, "timing": None})


def copied(prefix: Prefix) -> Prefix:
    """Return a prefix after pickling and unpickling."""
    made = pickle.loads(pickle.dumps(prefix))
    assert isinstance(made, Prefix)
    return made


def main(path: str, agent: str) -> None:
    prefix = pickle.loads(Path(path).read_bytes())
    slot = slot_of(prefix.key[0])
    try:
        trajectory = finished(scripted_agent(parse_model(agent)), slot, prefix.key, prefix)
    finally:
        slot.close()
    sys.stdout.buffer.write(record_bytes(trajectory))


Going = Callable[[Prefix], Prefix]
FORMS: dict[str, Going] = {
    "snapshot": lambda prefix: prefix,
    "actions": Prefix.portable,
    "pickled": copied,
    "without_memory": Prefix.without_memory,
}
"""Forms of a prefix from which a rollout may continue."""

if __name__ == "__main__":
    main(*sys.argv[1:])

__all__ = ["EVENTS", "FORMS", "copied", "finished", "key_of", "paused", "record_bytes"]
