"""Filters and shapings that read which turns had failed tool calls.

Samples from events that do not count failed calls pass unchanged.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hexathlon.baselines.algorithms.samples import Group, Sample
from hexathlon.baselines.pipeline.filters import FILTERS
from hexathlon.baselines.pipeline.lateness import withheld_of
from hexathlon.baselines.pipeline.shaping import SHAPINGS

__all__ = ["exploration", "mask_errors", "penalty_of", "resample_on_correct"]


def penalty_of(sample: Sample) -> float:
    """Return GRPO-RoC's penalty: the share of turns with a failed call, plus 1 if it was cut off.

    A rollout of one turn made no call before its answer and counts as a share of 1/2.
    """
    turns = len(sample.rewards)
    failed = sum(count > 0 for count in sample.errors)
    return (0.5 if turns == 1 else failed / turns) + float(not sample.finished)


@FILTERS.register("resample_on_correct")
def resample_on_correct(
    groups: Sequence[Group], *, keep: int = 8, least: int = 2, threshold: float = 1.0
) -> list[Group]:
    """Keep the cleanest successes, and failures as they come (GRPO-RoC, rStar2-Agent).

    Of a group with more than `keep` rollouts, successes and failures are kept in the group's
    proportion, at least `least` of each where there are as many: successes with the lowest penalty,
    see `penalty_of`, and evenly spaced failures, whose kinds of errors stay represented.
    Chosen here: instead of an answer tag, a rollout must have ended by itself.

    Raises:
        ValueError: If `keep` is below twice `least`, or `least` is negative.
    """
    if least < 0 or keep < max(2 * least, 1):
        raise ValueError(f"expected keep of at least twice least, got keep={keep}, least={least}")
    kept = []
    for group in groups:
        if len(group.samples) > keep:
            won = np.flatnonzero(group.rewards >= threshold)
            lost = np.flatnonzero(group.rewards < threshold)
            share = round(keep * len(won) / len(group.samples))
            low = max(min(least, len(won)), keep - len(lost))
            count = min(max(share, low), len(won), keep - min(least, len(lost)))
            penalties = [penalty_of(group.samples[place]) for place in won]
            clean = won[np.argsort(penalties, kind="stable")[:count]]
            spaced = lost[np.linspace(0, len(lost) - 1, keep - count).round().astype(int)]
            chosen = sorted(int(place) for place in (*clean, *spaced))
            group = replace(group, samples=tuple(group.samples[place] for place in chosen))
        kept.append(group)
    return kept


@FILTERS.register("mask_errors")
def mask_errors(groups: Sequence[Group], *, threshold: float = 1.0) -> list[Group]:
    """Withhold the turns of successes whose tool calls failed (KAT-Coder's error-masked training).

    With the filter `successes` and the surrogate `sft` it is error-masked fine-tuning: the failed
    calls stay in the context, and the policy does not learn to make them. Chosen here: failures
    keep their turns, since a negative advantage may discourage the calls.
    """

    def masked(sample: Sample) -> Sample:
        failed = [turn for turn, count in enumerate(sample.errors) if count]
        if sample.reward < threshold or not failed:
            return sample
        span = sample.sampled & np.isin(sample.turn, failed)
        return replace(sample, withheld=withheld_of(sample) | span)

    return [replace(group, samples=tuple(map(masked, group.samples))) for group in groups]


@SHAPINGS.register("exploration")
def exploration(
    groups: Sequence[Group], *, bonus: float = 0.1, most: int = 3, threshold: float = 1.0
) -> list[Group]:
    """Add a bonus for effective intermediate calls (ReEx-SQL's exploration term).

    A turn before the last is effective if its calls succeeded and the rollout has not taken the
    same action before. The first `most` of them earn `bonus` / `most` each, in failures as well,
    which rewards looking before answering. Chosen here, since ReEx-SQL's weights are unknown: the
    bonus is limited to less than `threshold`, so that exploring never outranks a success.

    Raises:
        ValueError: If `most` is below 1, or `bonus` is not below `threshold`.
    """
    if most < 1 or bonus >= threshold:
        raise ValueError(
            f"expected most of at least 1 and bonus below {threshold}, got most={most} and "
            f"bonus={bonus}"
        )

    def shaped(sample: Sample) -> Sample:
        if len(sample.errors) != len(sample.rewards):
            return sample
        rewards, seen = list(sample.rewards), set[bytes]()
        for turn, failed in enumerate(sample.errors[:-1]):
            action = sample.ids[sample.turn == turn].tobytes()
            if action and not failed and action not in seen and len(seen) < most:
                seen.add(action)
                rewards[turn] += bonus / most
        return replace(sample, rewards=tuple(rewards))

    return [replace(group, samples=tuple(map(shaped, group.samples))) for group in groups]
