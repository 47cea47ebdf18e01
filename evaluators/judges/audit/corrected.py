"""Correction of judged means with a few labels.

Prediction-powered inference: the judge's mean over all items, shifted by its mean error on the
labelled part (Angelopoulos et al., Science 382, 2023).
"""

import math
from collections.abc import Sequence

from hexathlon.evaluators.judges.audit.estimates import Estimate
from hexathlon.evaluators.statistics.distributions import normal_quantile

__all__ = ["corrected_rate", "powered_mean"]


def powered_mean(
    judged: Sequence[float],
    labelled: Sequence[tuple[float, float]],
    confidence: float = 0.95,
) -> Estimate | None:
    """Return (1/N) sum f + (1/n) sum (h - f), with variance var(f)/N + var(h - f)/n.

    Args:
        judged: The judge's values f of the N items without labels.
        labelled: Label h and judged value f of each of n labelled items, a random part.
        confidence: Nominal coverage.
    """
    if len(judged) < 2 or len(labelled) < 2:
        return None
    gaps = [label - value for label, value in labelled]
    mean = math.fsum(judged) / len(judged) + math.fsum(gaps) / len(gaps)
    error = math.sqrt(_variance(judged) / len(judged) + _variance(gaps) / len(gaps))
    half = normal_quantile(0.5 + 0.5 * confidence) * error
    return Estimate(mean, mean - half, mean + half, len(labelled), "prediction-powered")


def corrected_rate(judged: float, sensitivity: float, specificity: float) -> float | None:
    """Return the true share of passes, (p + spec - 1)/(sens + spec - 1), clipped to 0…1.

    None if the judge is no better than chance.
    """
    power = sensitivity + specificity - 1.0
    if power <= 1e-9:
        return None
    return min(1.0, max(0.0, (judged + specificity - 1.0) / power))


def _variance(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
