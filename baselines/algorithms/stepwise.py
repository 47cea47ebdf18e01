"""Critic-free estimators that also compare the same step of a task's rollouts.

They suit rollouts that all follow the same path, such as replayed recordings, where step t of every
rollout starts from the same screen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from hexathlon.baselines.algorithms.estimators import ESTIMATORS, Credit, all_samples
from hexathlon.baselines.algorithms.group_relative import standardise
from hexathlon.baselines.algorithms.samples import Array, Group, Sample, spread

__all__ = ["hifpo", "returns_until_mismatch", "ui_s1", "with_feedback"]


def returns_until_mismatch(rewards: Sequence[float], gamma: float) -> Array:
    """Return discounted returns that do not reach past a step without reward, `[turns]`.

    R_t = r_t + gamma * R_{t+1} where step t is rewarded; elsewhere R_t = r_t, and the sum restarts,
    so that a step is not credited for what the expert's patch made possible.
    """
    result, running = np.zeros(len(rewards)), 0.0
    for turn in range(len(rewards) - 1, -1, -1):
        running = rewards[turn] + gamma * running if rewards[turn] > 0 else 0.0
        result[turn] = running if rewards[turn] > 0 else rewards[turn]
    return result


def _relative(values: Array, scale: bool, eps: float) -> Array:
    """Return values less their mean, optionally over their deviation; 0 for a single value."""
    if len(values) < 2:
        return np.zeros_like(values)
    return standardise(values, eps) if scale else values - values.mean()


def _by_step(values: Sequence[Array], scale: bool, eps: float) -> list[Array]:
    """Compare the same turn of all members; members may differ in length."""
    result = [np.zeros(len(each)) for each in values]
    for turn in range(max(map(len, values), default=0)):
        members = [member for member, each in enumerate(values) if turn < len(each)]
        here = np.array([values[member][turn] for member in members])
        for member, advantage in zip(members, _relative(here, scale, eps), strict=True):
            result[member][turn] = advantage
    return result


def _credit(groups: Sequence[Group], by_turn: Sequence[Array]) -> Credit:
    samples = all_samples(groups)
    advantages = [spread(s, turns) for s, turns in zip(samples, by_turn, strict=True)]
    return Credit(advantages, [sample.sampled.astype(np.float64) for sample in samples])


@ESTIMATORS.register("ui_s1")
def ui_s1(
    groups: Sequence[Group],
    values: Sequence[Array] | None = None,
    *,
    gamma: float = 0.5,
    episode_weight: float = 1.0,
    step_weight: float = 1.0,
    scale: bool = True,
    eps: float = 1e-6,
) -> Credit:
    """Episode advantage plus the advantage among equal steps (Lu et al. 2025, UI-S1).

    The step level compares discounted returns up to the next mismatch, a step without reward.

    Args:
        groups: Rollouts by task, rewarded at every matching step.
        values: Not used.
        gamma: Discount per step.
        episode_weight: Weight of the advantage of the whole rollout.
        step_weight: Weight of the advantage among the same steps.
        scale: Divide both by their deviations.
        eps: Added to the deviations.
    """
    by_turn: list[Array] = []
    for group in groups:
        episode = _relative(group.rewards, scale, eps)
        returns = [returns_until_mismatch(s.rewards, gamma) for s in group.samples]
        steps = _by_step(returns, scale, eps)
        by_turn += [
            episode_weight * whole + step_weight * each
            for whole, each in zip(episode, steps, strict=True)
        ]
    return _credit(groups, by_turn)


@ESTIMATORS.register("hifpo")
def hifpo(
    groups: Sequence[Group],
    values: Sequence[Array] | None = None,
    *,
    step_weight: float = 0.5,
    eps: float = 1e-6,
) -> Credit:
    """Outcome advantage plus that of the judged steps (after HiFPO of MobileForge).

    A = A_outcome + `step_weight` * A_step, each standardised; a step is compared with the same step
    of the task's other rollouts. Steps are scored by the samples' `feedback`, or by the rewards of
    their turns if no judge gave any. The update is on prompts without hints, see `hint_free`.

    Args:
        groups: Rollouts by task.
        values: Not used.
        step_weight: Weight of the steps.
        eps: Added to the deviations.

    Raises:
        ValueError: If a sample has feedback, but not one for each turn.
    """
    by_turn: list[Array] = []
    for group in groups:
        outcome = _relative(group.rewards, True, eps)
        scores = [np.asarray(_feedback(s), dtype=np.float64) for s in group.samples]
        steps = _by_step(scores, True, eps)
        by_turn += [whole + step_weight * each for whole, each in zip(outcome, steps, strict=True)]
    return _credit(groups, by_turn)


def with_feedback(group: Group, feedback: Mapping[str, Sequence[float]]) -> Group:
    """Return a group whose samples carry a judge's scores of their steps.

    Args:
        group: Rollouts of a task.
        feedback: Scores, one per turn, by the samples' keys; samples without an entry keep theirs.
    """
    samples = [
        replace(each, feedback=tuple(feedback.get(each.key, each.feedback)))
        for each in group.samples
    ]
    return replace(group, samples=tuple(samples))


def _feedback(sample: Sample) -> Sequence[float]:
    if sample.feedback and len(sample.feedback) != len(sample.rewards):
        raise ValueError(
            f"hifpo needs feedback on each turn; sample {sample.key} has {len(sample.feedback)} "
            f"for {len(sample.rewards)} turns"
        )
    return sample.feedback or sample.rewards
