"""Estimators for groups with hints and contexts: hand-computed values."""

import numpy as np
import pytest

from hexathlon.baselines.algorithms.catalogue import ESTIMATORS
from hexathlon.baselines.algorithms.samples import Group, Sample, turns_given
from support.samples import first, group, sample


def hinted(reward: float) -> Sample:
    """A rollout whose first turn was given."""
    one = sample([0.0, reward])
    one.sampled[one.turn == 0] = False
    one.turn[one.turn == 0] = -1
    return one


def test_rollouts_with_a_hint_are_standardised_apart():
    one = Group("task", (sample([1.0]), sample([0.0]), sample([0.0]), hinted(1.0), hinted(0.0)))
    assert [turns_given(member) for member in one.samples] == [0, 0, 0, 1, 1]
    gain = 1 / 2 - 1 / 3
    plain = (np.array([1, 0, 0]) - 1 / 3) / np.std([1, 0, 0], ddof=1)
    given = np.array([0.5, -0.5]) / np.std([1, 0], ddof=1)
    credit = ESTIMATORS["ad_hint"]([one])
    expected = [*((1 + gain) * plain), *((1 - gain) * given)]
    assert first(credit.advantages, [one]) == pytest.approx(expected, abs=1e-5)


def test_without_hints_it_is_grpo():
    groups = [group((1, 0, 0, 1))]
    grpo = first(ESTIMATORS["grpo"](groups).advantages, groups)
    assert first(ESTIMATORS["ad_hint"](groups).advantages, groups) == pytest.approx(grpo)


def test_contexts_are_compared_within_and_across():
    rows = [(1.0, ""), (0.0, ""), (1.0, "a"), (0.0, "a"), (1.0, "b"), (1.0, "b")]
    samples = [
        sample([reward], context=text, key=f"t#{number}")
        for number, (reward, text) in enumerate(rows)
    ]
    copy = sample([1.0], context="a", key="t#2 without context")
    one = Group("t", (*samples, copy))
    credit = ESTIMATORS["nudge"]([one], across=2.0, distil=0.1)
    mean = 4 / 6
    bonus = np.array([1 - mean, -mean, 0.5 - 2 / 6, -0.5 - 2 / 6, 2 / 3, 2 / 3])
    expected = (bonus - bonus.mean()) / bonus.std(ddof=1)
    result = first(credit.advantages, [one])
    assert result[:6] == pytest.approx(expected, abs=1e-5)
    assert result[6] == pytest.approx(0.1 * result[2])


def test_nudge_without_contexts_is_grpo():
    groups = [group((1, 0, 0, 1))]
    grpo = first(ESTIMATORS["grpo"](groups).advantages, groups)
    assert first(ESTIMATORS["nudge"](groups).advantages, groups) == pytest.approx(grpo)
