"""The swarm: groups that other runs shared as text (SAPO, Amico et al. 2025).

Each node of a swarm trains its own policy. Peers may have other models, tokenizers and dialects,
since they share text: prompts, tools, actions, observations and rewards. A step draws groups from
the newest batches of its peers, leaves out those whose rewards are all equal, renders them with its
own template, and takes its own log-probabilities for those of the behaviour, as if it had sampled
them. What peers have shared by then depends on their speed, so such a run cannot be repeated.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
from torch import Tensor

from hexathlon.baselines.algorithms.samples import Group, Sample
from hexathlon.baselines.learner.batching import Example
from hexathlon.baselines.pipeline.tasks_table import TasksTable
from hexathlon.baselines.tokens.render import ChatRenderer
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.baselines.training.rollouts import newest, shared
from hexathlon.baselines.training.tables import SwarmTable
from hexathlon.baselines.warmstart.demonstrations import demonstration_of, sample_of
from hexathlon.tasks.seeding import generator_for

__all__ = ["Swarm", "scored_locally"]


class Scorer(Protocol):
    """Gives the log-probabilities of samples, as a learner does."""

    def score(self, examples: Sequence[Example]) -> list[Tensor]:
        """Return log-probabilities of the sampled tokens, one `[tokens]` per example."""
        ...


class Swarm:
    """Draws groups from the rollouts that peers share.

    Args:
        table: The recipe's table.
        tasks: Its tables of tasks; rollouts of other tasks are left out.
        dialect: The policy's dialect.
        renderer: Renders chat messages as the policy's tokens.
        seed: Seed of the draws.
    """

    def __init__(
        self,
        table: SwarmTable,
        tasks: Sequence[TasksTable],
        dialect: str,
        renderer: ChatRenderer,
        seed: int,
    ) -> None:
        self._table = table
        self._tasks = tasks
        self._dialect = dialect
        self._renderer = renderer
        self._seed = seed

    def groups(self, step: int) -> list[Group]:
        """Return the groups of peers for a step, fewer if they have not shared enough yet.

        Their tokens have no log-probabilities of the behaviour; see `scored_locally`.

        Raises:
            ValueError: If a peer's rollouts were stored without their prompts.
        """
        if not self._table.peers:
            return []
        pool = [rollouts for peer in self._table.peers for rollouts in self._pool(Path(peer))]
        draw = generator_for("swarm", self._seed, step)
        places = sorted(draw.permutation(len(pool))[: self._table.groups])
        return [self._group(pool[int(place)]) for place in places]

    def _pool(self, peer: Path) -> Iterator[list[Trajectory]]:
        """Yield the rollouts of each task in a peer's newest batches, if their rewards differ."""
        for path in newest(peer / "rollouts", self._table.newest):
            by_task: dict[str, list[Trajectory]] = {}
            for played in shared(path):
                task = played.key[1]
                if played.scored and any(table.holds(task) for table in self._tasks):
                    by_task.setdefault(task, []).append(played)
            for rollouts in by_task.values():
                if len({played.record["reward"] for played in rollouts}) > 1:
                    yield rollouts

    def _group(self, rollouts: Sequence[Trajectory]) -> Group:
        return Group(rollouts[0].key[1], tuple(self._sample(played) for played in rollouts))

    def _sample(self, played: Trajectory) -> Sample:
        demonstration = demonstration_of(played)
        reward = float(played.record["reward"] or 0.0)
        return sample_of(replace(demonstration, reward=reward), self._dialect, self._renderer)


def scored_locally(groups: Sequence[Group], learner: Scorer, version: int) -> list[Group]:
    """Return groups as if the learner's policy, of this version, had sampled them."""
    samples = [sample for group in groups for sample in group.samples]
    if not samples:
        return []
    weights = [sample.sampled.astype(np.float64) for sample in samples]
    examples = [
        Example(sample, np.zeros(len(sample.ids)), weight)
        for sample, weight in zip(samples, weights, strict=True)
    ]
    scores = learner.score(examples)
    scored = iter(
        replace(
            sample,
            behaviour=np.where(sample.sampled, score.double().numpy(), 0.0),
            version=np.where(sample.sampled, version, -1),
        )
        for sample, score in zip(samples, scores, strict=True)
    )
    return [replace(group, samples=tuple(next(scored) for _ in group.samples)) for group in groups]
