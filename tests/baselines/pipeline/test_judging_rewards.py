"""Shapings for policies that judge: hand-computed values."""

from dataclasses import replace

import numpy as np
import pytest

from hexathlon.baselines.algorithms.samples import Group, Sample
from hexathlon.baselines.pipeline.catalogue import SHAPINGS
from hexathlon.baselines.pipeline.judging_rewards import predicted_likeness
from support.samples import sample


def verdict(
    reward: float, *, abstained: float = 0.0, critique: float = 0.0, token: int = 0
) -> Sample:
    """A verdict with the terms of its verifier, whose critique consists of one token."""
    one = sample([reward], objectives=(abstained, critique, 0.0, 1.0))
    ids = np.where(one.sampled, token, one.ids)
    return replace(one, ids=ids)


def shaped(name: str, groups: list[Group], **parameters: object) -> list[list[float]]:
    return [[s.reward for s in group.samples] for group in SHAPINGS[name](groups, **parameters)]


def test_right_verdicts_earn_the_likeness_of_their_critique():
    samples = (verdict(1.0, critique=0.5), verdict(0.0, critique=1.0), verdict(1.0))
    groups = [Group("a", samples)]
    assert shaped("critiques", groups, factor=0.4) == [[1.2, 0.0, 1.0]]
    assert shaped("critiques", groups, factor=0.4, only_correct=False) == [[1.2, 0.4, 1.0]]


def test_meta_rm_predicts_the_likeness_without_a_reference():
    known = [verdict(1.0, token=token) for token in (1, 1, 2, 2)]
    targets = [1.0, 1.0, 0.0, 0.0]
    others = [verdict(1.0, token=1), verdict(1.0, token=2), verdict(1.0, token=3)]
    like = predicted_likeness(known, targets, others, 1e-6)
    assert like == pytest.approx([1.0, 0.0, 0.5], abs=0.2)
    assert like[0] == pytest.approx(1.0, abs=1e-3) and like[1] == pytest.approx(0.0, abs=1e-3)
    assert predicted_likeness(known, targets, [], 1.0).shape == (0,)


def test_a_share_of_the_tasks_has_a_reference():
    groups = [Group(f"task-{n}", (verdict(1.0, critique=1.0, token=1),)) for n in range(200)]
    groups = [
        replace(group, samples=(replace(group.samples[0]), verdict(1.0, critique=0.0, token=2)))
        for group in groups
    ]
    rewards = shaped("critiques", groups, factor=1.0, referenced=0.5, ridge=1e-6)
    exact = sum(pair == [2.0, 1.0] for pair in rewards)
    assert 70 < exact < 130
    assert all(pair == pytest.approx([2.0, 1.0], abs=1e-3) for pair in rewards)


def test_a_batch_without_any_reference_is_an_error():
    with pytest.raises(ValueError, match="no task of the batch has a reference"):
        shaped("critiques", [Group("a", (verdict(1.0),))], referenced=0.0)


def test_abstaining_pays_exactly_below_the_threshold():
    group = Group("a", (verdict(1.0), verdict(0.0), verdict(0.0, abstained=1.0)))
    ((right, wrong, abstained),) = shaped("selective", [group], threshold=0.7)
    assert (right, wrong, abstained) == (1.0, 0.0, pytest.approx(0.7))
    for knows in (0.6, 0.8):
        answering = knows * right + (1 - knows) * wrong
        assert (answering > abstained) == (knows > 0.7)
    with pytest.raises(ValueError, match="from 0 to 1"):
        shaped("selective", [group], threshold=1.2)


def test_samples_without_such_a_term_are_errors():
    with pytest.raises(ValueError, match="has 0 terms"):
        shaped("selective", [Group("a", (sample([1.0]),))])
