"""Estimators with a critic: generalised advantage estimation over tokens or over turns."""

from collections.abc import Sequence

import numpy as np

from hexathlon.baselines.algorithms.estimators import ESTIMATORS, Credit, all_samples, whiten
from hexathlon.baselines.algorithms.samples import Array, Group, Sample, spread, turns_of

__all__ = ["gae", "gae_tokens", "gae_turns"]


def gae(rewards: Array, values: Array, gamma: float, lam: float) -> Array:
    """Generalised advantages along one axis (Schulman et al. 2016, equation 16).

    delta_t = r_t + gamma V_{t+1} - V_t and A_t = delta_t + gamma lam A_{t+1}; after the last step
    value and advantage are 0.

    Args:
        rewards: `[steps]`.
        values: `[steps]`, the critic's value before each step.
        gamma: Discount.
        lam: Decay.
    """
    advantages, following, value = np.zeros(len(rewards)), 0.0, 0.0
    for step in range(len(rewards) - 1, -1, -1):
        delta = rewards[step] + gamma * value - values[step]
        following = delta + gamma * lam * following
        advantages[step], value = following, values[step]
    return advantages


def _values(samples: Sequence[Sample], values: Sequence[Array] | None) -> Sequence[Array]:
    if values is None:
        raise ValueError("expected a critic's values, got none: give the recipe a [critic] table")
    if len(values) != len(samples):
        raise ValueError(f"expected values for {len(samples)} samples, got {len(values)} arrays")
    return values


def _credit(
    advantages: list[Array], returns: list[Array], samples: Sequence[Sample], whitened: bool
) -> Credit:
    advantages = whiten(advantages, samples) if whitened else advantages
    return Credit(advantages, [sample.sampled.astype(np.float64) for sample in samples], returns)


def _last_of_turns(sample: Sample) -> Array:
    """Put each turn's reward on its last sampled token, or on the previous one if it has none."""
    rewards, last = np.zeros(len(sample.ids)), -1
    for reward, positions in zip(sample.rewards, turns_of(sample), strict=True):
        last = int(positions[-1]) if len(positions) else last
        if last >= 0:
            rewards[last] += reward
    return rewards


@ESTIMATORS.register("gae")
def gae_tokens(
    groups: Sequence[Group],
    values: Sequence[Array] | None = None,
    *,
    gamma: float = 1.0,
    lam: float = 0.95,
    whitened: bool = True,
) -> Credit:
    """Generalised advantages over sampled tokens; observations are skipped, their values unused.

    Raises:
        ValueError: If there are no values, or not one array per sample.
    """
    samples = all_samples(groups)
    advantages, returns = [], []
    for sample, value in zip(samples, _values(samples, values), strict=True):
        drawn, advantage = sample.sampled, np.zeros(len(sample.ids))
        advantage[drawn] = gae(_last_of_turns(sample)[drawn], np.asarray(value)[drawn], gamma, lam)
        advantages.append(advantage)
        returns.append(np.where(drawn, advantage + value, 0.0))
    return _credit(advantages, returns, samples, whitened)


@ESTIMATORS.register("gae_turns")
def gae_turns(
    groups: Sequence[Group],
    values: Sequence[Array] | None = None,
    *,
    gamma: float = 1.0,
    lam: float = 0.95,
    whitened: bool = True,
) -> Credit:
    """Generalised advantages over turns; a turn's value is that of its first sampled token.

    Raises:
        ValueError: If there are no values, or not one array per sample.
    """
    samples = all_samples(groups)
    advantages, returns = [], []
    for sample, value in zip(samples, _values(samples, values), strict=True):
        before = np.array([value[p[0]] if len(p) else 0.0 for p in turns_of(sample)])
        by_turn = gae(np.asarray(sample.rewards, dtype=np.float64), before, gamma, lam)
        advantages.append(spread(sample, by_turn))
        returns.append(spread(sample, by_turn + before))
    return _credit(advantages, returns, samples, whitened)
