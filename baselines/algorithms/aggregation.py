"""Aggregations: averages over the tokens of one optimiser step.

Every rule gives each token a scale from counts over the whole step, including all ranks and
micro-batches, so that the loss is a sum of value times scale, however tokens are distributed.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from hexathlon.baselines.algorithms.registry import Registry

__all__ = ["AGGREGATIONS", "Aggregation", "Totals"]


class Totals(NamedTuple):
    """Counts over one optimiser step, before any correction."""

    tokens: float
    """Trained tokens."""

    sequences: float
    """Sequences with at least one trained token."""


Aggregation = Callable[..., Tensor]
"""Maps a mask and the step's totals to a scale per token."""


AGGREGATIONS: Registry[Aggregation] = Registry("aggregation")


@AGGREGATIONS.register("token_mean")
def token_mean(mask: Tensor, totals: Totals) -> Tensor:
    """Weigh every token equally (DAPO)."""
    return mask / max(totals.tokens, 1.0)


@AGGREGATIONS.register("sequence_mean")
def sequence_mean(mask: Tensor, totals: Totals) -> Tensor:
    """Weigh every sequence equally, so tokens of long ones weigh less (GRPO)."""
    lengths = mask.sum(-1, keepdim=True).clamp(min=1.0)
    return mask / lengths / max(totals.sequences, 1.0)


@AGGREGATIONS.register("sequence_sum")
def sequence_sum(mask: Tensor, totals: Totals) -> Tensor:
    """Sum over tokens, mean over sequences."""
    return mask / max(totals.sequences, 1.0)


@AGGREGATIONS.register("constant")
def constant(mask: Tensor, totals: Totals, *, length: int = 1024) -> Tensor:
    """Sum over tokens, divided by sequences times a fixed length (Dr. GRPO)."""
    return mask / (max(totals.sequences, 1.0) * length)


def count(mask: Tensor) -> Totals:
    """Return the totals of one part of a step, to be summed over its parts."""
    trained = mask > 0
    return Totals(float(trained.sum()), float(trained.any(-1).to(torch.float32).sum()))
