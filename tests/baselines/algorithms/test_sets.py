"""Estimators on sets of rollouts, on segments of one, and on trees: hand-computed values."""

import numpy as np
import pytest

from hexathlon.baselines.algorithms.catalogue import ESTIMATORS
from hexathlon.baselines.algorithms.samples import Group
from support.samples import first, group, sample


def test_a_set_that_succeeds_in_several_ways_is_worth_more():
    alike, other = sample([1.0]), sample([1.0], lengths=[3])
    one = Group("task", (alike, alike, alike, other))
    credit = ESTIMATORS["polychromic"]([one], size=2)
    # f = 1 * 1/2 for two equal rollouts, 1 * 1 for two different ones; the mean is 3/4.
    assert first(credit.advantages, [one]) == pytest.approx([-0.25, -0.25, 0.25, 0.25])


def test_the_last_set_takes_the_remainder():
    different = [sample([float(n == 4)], lengths=[n + 1]) for n in range(5)]
    one = Group("task", tuple(different))
    credit = ESTIMATORS["polychromic"]([one], size=2)
    third = 1 / 3
    assert first(credit.advantages, [one]) == pytest.approx([-third / 2] * 2 + [third / 2] * 3)
    with pytest.raises(ValueError, match="sets of at least 2 rollouts, got size=1"):
        ESTIMATORS["polychromic"]([one], size=1)


def test_segments_are_compared_with_the_same_segment():
    one = Group("task", (sample([1.0, 0.0]), sample([0.0, 1.0]), sample([1.0])))
    credit = ESTIMATORS["segpo"]([one], whole=0.0)
    by_turn = [
        [float(a[s.turn == turn][0]) for turn in range(len(s.rewards))]
        for a, s in zip(credit.advantages, one.samples, strict=True)
    ]
    high, low = 1 / 3 / np.std([1, 0, 1], ddof=1), -2 / 3 / np.std([1, 0, 1], ddof=1)
    half = 0.5 / np.std([0, 1], ddof=1)
    assert by_turn[0] == pytest.approx([high, -half], abs=1e-5)
    assert by_turn[1] == pytest.approx([low, half], abs=1e-5)
    assert by_turn[2] == pytest.approx([high], abs=1e-5)


def test_rollouts_of_one_segment_give_twice_grpos_advantage():
    groups = [group((1, 0, 0, 1))]
    segments = first(ESTIMATORS["segpo"](groups).advantages, groups)
    whole = first(ESTIMATORS["grpo"](groups).advantages, groups)
    assert segments == pytest.approx([2 * each for each in whole])


def test_unlikely_successes_are_worth_more():
    likely, unlikely, failed = sample([1.0]), sample([1.0]), sample([0.0])
    unlikely.behaviour[unlikely.sampled] = -3.0
    one = Group("task", (likely, unlikely, failed))
    plain = first(ESTIMATORS["grpo"]([one]).advantages, [one])
    raised = first(ESTIMATORS["xrpo"]([one], bonus=0.1).advantages, [one])
    mean = np.mean([-1.0, -3.0, -1.0])
    assert raised[0] == pytest.approx(plain[0])  # likelier than the mean: no bonus
    assert raised[1] == pytest.approx(plain[1] + 0.1 * (1 - np.exp(-3.0 - mean)))
    assert raised[2] == plain[2]
    capped = first(ESTIMATORS["xrpo"]([one], bonus=100.0).advantages, [one])
    assert capped[1] == pytest.approx(1.5 * plain[1])


def test_siblings_of_a_fork_are_compared():
    paths = [("a", "b"), ("a", "c"), ("d", "e")]
    samples = [sample([0.0, r], branches=p) for p, r in zip(paths, (1.0, 0.0, 0.0), strict=True)]
    one = Group("task", tuple(samples))
    credit = ESTIMATORS["portool"]([one])
    deviation = np.std([1, 0, 0], ddof=1)
    whole = np.array([1.0, 0.0, 0.0]) / deviation - 1 / 3 / deviation
    side = 0.25 / np.std([0.5, 0.0], ddof=1)
    wanted = [
        [(whole[0] + whole[1]) / 2 + side, whole[0] + 0.5 / np.std([1, 0], ddof=1)],
        [(whole[0] + whole[1]) / 2 + side, whole[1] - 0.5 / np.std([1, 0], ddof=1)],
        [whole[2] - side, whole[2]],
    ]
    for array, s, expected in zip(credit.advantages, one.samples, wanted, strict=True):
        turns = [float(array[s.turn == turn][0]) for turn in (0, 1)]
        assert turns == pytest.approx(expected, abs=1e-4)
    shared = [float(w[s.turn == 0][0]) for w, s in zip(credit.weights, one.samples, strict=True)]
    assert shared == [0.5, 0.5, 1.0]
    chains = ESTIMATORS["portool"]([one], weight=0.0)
    assert float(chains.advantages[2][samples[2].turn == 1][0]) == pytest.approx(whole[2], abs=1e-5)
