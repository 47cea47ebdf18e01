"""Estimators for groups in which some rollouts had a hint, or contexts of their own."""

from collections.abc import Sequence

import numpy as np

from hexathlon.baselines.algorithms.estimators import ESTIMATORS, Credit, every_token
from hexathlon.baselines.algorithms.group_relative import standardise
from hexathlon.baselines.algorithms.samples import Array, Group, turns_given

__all__ = ["ad_hint"]


@ESTIMATORS.register("ad_hint")
def ad_hint(
    groups: Sequence[Group], values: Sequence[Array] | None = None, *, eps: float = 1e-6
) -> Credit:
    """Rollouts with and without a hint are standardised apart and scaled (ADHint).

    With g the gain of the mean reward through the hint, in [0, 1], advantages without a hint are
    multiplied by 1 + g and those with one by 1 - g: where only hints succeed, own successes count
    most. Use with the hint `fading`, whose share is 1 - success, and `generate.hinted` below 1.
    Chosen here: this form of the relative difficulty. The hint's own tokens are never trained on,
    so that they need no modulation.
    """
    advantages = []
    for group in groups:
        given = np.array([turns_given(sample) > 0 for sample in group.samples])
        rewards, result = group.rewards, np.zeros(len(given))
        gain = 0.0
        if given.any() and not given.all():
            gain = float(np.clip(rewards[given].mean() - rewards[~given].mean(), 0.0, 1.0))
        for members, scale in ((given, 1.0 - gain), (~given, 1.0 + gain)):
            if members.sum() > 1:
                result[members] = scale * standardise(rewards[members], eps)
        advantages.append(result)
    return every_token(groups, np.concatenate(advantages))
