"""Pruning: rules, the quality head, and the estimator that corrects for stopping by chance."""

from itertools import combinations, product

import numpy as np
import pytest

from hexathlon.baselines.algorithms.catalogue import ESTIMATORS
from hexathlon.baselines.algorithms.samples import Group
from hexathlon.baselines.pipeline.catalogue import PRUNINGS
from hexathlon.baselines.pipeline.pruning import QualityHead
from support.samples import first, group, sample


def test_survivors_are_balanced():
    draw = np.random.default_rng(3)
    for _ in range(20):
        predicted = draw.random(7)
        kept = np.flatnonzero(PRUNINGS["balanced"](predicted, share=0.5))
        best = min(abs(predicted[list(s)].mean() - 0.5) for s in combinations(range(7), 4))
        assert len(kept) == 4
        assert abs(predicted[kept].mean() - 0.5) == pytest.approx(best)
    large = PRUNINGS["balanced"](np.linspace(0.0, 1.0, 64), share=0.25)
    assert large.sum() == 16
    assert np.linspace(0.0, 1.0, 64)[large > 0].mean() == pytest.approx(0.5, abs=0.01)
    assert PRUNINGS["balanced"](np.array([0.1]), share=0.5).tolist() == [1.0]
    with pytest.raises(ValueError, match="at most 1, got 0"):
        PRUNINGS["balanced"](predicted, share=0)


def test_hopeless_rollouts_go_on_by_chance():
    chances = PRUNINGS["hopeless"](np.array([0.05, 0.1, 0.9]), below=0.1, chance=0.25)
    assert chances.tolist() == [0.25, 1.0, 1.0]
    with pytest.raises(ValueError, match="got below=0.1 and chance=0"):
        PRUNINGS["hopeless"](np.array([0.5]), chance=0)


def test_the_head_learns_which_features_tell():
    draw = np.random.default_rng(0)
    features = np.concatenate([np.ones((400, 1)), draw.normal(size=(400, 5))], axis=1)
    chance = 1 / (1 + np.exp(-(2.0 * features[:, 1] - 0.5)))
    solved = (draw.random(400) < chance).astype(float)
    head = QualityHead()
    assert head.predict(features).tolist() == [0.5] * 400
    for _ in range(20):
        head.update(features, solved, np.ones(400))
    assert head.weights[:2] == pytest.approx([-0.5, 2.0], abs=0.5)
    assert np.abs(head.weights[2:]).max() < 0.4
    other = QualityHead()
    other.load(head.state())
    assert other.predict(features).tolist() == head.predict(features).tolist()
    other.update(features[:0], solved[:0], np.ones(0))
    assert other.state() == head.state()


def test_stopping_by_chance_keeps_the_gradients_expectation():
    """Enumerate which of four rollouts go on; each has its own gradient."""
    rewards, chances = np.array([1.0, 0.0, 0.5, 1.0]), np.array([0.25, 0.5, 1.0, 0.8])
    gradients = np.array([0.3, -1.0, 2.0, 0.7])
    expected = 0.0
    for survive in product([False, True], repeat=4):
        probability = np.prod(np.where(survive, chances, 1.0 - chances))
        members = [n for n in range(4) if survive[n]]
        if not members or not probability:
            continue
        samples = [sample([rewards[n]], survival=chances[n], started=4) for n in members]
        one = Group("t", tuple(samples))
        advantages = first(ESTIMATORS["survivors"]([one]).advantages, [one])
        expected += probability * float(np.array(advantages) @ gradients[members])
    whole = [group(rewards.tolist())]
    full = float(np.array(first(ESTIMATORS["rloo"](whole).advantages, whole)) @ gradients)
    assert expected == pytest.approx(full)


def test_without_stopping_it_is_rloo():
    groups = [group((1, 0, 0, 1)), group((1,))]
    rloo = first(ESTIMATORS["rloo"](groups).advantages, groups)
    assert first(ESTIMATORS["survivors"](groups).advantages, groups) == pytest.approx(rloo)
