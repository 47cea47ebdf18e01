"""From a micro-batch and its log-probabilities to the loss, wherever those were computed."""

from collections.abc import Iterable

import torch
from torch import Tensor

from hexathlon.baselines.algorithms.corrections import interpolated_proximal
from hexathlon.baselines.algorithms.losses import TokenBatch
from hexathlon.baselines.algorithms.objectives import LossParts, Objective, StepTotals
from hexathlon.baselines.learner.batching import MicroBatch

__all__ = ["counts_of", "loss_of"]


def counts_of(parts: Iterable[MicroBatch]) -> Tensor:
    """Return the numbers of counted tokens, of sequences with any, and of observation tokens."""
    counts = torch.zeros(3, dtype=torch.float64)
    for part in parts:
        counted = part.counted > 0
        counts = counts.to(counted.device)
        counts[0] += counted.sum()
        counts[1] += counted.any(-1).sum()
        counts[2] += part.observed.sum()
    return counts


def loss_of(
    objective: Objective,
    part: MicroBatch,
    current: Tensor,
    version: int,
    bounds: tuple[float, float],
    totals: StepTotals,
    entropy: Tensor | None = None,
) -> LossParts:
    """Return one part's share of the step's loss.

    Args:
        objective: The loss.
        part: The examples.
        current: Log-probabilities under the trained parameters, `[rows, tokens]`.
        version: Version of the policy at the start of the update.
        bounds: Bounds of the ratio.
        totals: Denominators of the step.
        entropy: Entropies, if the objective needs them.
    """
    batch = TokenBatch(
        current=current,
        proximal=_proximal(objective, part, current, version) * part.mask,
        behaviour=part.behaviour * part.mask,
        advantage=part.advantage * part.mask,
        mask=part.mask,
        turn=part.turn,
        reference=part.reference,
        streams=part.streams,
    )
    return objective(batch, part.weight, bounds, totals, observed=part.observed, entropy=entropy)


def _proximal(objective: Objective, part: MicroBatch, current: Tensor, version: int) -> Tensor:
    if objective.proximal == "behaviour":
        return part.behaviour
    if objective.proximal == "interpolated":
        return interpolated_proximal(current, part.behaviour, part.version, version)
    return current.detach() if part.proximal is None else part.proximal
