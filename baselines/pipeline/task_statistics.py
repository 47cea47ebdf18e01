"""What is known of each task's difficulty for the present policy, from its own rollouts."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from hexathlon.baselines.algorithms.samples import Array, Group

__all__ = ["TaskStatistics"]


@dataclass(slots=True)
class TaskStatistics:
    """Successes and failures by task, of which older ones count less.

    A task's success rate has a Beta posterior, as VADE's has; a task that was never tried stands
    at the prior.
    """

    decay: float = 0.9
    """What is left of older counts when a task is tried again."""

    prior: tuple[float, float] = (1.0, 1.0)
    threshold: float = 1.0
    """Reward from which a rollout counts as a success."""

    most: int = 65_536
    """Tasks that are known at once; the one tried longest ago is forgotten first."""

    counts: dict[str, tuple[float, float]] = field(default_factory=dict)
    """By task: successes and failures, the task tried last at the end."""

    def observe(self, groups: Sequence[Group]) -> None:
        """Take in the rollouts of some tasks."""
        for group in groups:
            passed = int((group.rewards >= self.threshold).sum())
            won, lost = self.counts.pop(group.task, (0.0, 0.0))
            failed = len(group.samples) - passed
            self.counts[group.task] = (self.decay * won + passed, self.decay * lost + failed)
        while len(self.counts) > self.most:
            del self.counts[next(iter(self.counts))]

    def posterior(self, tasks: Sequence[str]) -> Array:
        """Return the Beta parameters of each task, `[tasks, 2]`."""
        found = [self.counts.get(task, (0.0, 0.0)) for task in tasks]
        both: Array = np.array(found, dtype=np.float64).reshape(-1, 2) + np.array(self.prior)
        return both

    def success(self, tasks: Sequence[str]) -> Array:
        """Return each task's expected success, `[tasks]`."""
        both = self.posterior(tasks)
        share: Array = both[:, 0] / both.sum(axis=1)
        return share
