"""Comparisons of two agents on the same tasks, and how many tasks a comparison needs.

Formulas: Miller, *Adding Error Bars to Evals*, arXiv 2411.00640 (paired differences, power);
McNemar, Psychometrika 12 (1947), in its exact form; Holm, *A simple sequentially rejective multiple
test procedure*, Scandinavian Journal of Statistics 6 (1979).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from hexathlon.evaluators.statistics.distributions import (
    normal_quantile,
    t_quantile,
    t_two_sided,
)
from hexathlon.evaluators.statistics.intervals import clustered_standard_error


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """The mean difference A - B over shared tasks."""

    difference: float
    low: float
    high: float
    """Confidence interval of the difference."""
    se: float
    p_value: float
    """Two-sided, for "no difference"; not yet corrected for several comparisons."""
    tasks: int
    clusters: int
    detectable: float
    """The smallest true difference detectable on these tasks with 80 % power."""
    method: str
    """``paired-t``, ``exact-sign`` (all differences equal), ``exact-mcnemar`` or ``none``."""


def paired_comparison(
    a: Mapping[str, float],
    b: Mapping[str, float],
    clusters: Mapping[str, Hashable] | None = None,
    *,
    confidence: float = 0.95,
    single_binary: bool = False,
) -> PairedComparison:
    """Compare two agents on the tasks that both have a score for.

    d_i = a_i - b_i; SE as in `clustered_standard_error`; t test on (clusters - 1) degrees of
    freedom. If all differences are equal the spread is unknown and the sign test decides; with a
    single cluster nothing can be concluded and the p-value is 1.

    Args:
        a: Mean score by task.
        b: The other agent's mean score by task.
        clusters: Cluster of each task.
        confidence: Nominal coverage of the interval.
        single_binary: Each score is one trial that is 0 or 1 and tasks are not clustered: take the
            p-value from the exact McNemar test.
    """
    shared = sorted(set(a) & set(b))
    if not shared:
        raise ValueError("the two agents have no task in common")
    differences = [a[task] - b[task] for task in shared]
    names = None if clusters is None else [clusters[task] for task in shared]
    mean = math.fsum(differences) / len(shared)
    se, count = clustered_standard_error(differences, names)
    if count < 2:
        return PairedComparison(mean, -1.0, 1.0, math.nan, 1.0, len(shared), count, 1.0, "none")
    half = t_quantile(0.5 + 0.5 * confidence, float(count - 1)) * se
    p_value, method = _p_value(differences, mean, se, count, single_binary)
    return PairedComparison(
        difference=mean,
        low=max(-1.0, mean - half),
        high=min(1.0, mean + half),
        se=se,
        p_value=p_value,
        tasks=len(shared),
        clusters=count,
        detectable=minimum_detectable_difference(se, df=float(count - 1)),
        method=method,
    )


def _p_value(
    differences: Sequence[float], mean: float, se: float, count: int, single_binary: bool
) -> tuple[float, str]:
    if single_binary:
        only_a = sum(difference > 0 for difference in differences)
        only_b = sum(difference < 0 for difference in differences)
        return exact_mcnemar(only_a, only_b), "exact-mcnemar"
    if se <= 1e-12:
        return (1.0 if abs(mean) <= 1e-12 else math.ldexp(1.0, 1 - count)), "exact-sign"
    return t_two_sided(mean / se, float(count - 1)), "paired-t"


def exact_mcnemar(only_a: int, only_b: int) -> float:
    """Return the two-sided p-value of the exact McNemar test.

    The sign test on the discordant tasks: ``only_a`` solved by A alone, ``only_b`` by B alone.
    """
    if only_a < 0 or only_b < 0:
        raise ValueError(f"counts must not be negative, found {only_a} and {only_b}")
    total, small = only_a + only_b, min(only_a, only_b)
    tail = sum(math.comb(total, k) for k in range(small + 1))
    return min(1.0, 2 * tail / (1 << total))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values, in the order given.

    Sorted ascending, the k-th of m (from 0) becomes the maximum of (m - j) p_j over j <= k, capped
    at 1.
    """
    order = sorted(range(len(p_values)), key=lambda index: (p_values[index], index))
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for position, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - position) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def minimum_detectable_difference(
    se: float, *, power: float = 0.8, alpha: float = 0.05, df: float | None = None
) -> float:
    """Return (z_{alpha/2} + z_beta) SE: the difference that a test with this SE detects at `power`.

    With ``df`` the t quantiles are used, which is more accurate for few tasks.
    """
    if df is None:
        return (normal_quantile(1 - alpha / 2) + normal_quantile(power)) * se
    return (t_quantile(1 - alpha / 2, df) + t_quantile(power, df)) * se


def tasks_needed(
    difference: float,
    *,
    between: float,
    within_a: float = 0.0,
    within_b: float = 0.0,
    trials_a: int = 1,
    trials_b: int = 1,
    power: float = 0.8,
    alpha: float = 0.05,
) -> int:
    """Return the number of tasks needed to detect a difference (Miller 2411.00640).

    n = (z_{alpha/2} + z_beta)^2 (omega^2 + sigma_A^2/K_A + sigma_B^2/K_B) / delta^2

    Args:
        difference: delta, the smallest difference that matters.
        between: omega^2, variance over tasks of the difference of expected scores.
        within_a: sigma_A^2, mean variance of A's score on a task over trials.
        within_b: The same for B.
        trials_a: K_A, trials per task of A.
        trials_b: K_B.
        power: Probability of detecting a true difference.
        alpha: Probability of reporting a difference that does not exist.
    """
    if difference == 0 or trials_a < 1 or trials_b < 1:
        raise ValueError("expected a difference other than 0 and at least one trial each")
    z = normal_quantile(1 - alpha / 2) + normal_quantile(power)
    variance = between + within_a / trials_a + within_b / trials_b
    return math.ceil(z * z * variance / (difference * difference))
