"""Bounds of the importance ratio: fixed, or found anew for every update."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from hexathlon.baselines.algorithms.registry import Registry

__all__ = ["BOUNDS", "BoundsRule", "Found", "absolute", "bapo", "clip", "trained_tokens"]


class Found(NamedTuple):
    """Lowest and highest ratio, and whether the rule met its aim."""

    low: float
    high: float
    met: bool = True


BoundsRule = Callable[..., Found]
"""From the ratios and advantages of one whole update, `[tokens]` each, to bounds."""


BOUNDS: Registry[BoundsRule] = Registry("bounds rule")


@BOUNDS.register("clip")
def clip(ratio: Tensor, advantage: Tensor, *, low: float = 0.2, high: float = 0.2) -> Found:
    """[1 - low, 1 + high]; DAPO's clip-higher is 0.2 and 0.28."""
    return Found(1.0 - low, 1.0 + high)


@BOUNDS.register("absolute")
def absolute(ratio: Tensor, advantage: Tensor, *, low: float = 0.0, high: float = 5.0) -> Found:
    """The bounds as given."""
    return Found(low, high)


def _share(
    ratio: Tensor, advantage: Tensor, low: float, high: float, recipe: bool
) -> tuple[float, float]:
    """Return what positive and what negative advantages contribute under the bounds."""
    positive, negative = advantage > 0, advantage < 0
    size = advantage.abs()
    if recipe:
        gained = (ratio.clamp(max=high) * size)[positive].sum()
        lost = (ratio.clamp(min=low) * size)[negative].sum()
    else:
        gained = (ratio * size)[positive & (ratio <= high)].sum()
        lost = (ratio * size)[negative & (ratio >= low)].sum()
    return float(gained), float(lost)


@BOUNDS.register("bapo")
def bapo(
    ratio: Tensor,
    advantage: Tensor,
    *,
    low: float = 0.6,
    low_most: float = 0.9,
    high: float = 1.2,
    high_most: float = 3.0,
    step: float = 0.05,
    target: float = 1.0,
    recipe: bool = False,
) -> Found:
    """Raise the bounds until positives contribute enough (after BAPO).

    First the lower bound is raised, then the upper one, until positive contributions are `target`
    times the negative ones (target 1 is a positive share of a half).

    Args:
        ratio: Ratios of all trained tokens of the update, over every rank.
        advantage: Their advantages.
        low: Where the lower bound starts.
        low_most: Where it stops.
        high: Where the upper bound starts.
        high_most: Where it stops.
        step: Width of one step.
        target: Wanted positive over negative contribution.
        recipe: Measure contributions by clipped ratios as the public recipe does. There,
            negatives count max(ratio, low), which only grows with the lower bound, so that
            raising it never helps. The default counts tokens that carry a gradient: positives
            with ratio <= high, negatives with ratio >= low.
    """
    ratio, advantage = ratio.detach(), advantage.detach()

    def short(lowest: float, highest: float) -> bool:
        gained, lost = _share(ratio, advantage, lowest, highest, recipe)
        return gained < target * lost

    lows, highs = round((low_most - low) / step), round((high_most - high) / step)
    lowest, highest = low, high
    for number in range(1, lows + 1):
        if not short(lowest, highest):
            break
        lowest = low + number * step
    for number in range(1, highs + 1):
        if not short(lowest, highest):
            break
        highest = high + number * step
    return Found(lowest, highest, met=not short(lowest, highest))


def trained_tokens(ratio: Tensor, advantage: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return ratios and advantages of the tokens under the mask, flat: what a rule reads."""
    trained = mask > 0
    return torch.masked_select(ratio, trained), torch.masked_select(advantage, trained)
