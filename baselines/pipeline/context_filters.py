"""Filters and shapings for rollouts with contexts."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hexathlon.baselines.algorithms.hints import PLAIN
from hexathlon.baselines.algorithms.hints import hint_free as without_hints
from hexathlon.baselines.algorithms.samples import Group
from hexathlon.baselines.pipeline.filters import FILTERS
from hexathlon.baselines.pipeline.shaping import SHAPINGS, added

__all__ = ["context_gain", "generation_gain", "hint_free", "with_plain_copies"]


@FILTERS.register("hint_free")
def hint_free(groups: Sequence[Group]) -> list[Group]:
    """Cut the contexts out of the prompts (Guide, HiFPO).

    Log-probabilities of the sampling stay those with the context. With
    `learn.objective.proximal = "behaviour"` the clipped ratio corrects for it; with the default,
    the correction `tis` does.
    """
    return [
        replace(group, samples=tuple(without_hints(s, s.hints) for s in group.samples))
        for group in groups
    ]


@FILTERS.register("with_plain_copies")
def with_plain_copies(groups: Sequence[Group]) -> list[Group]:
    """Add a copy without its context of each rollout that has one (NudgeRL's distillation)."""
    return [
        replace(
            group,
            samples=(
                *group.samples,
                *(
                    replace(without_hints(sample, sample.hints), key=sample.key + PLAIN)
                    for sample in group.samples
                    if sample.hints
                ),
            ),
        )
        for group in groups
    ]


@SHAPINGS.register("generation_gain")
def generation_gain(groups: Sequence[Group], *, factor: float = 0.5) -> list[Group]:
    """Add `factor` times a generation's gain over the one before it (Skill-R1).

    The contexts of a group, in the order of its rollouts, are generations of a skill, and rollouts
    without context the one before the first. All rollouts of a generation get the difference of the
    mean rewards. Chosen here: the gain between generations is part of the reward, so that any
    estimator can follow; revised skills have to be written into the contexts.
    """
    shaped = []
    for group in groups:
        contexts = [sample.context for sample in group.samples]
        order = sorted(set(contexts), key=lambda text: (text != "", contexts.index(text)))
        means = [float(np.mean(group.rewards[[c == text for c in contexts]])) for text in order]
        gains = {text: means[n] - means[max(n - 1, 0)] for n, text in enumerate(order)}
        samples = [added(s, factor * gains[s.context]) for s in group.samples]
        shaped.append(replace(group, samples=tuple(samples)))
    return shaped


@SHAPINGS.register("context_gain")
def context_gain(groups: Sequence[Group], *, bonus: float = 0.1) -> list[Group]:
    """Add a bonus to successes in contexts that score better than no context (TimeHC-RL).

    TimeHC-RL pays where answers on time-ordered events are better than on shuffled ones. Chosen
    here: the compared rollouts are those with and without a context, such as one that asks to put
    events in order; groups without both are unchanged.
    """
    shaped = []
    for group in groups:
        contexts = [sample.context for sample in group.samples]
        plain = group.rewards[[text == "" for text in contexts]]
        helpful = {
            text
            for text in set(contexts) - {""}
            if len(plain) and group.rewards[[c == text for c in contexts]].mean() > plain.mean()
        }
        samples = [
            added(s, bonus) if s.context in helpful and s.reward > 0 else s for s in group.samples
        ]
        shaped.append(replace(group, samples=tuple(samples)))
    return shaped
