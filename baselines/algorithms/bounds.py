"""Bounds of the importance ratio: fixed, or chosen for every update."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from hexathlon.baselines.algorithms.registry import Registry

__all__ = ["BOUNDS", "BoundsRule", "RatioBounds", "absolute", "bapo", "clip", "trained_tokens"]


class RatioBounds(NamedTuple):
    """Lowest and highest ratio, and whether the rule reached its target."""

    low: float
    high: float
    met: bool = True


BoundsRule = Callable[..., RatioBounds]
"""Maps the ratios and advantages of a whole update, `[tokens]` each, to bounds."""


BOUNDS: Registry[BoundsRule] = Registry("bounds rule")


@BOUNDS.register("clip")
def clip(ratio: Tensor, advantage: Tensor, *, low: float = 0.2, high: float = 0.2) -> RatioBounds:
    """[1 - low, 1 + high]; DAPO's clip-higher is 0.2 and 0.28."""
    return RatioBounds(1.0 - low, 1.0 + high)


@BOUNDS.register("absolute")
def absolute(
    ratio: Tensor, advantage: Tensor, *, low: float = 0.0, high: float = 5.0
) -> RatioBounds:
    """Two fixed bounds."""
    return RatioBounds(low, high)


def _contributions(
    ratio: Tensor, advantage: Tensor, low: float, high: float, recipe: bool
) -> tuple[float, float]:
    """Return the contributions of positive and negative advantages under the bounds."""
    positive, negative = advantage > 0, advantage < 0
    size = advantage.abs()
    if recipe:
        gain = (ratio.clamp(max=high) * size)[positive].sum()
        loss = (ratio.clamp(min=low) * size)[negative].sum()
    else:
        gain = (ratio * size)[positive & (ratio <= high)].sum()
        loss = (ratio * size)[negative & (ratio >= low)].sum()
    return float(gain), float(loss)


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
) -> RatioBounds:
    """Raise the bounds until positives contribute enough (after BAPO).

    First the lower bound is raised, then the upper one, until positive contributions are `target`
    times the negative ones (target 1 is a positive share of a half).

    Args:
        ratio: Ratios of all trained tokens of the update, over every rank.
        advantage: Their advantages.
        low: Initial lower bound.
        low_most: Largest lower bound.
        high: Initial upper bound.
        high_most: Largest upper bound.
        step: Step size of both bounds.
        target: Target ratio of positive to negative contributions.
        recipe: Measure contributions by clipped ratios, as the public recipe does. There,
            negatives count max(ratio, low), which only grows with the lower bound, so that
            raising it never helps. By default, tokens with a gradient count: positives with
            ratio <= high, negatives with ratio >= low.
    """
    ratio, advantage = ratio.detach(), advantage.detach()

    def short(lowest: float, highest: float) -> bool:
        gain, loss = _contributions(ratio, advantage, lowest, highest, recipe)
        return gain < target * loss

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
    return RatioBounds(lowest, highest, met=not short(lowest, highest))


def trained_tokens(ratio: Tensor, advantage: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return the ratios and advantages of masked-in tokens, `[tokens]` each, as rules read them."""
    trained = mask > 0
    return torch.masked_select(ratio, trained), torch.masked_select(advantage, trained)
