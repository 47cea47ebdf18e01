"""Losses and labels of reward models that learn from preferences.

Sources: Bradley-Terry; ChARM (act-adaptive margin, self-evolution); CE-RM (two stages); selective
weak-to-strong labels, P(IK). Where an abstract leaves a formula open, the docstring says what was
chosen.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from hexathlon.baselines.algorithms.samples import Array

__all__ = [
    "ActMargins",
    "preference_loss",
    "pseudo_labelled",
    "selective_labels",
    "smoothed_labels",
    "two_stage_rewards",
]


def preference_loss(chosen: Tensor, rejected: Tensor, margin: Tensor) -> Tensor:
    """Return the mean of -log sigma(chosen - rejected - margin), all `[pairs]`."""
    return torch.nn.functional.softplus(margin - (chosen - rejected)).mean()


class ActMargins:
    """ChARM's margins: one for each kind of act, by the model's own confidence on it.

    L = -log sigma(r_w - r_l - m), m from the model's confidence. Chosen here: the confidence c of
    an act is a moving average of the probability sigma(r_w - r_l) that the model gives to the
    better reply, and m = scale * max(0, 2 c - 1): 0 for acts at chance, `scale` for certain ones.

    Args:
        scale: Largest margin; 0 gives the plain Bradley-Terry loss.
        decay: Weight of the past in the moving average.
    """

    def __init__(self, scale: float = 1.0, decay: float = 0.9) -> None:
        self._scale, self._decay = scale, decay
        self.confidence: dict[str, float] = {}

    def of(self, acts: Sequence[str]) -> list[float]:
        """Return the margin of each pair."""
        return [self._scale * max(0.0, 2 * self.confidence.get(act, 0.5) - 1) for act in acts]

    def observe(self, acts: Sequence[str], gaps: Sequence[float]) -> None:
        """Update the confidence by the differences r_w - r_l of some pairs."""
        for act in sorted(set(acts)):
            own = [gap for name, gap in zip(acts, gaps, strict=True) if name == act]
            mean = float(np.mean(1 / (1 + np.exp(-np.array(own)))))
            before = self.confidence.get(act, 0.5)
            self.confidence[act] = self._decay * before + (1 - self._decay) * mean


def pseudo_labelled(gaps: Sequence[float], threshold: float) -> list[int]:
    """Return the unlabelled pairs that self-evolution keeps: 1 or -1 for the better side, else 0.

    A pair is kept if the model's probability of either side, sigma(|gap|), is at least `threshold`.
    """
    probability = 1 / (1 + np.exp(-np.abs(np.array(gaps, dtype=float))))
    return [
        int(np.sign(gap)) if kept else 0
        for gap, kept in zip(gaps, probability >= threshold, strict=True)
    ]


def two_stage_rewards(chosen: Array, rejected: Array) -> tuple[Array, Array]:
    """Return CE-RM's rewards of scores and of criteria.

    A score earns 1 if the criteria's better reply gets more than the other, else 0; a set of
    criteria earns the mean of the rewards below it.

    Args:
        chosen: `[criteria, scorings]`, scores of the better reply.
        rejected: The same for the other reply.

    Returns:
        `[criteria, scorings]` and `[criteria]`.
    """
    scores = (chosen > rejected).astype(np.float64)
    return scores, scores.mean(axis=1)


def smoothed_labels(weak: Array, likeness: Array, alpha: float) -> Array:
    """Return (1 - alpha)(I - alpha S)^-1 Y, weak labels smoothed over a graph.

    Args:
        weak: `[items]`, weak labels in [0, 1].
        likeness: `[items, items]`, symmetric and not negative; S is it with unit row sums in the
            symmetric normalisation D^-1/2 W D^-1/2.
        alpha: Share of the graph in [0, 1).
    """
    degree = np.sqrt(np.maximum(likeness.sum(axis=1), 1e-12))
    graph = likeness / degree[:, None] / degree[None, :]
    smooth: Array = (1 - alpha) * np.linalg.solve(np.eye(len(weak)) - alpha * graph, weak)
    return smooth


def selective_labels(own: Array, knows: Array, weak: Array, threshold: float) -> Array:
    """Return a model's own label where P(IK) is above the threshold, else the weak one."""
    labels: Array = np.where(knows > threshold, own, weak)
    return labels
