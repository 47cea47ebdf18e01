"""Monitor of a judge used as a reward, against a judge that was never trained against.

While training raises the reward, the gap between the training judge and a held-out judge on the
same transcripts should stay constant. A gap that grows with the reward indicates a policy that has
learned the judge instead of the task.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from hexathlon.evaluators.statistics.distributions import t_quantile

__all__ = ["GapAlarm", "watch_gap"]

_FEWEST = 4


class GapAlarm(NamedTuple):
    """Gap statistics over the checkpoints."""

    alarm: bool
    gap: float
    """Training judge minus held-out judge, at the last checkpoint."""

    gap_slope: float
    """Change of the gap per checkpoint, with its interval."""

    low: float
    high: float
    reward_slope: float


def watch_gap(
    trained: Sequence[float], held_out: Sequence[float], confidence: float = 0.95
) -> GapAlarm:
    """Compare two judges' mean scores over checkpoints.

    The alarm is raised if the gap's slope is significantly above 0 while the training judge's
    reward rises.

    Args:
        trained: Mean score by the judge used as reward, per checkpoint.
        held_out: Mean score of the same transcripts by the held-out judge.
        confidence: Confidence level of the slope's interval.

    Raises:
        ValueError: If the lengths differ, or there are fewer than four checkpoints.
    """
    if len(trained) != len(held_out) or len(trained) < _FEWEST:
        raise ValueError(
            f"expected two series of the same length, at least {_FEWEST}, "
            f"got {len(trained)} and {len(held_out)}"
        )
    gaps = [a - b for a, b in zip(trained, held_out, strict=True)]
    slope, error = _slope(gaps)
    rising, _ = _slope(trained)
    half = t_quantile(0.5 + 0.5 * confidence, float(len(gaps) - 2)) * error
    low, high = slope - half, slope + half
    return GapAlarm(low > 0.0 and rising > 0.0, gaps[-1], slope, low, high, rising)


def _slope(values: Sequence[float]) -> tuple[float, float]:
    """Return the least-squares slope over 0, 1, 2, … and its standard error."""
    n = len(values)
    middle, mean = (n - 1) / 2.0, math.fsum(values) / n
    spread = math.fsum((x - middle) ** 2 for x in range(n))
    slope = math.fsum((x - middle) * (y - mean) for x, y in enumerate(values)) / spread
    residual_sum = math.fsum((y - mean - slope * (x - middle)) ** 2 for x, y in enumerate(values))
    return slope, math.sqrt(residual_sum / (n - 2) / spread)
