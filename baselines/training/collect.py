"""Rollouts for training: the same path that evaluation takes, with the tokens kept.

Nothing here starts a thread: with the torch engine in the same process, what is in a batch is
then a function of the tasks and the seeds, and a run repeats bit for bit.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from hexathlon.baselines.agents.policy import PolicyAgent
from hexathlon.baselines.algorithms.samples import Group
from hexathlon.baselines.limits import TrialLimits
from hexathlon.baselines.rollout import EnvironmentSlot, Rollout, play_async
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.envs.base import Environment
from hexathlon.evaluators.records import TrialKey, TrialRecord

__all__ = ["Collected", "Collector", "StartsDiffer"]


class StartsDiffer(Exception):
    """Rollouts of one group did not begin with the same tokens."""


class Collected(NamedTuple):
    """What a batch of rollouts gave."""

    groups: list[Group]
    records: list[TrialRecord]
    """One per trial, in the order of tasks and members."""

    faults: int
    """Trials that infrastructure spoilt; they are in no group."""


class Collector:
    """Plays groups of trials.

    Args:
        agent: The policy.
        env_id: Where it plays.
        make: Makes an environment.
        limits: Budgets of a trial.
        concurrency: Trials at once.
        retries: Further attempts at a trial that infrastructure spoilt.
        logged: Is given the records of a batch and returns those that rewards are taken from.
    """

    def __init__(
        self,
        agent: PolicyAgent,
        env_id: str,
        make: Callable[[], Environment],
        limits: TrialLimits,
        concurrency: int,
        retries: int = 2,
        logged: Callable[[list[TrialRecord]], Sequence[TrialRecord]] = lambda records: records,
    ) -> None:
        self.agent = agent
        self.logged = logged
        self.env_id = env_id
        self._limits = limits
        self._retries = retries
        self._slots = [EnvironmentSlot(make) for _ in range(concurrency)]

    async def collect(self, tasks: Sequence[str], members: int, seed: int) -> Collected:
        """Play every task `members` times from the same start.

        Args:
            tasks: Task ids.
            members: Rollouts per task.
            seed: Seed of the environments.

        Raises:
            StartsDiffer: Two rollouts of a task began differently.
        """
        keys: list[TrialKey] = [
            (self.env_id, task, seed, member) for task in tasks for member in range(members)
        ]
        played = await self._play(keys)
        records = self.logged([trajectory.record for trajectory in played])
        judged = [replace(one, record=record) for one, record in zip(played, records, strict=True)]
        groups = []
        for number, task in enumerate(tasks):
            part = judged[number * members : (number + 1) * members]
            groups.append(Group(task, tuple(s for one in part for s in one.samples())))
            _same_start(task, part)
        faults = sum(not trajectory.scored for trajectory in judged)
        return Collected(
            [group for group in groups if group.samples], [one.record for one in judged], faults
        )

    async def _play(self, keys: Sequence[TrialKey]) -> list[Trajectory]:
        rollout = Rollout(self.agent, self._limits, self._retries)
        found: list[Trajectory | None] = [None] * len(keys)
        waiting = iter(enumerate(keys))

        async def work(slot: EnvironmentSlot) -> None:
            for number, key in waiting:
                found[number] = await play_async(rollout.trial(slot, key))

        workers = [asyncio.create_task(work(slot)) for slot in self._slots[: len(keys)]]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        return [trajectory for trajectory in found if trajectory is not None]

    def close(self) -> None:
        """Close the environments."""
        for slot in self._slots:
            slot.close()


def _same_start(task: str, played: Sequence[Trajectory]) -> None:
    starts = {
        trajectory.tokens.nodes[0].ids
        for trajectory in played
        if trajectory.tokens is not None and trajectory.tokens.nodes
    }
    if len(starts) > 1:
        raise StartsDiffer(
            f"the rollouts of {task} began with {len(starts)} different prompts; an environment "
            "that does not reset to the same start cannot be trained on in groups"
        )
