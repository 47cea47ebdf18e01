"""Simulation for the arena: every agent plays every scene, through the shared rollout code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hexathlon.baselines import interrupts
from hexathlon.baselines.agents.base import Agent
from hexathlon.baselines.harness.environments import make_environment
from hexathlon.baselines.rollout.drivers import play, play_async
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.rollout.rollout import EnvironmentSlot, Rollout

__all__ = ["Performance", "simulate"]


@dataclass(frozen=True, slots=True)
class Performance:
    """One agent's trial of one scene."""

    agent: str
    scene: str
    """The task's id."""

    record: Mapping[str, Any]
    """The trial record, in the format of an evaluation."""

    @property
    def played(self) -> bool:
        """Whether the scene was played; False after an infrastructure failure."""
        return bool(self.record["status"] != "infra")

    @property
    def score(self) -> float | None:
        """The score by the task's rules; None if the trial is unscored."""
        reward = self.record["reward"]
        return None if reward is None else float(reward)


def simulate(
    agents: Mapping[str, Agent],
    scenes: Sequence[str],
    *,
    env: str = "hexathlon/RolePlay-v1",
    seed: int = 0,
    limits: TrialLimits | None = None,
) -> list[Performance]:
    """Have every agent play every scene.

    Args:
        agents: Agents by name.
        scenes: Task ids; all agents play each with the same seed.
        env: Environment id.
        seed: Seed of the episodes.
        limits: Budgets of each trial.
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
    trial = Rollout(agent, limits).trial(slot, key)
    trajectory = interrupts.run(play_async(trial)) if agent.asynchronous else play(trial)
    return trajectory.record
