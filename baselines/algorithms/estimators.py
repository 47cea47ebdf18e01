"""The registry of advantage estimators.

An estimator maps groups to advantages, one array `[tokens]` per sample in the groups' order, 0
outside the sampled tokens. A sample that is not to be trained (a pivot) gets weight 0. Estimators
with a critic read its values, one array per sample.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from hexathlon.baselines.algorithms.registry import Registry
from hexathlon.baselines.algorithms.samples import Array, Group, Sample

__all__ = [
    "ESTIMATORS",
    "Credit",
    "Estimator",
    "all_samples",
    "every_token",
    "scaled_by_event",
    "whiten",
]


class Credit(NamedTuple):
    """An estimator's result for the samples, in order."""

    advantages: list[Array]
    """Per sample `[tokens]`."""

    weights: list[Array]
    """Per sample `[tokens]`: weights from 0, not trained, to 1."""

    returns: list[Array] | None = None
    """Targets of the critic, per sample `[tokens]`; None without a critic."""

    metrics: dict[str, float] = {}
    streams: dict[str, list[Array]] = {}
    """Further values by name, per sample `[tokens]`, for losses that read them."""


Estimator = Callable[..., Credit]
"""Maps groups, and a critic's values if there is one, to credit."""


ESTIMATORS: Registry[Estimator] = Registry("advantage estimator")


def all_samples(groups: Sequence[Group]) -> list[Sample]:
    """Return the samples of all groups in order."""
    return [sample for group in groups for sample in group.samples]


def every_token(groups: Sequence[Group], by_sample: Sequence[float] | Array) -> Credit:
    """Give all sampled tokens of a sample the same advantage."""
    samples = all_samples(groups)
    advantages: list[Array] = [
        sample.sampled * np.float64(a) for sample, a in zip(samples, by_sample, strict=True)
    ]
    return Credit(advantages, [sample.sampled.astype(np.float64) for sample in samples])


def scaled_by_event(credit: Credit, events: Sequence[str], eps: float = 1e-8) -> Credit:
    """Scale each event's advantages to a root mean square of 1 over its credited tokens.

    Args:
        credit: The credit of a batch with several events.
        events: The event of each sample.
        eps: Added to each root mean square.
    """
    squares: dict[str, float] = {}
    counts: dict[str, int] = {}
    for event, advantage, weight in zip(events, credit.advantages, credit.weights, strict=True):
        squares[event] = squares.get(event, 0.0) + float((advantage[weight > 0] ** 2).sum())
        counts[event] = counts.get(event, 0) + int((weight > 0).sum())
    scale = {name: 1.0 / (np.sqrt(squares[name] / max(counts[name], 1)) + eps) for name in counts}
    scale = {name: value if squares[name] > 0 else 1.0 for name, value in scale.items()}
    scaled = [a * scale[name] for name, a in zip(events, credit.advantages, strict=True)]
    return credit._replace(advantages=scaled)


def whiten(
    advantages: Sequence[Array], samples: Sequence[Sample], eps: float = 1e-8
) -> list[Array]:
    """Return advantages with mean 0 and unbiased deviation 1 over the batch's sampled tokens."""
    drawn = np.concatenate([a[s.sampled] for a, s in zip(advantages, samples, strict=True)])
    if len(drawn) < 2:
        return [np.zeros_like(a) for a in advantages]
    mean, deviation = drawn.mean(), drawn.std(ddof=1)
    return [
        np.where(s.sampled, (a - mean) / (deviation + eps), 0.0)
        for a, s in zip(advantages, samples, strict=True)
    ]
