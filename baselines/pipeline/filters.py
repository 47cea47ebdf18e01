"""Filters: the groups and rollouts that reach the learner."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from hexathlon.baselines.algorithms.registry import Registry
from hexathlon.baselines.algorithms.samples import Group
from hexathlon.baselines.algorithms.token_rules import most_varied

__all__ = [
    "FILTERS",
    "GroupFilter",
    "finished",
    "most_variance",
    "reachable",
    "successes",
    "varied",
]


GroupFilter = Callable[..., list[Group]]
"""Maps groups to those that are kept, possibly with fewer rollouts."""


FILTERS: Registry[GroupFilter] = Registry("filter")


@FILTERS.register("varied")
def varied(groups: Sequence[Group]) -> list[Group]:
    """Keep groups whose rewards differ.

    Equivalent to DAPO's dynamic sampling, since the training step plays further batches to replace
    dropped groups.
    """
    return [group for group in groups if group.varies]


@FILTERS.register("reachable")
def reachable(groups: Sequence[Group], *, low: float = 0.0, high: float = 1.0) -> list[Group]:
    """Keep groups whose mean reward lies strictly between two bounds."""
    return [group for group in groups if low < float(group.rewards.mean()) < high]


@FILTERS.register("finished")
def finished(groups: Sequence[Group], *, least: int = 2) -> list[Group]:
    """Drop rollouts cut off by a budget, and groups with fewer than `least` rollouts left."""
    kept = [
        replace(group, samples=tuple(sample for sample in group.samples if sample.finished))
        for group in groups
    ]
    return [group for group in kept if len(group.samples) >= least]


@FILTERS.register("most_variance")
def most_variance(groups: Sequence[Group], *, keep: int = 8) -> list[Group]:
    """Keep the rollouts of each group whose rewards have the largest variance (after D3S)."""
    return [
        replace(
            group,
            samples=tuple(group.samples[member] for member in most_varied(group.rewards, keep)),
        )
        if len(group.samples) > keep
        else group
        for group in groups
    ]


@FILTERS.register("successes")
def successes(groups: Sequence[Group], *, least: float = 1.0) -> list[Group]:
    """Keep rollouts with at least this reward; rejection sampling with the `sft` surrogate."""
    kept = [
        replace(group, samples=tuple(s for s in group.samples if s.reward >= least))
        for group in groups
    ]
    return [group for group in kept if group.samples]
