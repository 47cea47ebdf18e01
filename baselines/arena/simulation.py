"""The arena's first half: every agent plays every scene, by the one rollout path."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hexathlon.baselines.agents.base import Agent
from hexathlon.baselines.harness.environments import make_environment
from hexathlon.baselines.rollout.drivers import play, play_async
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.rollout.rollout import EnvironmentSlot, Rollout

__all__ = ["Performance", "simulate"]


@dataclass(frozen=True, slots=True)
class Performance:
    """What one agent did in one scene."""

    agent: str
    scene: str
    """The task's id."""

    record: Mapping[str, Any]
    """The trial record, as an evaluation would write it."""

    @property
    def played(self) -> bool:
        """Whether the scene was played; False where infrastructure spoilt it."""
        return bool(self.record["status"] != "infra")

    @property
    def score(self) -> float | None:
        """What the rules of the task say; None where they could not decide."""
        reward = self.record["reward"]
        return None if reward is None else float(reward)


def simulate(
    agents: Mapping[str, Agent],
    scenes: Sequence[str],
    *,
    env: str = "hexathlon/RolePlay-v0",
    seed: int = 0,
    limits: TrialLimits | None = None,
) -> list[Performance]:
    """Let every agent play every scene.

    Args:
        agents: By the name under which they are rated.
        scenes: Task ids; each is played with the same seed by all agents.
        env: Id of the environment.
        seed: Of the episodes.
        limits: Budgets of one trial.
    """
    chosen = limits or TrialLimits()
    slot = EnvironmentSlot(make_environment(env, chosen))
    try:
        return [
            Performance(name, scene, _trial(agent, slot, (env, scene, seed, 0), chosen))
            for scene in scenes
            for name, agent in agents.items()
        ]
    finally:
        slot.close()


def _trial(
    agent: Agent, slot: EnvironmentSlot, key: tuple[str, str, int, int], limits: TrialLimits
) -> Mapping[str, Any]:
    course = Rollout(agent, limits).trial(slot, key)
    played = asyncio.run(play_async(course)) if agent.asynchronous else play(course)
    return played.record
