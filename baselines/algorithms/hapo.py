"""HAPO: advantages and bounds that follow the entropy of each token.

Its four parts are the estimator, the token rule and the surrogate of this name, and the sampling
temperature by entropy, `rollout.heat`.
"""

from collections.abc import Sequence

import numpy as np
import torch

from hexathlon.baselines.algorithms.estimators import ESTIMATORS, Credit, every_token
from hexathlon.baselines.algorithms.group_relative import standardise
from hexathlon.baselines.algorithms.losses import SURROGATES, TokenBatch, TokenLoss
from hexathlon.baselines.algorithms.samples import Array, Group
from hexathlon.baselines.algorithms.token_rules import TOKEN_RULES, TokenContext

__all__ = ["entropy_rank", "entropy_scale", "hapo_estimator", "hapo_rule", "hapo_surrogate"]


@ESTIMATORS.register("hapo")
def hapo_estimator(
    groups: Sequence[Group], values: Sequence[Array] | None = None, *, most: float = 5.0
) -> Credit:
    """Reward standardised over the group's tokens instead of its rollouts (HAPO).

    Mean and deviation weigh each rollout by its tokens. Where that gives an advantage of `most` or
    more, GRPO's is used.
    """
    advantages = []
    for group in groups:
        size = np.array([sample.tokens for sample in group.samples], dtype=np.float64)
        share = size / max(size.sum(), 1.0)
        centred = group.rewards - share @ group.rewards
        scaled = centred / (np.sqrt(share @ centred**2) + 1e-6)
        far = bool(np.abs(scaled).max() >= most)
        advantages.append(standardise(group.rewards, 1e-6) if far or not group.varies else scaled)
    return every_token(groups, np.concatenate(advantages))


def entropy_rank(entropies: Sequence[Array], trained: Sequence[Array]) -> list[Array]:
    """Return HAPO's scaled log-entropy of each token, from -1, the lowest, to 1; 0 at the median.

    h = (log H - median) / deviation over the trained tokens, then h / max h where positive and
    h / |min h| where negative. The released code divides the latter by the negative minimum, so
    that no token counts as certain; the absolute value is meant.
    """
    scale = entropy_scale(entropies, trained)
    if scale is None:
        return [np.zeros_like(entropy) for entropy in entropies]
    lowest, median, highest = scale
    above, below = max(highest - median, 1e-12), max(median - lowest, 1e-12)
    ranks = []
    for log, mask in zip(map(_logarithms, entropies), trained, strict=True):
        centred = log - median
        scaled = np.where(centred > 0, centred / above, centred / below)
        ranks.append(np.where(mask > 0, scaled, 0.0))
    return ranks


def entropy_scale(
    entropies: Sequence[Array], trained: Sequence[Array]
) -> tuple[float, float, float] | None:
    """Return lowest, median and highest log-entropy of the trained tokens; None if all are equal.

    Args:
        entropies: Of each token, in nats, per sample `[tokens]`.
        trained: Weights of the tokens, per sample `[tokens]`.
    """
    parts = zip(map(_logarithms, entropies), trained, strict=True)
    pool = np.concatenate([log[weight > 0] for log, weight in parts])
    if len(pool) == 0 or pool.max() == pool.min():
        return None
    return float(pool.min()), float(np.median(pool)), float(pool.max())


def _logarithms(entropies: Array) -> Array:
    return np.log(np.maximum(entropies, 1e-6))


@TOKEN_RULES.register("hapo")
def hapo_rule(credit: Credit, context: TokenContext) -> Credit:
    """Add the scaled entropies that the surrogate `hapo` reads."""
    ranks = entropy_rank(context.entropies, credit.weights)
    return credit._replace(streams={**credit.streams, "entropy rank": ranks})


@SURROGATES.register("hapo")
def hapo_surrogate(
    batch: TokenBatch, bounds: tuple[float, float], *, alpha: float = 0.2, beta: float = 0.2
) -> TokenLoss:
    """PPO whose bounds and advantages follow the token's entropy (HAPO).

    With h the scaled entropy of the token rule `hapo`, from -1 to 1, and bounds 1 - low and
    1 + high: certain tokens (h <= 0) get the lower bound 1 - low (1 - alpha h), uncertain ones the
    upper bound 1 + high (1 + alpha h). The advantage is multiplied by 1 + beta h, for uncertain
    tokens outside the neutral band from 1 - low / 2 to 1 + high / 2 of the ratio, for certain ones
    inside it. Without the rule it is PPO.
    """
    rank = batch.stream("entropy rank")
    low, high = 1.0 - bounds[0], bounds[1] - 1.0
    ratio = batch.log_ratio().exp()
    neutral = (ratio >= 1.0 - low / 2.0) & (ratio <= 1.0 + high / 2.0)
    scaled = torch.where((rank > 0) != neutral, 1.0 + beta * rank, torch.ones_like(rank))
    advantage = batch.advantage * scaled.detach()
    lowest = 1.0 - low * (1.0 - alpha * rank.clamp(max=0.0))
    highest = 1.0 + high * (1.0 + alpha * rank.clamp(min=0.0))
    plain = -advantage * ratio
    held = -advantage * torch.minimum(torch.maximum(ratio, lowest), highest)
    values = torch.maximum(plain, held) * batch.mask
    return TokenLoss(values, (held > plain).to(values.dtype) * batch.mask)
