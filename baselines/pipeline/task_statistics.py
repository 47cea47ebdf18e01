"""Estimates of each task's difficulty for the current policy, from its own rollouts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hexathlon.baselines.algorithms.samples import Array, Group

__all__ = ["TaskStatistics", "difficulty_bins"]

_BATCHES = 32
"""Number of batches whose rubric means are kept."""

_ROUNDS = 8
"""Number of rounds with a hint that are kept for each task."""


@dataclass(slots=True)
class TaskStatistics:
    """Successes and failures by task, older ones discounted, and recent means of a rubric.

    A task's success rate has a Beta posterior, as in VADE; an untried task has the prior.
    """

    decay: float = 0.9
    """Discount of the earlier counts each time a task is tried again."""

    prior: tuple[float, float] = (1.0, 1.0)
    threshold: float = 1.0
    """Minimum reward that counts as a success."""

    most: int = 65_536
    """Maximum number of tasks; the least recently tried one is evicted first."""

    counts: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Discounted successes and failures by task; the most recently tried task is last."""

    batches: int = 0
    """Number of batches that have been counted."""

    seen: dict[str, int] = field(default_factory=dict)
    """Number of the batch in which each task was last tried."""

    lengths: dict[str, float] = field(default_factory=dict)
    """Running mean of the sampled tokens of each task's rollouts."""

    rubric: list[tuple[float, ...]] = field(default_factory=list)
    """Mean of each rubric dimension over the latest batches with a rubric, the newest last."""

    hinted: dict[str, list[tuple[float, int, int]]] = field(default_factory=dict)
    """Rounds with a hint by task, the newest last: share of the oracle's actions, successes,
    failures."""

    text: Callable[[str], str] = str
    """Returns the text by which a task is compared with others; its id by default."""

    def state(self) -> dict[str, Any]:
        """Return the statistics as plain values."""
        return {
            "known": self.counts,
            "batches": self.batches,
            "seen": self.seen,
            "lengths": self.lengths,
            "rubric": self.rubric,
            "hinted": self.hinted,
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Restore the result of `state`; states of older versions may have the counts alone."""
        self.counts = {task: (won, lost) for task, (won, lost) in state["known"].items()}
        self.batches = state.get("batches", 0)
        self.seen = dict(state.get("seen", {}))
        self.lengths = dict(state.get("lengths", {}))
        self.rubric = [tuple(row) for row in state.get("rubric", ())]
        self.hinted = {
            task: [tuple(row) for row in rows] for task, rows in state.get("hinted", {}).items()
        }

    def observe(self, groups: Sequence[Group]) -> None:
        """Count the rollouts of some tasks.

        A rollout that went on with probability p counts 1 / p times, in place of stopped ones.
        """
        self.batches += 1
        for group in groups:
            self.seen[group.task] = self.batches
            weights = np.array([1.0 / sample.survival for sample in group.samples])
            lengths = [sample.tokens for sample in group.samples]
            mean = float(np.average(lengths, weights=weights))
            before = self.lengths.get(group.task, mean)
            self.lengths[group.task] = self.decay * before + (1.0 - self.decay) * mean
            passed = float(weights[group.rewards >= self.threshold].sum())
            won, lost = self.counts.pop(group.task, (0.0, 0.0))
            failed = float(weights.sum()) - passed
            self.counts[group.task] = (self.decay * won + passed, self.decay * lost + failed)
        scores = [sample.objectives for group in groups for sample in group.samples]
        if scores and scores[0] and len(set(map(len, scores))) == 1:
            means = np.mean(scores, axis=0)
            self.rubric = [*self.rubric, tuple(float(mean) for mean in means)][-_BATCHES:]
        while len(self.counts) > self.most:
            oldest = next(iter(self.counts))
            del self.counts[oldest]
            self.seen.pop(oldest, None)
            self.lengths.pop(oldest, None)

    def observe_hinted(self, group: Group, share: float) -> None:
        """Count rollouts that started from a share of the oracle's actions."""
        passed = int((group.rewards >= self.threshold).sum())
        rounds = self.hinted.pop(group.task, [])
        self.hinted[group.task] = [*rounds, (share, passed, len(group.samples) - passed)][-_ROUNDS:]
        while len(self.hinted) > self.most:
            del self.hinted[next(iter(self.hinted))]

    def posterior(self, tasks: Sequence[str], idle: float = 1.0) -> Array:
        """Return the Beta parameters of each task, `[tasks, 2]`.

        Args:
            tasks: The tasks.
            idle: Discount of the counts for each batch since the task was last tried.
        """
        counts = [self.counts.get(task, (0.0, 0.0)) for task in tasks]
        posterior: Array = np.array(counts, dtype=np.float64).reshape(-1, 2)
        if idle < 1.0:
            ages = [self.batches - self.seen.get(task, self.batches) for task in tasks]
            posterior = posterior * idle ** np.array(ages, dtype=np.float64)[:, None]
        posterior = posterior + np.array(self.prior)
        return posterior

    def success(self, tasks: Sequence[str]) -> Array:
        """Return each task's expected success, `[tasks]`."""
        parameters = self.posterior(tasks)
        rate: Array = parameters[:, 0] / parameters.sum(axis=1)
        return rate


def difficulty_bins(success: Array, attempts: int, bins: int) -> NDArray[np.int64]:
    """Return each task's bin by pass@`attempts`, `[tasks]`, the hardest first (GDRO).

    Args:
        success: Expected success of each task.
        attempts: Number of rollouts of which one has to succeed.
        bins: Number of bins of equal width.

    Raises:
        ValueError: If `attempts` or `bins` is below 1.
    """
    if attempts < 1 or bins < 1:
        raise ValueError(f"expected at least 1, got attempts={attempts} and bins={bins}")
    solved = 1.0 - (1.0 - success) ** attempts
    return np.minimum((bins * solved).astype(np.int64), bins - 1)
