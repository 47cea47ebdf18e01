"""Confidence intervals of a mean score: Wilson's, on effective n, with Student's t.

The estimand is "the score on tasks like these": tasks are a sample, and tasks of one template are
more alike than tasks of two. Formulas: Miller, *Adding Error Bars to Evals*, arXiv 2411.00640
(standard errors, clustering); Wilson, *Probable inference*, JASA 22 (1927).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from hexathlon.evaluators.statistics.distributions import normal_quantile, t_quantile


@dataclass(frozen=True, slots=True)
class ScoreInterval:
    """A mean score with its interval and the method behind it."""

    mean: float
    """Mean over tasks of the mean over each task's trials."""
    low: float
    high: float
    """0 <= low <= mean <= high <= 1."""
    se: float
    """Standard error of the mean, clustered if clusters were given; 0 if all tasks agree."""
    tasks: int
    clusters: int
    """Number of clusters; equals ``tasks`` if none were given."""
    effective_n: float
    """Number of independent single trials with the same information."""
    confidence: float
    method: str
    """``wilson-t`` or, if no spread was estimated, ``wilson-z``."""


def wilson(mean: float, n: float, quantile: float) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion.

    Args:
        mean: Observed proportion, 0 to 1.
        n: Number of observations, possibly fractional, above 0.
        quantile: Two-sided quantile, such as 1.96.
    """
    if not 0.0 <= mean <= 1.0 or n <= 0:
        raise ValueError(f"expected a mean from 0 to 1 and n above 0, found {mean} and {n}")
    square = quantile * quantile
    centre = (mean + square / (2.0 * n)) / (1.0 + square / n)
    spread = mean * (1.0 - mean) / n + square / (4.0 * n * n)
    half = quantile * math.sqrt(spread) / (1.0 + square / n)
    return min(mean, max(0.0, centre - half)), max(mean, min(1.0, centre + half))


def clustered_standard_error(
    values: Sequence[float], clusters: Sequence[Hashable] | None = None
) -> tuple[float, int]:
    """Return the standard error of a mean and the number of clusters C.

    SE^2 = C/(C-1) * sum over clusters (sum over members (v_i - mean))^2 / n^2. Without clusters
    each value is its own cluster, which gives sd/sqrt(n). With a single cluster the error is
    unknown: NaN.
    """
    n = len(values)
    if n == 0:
        raise ValueError("a mean needs at least one value")
    if clusters is not None and len(clusters) != n:
        raise ValueError(f"{n} values but {len(clusters)} clusters")
    mean = math.fsum(values) / n
    members: dict[Hashable, list[float]] = {}
    for index, value in enumerate(values):
        name = index if clusters is None else clusters[index]
        members.setdefault(name, []).append(value - mean)
    count = len(members)
    if count < 2:
        return math.nan, count
    squares = math.fsum(math.fsum(residuals) ** 2 for residuals in members.values())
    return math.sqrt(count / (count - 1) * squares) / n, count


def score_interval(
    values: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    trials: int | None = None,
    confidence: float = 0.95,
) -> ScoreInterval:
    """Return the mean of per-task scores with its confidence interval.

    Wilson's interval on n_eff = m(1-m)/SE^2 with the t quantile on (clusters - 1) degrees of
    freedom. Small-number rules:

    * all tasks failed or all passed: the spread cannot be estimated; n_eff is the number of tasks,
      its limit for scores near 0 or 1 at which a single task differs. Without clusters the normal
      quantile is used, as nothing was estimated; with clusters t is kept, since few clusters say
      little about a new one;
    * n_eff is never above the number of trials, however similar the tasks' scores;
    * a single cluster: its tasks count as one observation, with the normal quantile.

    Args:
        values: One mean score per task, each 0 to 1.
        clusters: The cluster (template, site, database) of each task.
        trials: Number of scored trials behind the values; by default the number of tasks.
        confidence: Nominal coverage.
    """
    if any(not 0.0 <= value <= 1.0 for value in values):
        raise ValueError("scores must lie between 0 and 1")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie between 0 and 1, found {confidence}")
    se, count = clustered_standard_error(values, clusters)
    n = len(values)
    mean = math.fsum(values) / n
    tail = 0.5 + 0.5 * confidence
    if count < 2:
        low, high = wilson(mean, 1.0, normal_quantile(tail))
        return ScoreInterval(mean, low, high, 0.0, n, count, 1.0, confidence, "wilson-z")
    effective = _effective_n(mean, se, n, trials if trials is not None else n)
    if mean in (0.0, 1.0) and count == n:
        quantile, method = normal_quantile(tail), "wilson-z"
    else:
        quantile, method = t_quantile(tail, float(count - 1)), "wilson-t"
    low, high = wilson(mean, effective, quantile)
    return ScoreInterval(mean, low, high, se, n, count, effective, confidence, method)


def _effective_n(mean: float, se: float, tasks: int, trials: int) -> float:
    variance = mean * (1.0 - mean)
    if variance <= 0.0:
        return float(tasks)
    if se <= 0.0:
        return float(max(tasks, trials))
    return min(variance / (se * se), float(max(tasks, trials)))
