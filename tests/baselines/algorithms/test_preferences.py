"""Losses and labels of reward models: hand-computed values and identities."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.algorithms.preferences import (
    ActMargins,
    preference_loss,
    pseudo_labelled,
    selective_labels,
    smoothed_labels,
    two_stage_rewards,
)


def sigma(x):
    return 1 / (1 + math.exp(-x))


def test_the_loss_is_bradley_terry_with_a_margin():
    chosen, rejected = torch.tensor([2.0, 0.5]), torch.tensor([1.0, 1.5])
    plain = -(math.log(sigma(1.0)) + math.log(sigma(-1.0))) / 2
    assert float(preference_loss(chosen, rejected, torch.zeros(2))) == pytest.approx(plain)
    margin = torch.tensor([0.5, 0.0])
    expected = -(math.log(sigma(0.5)) + math.log(sigma(-1.0))) / 2
    assert float(preference_loss(chosen, rejected, margin)) == pytest.approx(expected)


def test_shifting_both_scores_changes_nothing():
    chosen, rejected = torch.randn(5), torch.randn(5)
    margin = torch.rand(5)
    moved = preference_loss(chosen + 3, rejected + 3, margin)
    assert float(moved) == pytest.approx(float(preference_loss(chosen, rejected, margin)), rel=1e-5)


def test_margins_follow_the_confidence_on_each_act():
    margins = ActMargins(scale=2.0, decay=0.5)
    assert margins.of(["right", "wrong"]) == [0.0, 0.0]
    margins.observe(["right", "right", "wrong"], [math.log(3), math.log(3), -5.0])
    # sigma(log 3) = 3/4, so the confidence goes from 1/2 halfway to 3/4.
    assert margins.confidence["right"] == pytest.approx(0.625)
    assert margins.of(["right", "wrong", "new"]) == pytest.approx([2 * (2 * 0.625 - 1), 0.0, 0.0])
    assert ActMargins(scale=0.0).of(["right"]) == [0.0]


def test_self_evolution_keeps_confident_pairs():
    gaps = [math.log(9), -math.log(9), math.log(3), 0.0]
    assert pseudo_labelled(gaps, 0.89) == [1, -1, 0, 0]
    assert pseudo_labelled(gaps, 0.75) == [1, -1, 1, 0]


def test_criteria_earn_the_mean_of_the_scores_below_them():
    scores, criteria = two_stage_rewards(
        np.array([[3.0, 2.0], [1.0, 1.0]]), np.array([[1.0, 2.0], [0.0, 0.0]])
    )
    assert scores.tolist() == [[1.0, 0.0], [1.0, 1.0]]
    assert criteria.tolist() == [0.5, 1.0]


def test_labels_are_smoothed_over_the_graph():
    weak = np.array([1.0, 0.0, 0.25])
    graph = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert smoothed_labels(weak, graph, 0.0) == pytest.approx(weak)
    # Two items joined alone: (1 - a)(I - a S)^-1 (1, 0) = (1, a)/(1 + a).
    assert smoothed_labels(weak, graph, 0.5) == pytest.approx([1 / 1.5, 0.5 / 1.5, 0.25])


def test_own_labels_count_above_the_threshold():
    labels = selective_labels(np.ones(3), np.array([0.9, 0.7, 0.1]), np.zeros(3), 0.7)
    assert labels.tolist() == [1.0, 0.0, 0.0]
