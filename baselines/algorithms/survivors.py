"""The estimator for groups in which some rollouts were stopped by chance."""

from collections.abc import Sequence

import numpy as np

from hexathlon.baselines.algorithms.estimators import ESTIMATORS, Credit, every_token
from hexathlon.baselines.algorithms.samples import Array, Group

__all__ = ["survivors"]


@ESTIMATORS.register("survivors")
def survivors(groups: Sequence[Group], values: Sequence[Array] | None = None) -> Credit:
    """RLOO over the rollouts that went on, weighed by their probability to (Horvitz-Thompson 1952).

    A = (R - b) / q with b the sum of R / q over the other survivors, divided by the number of the
    other rollouts that were started. Rollouts go on independently of each other with probability
    q > 0, so the expected sum of A times anything of the rollout is that of RLOO without stopping.
    Averages over the trained tokens are only nearly unbiased, since their number varies.
    """
    advantages = []
    for group in groups:
        chances = np.array([sample.survival for sample in group.samples])
        started = max(max(sample.started for sample in group.samples), len(group.samples))
        weighed = group.rewards / chances
        baseline = (weighed.sum() - weighed) / (started - 1) if started > 1 else 0.0
        advantages.append((group.rewards - baseline) / chances)
    return every_token(groups, np.concatenate(advantages))
