"""Estimators that weigh group advantages by entropy.

Entropies are estimated from the rollouts themselves: a token's negative log-probability under the
policy that sampled it has the entropy as its mean.
"""

from collections.abc import Sequence

import numpy as np

from hexathlon.baselines.algorithms.estimators import ESTIMATORS, Credit, every_token
from hexathlon.baselines.algorithms.group_relative import standardise
from hexathlon.baselines.algorithms.samples import Array, Group

__all__ = ["aepo", "entropy_damped"]


@ESTIMATORS.register("aepo")
def aepo(
    groups: Sequence[Group],
    values: Sequence[Array] | None = None,
    *,
    gain: float = 0.3,
    eps: float = 1e-6,
) -> Credit:
    """GRPO's advantage, larger at uncertain tokens (AEPO's entropy-aware advantage).

    A_t = A (1 + gain * h_t), h_t in [0, 1] the token's negative log-probability over the largest of
    its group. Chosen here: that estimate of entropy and its normalisation.
    """
    advantages: list[Array] = []
    weights: list[Array] = []
    for group in groups:
        largest = max((float(-s.behaviour.min()) for s in group.samples), default=0.0)
        for sample, advantage in zip(group.samples, standardise(group.rewards, eps), strict=True):
            share = -sample.behaviour / largest if largest > 0 else 0.0 * sample.behaviour
            advantages.append(sample.sampled * advantage * (1.0 + gain * share))
            weights.append(sample.sampled.astype(np.float64))
    return Credit(advantages, weights)


@ESTIMATORS.register("entropy_damped")
def entropy_damped(
    groups: Sequence[Group],
    values: Sequence[Array] | None = None,
    *,
    damping: float = 0.5,
    eps: float = 1e-6,
) -> Credit:
    """GRPO's advantage, smaller for overconfident rollouts (ETTRL's and ECHO's reshaping).

    A_i = A (1 - damping * (1 - H_i / max H)), H_i the mean negative log-probability of rollout i.
    It keeps majority labels from rewarding early agreement. Chosen here: that form.
    """
    advantages = []
    for group in groups:
        entropy = np.array([-float(s.behaviour[s.sampled].mean()) for s in group.samples])
        most = float(entropy.max())
        share = entropy / most if most > 0 else np.ones_like(entropy)
        advantages.append(standardise(group.rewards, eps) * (1.0 - damping * (1.0 - share)))
    return every_token(groups, np.concatenate(advantages))
