"""Critic-free estimators that compare a rollout with others of the same task.

Formulas and their sources: docs/notes/methods.md. Groups with equal rewards get 0.
"""

from collections.abc import Sequence

import numpy as np

from hexathlon.baselines.algorithms.estimators import (
    ESTIMATORS,
    Credit,
    all_samples,
    every_token,
    whiten,
)
from hexathlon.baselines.algorithms.samples import Array, Group, spread, turns_of

__all__ = ["dr_grpo", "grpo", "lite_ppo", "max_rl", "mc_grpo", "reinforce", "rloo", "standardise"]


def standardise(rewards: Array, eps: float) -> Array:
    """Return (R - mean) / (std + eps) with the unbiased deviation.

    A single member has no comparison: mean 0, deviation 1.
    """
    if len(rewards) == 1:
        return rewards / (1.0 + eps)
    if rewards.max() == rewards.min():
        return np.zeros_like(rewards)
    standardised: Array = (rewards - rewards.mean()) / (rewards.std(ddof=1) + eps)
    return standardised


@ESTIMATORS.register("reinforce")
def reinforce(
    groups: Sequence[Group], values: Sequence[Array] | None = None, *, baseline: float = 0.0
) -> Credit:
    """Episode return less a constant (Williams 1992)."""
    return every_token(groups, np.concatenate([g.rewards for g in groups]) - baseline)


@ESTIMATORS.register("grpo")
def grpo(
    groups: Sequence[Group], values: Sequence[Array] | None = None, *, eps: float = 1e-6
) -> Credit:
    """Reward standardised within the group (Shao et al. 2024, DeepSeekMath)."""
    return every_token(groups, np.concatenate([standardise(g.rewards, eps) for g in groups]))


@ESTIMATORS.register("dr_grpo")
def dr_grpo(groups: Sequence[Group], values: Sequence[Array] | None = None) -> Credit:
    """Reward less the group's mean, unscaled (Liu et al. 2025, Dr. GRPO)."""
    return every_token(groups, np.concatenate([g.rewards - g.rewards.mean() for g in groups]))


@ESTIMATORS.register("max_rl")
def max_rl(groups: Sequence[Group], values: Sequence[Array] | None = None) -> Credit:
    """Reward less the group's mean, divided by that mean; 0 where the mean is 0."""
    advantages = [
        (g.rewards - g.rewards.mean()) / g.rewards.mean()
        if g.rewards.mean() > 0
        else np.zeros(len(g.samples))
        for g in groups
    ]
    return every_token(groups, np.concatenate(advantages))


def _leave_one_out(rewards: Array) -> Array:
    n = len(rewards)
    return rewards if n == 1 else n / (n - 1) * (rewards - rewards.mean())


@ESTIMATORS.register("rloo")
def rloo(groups: Sequence[Group], values: Sequence[Array] | None = None) -> Credit:
    """Reward less the mean of the others (Ahmadian et al. 2024)."""
    return every_token(groups, np.concatenate([_leave_one_out(g.rewards) for g in groups]))


@ESTIMATORS.register("lite_ppo")
def lite_ppo(
    groups: Sequence[Group], values: Sequence[Array] | None = None, *, eps: float = 1e-6
) -> Credit:
    """Mean of the group, deviation of the batch (Liu et al. 2025, RL tricks study).

    The first of Lite PPO's two techniques; the second is the token-mean aggregation.
    """
    rewards = np.concatenate([g.rewards for g in groups])
    if len(rewards) < 2 or rewards.max() == rewards.min():
        return every_token(groups, np.zeros(len(rewards)))
    centred = np.concatenate([g.rewards - g.rewards.mean() for g in groups])
    return every_token(groups, centred / (rewards.std(ddof=1) + eps))


@ESTIMATORS.register("mc_grpo")
def mc_grpo(
    groups: Sequence[Group],
    values: Sequence[Array] | None = None,
    *,
    eps: float = 1e-3,
    rescale: bool = False,
) -> Credit:
    """Median for the baseline, median absolute deviation for the scale (MC-GRPO).

    The median's own sample, the pivot, is left out of the update, so n of n + 1 rollouts train.
    With an even number of rollouts the median is the mean of two samples, and the one nearest to it
    is left out. Where the median absolute deviation is 0 (more than half of the rewards are equal,
    as is common with binary rewards), dividing by it would give the others 1 / eps; the mean
    absolute deviation is used instead.

    Args:
        groups: Rollouts by task.
        values: Not used.
        eps: Added to the deviation.
        rescale: Multiply a group by n / (members with an advantage), as the reference code does.
    """
    advantages, kept = [], []
    for group in groups:
        deviations = group.rewards - np.median(group.rewards)
        scale = float(np.median(np.abs(deviations))) or float(np.abs(deviations).mean())
        scaled = deviations / (scale + eps)
        if rescale and scaled.any():
            scaled = scaled * (len(scaled) - 1) / np.count_nonzero(scaled)
        trained = np.ones(len(scaled))
        if len(scaled) > 1:
            trained[int(np.argmin(np.abs(deviations)))] = 0.0
        advantages.append(scaled)
        kept.append(trained)
    credit = every_token(groups, np.concatenate(advantages))
    weights = [w * k for w, k in zip(credit.weights, np.concatenate(kept), strict=True)]
    return credit._replace(weights=weights)


def _discounted(rewards: Array, gamma: float) -> Array:
    """Return the discounted sum of rewards from each step on."""
    result, running = np.zeros(len(rewards)), 0.0
    for step in range(len(rewards) - 1, -1, -1):
        running = float(rewards[step]) + gamma * running
        result[step] = running
    return result


@ESTIMATORS.register("reinforce_pp")
def reinforce_pp(
    groups: Sequence[Group],
    values: Sequence[Array] | None = None,
    *,
    gamma: float = 1.0,
    baseline: bool = False,
    eps: float = 1e-8,
) -> Credit:
    """Discounted returns per token, whitened over the batch (Hu et al. 2025, REINFORCE++).

    A turn's reward is on its last token. A penalty towards a reference is the objective's `beta`.

    Args:
        groups: Rollouts by task.
        values: Not used.
        gamma: Discount per sampled token.
        baseline: Subtract the group's mean from each rollout's reward first (the baseline form).
        eps: Added to the deviation.
    """
    samples, returns = all_samples(groups), []
    for group in groups:
        mean = group.rewards.mean() if baseline else 0.0
        for sample in group.samples:
            per_token = np.zeros(len(sample.ids))
            last = 0
            for turn, positions in enumerate(turns_of(sample)):
                last = int(positions[-1]) if len(positions) else last
                per_token[last] += sample.rewards[turn]
            per_token[last] -= mean
            discounted = np.zeros(len(sample.ids))
            discounted[sample.sampled] = _discounted(per_token[sample.sampled], gamma)
            returns.append(discounted)
    credit = Credit(returns, [sample.sampled.astype(np.float64) for sample in samples])
    return credit._replace(advantages=whiten(returns, samples, eps))


@ESTIMATORS.register("gigpo")
def gigpo(
    groups: Sequence[Group],
    values: Sequence[Array] | None = None,
    *,
    gamma: float = 0.95,
    omega: float = 1.0,
    scale: bool = False,
    eps: float = 1e-6,
) -> Credit:
    """Episode advantage plus the advantage among equal states (Feng et al. 2025, GiGPO).

    Turns of a task's rollouts that began in the same state are compared by their discounted
    returns; a state that occurs once adds nothing.

    Args:
        groups: Rollouts by task, their samples with `states`.
        values: Not used.
        gamma: Discount per turn.
        omega: Weight of the advantage among equal states.
        scale: Divide both parts by their deviations.
        eps: Added to the deviations.

    Raises:
        ValueError: If a sample lacks the state before one of its turns.
    """
    advantages = []
    for group in groups:
        episode = standardise(group.rewards, eps) if scale else group.rewards - group.rewards.mean()
        anchors: dict[str, list[tuple[int, int, float]]] = {}
        for member, sample in enumerate(group.samples):
            if len(sample.states) != len(sample.rewards):
                raise ValueError(
                    f"gigpo needs the state before each turn; sample {sample.key or member} has "
                    f"{len(sample.states)} states for {len(sample.rewards)} turns"
                )
            returns = _discounted(np.asarray(sample.rewards), gamma)
            for turn, state in enumerate(sample.states):
                anchors.setdefault(state, []).append((member, turn, float(returns[turn])))
        by_turn = [np.full(len(s.rewards), e) for s, e in zip(group.samples, episode, strict=True)]
        for visits in anchors.values():
            if len(visits) < 2:
                continue
            values_here = np.array([value for _, _, value in visits])
            relative = standardise(values_here, eps) if scale else values_here - values_here.mean()
            for (member, turn, _), advantage in zip(visits, relative, strict=True):
                by_turn[member][turn] += omega * advantage
        advantages += [spread(s, turns) for s, turns in zip(group.samples, by_turn, strict=True)]
    samples = all_samples(groups)
    return Credit(advantages, [sample.sampled.astype(np.float64) for sample in samples])


@ESTIMATORS.register("ipa")
def ipa(
    groups: Sequence[Group],
    values: Sequence[Array] | None = None,
    *,
    gamma: float = 1.0,
    baseline: bool = True,
) -> Credit:
    """Return of each interaction chunk, shared by its tokens (after IPA of the ALE report).

    A chunk is what the policy wrote before the environment's next observation: a turn. The chunk
    ratio is in the `ipa` surrogate, its band in the `chunk_band` correction.

    Args:
        groups: Rollouts by task.
        values: Not used.
        gamma: Discount per chunk.
        baseline: Subtract the mean return of the group's first chunks.
    """
    advantages = []
    for group in groups:
        returns = [_discounted(np.asarray(s.rewards), gamma) for s in group.samples]
        mean = float(np.mean([r[0] for r in returns if len(r)])) if baseline else 0.0
        advantages += [spread(s, r - mean) for s, r in zip(group.samples, returns, strict=True)]
    samples = all_samples(groups)
    return Credit(advantages, [sample.sampled.astype(np.float64) for sample in samples])
