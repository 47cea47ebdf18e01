"""The loss of reward models and its margins: hand-computed values and identities."""

import math

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.algorithms.preferences import ActMargins, preference_loss


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
