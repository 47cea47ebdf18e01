"""Metrics of asynchronous updates: counts, lengths, and the staleness of the trained tokens."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

__all__ = ["UpdateCounts", "asynchronous_metrics"]

_COUNTED = (
    "groups/dropped",
    "groups/redrawn",
    "rollouts/cut",
    "rollouts/redundant",
    "tokens/withheld",
)


class UpdateCounts(NamedTuple):
    """What one rank counted during an update."""

    counts: Counter[str]
    ages: Counter[int]
    """Trained tokens by age in updates."""

    offered: list[int]
    """Sampled tokens of each rollout that ended."""

    trained: list[int]
    """Sampled tokens of each rollout trained on."""


def asynchronous_metrics(parts: Iterable[UpdateCounts], staleness: int) -> dict[str, float]:
    """Return the metrics of an update.

    `length/offered` is the mean number of sampled tokens of the rollouts that ended since the last
    update, `length/trained` the same for those trained on; `staleness/N` is the fraction of the
    trained tokens that are N updates old.

    Args:
        parts: The counts of every rank.
        staleness: Largest age with a metric of its own.
    """
    counts, ages = Counter[str](), Counter[int]()
    offered: list[int] = []
    trained: list[int] = []
    for part in parts:
        counts += part.counts
        ages += part.ages
        offered += part.offered
        trained += part.trained
    total = max(1, ages.total())
    return {
        **{name: float(counts[name]) for name in _COUNTED},
        **{f"staleness/{age}": ages[age] / total for age in range(staleness + 1)},
        "staleness/later": sum(ages[age] for age in ages if age > staleness) / total,
        "staleness/mean": sum(age * ages[age] for age in ages) / total,
        "length/offered": _mean(offered),
        "length/trained": _mean(trained),
    }


def _mean(values: Sequence[int]) -> float:
    return float(np.mean(values)) if values else 0.0
