"""MOA: rubric dimensions weighed by how far they run ahead of their own trend."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hexathlon.baselines.algorithms.samples import Array, Group
from hexathlon.baselines.pipeline.shaping import SHAPINGS, added
from hexathlon.baselines.pipeline.task_statistics import TaskStatistics

__all__ = ["consistent", "moa_pivot", "trend_weights"]


def trend_weights(means: Array, beta: float) -> Array:
    """Return MOA's weights of the dimensions, `[dimensions]`, summing to 1.

    softmax(beta * u), with u the newest mean less its forecast by linear regression on the others.

    Args:
        means: `[batches, dimensions]`, the newest last; fewer than three give equal weights.
        beta: Sharpness.
    """
    if len(means) < 3:
        return np.full(means.shape[1], 1.0 / means.shape[1])
    steps = np.arange(len(means) - 1, dtype=np.float64)
    slope, start = np.polyfit(steps, means[:-1], 1)
    ahead = beta * (means[-1] - (start + slope * len(steps)))
    weights = np.exp(ahead - ahead.max())
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def consistent(scores: Array, pivot: Array) -> list[int]:
    """Return the largest set of members that both scores put into the same order, `[kept]`.

    The longest subsequence that does not rise in `pivot`, from the highest score down; of several,
    one without the members that score well overall and badly on the pivot.
    """
    order = np.lexsort((pivot, scores))[::-1]
    ends: list[int] = []  # the member that ends the best subsequence of each length
    before: dict[int, int] = {}
    for member in map(int, order):
        place = int(np.searchsorted([-pivot[end] for end in ends], -pivot[member], side="right"))
        before[member] = ends[place - 1] if place else -1
        ends[place : place + 1] = [member]
    kept, member = [], ends[-1]
    while member >= 0:
        kept.append(member)
        member = before[member]
    return sorted(kept)


@SHAPINGS.register("moa_pivot")
def moa_pivot(
    groups: Sequence[Group],
    past: TaskStatistics | None = None,
    *,
    batches: int = 8,
    beta: float = 5.0,
    least: int = 2,
) -> list[Group]:
    """Replace rewards by the weighted sum of the rubric's dimensions, without conflicts (MOA).

    The weights are `trend_weights` over the last `batches` means before this batch; the dimension
    with the largest is the pivot. Rollouts that score well overall but badly on the pivot are left
    out: the largest set is kept in which both orders agree, if it has at least `least` rollouts.
    Chosen here: this exact set, and a batch instead of a step where updates are asynchronous. The
    shaping `moa` needs no history.

    Raises:
        ValueError: If rollouts have no rubric scores, or different numbers of them.
    """
    counts = {len(sample.objectives) for group in groups for sample in group.samples}
    if len(counts) != 1 or counts == {0}:
        raise ValueError(
            f"moa_pivot needs the same rubric dimensions on all rollouts, got {sorted(counts)}"
        )
    (width,) = counts
    means = [row for row in (past.rubric if past else []) if len(row) == width][-batches - 1 :]
    weights = trend_weights(np.array(means).reshape(-1, width), beta)
    shaped = []
    for group in groups:
        objectives = np.array([sample.objectives for sample in group.samples])
        scores = objectives @ weights
        kept = consistent(scores, objectives[:, int(np.argmax(weights))])
        members = kept if len(kept) >= least else range(len(scores))
        samples = [
            added(s, float(scores[n]) - s.reward)
            for n, s in enumerate(group.samples)
            if n in members
        ]
        shaped.append(replace(group, samples=tuple(samples)))
    return shaped
