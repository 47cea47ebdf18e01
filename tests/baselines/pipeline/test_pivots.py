"""MOA's weights by trend and its filter of conflicts."""

from itertools import combinations

import numpy as np
import pytest

from hexathlon.baselines.algorithms.samples import Group
from hexathlon.baselines.pipeline.catalogue import SHAPINGS
from hexathlon.baselines.pipeline.pivots import consistent, trend_weights
from hexathlon.baselines.pipeline.shaping import shape
from hexathlon.baselines.pipeline.task_statistics import TaskStatistics
from support.samples import group, sample


def test_dimensions_ahead_of_their_trend_weigh_more():
    means = np.array([[0.1, 0.5], [0.2, 0.5], [0.3, 0.5], [0.4, 0.7]])
    # The first goes on as before; the second is 0.2 ahead.
    ahead = np.array([0.0, 0.2])
    expected = np.exp(5 * ahead) / np.exp(5 * ahead).sum()
    assert trend_weights(means, 5.0) == pytest.approx(expected)
    assert trend_weights(means[:2], 5.0).tolist() == [0.5, 0.5]
    assert trend_weights(np.zeros((0, 4)), 5.0).tolist() == [0.25] * 4


def test_the_largest_consistent_set_is_kept():
    draw = np.random.default_rng(1)
    for _ in range(20):
        scores, pivot = draw.integers(0, 4, 6).astype(float), draw.integers(0, 4, 6).astype(float)
        kept = consistent(scores, pivot)

        def agrees(members, scores=scores, pivot=pivot):
            return all(
                (scores[a] - scores[b]) * (pivot[a] - pivot[b]) >= 0
                for a, b in combinations(members, 2)
            )

        assert agrees(kept)
        sizes = [n for n in range(1, 7) if any(map(agrees, combinations(range(6), n)))]
        assert len(kept) == max(sizes)


def test_rollouts_that_fail_on_the_pivot_are_left_out():
    rows = [(0.2, 0.2), (0.4, 0.6), (1.0, 0.1), (0.6, 0.8)]
    one = Group("task", tuple(sample([0.5], objectives=row) for row in rows))
    past = TaskStatistics(rubric=[(0.3, 0.5), (0.3, 0.5), (0.3, 0.5), (0.3, 0.9)])
    (shaped,) = shape("moa_pivot", [one], past, beta=2.0)
    weight = 1 / (1 + np.exp(-0.8))
    expected = [(1 - weight) * a + weight * b for a, b in (rows[0], rows[1], rows[3])]
    assert shaped.rewards.tolist() == pytest.approx(expected)
    (plain,) = SHAPINGS["moa_pivot"]([one], least=5)
    assert plain.rewards.tolist() == pytest.approx([sum(row) / 2 for row in rows])
    with pytest.raises(ValueError, match=r"on all rollouts, got \[0\]"):
        SHAPINGS["moa_pivot"]([group([1.0])])


def test_statistics_keep_the_means_of_a_rubric():
    known = TaskStatistics()
    for score in range(40):
        known.observe([Group("t", (sample([1.0], objectives=(score, 1.0)),) * 2)])
    assert len(known.rubric) == 32 and known.rubric[-1] == (39.0, 1.0)
    known.observe([group([1.0])])
    assert known.rubric[-1] == (39.0, 1.0)
