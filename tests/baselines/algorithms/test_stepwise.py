"""UI-S1's two-level advantage and HiFPO's, against hand-computed values; prompts without hints."""

import numpy as np
import pytest

from hexathlon.baselines.algorithms.catalogue import ESTIMATORS
from hexathlon.baselines.algorithms.hints import hint_free
from hexathlon.baselines.algorithms.samples import Group
from hexathlon.baselines.algorithms.stepwise import returns_until_mismatch, with_feedback
from support.samples import sample


def by_turn(name, *rollouts, **parameters):
    credit = ESTIMATORS[name]([Group("t", rollouts)], **parameters)
    for advantage, weight, rollout in zip(credit.advantages, credit.weights, rollouts, strict=True):
        assert not advantage[~rollout.sampled].any()
        assert np.array_equal(weight > 0, rollout.sampled)
    return [
        [pytest.approx(a[s.turn == turn][0]) for turn in range(len(s.rewards))]
        for a, s in zip(credit.advantages, rollouts, strict=True)
    ]


@pytest.mark.parametrize(
    ("rewards", "returns"),
    [
        ((0.25, 0.25, 0.25, 0.25), (0.46875, 0.4375, 0.375, 0.25)),
        ((0.25, 0, 0.25, 0.25), (0.25, 0, 0.375, 0.25)),  # the mismatch breaks the sum
        ((0, 0, 1), (0, 0, 1)),
        ((1, 0), (1, 0)),
        ((), ()),
    ],
)
def test_returns_stop_at_a_mismatch(rewards, returns):
    assert returns_until_mismatch(rewards, 0.5) == pytest.approx(returns)


# Rewards (1/2, 1/2) and (0, 1/2), gamma 1/2: returns (3/4, 1/2) and (0, 1/2).
# Episodes: 1 and 1/2, mean 3/4, deviation 0.353553. Step 0: 3/4 and 0, mean 3/8, deviation
# 0.530330. Step 1: equal.
HALF = 0.7071068


@pytest.mark.parametrize(
    ("parameters", "golden"),
    [
        ({"eps": 0.0}, [[2 * HALF, HALF], [-2 * HALF, -HALF]]),
        ({"scale": False}, [[0.25 + 0.375, 0.25], [-0.25 - 0.375, -0.25]]),
        ({"scale": False, "step_weight": 0.0}, [[0.25, 0.25], [-0.25, -0.25]]),
        ({"scale": False, "episode_weight": 0.0}, [[0.375, 0.0], [-0.375, 0.0]]),
        ({"scale": False, "episode_weight": 0.0, "gamma": 0.0}, [[0.25, 0.0], [-0.25, 0.0]]),
    ],
)
def test_ui_s1(parameters, golden):
    assert by_turn("ui_s1", sample((0.5, 0.5)), sample((0, 0.5)), **parameters) == golden


def test_steps_are_compared_among_the_rollouts_that_reached_them():
    rollouts = sample((1.0,)), sample((0.0, 0.5)), sample((0.0, 0.0, 0.25))
    parameters = {"scale": False, "episode_weight": 0.0}
    golden = [[2 / 3], [-1 / 3, 0.25], [-1 / 3, -0.25, 0.0]]
    assert by_turn("ui_s1", *rollouts, **parameters) == golden


def test_a_single_rollout_and_equal_rollouts_have_no_advantage():
    assert by_turn("ui_s1", sample((1.0, 0.0))) == [[0.0, 0.0]]
    assert by_turn("ui_s1", sample((0.5, 0.5)), sample((0.5, 0.5))) == [[0.0, 0.0]] * 2


def test_hifpo_adds_the_judged_steps_to_the_outcome():
    # Outcomes 1 and 0: +-0.7071068. Feedback 1 and 0 at step 0, equal at step 1.
    rollouts = sample((0, 1.0), feedback=(1.0, 0.5)), sample((0, 0.0), feedback=(0.0, 0.5))
    golden = [[1.5 * HALF, HALF], [-1.5 * HALF, -HALF]]
    assert by_turn("hifpo", *rollouts, eps=0.0) == golden
    golden = [[2 * HALF, HALF], [-2 * HALF, -HALF]]
    assert by_turn("hifpo", *rollouts, eps=0.0, step_weight=1.0) == golden


def test_hifpo_scores_steps_by_their_rewards_without_a_judge():
    judged = sample((0, 1.0), feedback=(0.0, 1.0)), sample((0.5, 0), feedback=(0.5, 0.0))
    unjudged = sample((0, 1.0)), sample((0.5, 0))
    assert by_turn("hifpo", *unjudged, eps=0.0) == by_turn("hifpo", *judged, eps=0.0)


def test_hifpo_requires_feedback_on_every_step():
    with pytest.raises(ValueError, match="sample a has 1 for 2 turns"):
        by_turn("hifpo", sample((0, 1.0), feedback=(1.0,), key="a"))


def test_a_judges_scores_are_attached_by_key():
    group = Group("t", (sample((0, 1.0), key="a"), sample((0, 0.0), key="b", feedback=(1.0, 1.0))))
    judged = with_feedback(group, {"a": [0.25, 0.75], "elsewhere": [1.0]})
    assert [each.feedback for each in judged.samples] == [(0.25, 0.75), (1.0, 1.0)]


def test_hints_are_cut_out_of_the_context_only():
    rollout = sample((0.0, 1.0))  # 2 prompt tokens, then twice 2 sampled and 1 observed
    plain = hint_free(rollout, [(0, 1), (4, 5)])
    assert plain.ids.tolist() == [1, 2, 3, 5, 6, 7]
    assert plain.sampled.tolist() == [False, True, True, True, True, False]
    assert plain.turn.tolist() == [-1, 0, 0, 1, 1, -1]
    assert plain.behaviour.tolist() == [0.0, -1.0, -1.0, -1.0, -1.0, 0.0]
    assert plain.rewards == rollout.rewards
    assert hint_free(rollout, []).ids.tolist() == rollout.ids.tolist()


@pytest.mark.parametrize(
    ("hint", "problem"), [((2, 4), "that the policy sampled"), ((3, 99), "outside the sample of 8")]
)
def test_hints_that_are_not_context_are_refused(hint, problem):
    with pytest.raises(ValueError, match=problem):
        hint_free(sample((0.0, 1.0)), [hint])
