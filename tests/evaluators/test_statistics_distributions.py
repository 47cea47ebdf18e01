"""The distributions, compared with SciPy's and with printed tables."""

import math

import pytest

from hexathlon.evaluators.statistics.distributions import (
    normal_quantile,
    t_quantile,
    t_two_sided,
    t_upper_tail,
)

DEGREES = [1, 1.5, 2, 3, 4, 5, 7, 10, 29.3, 30, 49, 50, 99, 99.999, 101, 500, 999, 1e4, 1e5, 1e6]
PROBABILITIES = [1e-9, 1e-6, 1e-3, 0.025, 0.1, 0.3, 0.49, 0.51, 0.8, 0.95, 0.975, 0.999, 1 - 1e-6]


@pytest.mark.parametrize("df", DEGREES)
def test_t_agrees_with_scipy(df):
    stats = pytest.importorskip("scipy.stats")
    for probability in PROBABILITIES:
        expected = stats.t.ppf(probability, df)
        assert t_quantile(probability, df) == pytest.approx(expected, rel=1e-9)
        assert t_upper_tail(expected, df) == pytest.approx(stats.t.sf(expected, df), rel=1e-9)


@pytest.mark.parametrize(
    ("df", "table"),
    [(1, 12.7062), (2, 4.3027), (5, 2.5706), (10, 2.2281), (29, 2.0452), (120, 1.9799)],
)
def test_t_agrees_with_the_printed_table(df, table):
    assert t_quantile(0.975, df) == pytest.approx(table, abs=5e-5)
    assert t_two_sided(table, df) == pytest.approx(0.05, abs=1e-5)


def test_t_with_one_degree_of_freedom_is_cauchy():
    assert t_upper_tail(1.0, 1) == pytest.approx(0.25, rel=1e-14)
    assert t_quantile(0.75, 1) == pytest.approx(1.0, rel=1e-14)


def test_ends_of_the_scale():
    assert t_quantile(0.5, 3) == 0.0
    assert t_upper_tail(0.0, 3) == 0.5
    assert t_upper_tail(math.inf, 3) == 0.0
    assert t_upper_tail(-math.inf, 3) == 1.0
    assert normal_quantile(0.975) == pytest.approx(1.959963984540054, rel=1e-14)


@pytest.mark.parametrize(("probability", "df"), [(0, 3), (1, 3), (0.9, 0), (0.9, math.nan)])
def test_invalid_quantile_arguments_are_rejected(probability, df):
    with pytest.raises(ValueError, match="must"):
        t_quantile(probability, df)
