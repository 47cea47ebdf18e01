"""Estimators that credit sets of rollouts, segments of one, or how likely a rollout was.

Where a paper's abstract leaves a formula open, the docstring says what was chosen.
"""

from collections.abc import Sequence

import numpy as np

from hexathlon.baselines.algorithms.estimators import (
    ESTIMATORS,
    Credit,
    all_samples,
    every_token,
)
from hexathlon.baselines.algorithms.group_relative import standardise
from hexathlon.baselines.algorithms.samples import Array, Group, spread

__all__ = ["polychromic", "segpo", "xrpo"]


@ESTIMATORS.register("polychromic")
def polychromic(
    groups: Sequence[Group], values: Sequence[Array] | None = None, *, size: int = 4
) -> Credit:
    """Members of a set share its mean reward times its diversity (polychromic objectives).

    f(set) = mean reward * share of distinct token sequences; a member's advantage is f of its set
    less the mean of f over the group's sets. Chosen here: sets are consecutive members, a remainder
    joins the last set. With a structure that forks (vine sampling), members share their prefix.

    Raises:
        ValueError: If `size` is below 2.
    """
    if size < 2:
        raise ValueError(f"expected sets of at least 2 rollouts, got size={size}")
    advantages = []
    for group in groups:
        starts = range(0, max(len(group.samples) - size, 0) + 1, size)
        ends = [*starts[1:], len(group.samples)]
        worth = []
        for start, end in zip(starts, ends, strict=True):
            distinct = {sample.ids.tobytes() for sample in group.samples[start:end]}
            worth.append(group.rewards[start:end].mean() * len(distinct) / (end - start))
        by_set = np.array(worth) - np.mean(worth)
        advantages.append(np.repeat(by_set, np.diff([*starts, len(group.samples)])))
    return every_token(groups, np.concatenate(advantages))


@ESTIMATORS.register("segpo")
def segpo(
    groups: Sequence[Group],
    values: Sequence[Array] | None = None,
    *,
    whole: float = 1.0,
    eps: float = 1e-6,
) -> Credit:
    """Each turn's reward standardised among the same turn of the group (after EIFBENCH's SegPO).

    A segment is a turn, so this suits events whose requests arrive turn by turn. Chosen here:
    the standardised reward of the whole rollout is added, times `whole`; a rollout that ended
    before a turn is not compared there.
    """
    advantages = []
    for group in groups:
        by_turn = [
            np.full(len(sample.rewards), whole * total)
            for sample, total in zip(group.samples, standardise(group.rewards, eps), strict=True)
        ]
        for turn in range(max(len(sample.rewards) for sample in group.samples)):
            members = [n for n, s in enumerate(group.samples) if len(s.rewards) > turn]
            if len(members) < 2:
                continue
            rewards = np.array([group.samples[n].rewards[turn] for n in members])
            for member, advantage in zip(members, standardise(rewards, eps), strict=True):
                by_turn[member][turn] += advantage
        advantages += [spread(s, turns) for s, turns in zip(group.samples, by_turn, strict=True)]
    weights = [sample.sampled.astype(np.float64) for sample in all_samples(groups)]
    return Credit(advantages, weights)


@ESTIMATORS.register("xrpo")
def xrpo(
    groups: Sequence[Group],
    values: Sequence[Array] | None = None,
    *,
    bonus: float = 1.0,
    most: float = 0.5,
    threshold: float = 1.0,
    eps: float = 1e-6,
) -> Credit:
    """GRPO's advantage, raised for successes that the policy found unlikely (XRPO's novelty).

    A success with advantage A gets A + min(bonus * (1 - eta), most * A), where eta, at most 1, is
    exp(its mean log-probability less the mean of the group's rollouts).
    """
    advantages = []
    for group in groups:
        standard = standardise(group.rewards, eps)
        likely = np.array([s.behaviour[s.sampled].mean() for s in group.samples])
        unlikely = 1.0 - np.minimum(np.exp(likely - likely.mean()), 1.0)
        extra = np.minimum(bonus * unlikely, most * np.maximum(standard, 0.0))
        advantages.append(standard + np.where(group.rewards >= threshold, extra, 0.0))
    return every_token(groups, np.concatenate(advantages))
