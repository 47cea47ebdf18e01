"""Estimators for groups in which some rollouts had a hint, or contexts of their own."""

from collections.abc import Sequence

import numpy as np

from hexathlon.baselines.algorithms.estimators import ESTIMATORS, Credit, every_token
from hexathlon.baselines.algorithms.group_relative import standardise
from hexathlon.baselines.algorithms.hints import PLAIN
from hexathlon.baselines.algorithms.samples import Array, Group, turns_given

__all__ = ["ad_hint", "nudge"]


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


@ESTIMATORS.register("nudge")
def nudge(
    groups: Sequence[Group],
    values: Sequence[Array] | None = None,
    *,
    across: float = 1.1,
    distil: float = 0.1,
    eps: float = 1e-6,
) -> Credit:
    """Advantages within and across contexts (NudgeRL).

    B = (R - mean of the context) + `across` * (mean of the context - mean of all); without a
    context, B = R - mean of all. A is B standardised over the group. Copies without context, from
    the filter `with_plain_copies`, get `distil` * A, which distils what contexts found into the
    plain prompt. Chosen here: copies are trained with the recipe's surrogate, whose ratio starts
    from the prompt with context.
    """
    advantages = []
    for group in groups:
        copies = np.array([sample.key.endswith(PLAIN) for sample in group.samples])
        own = [sample for sample in group.samples if not sample.key.endswith(PLAIN)]
        rewards = np.array([sample.reward for sample in own])
        bonus = rewards - rewards.mean()
        for context in {sample.context for sample in own} - {""}:
            members = np.array([sample.context == context for sample in own])
            mean = rewards[members].mean()
            bonus[members] = rewards[members] - mean + across * (mean - rewards.mean())
        result = np.zeros(len(copies))
        result[~copies] = standardise(bonus, eps) if len(bonus) > 1 else bonus
        by_key = dict(zip([s.key for s in own], result[~copies], strict=True))
        for place in np.flatnonzero(copies):
            key = group.samples[int(place)].key.removesuffix(PLAIN)
            result[place] = distil * by_key.get(key, 0.0)
        advantages.append(result)
    return every_token(groups, np.concatenate(advantages))
