"""Estimators and surrogates for tokens that the policy did not sample itself.

External samples are solutions of another policy, a person, or an older policy.
"""

from collections.abc import Sequence

import numpy as np
import torch

from hexathlon.baselines.algorithms.estimators import (
    ESTIMATORS,
    Credit,
    all_samples,
    every_token,
)
from hexathlon.baselines.algorithms.group_relative import standardise
from hexathlon.baselines.algorithms.losses import SURROGATES, TokenBatch, TokenLoss, ppo
from hexathlon.baselines.algorithms.samples import Array, Group

__all__ = ["otr", "rl_plus", "rl_plus_estimator"]


@ESTIMATORS.register("rl_plus")
def rl_plus_estimator(
    groups: Sequence[Group], values: Sequence[Array] | None = None, *, eps: float = 1e-6
) -> Credit:
    """GRPO with mean and deviation of the policy's own rollouts only (Dong et al. 2025, RL-PLUS).

    External samples are compared with them; where all own rewards are equal, the deviation is 1.
    The stream `external` is 1 on their tokens.
    """
    advantages, samples = [], all_samples(groups)
    for group in groups:
        own = group.rewards[[not sample.external for sample in group.samples]]
        if len(own) == len(group.samples):
            advantages.append(standardise(own, eps))
            continue
        mean = own.mean() if len(own) else 0.0
        scale = own.std(ddof=1) + eps if len(own) > 1 and own.max() > own.min() else 1.0
        advantages.append((group.rewards - mean) / scale)
    credit = every_token(groups, np.concatenate(advantages))
    marks = [sample.sampled * np.float64(sample.external) for sample in samples]
    return credit._replace(streams={"external": marks})


@SURROGATES.register("rl_plus")
def rl_plus(batch: TokenBatch, bounds: tuple[float, float], *, power: float = 0.5) -> TokenLoss:
    """PPO on own tokens, multiple importance sampling on external ones (RL-PLUS).

    External tokens have the unclipped ratio 2 p / (o + w) with probabilities p now, o at the start
    of the update, and w = (o + 1) / 2 for the unknown policy that wrote them; their advantage is
    multiplied by (1 - sg(p))^`power`, which raises unlikely tokens. Without the estimator
    `rl_plus` no token is external.
    """
    own = ppo(batch, bounds)
    now, before = batch.current.exp(), batch.proximal.exp()
    ratio = 2.0 * now / (before + 0.5 * (before + 1.0))
    advantage = batch.advantage * (1.0 - now.detach()).clamp(min=0.0) ** power
    outside = batch.stream("external") > 0
    values = torch.where(outside, -advantage * ratio * batch.mask, own.values)
    return TokenLoss(values, torch.where(outside, torch.zeros_like(values), own.clipped))


@SURROGATES.register("otr")
def otr(batch: TokenBatch, bounds: tuple[float, float], *, other: float = 0.0) -> TokenLoss:
    """Fine-tuning as a policy gradient over one token (OTR, One-Token Rollout).

    At each position candidates are drawn from the policy and rewarded with 1 if they equal the
    given token, else with `other`. Chosen here: the expectation over the candidates, whose gradient
    is (1 - other) p grad log p of the given token, instead of an average over K draws with the same
    mean; so the loss is -(1 - other) sg(p) log p. With `sft` every token weighs the same, here
    those that the policy finds likely weigh more. Advantages are not read.
    """
    values = -(1.0 - other) * batch.current.detach().exp() * batch.current * batch.mask
    return TokenLoss(values, torch.zeros_like(values))
