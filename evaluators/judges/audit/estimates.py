"""Numbers with intervals, as audits report them."""

import math
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from hexathlon.evaluators.statistics import clustered_standard_error, score_interval, wilson
from hexathlon.evaluators.statistics.distributions import normal_quantile, t_quantile

__all__ = [
    "Estimate",
    "difference_of_means",
    "mean_estimate",
    "rate_estimate",
    "score_estimate",
    "slope_estimate",
]


class Estimate(NamedTuple):
    """One number with its 95 % interval."""

    value: float
    low: float
    high: float
    n: int
    """Number of independent observations."""

    method: str

    def as_json(self) -> dict[str, Any]:
        """Return the estimate as plain JSON."""
        return dict(self._asdict())

    def holds(self, truth: float) -> bool:
        """Return whether the interval contains a value."""
        return self.low <= truth <= self.high


def rate_estimate(hits: int, n: int, confidence: float = 0.95) -> Estimate | None:
    """Return a share of independent observations with Wilson's interval; None if there are none."""
    if n == 0:
        return None
    low, high = wilson(hits / n, n, normal_quantile(0.5 + 0.5 * confidence))
    return Estimate(hits / n, low, high, n, "wilson")


def score_estimate(
    values: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    *,
    lowest: float = 0.0,
) -> Estimate | None:
    """Return a mean of scores of a known range with Wilson's interval; None if there are none.

    The interval is that of `score_interval`, on the effective number of scores. If all scores are
    0 or all are 1, that number is the number of clusters: six of six is not 100 to 100 %. Where no
    spread is estimated (independent scores of 0 or 1), the normal quantile is used.

    Args:
        values: The scores.
        clusters: Scores of one cluster, such as a task's trials, are not independent.
        confidence: Nominal coverage.
        lowest: The worst score, such as a negative one of a rubric with pitfalls; the best is 1.

    Raises:
        ValueError: If a score is outside [lowest, 1].
    """
    if not values:
        return None
    if lowest != 0.0:
        room = 1.0 - lowest
        scaled = score_estimate([(x - lowest) / room for x in values], clusters, confidence)
        assert scaled is not None
        value, low, high = (lowest + room * x for x in scaled[:3])
        return Estimate(value, low, high, scaled.n, scaled.method)
    found = score_interval(values, clusters, confidence=confidence)
    independent = found.clusters == len(values) and {0.0, 1.0}.issuperset(values)
    if found.mean not in (0.0, 1.0) and not independent:
        return Estimate(found.mean, found.low, found.high, found.clusters, found.method)
    low, high = wilson(found.mean, found.clusters, normal_quantile(0.5 + 0.5 * confidence))
    return Estimate(found.mean, low, high, found.clusters, "wilson-z")


def mean_estimate(
    values: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> Estimate | None:
    """Return a mean with Student's t on its (clustered) standard error; None for fewer than two."""
    if len(values) < 2:
        return None
    error, count = clustered_standard_error(values, clusters)
    if count < 2:
        return None
    mean = math.fsum(values) / len(values)
    half = t_quantile(0.5 + 0.5 * confidence, float(count - 1)) * error
    return Estimate(mean, mean - half, mean + half, count, "t")


def difference_of_means(
    a: Sequence[float], b: Sequence[float], confidence: float = 0.95
) -> Estimate | None:
    """Return mean(a) - mean(b) by Welch; None if either has fewer than two values."""
    if len(a) < 2 or len(b) < 2:
        return None
    (mean_a, error_a), (mean_b, error_b) = _mean(a), _mean(b)
    error = math.hypot(error_a, error_b)
    if error == 0.0:
        return Estimate(mean_a - mean_b, mean_a - mean_b, mean_a - mean_b, len(a) + len(b), "welch")
    freedom = error**4 / (error_a**4 / (len(a) - 1) + error_b**4 / (len(b) - 1))
    half = t_quantile(0.5 + 0.5 * confidence, freedom) * error
    value = mean_a - mean_b
    return Estimate(value, value - half, value + half, len(a) + len(b), "welch")


def slope_estimate(
    x: Sequence[float],
    y: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> Estimate | None:
    """Return the least-squares slope of y on x; None if x is constant.

    The standard error is robust against unequal variance (HC1) and clustered if clusters are
    given.
    """
    n = len(x)
    if n < 3:
        return None
    mean_x, mean_y = math.fsum(x) / n, math.fsum(y) / n
    spread = math.fsum((a - mean_x) ** 2 for a in x)
    if spread <= 1e-12:
        return None
    slope = math.fsum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / spread
    scores: dict[Hashable, list[float]] = {}
    for index, (a, b) in enumerate(zip(x, y, strict=True)):
        name = index if clusters is None else clusters[index]
        residual = b - mean_y - slope * (a - mean_x)
        scores.setdefault(name, []).append((a - mean_x) * residual)
    count = len(scores)
    if count < 3:
        return None
    meat = math.fsum(math.fsum(row) ** 2 for row in scores.values())
    error = math.sqrt(meat * count / (count - 1) * (n - 1) / (n - 2)) / spread
    half = t_quantile(0.5 + 0.5 * confidence, float(count - 2)) * error
    return Estimate(slope, slope - half, slope + half, count, "ols-robust")


def _mean(values: Sequence[float]) -> tuple[float, float]:
    error, _ = clustered_standard_error(values)
    return math.fsum(values) / len(values), error
