"""Intervals: hand-computed golden values, small-number rules, and nominal coverage."""

import math

import numpy as np
import pytest

from hexathlon.evaluators.statistics import (
    ScoreInterval,
    clustered_standard_error,
    score_interval,
    wilson,
)


@pytest.mark.parametrize(
    ("n", "at_half", "at_nine_tenths", "zero_high"),
    [(50, 13.4, 8.5, 7.1), (100, 9.6, 6.0, 3.7), (200, 6.9, 4.2, 1.9), (500, 4.4, 2.6, 0.8),
     (1000, 3.1, 1.9, 0.4)],
)  # fmt: skip
def test_wilson_half_widths_to_remember(n, at_half, at_nine_tenths, zero_high):
    z = 1.959963984540054
    for mean, expected in ((0.5, at_half), (0.9, at_nine_tenths)):
        low, high = wilson(mean, n, z)
        assert 50 * (high - low) == pytest.approx(expected, abs=0.05)
    assert wilson(0.0, n, z)[0] == 0.0
    assert 100 * wilson(0.0, n, z)[1] == pytest.approx(zero_high, abs=0.06)


def test_wilson_by_hand():
    # p = 8/10, z = 2: centre (0.8 + 0.2)/(1.4) = 0.714..., half 2 sqrt(0.016 + 0.01)/1.4
    low, high = wilson(0.8, 10, 2.0)
    assert low == pytest.approx((1.0 - 2 * math.sqrt(0.026)) / 1.4)
    assert high == pytest.approx((1.0 + 2 * math.sqrt(0.026)) / 1.4)


def test_standard_error_by_hand():
    # mean 0.5, squares 0.25 + 0 + 0.25 = 0.5, sd^2 = 0.25, SE = 0.5/sqrt(3)
    assert clustered_standard_error([0.0, 0.5, 1.0]) == (pytest.approx(0.5 / math.sqrt(3)), 3)


def test_clustered_standard_error_by_hand():
    # clusters a: 1, 1 and b: 0, 0; mean 0.5; cluster sums of residuals 1 and -1
    # SE^2 = 2/1 * (1 + 1) / 16 = 0.25
    assert clustered_standard_error([1, 1, 0, 0], ["a", "a", "b", "b"]) == (0.5, 2)
    # the same tasks on their own: SE^2 = 4/3 * 1 / 16
    assert clustered_standard_error([1, 1, 0, 0])[0] == pytest.approx(math.sqrt(1 / 12))


def width(interval: ScoreInterval) -> float:
    return interval.high - interval.low


def test_interval_by_hand():
    # SE^2 = 1/12, so n_eff = 0.25 * 12 = 3; t(3) = 3.18245; centre 0.5,
    # half = t sqrt(0.25/3 + t^2/36) / (1 + t^2/3)
    t = 3.182446305284263
    half = t * math.sqrt(0.25 / 3 + t * t / 36) / (1 + t * t / 3)
    interval = score_interval([1, 1, 0, 0])
    assert interval.effective_n == pytest.approx(3.0)
    assert (interval.low, interval.high) == (
        pytest.approx(0.5 - half, rel=1e-12),
        pytest.approx(0.5 + half, rel=1e-12),
    )
    assert (interval.mean, interval.tasks, interval.clusters) == (0.5, 4, 4)


def test_clusters_widen_the_interval():
    values = [1.0] * 10 + [0.0] * 10
    alone = score_interval(values)
    together = score_interval(values, [index // 5 for index in range(20)])
    assert width(together) > 1.5 * width(alone)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_constant_scores_have_a_plausible_interval(value):
    n, clusters = 1000, [index % 40 for index in range(1000)]
    whole = score_interval([value] * n, clusters)
    odd = score_interval([value] * (n - 1) + [1.0 - value], clusters)
    assert whole.se == 0.0
    assert whole.effective_n == n
    assert whole.low <= value <= whole.high
    assert width(whole) < width(odd) < 2 * width(whole)


def test_more_passing_tasks_narrow_the_interval():
    lows = [score_interval([1.0] * n).low for n in range(1, 40)]
    assert lows == sorted(lows)
    assert lows[1] == pytest.approx(2 / (2 + 1.959963984540054**2))
    few_clusters = score_interval([1.0] * 40, [n % 2 for n in range(40)])
    assert few_clusters.low < 0.3


def test_effective_n_never_exceeds_the_trials():
    interval = score_interval([0.5] * 20, trials=80)
    assert interval.effective_n == 80
    assert interval.high - interval.low > 0.2


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_one_task_or_cluster_gives_a_wide_interval(value):
    for interval in (score_interval([value]), score_interval([value] * 50, ["only"] * 50)):
        assert interval.method == "wilson-z"
        assert interval.high - interval.low > 0.75
        assert interval.low <= value <= interval.high


@pytest.mark.parametrize("values", [[], [1.2], [-0.1], [math.nan]])
def test_invalid_scores_are_rejected(values):
    with pytest.raises(ValueError, match="score|value"):
        score_interval(values)


def test_interval_always_lies_within_zero_and_one():
    draws = np.random.default_rng(5)
    for _ in range(300):
        n = int(draws.integers(2, 30))
        values = (draws.random(n) < draws.random()).astype(float).tolist()
        interval = score_interval(values, draws.integers(0, 5, n).tolist())
        assert 0.0 <= interval.low <= interval.mean <= interval.high <= 1.0


# Success rate per task from a Beta law, four trials each, nominal 95 %; columns: tasks, a, b, and
# the coverage of naive binomial, CLT on task means, Student's t, and Wilson on n_eff with t.
COVERAGE = [
    (12, 0.5, 0.5, 76.8, 92.1, 94.5, 96.5),
    (12, 0.3, 2.7, 75.5, 80.7, 89.4, 98.0),
    (30, 0.5, 0.5, 77.1, 94.2, 95.2, 95.8),
    (30, 0.3, 2.7, 87.5, 91.0, 92.2, 94.8),
    (100, 0.5, 0.5, 78.1, 94.7, 94.9, 95.2),
    (100, 0.3, 2.7, 86.8, 93.9, 94.0, 94.9),
]


def simulate(tasks, a, b, repeats, trials=4):
    """Return the coverage, in per cent, of the naive interval and of ours."""
    draws = np.random.default_rng([tasks, int(10 * a), int(10 * b)])
    truth = a / (a + b)
    naive = ours = 0
    for _ in range(repeats):
        rates = draws.beta(a, b, size=tasks)
        means = draws.binomial(trials, rates) / trials
        mean = means.mean()
        half = 1.96 * math.sqrt(mean * (1 - mean) / (tasks * trials))
        naive += mean - half <= truth <= mean + half
        interval = score_interval(means.tolist(), trials=tasks * trials)
        ours += interval.low <= truth <= interval.high
    return 100 * naive / repeats, 100 * ours / repeats


@pytest.mark.parametrize(("tasks", "a", "b", "naive", "clt", "student", "expected"), COVERAGE)
def test_coverage_table(tasks, a, b, naive, clt, student, expected):
    found_naive, result = simulate(tasks, a, b, repeats=4000)
    assert result == pytest.approx(expected, abs=2)
    assert found_naive == pytest.approx(naive, abs=4)
