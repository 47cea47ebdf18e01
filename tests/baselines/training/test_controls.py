"""Control runs: what they change, and what they leave unchanged."""

import pytest

pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.algorithms.samples import Group
from hexathlon.baselines.training.controls import shuffled_rewards
from support.samples import group, sample

GROUPS = [group([0.0, 1.0, 0.25], "a"), group([0.5, 0.75], "b")]


def rewards(groups) -> list[float]:
    return [sample.reward for each in groups for sample in each.samples]


def test_shuffling_permutes_the_rewards_of_the_whole_batch() -> None:
    shuffled = shuffled_rewards(GROUPS, seed=0, step=0)
    assert sorted(rewards(shuffled)) == sorted(rewards(GROUPS))
    assert [each.task for each in shuffled] == ["a", "b"]
    assert [len(each.samples) for each in shuffled] == [3, 2]
    moved = [rewards(shuffled_rewards(GROUPS, seed=0, step=step)) for step in range(8)]
    assert len({tuple(row) for row in moved}) > 1
    assert any(sum(row[:3]) != sum(rewards(GROUPS)[:3]) for row in moved), "groups exchange rewards"


def test_shuffling_is_a_function_of_seed_and_step() -> None:
    one, again = (rewards(shuffled_rewards(GROUPS, seed=3, step=5)) for _ in range(2))
    assert one == again


def test_a_shuffled_reward_is_on_the_last_turn() -> None:
    two_turns = Group("a", (sample([0.5, 0.25]), sample([0.0, 1.0])))
    (shuffled,) = shuffled_rewards([two_turns], seed=1, step=1)
    assert sorted(one.rewards for one in shuffled.samples) == [(0.0, 0.75), (0.0, 1.0)]
