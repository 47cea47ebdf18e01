"""Paired comparisons from sufficient statistics: sums over units instead of scores of tasks.

If two rows played the same tasks, the clustered standard error of their paired difference needs
only each row's sum over each cluster. A comparison then costs as many steps as there are clusters,
whatever the number of tasks and trials, and a ranking of hundreds of rows takes milliseconds.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hexathlon.evaluators.statistics.comparison import holm, minimum_detectable_difference
from hexathlon.evaluators.statistics.distributions import t_quantile, t_two_sided_each
from hexathlon.evaluators.statistics.ranking import RankRange

__all__ = ["PairTests", "UnitSums", "pair_tests", "unit_rank_ranges"]

_Floats = npt.NDArray[np.float64]


class UnitSums(NamedTuple):
    """A row's sums of task scores by unit: a cluster, or a task if there is only one cluster."""

    names: tuple[str, ...]
    """Sorted."""
    sums: tuple[float, ...]
    counts: tuple[int, ...]
    """Tasks of each unit."""

    @classmethod
    def of(cls, means: Mapping[str, float], clusters: Mapping[str, Hashable]) -> UnitSums:
        """Return the sums of a row's per-task mean scores.

        Args:
            means: Mean score by task.
            clusters: Cluster of each task.
        """
        several = len({clusters[task] for task in means}) > 1
        values: dict[str, list[float]] = {}
        for task, mean in means.items():
            values.setdefault(str(clusters[task]) if several else task, []).append(mean)
        names = tuple(sorted(values))
        return cls(
            names,
            tuple(math.fsum(values[name]) for name in names),
            tuple(len(values[name]) for name in names),
        )

    @property
    def tasks(self) -> int:
        """Number of tasks."""
        return sum(self.counts)


class PairTests(NamedTuple):
    """All pairs of rows compared; entry [a, b] is row a minus row b."""

    difference: _Floats
    """NaN for rows of different tasks."""
    se: _Floats
    p_value: _Floats
    """Two-sided, of the paired t test; not yet corrected."""
    adjusted: _Floats
    """By Holm over all pairs."""
    half: _Floats
    """Half width of the 95 % interval of the difference."""
    detectable: _Floats
    """Smallest true difference detected with 80 % power."""

    def better(self, a: int, b: int, alpha: float = 0.05) -> bool:
        """Whether row ``a`` is significantly better than row ``b``."""
        return bool(self.difference[a, b] > 0 and self.adjusted[a, b] <= alpha)

    def rank_ranges(self, alpha: float = 0.05) -> list[RankRange]:
        """Return the rank range of each row."""
        wins = (self.adjusted <= alpha) & (self.difference > 0)
        better, worse = wins.sum(axis=0), wins.sum(axis=1)
        return [
            RankRange(1 + int(up), len(wins) - int(down))
            for up, down in zip(better, worse, strict=True)
        ]

    def of(self, places: Sequence[int]) -> PairTests:
        """Return the same tests with the rows in this order."""
        order = np.ix_(places, places)
        return PairTests(*(values[order] for values in self))


def unit_rank_ranges(rows: Sequence[UnitSums], *, alpha: float = 0.05) -> list[RankRange]:
    """Return the rank range of each row; see `rank_ranges`, whose results these are.

    Rows that share a single cluster are compared by task, where `rank_ranges` compares nothing.
    """
    return pair_tests(rows).rank_ranges(alpha)


def pair_tests(rows: Sequence[UnitSums]) -> PairTests:
    """Compare every pair of rows; those with other units or counts are not comparable."""
    size = len(rows)
    difference, se = np.full((size, size), np.nan), np.full((size, size), np.nan)
    freedom = np.zeros((size, size))
    groups: dict[tuple[tuple[str, ...], tuple[int, ...]], list[int]] = {}
    for index, row in enumerate(rows):
        groups.setdefault((row.names, row.counts), []).append(index)
    for (names, counts), members in groups.items():
        sums = np.array([rows[index].sums for index in members])
        place = np.ix_(members, members)
        difference[place], se[place] = _differences(sums, np.array(counts, float))
        freedom[place] = len(names) - 1
    return _tested(difference, se, freedom)


def _differences(sums: _Floats, counts: _Floats) -> tuple[_Floats, _Floats]:
    """Return mean differences and their clustered standard errors for rows of the same units."""
    tasks, units = counts.sum(), len(counts)
    means = sums.sum(axis=1) / tasks
    difference = means[:, None] - means[None, :]
    squares = np.zeros_like(difference)
    for unit in range(units):  # one matrix at a time: memory grows with the pairs alone
        residual = sums[:, None, unit] - sums[None, :, unit] - counts[unit] * difference
        squares += residual * residual
    if units < 2:
        return difference, np.full_like(difference, np.nan)
    return difference, np.sqrt(units / (units - 1) * squares) / tasks


def _tested(difference: _Floats, se: _Floats, freedom: _Floats) -> PairTests:
    size = len(difference)
    adjusted = np.ones((size, size))
    half, detectable = np.full((size, size), np.nan), np.full((size, size), np.nan)
    p_value = _p_values(difference, se, freedom)
    upper = np.triu_indices(size, 1)
    adjusted[upper] = holm(p_value[upper].tolist())
    adjusted.T[upper] = adjusted[upper]
    for df in {float(one) for one in np.unique(freedom) if one > 0}:
        same = freedom == df
        half[same] = t_quantile(0.975, df) * se[same]
        detectable[same] = minimum_detectable_difference(1.0, df=df) * se[same]
    return PairTests(difference, se, p_value, adjusted, half, detectable)


def _p_values(difference: _Floats, se: _Floats, freedom: _Floats) -> _Floats:
    p_value = np.ones_like(difference)
    known = ~(np.isnan(difference) | np.isnan(se))
    constant = known & (se <= 1e-12)  # all differences are equal: the sign test
    signed = constant & (np.abs(difference) > 1e-12)
    p_value[signed] = np.ldexp(1.0, -freedom[signed].astype(int))
    spread = known & ~constant
    for df in np.unique(freedom[spread]):
        place = spread & (freedom == df)
        p_value[place] = t_two_sided_each(difference[place] / se[place], float(df))
    return p_value
