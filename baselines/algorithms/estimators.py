"""The registry of advantage estimators.

An estimator maps groups to advantages, one array `[tokens]` per sample in the groups' order, 0
outside the sampled tokens. A sample that must not be trained (a pivot) gets no weight in the
returned weights. Estimators that need a critic read its values, one array per sample.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from hexathlon.baselines.algorithms.registry import Registry
from hexathlon.baselines.algorithms.samples import Array, Group, Sample

__all__ = ["ESTIMATORS", "Credit", "Estimator", "all_samples", "every_token", "whiten"]


class Credit(NamedTuple):
    """What an estimator says of the samples, in order."""

    advantages: list[Array]
    """Per sample `[tokens]`."""

    weights: list[Array]
    """Per sample `[tokens]`: 1 where a token is trained, 0 where not, or between."""

    returns: list[Array] | None = None
    """Targets for the critic, per sample `[tokens]`; None where there is none."""

    metrics: dict[str, float] = {}


Estimator = Callable[..., Credit]
"""From groups, and the critic's values where there is one, to credit."""


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


def whiten(
    advantages: Sequence[Array], samples: Sequence[Sample], eps: float = 1e-8
) -> list[Array]:
    """Shift and scale to mean 0 and unbiased deviation 1 over all sampled tokens of the batch."""
    drawn = np.concatenate([a[s.sampled] for a, s in zip(advantages, samples, strict=True)])
    if len(drawn) < 2:
        return [np.zeros_like(a) for a in advantages]
    mean, deviation = drawn.mean(), drawn.std(ddof=1)
    return [
        np.where(s.sampled, (a - mean) / (deviation + eps), 0.0)
        for a, s in zip(advantages, samples, strict=True)
    ]
