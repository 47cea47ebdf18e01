"""Shapings for policies that judge: likeness of critiques, and abstention.

They read a term of the verifier by its place in the order of the terms' names. Those of the source
`verdicts` are `abstained`, `critique` (likeness to the reference's grounds), `evidence` and `read`.
"""

import zlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hexathlon.baselines.algorithms.samples import Array, Group, Sample
from hexathlon.baselines.pipeline.shaping import SHAPINGS, added

__all__ = ["critiques", "predicted_likeness", "selective"]

_WIDTH = 64
"""Number of features of a critique: hashed counts of its tokens."""


def _term(sample: Sample, place: int) -> float:
    if not 0 <= place < len(sample.objectives):
        raise ValueError(
            f"{sample.key} has {len(sample.objectives)} terms of its verifier, and none at the "
            f"place {place}"
        )
    return sample.objectives[place]


def _features(sample: Sample) -> Array:
    counts = np.bincount(sample.ids[sample.sampled] % _WIDTH, minlength=_WIDTH).astype(np.float64)
    return np.append(counts / max(1.0, float(np.linalg.norm(counts))), 1.0)


def predicted_likeness(
    known: Sequence[Sample], targets: Sequence[float], others: Sequence[Sample], ridge: float
) -> Array:
    """Return MetaRM's prediction of the likeness of critiques without a reference, in [0, 1].

    Chosen here: ridge regression on hashed token counts, fitted anew to each batch's critiques with
    a reference, so that it follows the policy.
    """
    inputs = np.array([_features(sample) for sample in known])
    gram = inputs.T @ inputs + ridge * np.eye(inputs.shape[1])
    weights = np.linalg.solve(gram, inputs.T @ np.array(targets))
    if not others:
        return np.zeros(0)
    predicted: Array = np.array([_features(sample) for sample in others]) @ weights
    return np.clip(predicted, 0.0, 1.0)


@SHAPINGS.register("critiques")
def critiques(
    groups: Sequence[Group],
    *,
    factor: float = 0.2,
    referenced: float = 1.0,
    only_correct: bool = True,
    ridge: float = 1.0,
    term: int = 1,
) -> list[Group]:
    """Add `factor` times the likeness of a verdict's grounds to the reference's (RM-NLHF).

    R = R_outcome + factor * F1, F1 that of the critiques' core arguments. Where no reference
    exists, MetaRM predicts it. Chosen here: only right verdicts earn it by default, and a share
    `referenced` of the tasks, by the hash of their id, counts as having a reference.

    Raises:
        ValueError: If a sample has no such term, or no task of the batch has a reference.
    """
    has = [zlib.crc32(group.task.encode()) < referenced * 2**32 for group in groups]
    pairs = list(zip(groups, has, strict=True))
    known = [sample for group, given in pairs if given for sample in group.samples]
    unknown = [sample for group, given in pairs if not given for sample in group.samples]
    if unknown and not known:
        raise ValueError("no task of the batch has a reference: raise referenced or rollout.groups")
    targets = [_term(sample, term) for sample in known]
    guesses = iter(predicted_likeness(known, targets, unknown, ridge) if unknown else ())
    shaped = []
    for group, given in pairs:
        likeness = [
            _term(sample, term) if given else float(next(guesses)) for sample in group.samples
        ]
        samples = [
            sample if only_correct and sample.reward <= 0 else added(sample, factor * alike)
            for sample, alike in zip(group.samples, likeness, strict=True)
        ]
        shaped.append(replace(group, samples=tuple(samples)))
    return shaped


@SHAPINGS.register("selective")
def selective(groups: Sequence[Group], *, threshold: float = 0.7, term: int = 0) -> list[Group]:
    """Reward abstentions by `threshold`, right verdicts by 1 and wrong ones by 0 (P(IK)).

    A policy then gains by answering exactly where its probability of being right, P(IK), is above
    the threshold (Chow's rule), which is when selective labelling takes its own label.

    Raises:
        ValueError: If a sample has no such term, or the threshold is not in [0, 1].
    """
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold must be from 0 to 1, got {threshold}")
    return [
        replace(
            group,
            samples=tuple(
                added(sample, threshold * _term(sample, term)) for sample in group.samples
            ),
        )
        for group in groups
    ]
