"""Estimators under token budgets: hand-computed values."""

import numpy as np
import pytest

from hexathlon.baselines.algorithms.budgets import budget_of, budgeted_rewards
from hexathlon.baselines.algorithms.catalogue import ESTIMATORS
from hexathlon.baselines.algorithms.samples import Group
from hexathlon.baselines.pipeline.contexts import CONTEXTS
from support.samples import first, group, sample


def test_rewards_fall_beyond_the_budget():
    lengths = np.array([1.0, 4.0, 6.0, 8.0, 12.0])
    rewards = budgeted_rewards(np.ones(5), lengths, np.full(5, 4.0))
    assert rewards.tolist() == pytest.approx([1.0, 1.0, 0.5, 0.0, 0.0])


def test_subgroups_are_compared_within_and_across():
    rows = [(1.0, 2), (1.0, 6), (0.0, 2), (1.0, 2)]
    one = Group("task", tuple(sample([r], lengths=[n]) for r, n in rows))
    credit = ESTIMATORS["hbpo"]([one], budgets=(2, 4))
    # Members 0 and 2 have the budget 2, members 1 and 3 the budget 4; 6 tokens cost half of it.
    shaped = np.array([1.0, 0.5, 0.0, 1.0])
    within = shaped - np.array([0.5, 0.75, 0.5, 0.75])
    across = (shaped - shaped.mean()) / shaped.std(ddof=1)
    assert first(credit.advantages, [one]) == pytest.approx(within + across, abs=1e-5)
    with pytest.raises(ValueError, match=r"at least 1 token, got \[\]"):
        ESTIMATORS["hbpo"]([one], budgets=())


def test_the_budget_is_the_one_in_the_context():
    """The first rollout of three has failed, so that positions name other budgets."""
    texts = [context.text for context in CONTEXTS["budgets"](0.5, 3, None, budgets=(2, 4))]
    left = [sample([1.0], lengths=[6], context=text) for text in texts[1:]]
    assert [budget_of(one, 9) for one in left] == [4, 2]
    credit = ESTIMATORS["hbpo"]([Group("task", tuple(left))], budgets=(2, 4))
    # Half of the reward is left at 6 of 4 tokens, nothing at 6 of 2; each is alone in its subgroup.
    across = np.array([0.5, -0.5]) / np.std([0.5, 0.0], ddof=1) / 2
    found = first(credit.advantages, [Group("task", tuple(left))])
    assert found == pytest.approx(across, abs=1e-5)
    assert budget_of(sample([1.0]), 9) == 9


def test_one_wide_budget_adds_grpo_to_dr_grpo():
    groups = [group((1, 0, 0, 1))]
    both = [first(ESTIMATORS[name](groups).advantages, groups) for name in ("grpo", "dr_grpo")]
    result = first(ESTIMATORS["hbpo"](groups, budgets=(100,)).advantages, groups)
    assert result == pytest.approx(np.sum(both, axis=0))
