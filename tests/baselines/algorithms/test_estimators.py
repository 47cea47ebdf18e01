"""Advantage estimators: hand-computed golden values, and invariants of all estimators."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexathlon.baselines.algorithms import critic, group_relative  # noqa: F401
from hexathlon.baselines.algorithms.critic import gae
from hexathlon.baselines.algorithms.estimators import ESTIMATORS
from hexathlon.baselines.algorithms.registry import UnknownPart
from hexathlon.baselines.algorithms.samples import Group, Sample
from support.samples import first, group, sample

EIGHT = (1, 0, 0, 1, 1, 0, 0, 0)
CRITIC_FREE = ("dr_grpo", "grpo", "ipa", "lite_ppo", "max_rl", "mc_grpo", "reinforce_pp", "rloo")


@pytest.mark.parametrize(
    ("name", "won", "lost"),
    [
        ("grpo", 1.207612, -0.724567),
        ("dr_grpo", 0.625, -0.375),
        ("rloo", 0.714286, -0.428571),
        ("max_rl", 0.625 / 0.375, -1.0),
        ("reinforce", 1.0, 0.0),
        ("ipa", 0.625, -0.375),
    ],
)
def test_group_baselines(name, won, lost):
    groups = [group(EIGHT)]
    result = first(ESTIMATORS[name](groups).advantages, groups)
    assert result == pytest.approx([won if reward else lost for reward in EIGHT], abs=1e-6)


def test_lite_ppo_uses_the_deviation_of_the_batch():
    groups = [group((1, 0)), group((0.5, 0.5))]
    deviation = np.std([1, 0, 0.5, 0.5], ddof=1)
    result = first(ESTIMATORS["lite_ppo"](groups).advantages, groups)
    assert result == pytest.approx([0.5 / deviation, -0.5 / deviation, 0, 0], abs=1e-5)


def test_mc_grpo_excludes_the_median():
    groups = [group((1, 0, 0.5, 0.25, 0))]
    credit = ESTIMATORS["mc_grpo"](groups)
    golden = [2.988048, -0.996016, 0.996016, 0, -0.996016]
    assert first(credit.advantages, groups) == pytest.approx(golden, abs=1e-6)
    assert first(credit.weights, groups) == [1, 1, 1, 0, 1]


def test_mc_grpo_is_stable_if_most_rewards_are_equal():
    groups = [group((1, 0, 0, 0, 0))]
    credit = ESTIMATORS["mc_grpo"](groups)
    assert max(map(abs, first(credit.advantages, groups))) < 10
    assert sum(first(credit.weights, groups)) == 4


def test_mc_grpo_rescaling_is_an_option():
    groups = [group((1, 0, 0, 0, 0))]
    plain = first(ESTIMATORS["mc_grpo"](groups).advantages, groups)
    scaled = first(ESTIMATORS["mc_grpo"](groups, rescale=True).advantages, groups)
    assert scaled[0] == pytest.approx(4 * plain[0])


def test_generalised_advantages():
    result = gae(np.array([0, 0, 1.0]), np.array([0.1, 0.2, 0.3]), 0.9, 0.8)
    assert result == pytest.approx([0.49328, 0.574, 0.7], abs=1e-6)


def observed_between(rewards=(0.0, 1.0)) -> Sample:
    """Two sampled tokens, one observation, one sampled token: the mask 1101."""
    return Sample(
        ids=np.arange(4),
        sampled=np.array([True, True, False, True]),
        observed=np.array([False, False, True, False]),
        behaviour=np.zeros(4),
        turn=np.array([0, 0, -1, 1]),
        rewards=rewards,
    )


def test_environment_tokens_are_skipped():
    groups = [Group("t", (observed_between(),))]
    values = [np.array([0.1, 0.2, 0.9, 0.3])]
    plain = ESTIMATORS["gae"](groups, values, gamma=0.9, lam=0.8, whitened=False)
    assert plain.advantages[0] == pytest.approx([0.49328, 0.574, 0, 0.7], abs=1e-6)
    assert plain.returns is not None
    assert plain.returns[0] == pytest.approx([0.59328, 0.774, 0, 1.0], abs=1e-6)
    whitened = ESTIMATORS["gae"](groups, values, gamma=0.9, lam=0.8)
    assert whitened.advantages[0] == pytest.approx([-0.9197, -0.1449, 0, 1.0645], abs=1e-4)


def test_turn_form_uses_turns_as_steps():
    groups = [Group("t", (observed_between((0.5, 1.0)),))]
    values = [np.array([0.1, 9.0, 9.0, 0.3])]
    credit = ESTIMATORS["gae_turns"](groups, values, gamma=0.9, lam=0.8, whitened=False)
    last = 1.0 - 0.3
    opening = 0.5 + 0.9 * 0.3 - 0.1 + 0.9 * 0.8 * last
    assert credit.advantages[0] == pytest.approx([opening, opening, 0, last])


def test_gae_requires_a_critic():
    with pytest.raises(ValueError, match="critic"):
        ESTIMATORS["gae"]([group((1, 0))])


def test_gigpo():
    rollouts = (
        sample((0, 1), states=("s0", "s1")),
        sample((0, 0), states=("s0", "s2")),
    )
    groups = [Group("t", rollouts)]
    credit = ESTIMATORS["gigpo"](groups, gamma=0.95)
    by_turn = [
        [a[s.turn == turn][0] for turn in (0, 1)]
        for a, s in zip(credit.advantages, rollouts, strict=True)
    ]
    assert np.array(by_turn) == pytest.approx(np.array([[0.975, 0.5], [-0.975, -0.5]]))


def test_gigpo_requires_states():
    with pytest.raises(ValueError, match="state before each turn"):
        ESTIMATORS["gigpo"]([group((1, 0))])


def test_chunk_returns():
    rollout = sample((0.1, 0, 1))
    credit = ESTIMATORS["ipa"]([Group("t", (rollout,))], gamma=0.9, baseline=False)
    result = [credit.advantages[0][rollout.turn == turn][0] for turn in range(3)]
    assert result == pytest.approx([0.91, 0.9, 1.0])


def test_reinforce_pp_whitens_over_the_batch():
    groups = [group(EIGHT), group((1, 1, 0, 0))]
    for baseline in (False, True):
        credit = ESTIMATORS["reinforce_pp"](groups, baseline=baseline)
        samples = [s for g in groups for s in g.samples]
        drawn = np.concatenate(
            [a[s.sampled] for a, s in zip(credit.advantages, samples, strict=True)]
        )
        assert drawn.mean() == pytest.approx(0, abs=1e-9)
        assert drawn.std(ddof=1) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("name", CRITIC_FREE)
@pytest.mark.parametrize("rewards", [(1, 1, 1), (0, 0, 0, 0), (0.3,) * 5])
def test_equal_rewards_give_zero_advantages(name, rewards):
    groups = [group(rewards)]
    result = first(ESTIMATORS[name](groups).advantages, groups)
    assert result == pytest.approx([0.0] * len(rewards), abs=1e-6)


@pytest.mark.parametrize("name", [*CRITIC_FREE, "reinforce"])
@given(
    rewards=st.lists(
        st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=6),
        min_size=1,
        max_size=4,
    )
)
def test_advantages_are_finite_and_stay_on_sampled_tokens(name, rewards):
    groups = [group(each) for each in rewards]
    credit = ESTIMATORS[name](groups)
    samples = [s for g in groups for s in g.samples]
    for advantage, weight, one in zip(credit.advantages, credit.weights, samples, strict=True):
        assert np.isfinite(advantage).all()
        assert not advantage[~one.sampled].any()
        assert not weight[~one.sampled].any()


@pytest.mark.parametrize("name", ["grpo", "dr_grpo", "rloo", "max_rl", "mc_grpo"])
def test_advantages_are_independent_of_other_groups(name):
    alone = [group(EIGHT)]
    beside = [*alone, group((5, 7, 9))]
    assert first(ESTIMATORS[name](alone).advantages, alone) == pytest.approx(
        first(ESTIMATORS[name](beside).advantages, beside)[: len(EIGHT)]
    )


def test_unknown_names_and_parameters_are_rejected():
    with pytest.raises(UnknownPart, match="no advantage estimator 'grop'; there are .*dr_grpo"):
        ESTIMATORS["grop"]
    with pytest.raises(UnknownPart, match="'grpo' has no parameter epsilon; it has eps"):
        ESTIMATORS.resolve("grpo", {"epsilon": 1})
    assert ESTIMATORS.resolve("grpo", {"eps": 1e-4}) == {"eps": 1e-4}
