"""Chance-corrected agreement: Cohen's kappa and Krippendorff's alpha, with bootstrap intervals.

Raw agreement says little if most labels are the same: a judge that always says "met" agrees with
nine labels of ten if nine are "met", and its kappa is 0.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from hexathlon.evaluators.judges.audit.estimates import Estimate
from hexathlon.tasks.seeding import generator_for

__all__ = ["alpha", "alpha_estimate", "kappa", "kappa_estimate"]

Floats = npt.NDArray[np.float64]
MeasurementLevel = Literal["nominal", "ordinal", "interval"]
_DRAWS = 2000


def kappa(a: Sequence[str], b: Sequence[str]) -> float | None:
    """Return Cohen's kappa (p_o - p_e)/(1 - p_e); None if chance agreement is complete."""
    table = _table(a, b, _labels(a, b))
    value = float(_kappa(table[None])[0])
    return None if math.isnan(value) else value


def kappa_estimate(
    a: Sequence[str], b: Sequence[str], *address: str | int, confidence: float = 0.95
) -> Estimate | None:
    """Return kappa with a percentile bootstrap interval over the items.

    Args:
        a: Labels of one rater, without gaps.
        b: Labels of the other.
        address: Name of the estimate; determines the draws.
        confidence: Nominal coverage.
    """
    if not a:
        return None
    table = _table(a, b, _labels(a, b))
    value = float(_kappa(table[None])[0])
    if math.isnan(value):
        return None
    n = len(a)
    draws = generator_for("kappa", *address).multinomial(n, table.ravel() / n, _DRAWS)
    values = _kappa(draws.reshape(_DRAWS, *table.shape).astype(float))
    return _percentiles(value, values, n, confidence, "bootstrap")


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
    *address: str | int,
    confidence: float = 0.95,
) -> Estimate | None:
    """Return alpha with a percentile bootstrap interval over the units."""
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
    n = len(counts)
    draws = generator_for("alpha", *address).multinomial(n, share / n, _DRAWS).astype(float)
    resampled = _alpha((draws @ flat).reshape(_DRAWS, k, k), metric)
    return _percentiles(value, resampled, n, confidence, "bootstrap")


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
    n = tables.sum(axis=(1, 2))
    observed = np.trace(tables, axis1=1, axis2=2) / n
    chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1) / n**2
    with np.errstate(divide="ignore", invalid="ignore"):
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
    observed = (matrices * distance).sum(axis=(1, 2)) / n
    expected = (margins[:, :, None] * margins[:, None, :] * distance).sum(axis=(1, 2))
    expected = expected / (n * (n - 1.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 1e-12, 1.0 - observed / expected, np.nan)


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


def _percentiles(value: float, draws: Floats, n: int, confidence: float, method: str) -> Estimate:
    tail = 0.5 - 0.5 * confidence
    sound = draws[~np.isnan(draws)]
    low, high = np.quantile(sound, [tail, 1.0 - tail])
    return Estimate(value, min(value, float(low)), max(value, float(high)), n, method)
