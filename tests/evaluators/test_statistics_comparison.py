"""Comparisons: hand-computed golden values, SciPy's values, simulated error rates."""

import math

import numpy as np
import pytest

from hexathlon.evaluators.statistics import (
    exact_mcnemar,
    holm,
    minimum_detectable_difference,
    paired_comparison,
    pareto_front,
    rank_ranges,
    tasks_needed,
)


def by_task(values):
    return {f"task-{index:04d}": float(value) for index, value in enumerate(values)}


def test_paired_difference_by_hand():
    # differences 1, 0, 0, 1: mean 0.5, SE = sqrt(4/3 * 1)/4, t = 0.5/SE = sqrt(3) on 3 df
    result = paired_comparison(by_task([1, 0, 1, 1]), by_task([0, 0, 1, 0]))
    assert result.difference == 0.5
    assert result.se == pytest.approx(math.sqrt(1 / 12))
    assert result.p_value == pytest.approx(0.18169, abs=1e-5)
    assert result.low == pytest.approx(0.5 - 3.182446 * math.sqrt(1 / 12), abs=1e-6)
    assert result.method == "paired-t"


def test_paired_comparison_agrees_with_scipy():
    stats = pytest.importorskip("scipy.stats")
    draws = np.random.default_rng(1)
    a, b = draws.integers(0, 5, 60) / 4, draws.integers(0, 5, 60) / 4
    result = paired_comparison(by_task(a), by_task(b))
    expected = stats.ttest_rel(a, b)
    assert result.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    interval = expected.confidence_interval()
    assert (result.low, result.high) == (
        pytest.approx(interval.low, rel=1e-9),
        pytest.approx(interval.high, rel=1e-9),
    )


def test_only_shared_tasks_count():
    result = paired_comparison({"a": 1.0, "b": 0.0, "c": 1.0}, {"b": 0.0, "c": 0.0, "d": 1.0})
    assert (result.tasks, result.difference) == (2, 0.5)
    with pytest.raises(ValueError, match="no task in common"):
        paired_comparison({"a": 1.0}, {"b": 1.0})


def test_clusters_make_a_difference_less_certain():
    a, b = by_task([1] * 30 + [0] * 30), by_task([0] * 30 + [0] * 30)
    clusters = {task: int(task[-4:]) // 15 for task in a}
    alone, together = paired_comparison(a, b), paired_comparison(a, b, clusters)
    assert alone.p_value < 1e-6
    assert together.p_value > 0.1
    assert together.clusters == 4
    assert together.detectable > alone.detectable


@pytest.mark.parametrize(("n", "p_value"), [(2, 0.5), (5, 0.0625), (6, 0.03125)])
def test_equal_differences_use_the_sign_test(n, p_value):
    result = paired_comparison(by_task([1] * n), by_task([0] * n))
    assert (result.p_value, result.method) == (p_value, "exact-sign")


def test_equal_agents_are_equal():
    result = paired_comparison(by_task([1, 0, 1]), by_task([1, 0, 1]))
    assert (result.difference, result.p_value) == (0.0, 1.0)


def test_one_cluster_is_never_significant():
    a, b = by_task([1] * 30), by_task([0] * 30)
    result = paired_comparison(a, b, dict.fromkeys(a, "only"))
    assert (result.method, result.p_value) == ("none", 1.0)


@pytest.mark.parametrize(
    ("only_a", "only_b", "p_value"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 5, 1.0), (6, 0, 2 / 64), (8, 2, 2 * 56 / 1024),
     (10, 2, 2 * 79 / 4096)],
)  # fmt: skip
def test_mcnemar_by_hand(only_a, only_b, p_value):
    assert exact_mcnemar(only_a, only_b) == pytest.approx(p_value, rel=1e-15)
    assert exact_mcnemar(only_b, only_a) == exact_mcnemar(only_a, only_b)


def test_mcnemar_agrees_with_scipy():
    stats = pytest.importorskip("scipy.stats")
    for only_a, only_b in ((3, 17), (40, 61), (500, 580)):
        expected = stats.binomtest(only_a, only_a + only_b).pvalue
        assert exact_mcnemar(only_a, only_b) == pytest.approx(expected, rel=1e-9)


def test_single_binary_trials_use_mcnemar():
    a, b = by_task([1] * 10 + [0] * 2 + [1] * 5), by_task([0] * 10 + [1] * 2 + [1] * 5)
    result = paired_comparison(a, b, single_binary=True)
    assert result.method == "exact-mcnemar"
    assert result.p_value == pytest.approx(2 * 79 / 4096)


def test_holm_by_hand():
    # sorted 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1 = 0.04, 0.06, 0.06, 0.04, made monotone
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_planning_gives_about_a_thousand_tasks_for_three_points():
    # Miller 2411.00640, section 5, omega^2 = 1/9: (1.959964 + 0.841621)^2 / 9 / 0.0009 = 968.998
    assert tasks_needed(0.03, between=1 / 9) == 969
    assert tasks_needed(0.03, between=1 / 9, within_a=0.1, trials_a=10) == 1057
    se = math.sqrt(1 / 9 / 969)
    assert minimum_detectable_difference(se) == pytest.approx(0.03, rel=1e-3)


def test_indistinguishable_agents_share_ranks():
    draws = np.random.default_rng(3)
    ease = draws.random(300)
    rows = [by_task(draws.random(300) < ease * skill) for skill in (1.0, 0.98, 0.5, 0.48, 0.05)]
    ranges = [(rank.best, rank.worst) for rank in rank_ranges(rows)]
    assert ranges == [(1, 2), (1, 2), (3, 4), (3, 4), (5, 5)]
    assert rank_ranges(rows[:1])[0].best == rank_ranges(rows[:1])[0].worst == 1
    assert rank_ranges([]) == []


def test_rows_without_common_tasks_never_precede_each_other():
    ranges = rank_ranges([{"a": 1.0, "b": 1.0}, {"c": 0.0, "d": 0.0}])
    assert [(rank.best, rank.worst) for rank in ranges] == [(1, 2), (1, 2)]


def test_false_alarms_stay_under_alpha():
    draws = np.random.default_rng(9)
    alarms = 0
    for _ in range(150):
        ease = draws.random(80)
        rows = [by_task(draws.random(80) < ease) for _ in range(5)]
        alarms += any(rank.best > 1 for rank in rank_ranges(rows))
    assert alarms / 150 < 0.09  # 5 % nominal over all ten pairs, 95 % limit of 150 repeats


def test_pareto_front_by_hand():
    points = [(1.0, 0.5), (2.0, 0.5), (2.0, 0.9), (3.0, 0.8), (1.0, 0.5), (0.5, 0.1)]
    assert pareto_front(points) == [True, False, True, False, True, True]
