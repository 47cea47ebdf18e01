"""Chance-corrected agreement: Cohen's kappa and Krippendorff's alpha, with intervals.

Raw agreement says little if most labels are the same: if nine labels of ten are "met", a judge that
always says "met" agrees with nine of them, yet its kappa is 0.

Both are 1 - (1 - q)/(1 - c), with agreement q and chance agreement c. The interval is Wilson's
interval of q, with Student's t, converted at this c. Its number of items is the one at which q has
the standard error found by the jackknife. A bootstrap would give perfect agreement on six items an
interval from 1 to 1; this one reflects how little six agreements of six prove.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from hexathlon.evaluators.judges.audit.estimates import Estimate
from hexathlon.evaluators.statistics import wilson
from hexathlon.evaluators.statistics.distributions import normal_quantile, t_quantile

__all__ = ["alpha", "alpha_estimate", "kappa", "kappa_estimate"]

Floats = npt.NDArray[np.float64]
MeasurementLevel = Literal["nominal", "ordinal", "interval"]


def kappa(a: Sequence[str], b: Sequence[str]) -> float | None:
    """Return Cohen's kappa (p_o - p_e)/(1 - p_e); None if chance agreement is complete."""
    table = _table(a, b, _labels(a, b))
    value = float(_kappa(table[None])[0])
    return None if math.isnan(value) else value


def kappa_estimate(
    a: Sequence[str], b: Sequence[str], *, confidence: float = 0.95
) -> Estimate | None:
    """Return kappa with its interval; None if chance agreement is complete.

    Args:
        a: Labels of one rater, without gaps.
        b: Labels of the other.
        confidence: Nominal coverage.
    """
    if not a:
        return None
    table = _table(a, b, _labels(a, b))
    value = float(_kappa(table[None])[0])
    if math.isnan(value):
        return None
    cells = np.argwhere(table > 0)
    without = np.repeat(table[None], len(cells), axis=0)
    without[range(len(cells)), cells[:, 0], cells[:, 1]] -= 1
    margins = table.sum(axis=0) @ table.sum(axis=1)
    error = _jackknife_error(_kappa(without), table[table > 0])
    return _interval(value, error, float(margins) / len(a) ** 2, len(a), confidence)


def alpha(
    units: Sequence[Sequence[str | None]],
    values: Sequence[str],
    metric: MeasurementLevel = "nominal",
) -> float | None:
    """Return Krippendorff's alpha 1 - D_o/D_e; None if there is no variation.

    Args:
        units: For each unit the raters' labels, None for a missing one.
        values: All labels; for ordinal and interval distance from lowest to highest.
        metric: Distance between labels; `interval` uses their positions as numbers.
    """
    counts = _unit_counts(units, values)
    if not len(counts):
        return None
    value = float(_alpha(_coincidences(counts).sum(axis=0)[None], metric)[0])
    return None if math.isnan(value) else value


def alpha_estimate(
    units: Sequence[Sequence[str | None]],
    values: Sequence[str],
    metric: MeasurementLevel = "nominal",
    *,
    confidence: float = 0.95,
) -> Estimate | None:
    """Return alpha with its interval over the units; None if there is no variation."""
    counts = _unit_counts(units, values)
    if not len(counts):
        return None
    shapes = Counter(map(tuple, counts.tolist()))
    kinds = np.array(sorted(shapes), dtype=float)
    share = np.array([shapes[tuple(row)] for row in kinds.tolist()], dtype=float)
    matrices = _coincidences(kinds)
    flat = matrices.reshape(len(kinds), -1)
    k = len(values)
    value = float(_alpha((share @ flat).reshape(1, k, k), metric)[0])
    if math.isnan(value):
        return None
    left = (share @ flat)[None] - flat
    error = _jackknife_error(_alpha(left.reshape(-1, k, k), metric), share)
    margins = (share @ flat).reshape(k, k).sum(axis=1)
    chance = 1.0 - float(_expected(margins[None], _distances(margins[None], "nominal"))[0])
    return _interval(value, error, chance, len(counts), confidence)


def _labels(a: Sequence[str], b: Sequence[str]) -> list[str]:
    return sorted(set(a) | set(b))


def _table(a: Sequence[str], b: Sequence[str], labels: Sequence[str]) -> Floats:
    place = {label: index for index, label in enumerate(labels)}
    table = np.zeros((len(labels), len(labels)))
    for x, y in zip(a, b, strict=True):
        table[place[x], place[y]] += 1
    return table


def _kappa(tables: Floats) -> Floats:
    """Return kappa of each table; NaN if chance agreement is complete."""
    with np.errstate(divide="ignore", invalid="ignore"):
        n = tables.sum(axis=(1, 2))
        observed = np.trace(tables, axis1=1, axis2=2) / n
        chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1) / n**2
        return np.where(1.0 - chance > 1e-12, (observed - chance) / (1.0 - chance), np.nan)


def _unit_counts(units: Sequence[Sequence[str | None]], values: Sequence[str]) -> Floats:
    """Return the count of each label per unit, for units with at least two labels."""
    rows = [[unit.count(value) for value in values] for unit in map(list, units)]
    counts = np.array([row for row in rows if sum(row) > 1], dtype=float)
    return counts.reshape(len(counts), len(values))


def _coincidences(counts: Floats) -> Floats:
    """Return each unit's share of the coincidence matrix: n_v (n_w - [v = w]) / (m - 1)."""
    k = counts.shape[1]
    products = counts[:, :, None] * counts[:, None, :]
    products[:, range(k), range(k)] -= counts
    shares: Floats = products / (counts.sum(axis=1) - 1.0)[:, None, None]
    return shares


def _alpha(matrices: Floats, metric: MeasurementLevel) -> Floats:
    """Return alpha of each coincidence matrix; NaN if no disagreement is expected."""
    margins = matrices.sum(axis=2)
    n = margins.sum(axis=1)
    distance = _distances(margins, metric)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = (matrices * distance).sum(axis=(1, 2)) / n
        expected = _expected(margins, distance)
        return np.where(expected > 1e-12, 1.0 - observed / expected, np.nan)


def _expected(margins: Floats, distance: Floats) -> Floats:
    """Return the mean distance of two labels drawn from the margins without replacement."""
    n = margins.sum(axis=1)
    products = margins[:, :, None] * margins[:, None, :]
    expected: Floats = (products * distance).sum(axis=(1, 2)) / (n * (n - 1.0))
    return expected


def _distances(margins: Floats, metric: MeasurementLevel) -> Floats:
    """Return squared distances between labels, for each matrix (ordinal ones use its margins)."""
    k = margins.shape[1]
    index = np.arange(k, dtype=float)
    if metric == "nominal":
        return np.broadcast_to(1.0 - np.eye(k), (len(margins), k, k))
    if metric == "interval":
        squares = (index[:, None] - index[None, :]) ** 2
        return np.broadcast_to(squares, (len(margins), k, k))
    upto = np.cumsum(margins, axis=1)
    middle = upto - margins / 2.0
    between: Floats = (middle[:, :, None] - middle[:, None, :]) ** 2
    return between


def _jackknife_error(without: Floats, counts: Floats) -> float:
    """Return the standard error of a statistic.

    Args:
        without: The statistic without one item of each kind; NaN where it does not exist.
        counts: Number of items of each kind.
    """
    sound = ~np.isnan(without)
    values, counts = without[sound], counts[sound]
    n = float(counts.sum())
    if n < 2:
        return 0.0
    squares = counts @ (values - counts @ values / n) ** 2
    return math.sqrt((n - 1.0) / n * float(squares))


def _interval(value: float, error: float, chance: float, n: int, confidence: float) -> Estimate:
    """Return Wilson's interval of the agreement, corrected for chance."""
    room = 1.0 - chance
    agreement = min(1.0, max(0.0, 1.0 - (1.0 - value) * room))
    variance = agreement * (1.0 - agreement)
    tail = 0.5 + 0.5 * confidence
    if variance > 1e-12 and error > 0.0 and n > 1:
        effective, quantile = variance / (error * room) ** 2, t_quantile(tail, float(n - 1))
    else:
        effective, quantile = float(n), normal_quantile(tail)
    low, high = (1.0 - (1.0 - bound) / room for bound in wilson(agreement, effective, quantile))
    return Estimate(value, min(value, low), max(value, high), n, "wilson-jackknife")
