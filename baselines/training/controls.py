"""Control runs: training that must not learn anything, to validate runs that do."""

from collections.abc import Sequence
from dataclasses import replace

from hexathlon.baselines.algorithms.samples import Group, Sample
from hexathlon.tasks.seeding import generator_for

__all__ = ["shuffled_rewards"]


def shuffled_rewards(groups: Sequence[Group], seed: int, step: int) -> list[Group]:
    """Permute a batch's rewards among all its rollouts; each goes to the rollout's last turn."""
    draw = generator_for("shuffled rewards", seed, step)
    rewards = [sample.reward for group in groups for sample in group.samples]
    order = iter(draw.permutation(len(rewards)))

    def dealt(sample: Sample) -> Sample:
        before = (0.0,) * (len(sample.rewards) - 1)
        return replace(sample, rewards=(*before, rewards[int(next(order))]))

    return [replace(group, samples=tuple(map(dealt, group.samples))) for group in groups]
