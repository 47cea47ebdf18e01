"""Rollouts for training: the same path that evaluation takes, with the tokens kept.

Nothing here starts a thread: with the torch engine in the same process, what is in a batch is
then a function of the tasks and the seeds, and a run repeats bit for bit.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from hexathlon.baselines.agents.policy import PolicyAgent, PolicyPlayer
from hexathlon.baselines.algorithms.samples import Group, Sample
from hexathlon.baselines.limits import TrialLimits
from hexathlon.baselines.rollout import EnvironmentSlot, Rollout, play_async
from hexathlon.baselines.tokens.tree import Outcome
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
    """

    def __init__(
        self,
        agent: PolicyAgent,
        env_id: str,
        make: Callable[[], Environment],
        limits: TrialLimits,
        concurrency: int,
        retries: int = 2,
    ) -> None:
        self.agent = agent
        self.env_id = env_id
        self._limits = limits
        self._retries = retries
        self._slots = [EnvironmentSlot(make) for _ in range(concurrency)]

    def collect(self, tasks: Sequence[str], members: int, seed: int) -> Collected:
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
        played = asyncio.run(self._play(keys))
        records = [record for record, _ in played]
        groups = []
        for number, task in enumerate(tasks):
            part = played[number * members : (number + 1) * members]
            groups.append(Group(task, tuple(s for one in part for s in _samples(*one))))
            _same_start(task, [player for _, player in part])
        faults = sum(record["status"] != "scored" for record in records)
        return Collected([group for group in groups if group.samples], records, faults)

    async def _play(
        self, keys: Sequence[TrialKey]
    ) -> list[tuple[TrialRecord, PolicyPlayer | None]]:
        players: dict[TrialKey, PolicyPlayer] = {}

        def watch(player: PolicyPlayer) -> None:
            episode = player.episode
            key = (self.env_id, episode.task.id, episode.seed, episode.trial)
            players[key] = player

        self.agent.watch = watch
        rollout = Rollout(self.agent, self._limits, self._retries)
        found: list[TrialRecord | None] = [None] * len(keys)
        waiting = iter(enumerate(keys))

        async def work(slot: EnvironmentSlot) -> None:
            for number, key in waiting:
                found[number] = await play_async(rollout.trial(slot, key))
                if key in players:
                    players[key].close()

        workers = [asyncio.create_task(work(slot)) for slot in self._slots[: len(keys)]]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        return [
            (record, players.get(key))
            for key, record in zip(keys, found, strict=True)
            if record is not None
        ]

    def close(self) -> None:
        """Close the environments."""
        for slot in self._slots:
            slot.close()


def _samples(record: TrialRecord, player: PolicyPlayer | None) -> list[Sample]:
    """Return a trial's samples; none where it was not scored."""
    if player is None or record["status"] != "scored" or player.conversation.turns == 0:
        return []
    rewards = [step["reward"] for step in record["steps"]]
    turns = player.conversation.turns
    rewards = [*rewards, *[0.0] * turns][:turns]
    # What the verifier said in the end is the reward; steps may have shown less of it.
    rewards[-1] += float(record["reward"] or 0.0) - sum(rewards)
    finished = not record["stop"].startswith("truncated") and "length" not in player.finishes
    outcome = Outcome(tuple(rewards), tuple(player.states), finished)
    key = record["key"]
    return player.conversation.tree.samples(outcome, f"{key['task']}#{key['trial']}")


def _same_start(task: str, players: Sequence[PolicyPlayer | None]) -> None:
    starts = {
        player.conversation.tree.nodes[0].ids
        for player in players
        if player is not None and player.conversation.tree.nodes
    }
    if len(starts) > 1:
        raise StartsDiffer(
            f"the rollouts of {task} began with {len(starts)} different prompts; an environment "
            "that does not reset to the same start cannot be trained on in groups"
        )
