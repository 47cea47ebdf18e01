"""Kendall's tau-b: formulas by hand, and scipy."""

import math

import numpy as np
import pytest

from hexathlon.evaluators.statistics.rank_correlation import kendall_tau


@pytest.mark.parametrize(
    ("left", "right", "tau"),
    [
        ([1, 2, 3, 4], [1, 2, 3, 4], 1.0),
        ([1, 2, 3, 4], [4, 3, 2, 1], -1.0),
        # Of six pairs, one is discordant: (5 - 1) / 6.
        ([1, 2, 3, 4], [1, 3, 2, 4], 4 / 6),
        # One concordant pair, one tie on either side: 1 / sqrt(2 * 2).
        ([1, 1, 2], [1, 2, 2], 0.5),
        ([1, 1, 2], [1, 2, 3], 2 / math.sqrt(6)),
        ([1], [1], None),
        ([1, 1, 1], [1, 2, 3], None),
    ],
)
def test_values(left, right, tau):
    assert kendall_tau(left, right) == (None if tau is None else pytest.approx(tau))


def test_scipy_agrees():
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(5)
    for size in (2, 5, 17, 60):
        left, right = rng.integers(size, size=size), rng.integers(size, size=size)
        expected = stats.kendalltau(left, right).statistic
        tau = kendall_tau(left, right)
        assert math.isnan(expected) if tau is None else tau == pytest.approx(expected)
