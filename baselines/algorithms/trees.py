"""Estimators on trees of rollouts: forked episodes share the turns before the fork.

Each turn of a sample names its node of the tree; equal names within a group are one turn that
several rollouts share. Such a turn is trained once: its tokens have the weight 1 / n in each of the
n rollouts that contain it.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from hexathlon.baselines.algorithms.estimators import ESTIMATORS, Credit, all_samples, whiten
from hexathlon.baselines.algorithms.group_relative import standardise
from hexathlon.baselines.algorithms.samples import Array, Group, spread

__all__ = ["node_values", "portool", "tree_groups", "tree_steps"]


def _check(group: Group) -> None:
    for number, sample in enumerate(group.samples):
        if len(sample.branches) != len(sample.rewards):
            raise ValueError(
                f"expected a node of the tree for each of the {len(sample.rewards)} turns of "
                f"sample {sample.key or number}, got {len(sample.branches)}"
            )


def node_values(group: Group) -> dict[str, float]:
    """Return the mean reward of the rollouts below each node: its Monte Carlo value."""
    below: dict[str, list[float]] = {}
    for sample in group.samples:
        for node in sample.branches:
            below.setdefault(node, []).append(sample.reward)
    return {node: float(np.mean(rewards)) for node, rewards in below.items()}


def _shared(group: Group) -> list[Array]:
    """Return weights under which a turn shared by several rollouts counts once."""
    holders = Counter(node for sample in group.samples for node in sample.branches)
    return [spread(s, [1.0 / holders[node] for node in s.branches]) for s in group.samples]


@ESTIMATORS.register("tree_steps")
def tree_steps(groups: Sequence[Group], values: Sequence[Array] | None = None) -> Credit:
    """A turn's advantage is its node's value less its parent's (TreePS-RAG).

    The root's value is the group's mean, so without a fork this is Dr. GRPO's advantage in the
    first turn and 0 afterwards.

    Raises:
        ValueError: If a sample does not name the node of each turn.
    """
    advantages, weights = [], []
    for group in groups:
        _check(group)
        value, root = node_values(group), float(group.rewards.mean())
        for sample in group.samples:
            worth = np.array([root, *(value[node] for node in sample.branches)])
            advantages.append(spread(sample, np.diff(worth)))
        weights += _shared(group)
    return Credit(advantages, weights)


@ESTIMATORS.register("tree_groups")
def tree_groups(
    groups: Sequence[Group], values: Sequence[Array] | None = None, *, whitened: bool = True
) -> Credit:
    """A rollout's reward less the means of its subtrees, weighted by size (TreePO).

    A_i = sum over subtrees g with i of n_g (R_i - mean_g) / sum of n_g; the whole tree counts as a
    subtree, a single rollout does not.

    Raises:
        ValueError: If a sample does not name the node of each turn.
    """
    advantages, weights = [], []
    for group in groups:
        _check(group)
        value, root = node_values(group), float(group.rewards.mean())
        size = Counter(node for sample in group.samples for node in sample.branches)
        for sample in group.samples:
            counts = [len(group.samples), *(size[n] for n in sample.branches if size[n] > 1)]
            means = [root, *(value[n] for n in sample.branches if size[n] > 1)]
            advantage = np.average(sample.reward - np.array(means), weights=counts)
            advantages.append(sample.sampled * advantage)
        weights += _shared(group)
    credit = Credit(advantages, weights)
    return (
        credit._replace(advantages=whiten(advantages, all_samples(groups))) if whitened else credit
    )


@ESTIMATORS.register("portool")
def portool(
    groups: Sequence[Group],
    values: Sequence[Array] | None = None,
    *,
    weight: float = 1.0,
    eps: float = 1e-6,
) -> Credit:
    """A rollout's standardised reward plus each turn's standing among its siblings (PORTool).

    Siblings are the turns that follow the same node, valued by the mean reward below them and
    standardised. Turns before a fork have no siblings. A turn that several rollouts share has one
    advantage, the mean of theirs.

    Raises:
        ValueError: If a sample does not name the node of each turn.
    """
    advantages, weights = [], []
    for group in groups:
        _check(group)
        standing = _standing(group, eps)
        whole: dict[str, list[float]] = {}
        for sample, advantage in zip(group.samples, standardise(group.rewards, eps), strict=True):
            for node in sample.branches:
                whole.setdefault(node, []).append(float(advantage))
        for sample in group.samples:
            by_turn = [float(np.mean(whole[n])) + weight * standing[n] for n in sample.branches]
            advantages.append(spread(sample, by_turn))
        weights += _shared(group)
    return Credit(advantages, weights)


def _standing(group: Group, eps: float) -> dict[str, float]:
    """Return each node's value, standardised among the nodes with the same parent."""
    value = node_values(group)
    siblings: dict[str, dict[str, float]] = {}
    for sample in group.samples:
        for parent, node in zip(("", *sample.branches), sample.branches, strict=False):
            siblings.setdefault(parent, {})[node] = value[node]
    standing = dict.fromkeys(value, 0.0)
    for nodes in siblings.values():
        if len(nodes) > 1:
            relative = standardise(np.array(list(nodes.values())), eps)
            standing.update(zip(nodes, map(float, relative), strict=True))
    return standing
