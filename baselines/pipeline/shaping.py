"""Shapings: rewards transformed before credit assignment, group by group."""

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hexathlon.baselines.algorithms.registry import Registry
from hexathlon.baselines.algorithms.samples import Array, Group, Sample
from hexathlon.baselines.pipeline.contexts import EFFORT
from hexathlon.baselines.pipeline.task_statistics import TaskStatistics

__all__ = [
    "SHAPINGS",
    "Shaping",
    "added",
    "effort",
    "fapo",
    "moa",
    "mode_cost",
    "overlong",
    "overlong_penalty",
    "pivot_weights",
    "shape",
    "tool_gain",
]


Shaping = Callable[..., list[Group]]
"""Maps groups to the same groups with changed rewards; one with a parameter `past` also gets the
statistics of earlier batches."""


SHAPINGS: Registry[Shaping] = Registry("reward shaping")


def shape(
    name: str, groups: Sequence[Group], past: TaskStatistics, **parameters: Any
) -> list[Group]:
    """Apply a shaping; give it the statistics if it has a parameter `past`."""
    part = SHAPINGS[name]
    if "past" in inspect.signature(part).parameters:
        return part(groups, past, **parameters)
    return part(groups, **parameters)


def added(sample: Sample, extra: float) -> Sample:
    """Add to the reward of the last turn."""
    return replace(sample, rewards=(*sample.rewards[:-1], sample.rewards[-1] + extra))


def _each(groups: Sequence[Group], extra: Sequence[Sequence[float]]) -> list[Group]:
    return [
        replace(group, samples=tuple(map(added, group.samples, more)))
        for group, more in zip(groups, extra, strict=True)
    ]


def overlong_penalty(length: int, limit: int, cushion: int) -> float:
    """Return DAPO's soft overlong penalty (Yu et al. 2025, equation 13).

    0 up to `limit - cushion`, then linearly down to -1 at `limit`, and -1 beyond.
    """
    start = limit - cushion
    if length <= start:
        return 0.0
    return max((start - length) / cushion, -1.0)


@SHAPINGS.register("overlong")
def overlong(
    groups: Sequence[Group], *, limit: int = 4096, cushion: int = 512, factor: float = 1.0
) -> list[Group]:
    """Add `factor` times DAPO's penalty for the number of sampled tokens."""
    return _each(
        groups,
        [[factor * overlong_penalty(s.tokens, limit, cushion) for s in g.samples] for g in groups],
    )


@SHAPINGS.register("fapo")
def fapo(groups: Sequence[Group], *, penalty: float = 1.0) -> list[Group]:
    """Subtract a penalty from correct rollouts with a flawed process (FAPO).

    While most rollouts fail, a flawed success is still above the group's mean and reinforced; once
    clean successes dominate, it is below. Wrong answers are not penalised.
    """
    return _each(
        groups,
        [[-penalty * (s.flawed and s.reward > 0) for s in g.samples] for g in groups],
    )


def pivot_weights(objectives: Array, temperature: float = 1.0) -> Array:
    """Return weights of rubric dimensions, larger where the group scores lower (after MOA).

    Args:
        objectives: `[members, dimensions]`, in [0, 1].
        temperature: High values give even weights, low ones select the weakest dimension.

    Returns:
        `[dimensions]`, summing to 1. Dimensions on which all members agree carry no signal and get
        0; if all do, the weights are equal.
    """
    room = 1.0 - objectives.mean(axis=0)
    useful = objectives.max(axis=0) > objectives.min(axis=0)
    if not useful.any():
        return np.full(objectives.shape[1], 1.0 / objectives.shape[1])
    scaled = np.where(useful, np.exp((room - room.max()) / temperature), 0.0)
    weights: Array = scaled / scaled.sum()
    return weights


@SHAPINGS.register("moa")
def moa(groups: Sequence[Group], *, temperature: float = 1.0) -> list[Group]:
    """Replace rewards by the pivot-weighted mean of the rubric's dimensions (after MOA).

    Raises:
        ValueError: If a sample has no rubric scores, or members of a group have different numbers.
    """
    shaped = []
    for group in groups:
        counts = {len(sample.objectives) for sample in group.samples}
        if len(counts) != 1 or counts == {0}:
            raise ValueError(
                f"moa needs the same rubric dimensions on all rollouts of {group.task}, got "
                f"{sorted(counts)} of them"
            )
        objectives = np.array([sample.objectives for sample in group.samples])
        scores = objectives @ pivot_weights(objectives, temperature)
        shaped.append([float(x - s.reward) for x, s in zip(scores, group.samples, strict=True)])
    return _each(groups, shaped)


@SHAPINGS.register("effort")
def effort(
    groups: Sequence[Group],
    past: TaskStatistics | None = None,
    *,
    share: float = 0.8,
    threshold: float = 1.0,
    running: bool = False,
) -> list[Group]:
    """Reward of successes only within `share` of the task's mean length (e1).

    Beyond it, a success's reward falls linearly to 0 at twice that length. A rollout with one of
    the contexts `efforts` has its own share. The mean is the group's, or with `running` a running
    one over the batches in which the task was played, as in e1, for tasks that recur.

    Raises:
        ValueError: If `share` is not positive.
    """
    if share <= 0:
        raise ValueError(f"share must be positive, got {share}")
    extra = []
    for group in groups:
        mean = float(np.mean([sample.tokens for sample in group.samples]))
        if running and past is not None:
            mean = past.lengths.get(group.task, mean)
        targets = [_effort_of(sample, share) * mean for sample in group.samples]
        over = [
            min(max(s.tokens / target - 1.0, 0.0), 1.0)
            for s, target in zip(group.samples, targets, strict=True)
        ]
        extra.append(
            [
                -part * s.reward * (s.reward >= threshold)
                for part, s in zip(over, group.samples, strict=True)
            ]
        )
    return _each(groups, extra)


def _effort_of(sample: Sample, share: float) -> float:
    if sample.context.startswith(EFFORT):
        return float(sample.context.removeprefix(EFFORT))
    return share


def _means(group: Group) -> tuple[float, float]:
    """Return the mean rewards of rollouts with one turn, and with more; NaN without any."""
    means = []
    for several in (False, True):
        rewards = [s.reward for s in group.samples if (len(s.rewards) > 1) is several]
        means.append(float(np.mean(rewards)) if rewards else math.nan)
    return means[0], means[1]


@SHAPINGS.register("tool_gain")
def tool_gain(groups: Sequence[Group], *, bonus: float = 0.1) -> list[Group]:
    """Add a bonus to rollouts with several turns where they score better (adaptive tool use).

    A rollout that ends in its first turn used no tool. Without rollouts of both kinds nothing
    changes.
    """
    return _each(
        groups,
        [
            [bonus * (len(s.rewards) > 1 and helps) for s in group.samples]
            for group, helps in ((g, _means(g)[1] > _means(g)[0]) for g in groups)
        ],
    )


@SHAPINGS.register("mode_cost")
def mode_cost(
    groups: Sequence[Group], *, factor: float = 0.3, threshold: float = 1.0
) -> list[Group]:
    """Lower the reward by its tokens where the shortest mode suffices (after A2FM).

    Where a rollout of one turn succeeds, a reward R becomes R (1 - factor * tokens / most tokens of
    the group). Chosen here: modes are told apart by their number of turns, and cost is counted in
    sampled tokens.
    """
    extra = []
    for group in groups:
        instant = any(len(s.rewards) == 1 and s.reward >= threshold for s in group.samples)
        most = max(sample.tokens for sample in group.samples)
        extra.append(
            [-factor * s.reward * s.tokens / max(most, 1) * instant for s in group.samples]
        )
    return _each(groups, extra)
