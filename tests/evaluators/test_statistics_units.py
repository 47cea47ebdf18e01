"""Comparisons from sums over units: the same results as from the tasks themselves."""

import math

import numpy as np
import pytest

from hexathlon.evaluators.statistics import (
    UnitSums,
    holm,
    pair_tests,
    paired_comparison,
    rank_ranges,
    repeat_deviation,
    unit_rank_ranges,
)
from hexathlon.evaluators.statistics.distributions import t_two_sided, t_two_sided_each

TASKS = [f"t{n:02d}" for n in range(40)]


def rows_of(seed: int, systems: int, templates: int) -> tuple[list[dict[str, float]], dict]:
    draws = np.random.default_rng(seed)
    clusters = {task: f"c{n % templates}" for n, task in enumerate(TASKS)}
    chance = draws.beta(1, 1, len(TASKS))
    rows = [
        dict(zip(TASKS, (draws.binomial(4, np.clip(chance + 0.06 * n, 0, 1)) / 4).tolist(),
                 strict=True))
        for n in range(systems)
    ]  # fmt: skip
    return rows, clusters


@pytest.mark.parametrize("templates", [2, 7, 40])
@pytest.mark.parametrize("seed", range(4))
def test_they_equal_comparisons_of_tasks(seed, templates):
    rows, clusters = rows_of(seed, 6, templates)
    sums = [UnitSums.of(row, clusters) for row in rows]
    tests = pair_tests(sums)
    pairs = [(a, b) for a in range(6) for b in range(a + 1, 6)]
    expected = [paired_comparison(rows[a], rows[b], clusters) for a, b in pairs]
    for (a, b), one, adjusted in zip(pairs, expected, holm([e.p_value for e in expected]),
                                     strict=True):  # fmt: skip
        found = (tests.difference[a, b], tests.se[a, b], tests.p_value[a, b])
        assert found == pytest.approx((one.difference, one.se, one.p_value), abs=1e-12)
        assert tests.adjusted[a, b] == pytest.approx(adjusted, abs=1e-12)
        assert tests.detectable[a, b] == pytest.approx(one.detectable, abs=1e-12)
        assert tests.difference[a, b] == -tests.difference[b, a]
    assert unit_rank_ranges(sums) == rank_ranges(rows, clusters)


def test_rows_of_one_template_are_compared_by_task():
    rows, _ = rows_of(1, 2, 1)
    better = {task: 1.0 for task in TASKS}
    clusters = dict.fromkeys(TASKS, "only")
    sums = [UnitSums.of(row, clusters) for row in (*rows, better)]
    assert sums[0].counts == (1,) * 40
    without = paired_comparison(rows[0], better)
    assert pair_tests(sums).p_value[0, 2] == pytest.approx(without.p_value, abs=1e-12)


def test_rows_of_other_tasks_are_never_better():
    a = UnitSums.of({"x": 1.0, "y": 1.0}, {"x": "1", "y": "2"})
    b = UnitSums.of({"z": 0.0, "y": 0.0}, {"z": "3", "y": "2"})
    assert [(one.best, one.worst) for one in unit_rank_ranges([a, b])] == [(1, 2), (1, 2)]
    assert math.isnan(pair_tests([a, b]).difference[0, 1])


def test_equal_differences_are_decided_by_the_sign_test():
    a = UnitSums.of({str(n): 1.0 for n in range(8)}, {str(n): n for n in range(8)})
    b = UnitSums.of({str(n): 0.0 for n in range(8)}, {str(n): n for n in range(8)})
    assert pair_tests([a, b]).p_value[0, 1] == 2.0**-7
    assert pair_tests([a, a]).p_value[0, 1] == 1.0


def test_the_deviation_of_repeat_runs_is_that_of_a_simulation():
    draws = np.random.default_rng(5)
    chance = draws.beta(2, 2, 50)
    passed = draws.binomial(4, chance, (3_000, 50))
    true = math.sqrt(float(np.mean(chance * (1 - chance)) / 4 / 50))
    assert float((passed / 4).mean(axis=1).std()) == pytest.approx(true, rel=0.05)
    estimates = [repeat_deviation(row.tolist(), [4] * 50) for row in passed[:400]]
    squares = [one * one for one in estimates if one is not None]
    assert math.sqrt(sum(squares) / len(squares)) == pytest.approx(true, rel=0.02)
    assert repeat_deviation([1], [1]) is None and repeat_deviation([], []) is None


def test_many_tails_are_the_tails_of_each():
    draws = np.random.default_rng(5)
    for df in (1.0, 2.5, 11.0, 99.0, 4000.0):
        t = np.concatenate([[0.0, np.inf, -2.0, 1e-9, 40.0], draws.normal(0, 3, 200)])
        each = [t_two_sided(value, df) for value in t.tolist()]
        assert t_two_sided_each(t, df) == pytest.approx(each, rel=1e-11, abs=1e-300)
    assert math.isnan(t_two_sided_each(np.array([math.nan]), 3.0)[0])
    with pytest.raises(ValueError, match="positive"):
        t_two_sided_each(np.ones(2), 0.0)
