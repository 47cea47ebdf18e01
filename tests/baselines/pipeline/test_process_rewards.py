"""Shapings and filters on how a rollout got to its result: hand-computed values."""

import numpy as np
import pytest

from hexathlon.baselines.algorithms.samples import Group, Sample
from hexathlon.baselines.pipeline.catalogue import FILTERS, SHAPINGS
from hexathlon.baselines.pipeline.process_rewards import likeness
from hexathlon.baselines.pipeline.tool_errors import penalty_of
from support.samples import sample


def shaped(name: str, *samples: Sample, **parameters: object) -> list[tuple[float, ...]]:
    (result,) = SHAPINGS[name]([Group("task", samples)], **parameters)
    return [one.rewards for one in result.samples]


def spelled(text: str, reward: float, **more: object) -> Sample:
    """A rollout with one action of two tokens per letter."""
    one = sample([0.0] * (len(text) - 1) + [reward], **more)
    for turn, letter in enumerate(text):
        one.ids[one.turn == turn] = ord(letter)
    return one


def test_judged_steps_add_their_mean_to_successes():
    won = sample([0.0, 1.0], feedback=(1.0, 0.5))
    lost = sample([0.0, 0.0], feedback=(1.0, 1.0))
    plain = sample([1.0])
    rewards = shaped("process", won, lost, plain, factor=0.4)
    assert rewards == [pytest.approx((0.2, 1.1)), (0.0, 0.0), (1.0,)]
    assert sum(rewards[0]) == pytest.approx(1.0 + 0.4 * 0.75)
    assert shaped("process", lost, only_correct=False, factor=0.4) == [(0.2, 0.2)]
    called = sample([0.0, 0.0, 0.0, 1.0], errors=(0, 1, 0, 0))
    assert shaped("process", called) == [called.rewards]
    ((*_, last),) = shaped("process", called, factor=0.4, tools=True)
    assert shaped("process", called, factor=0.4, tools=True)[0][:3] == pytest.approx((0.1, 0, 0.1))
    assert last == pytest.approx(1.1)
    with pytest.raises(ValueError, match="has 1 for 2 turns"):
        shaped("process", sample([0.0, 1.0], feedback=(1.0,)))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("abc", "abc", 1.0), ("abc", "xyz", 0.0), ("abcd", "bd", 2 / 3), ("", "a", 0.0)],
)
def test_likeness_is_that_of_the_longest_common_subsequence(one, other, expected):
    first, second = ([letter.encode() for letter in text] for text in (one, other))
    assert likeness(first, second) == pytest.approx(expected)
    assert likeness(second, first) == likeness(first, second)


def test_a_failure_is_compared_with_the_closest_solution():
    samples = spelled("abc", 1.0), spelled("xyz", 1.0), spelled("xy", 0.0), spelled("qq", 0.0)
    rewards = shaped("references", *samples, factor=0.5)
    # "xy" and "xyz" share two of two and three actions: 2 * 2 / 5.
    assert [sum(each) for each in rewards] == pytest.approx([1.0, 1.0, 0.5 * 0.8, 0.0])
    assert shaped("references", samples[2]) == [(0.0, 0.0)], "there is no solution to compare with"


def test_terms_count_in_early_stages():
    def old(version: int) -> Sample:
        one = sample([0.0], objectives=(1.0, 0.5))
        return sample([0.0], objectives=(1.0, 0.5), version=np.where(one.sampled, version, -1))

    stages = {"stages": (10, 20), "weights": (1.0, 0.4, 0.0)}
    rewards = shaped("staged", *map(old, (0, 9, 10, 19, 20)), **stages)
    assert [each[0] for each in rewards] == pytest.approx([0.75, 0.75, 0.3, 0.3, 0.0])
    assert shaped("staged", sample([0.5]), **stages) == [(0.5,)]
    with pytest.raises(ValueError, match=r"expected 2 weights .* got \[1.0\]"):
        shaped("staged", old(0), weights=(1.0,))


def test_skills_of_earlier_tasks_earn_a_bonus_once():
    first = Group("sql/joins/tiny/train/1", (spelled("ab", 1.0), spelled("cd", 0.0)))
    second = Group("sql/joins/tiny/train/2", (spelled("bax", 1.0), spelled("cx", 1.0)))
    other = Group("sql/sums/tiny/train/1", (spelled("ab", 1.0),))
    result = SHAPINGS["skill_reuse"]([first, second, other], bonus=0.25, length=2)
    # "c" was made by a failure, and the skills of joins are not those of sums.
    assert [group.rewards.tolist() for group in result] == [[1.0, 0.0], [1.25, 1.0], [1.0]]
    long = SHAPINGS["skill_reuse"]([first, second], bonus=0.25, length=3)
    assert [group.rewards.tolist() for group in long] == [[1.0, 0.0], [1.0, 1.0]]


def test_effective_calls_earn_a_bonus():
    looked = spelled("abac", 0.0, errors=(0, 1, 0, 0))
    # "a" counts once, the failed "b" and the last turn do not.
    assert shaped("exploration", looked, bonus=0.3, most=3) == [(pytest.approx(0.1), 0.0, 0.0, 0.0)]
    assert shaped("exploration", spelled("abcdx", 0.0, errors=(0,) * 5), bonus=0.2, most=2) == [
        (0.1, 0.1, 0.0, 0.0, 0.0)
    ]
    assert shaped("exploration", spelled("abc", 1.0)) == [(0.0, 0.0, 1.0)], "errors are unknown"
    with pytest.raises(ValueError, match="got most=3 and bonus=1.0"):
        shaped("exploration", looked, bonus=1.0)


def test_penalties_of_rollouts():
    assert penalty_of(sample([1.0])) == 0.5
    assert penalty_of(sample([0.0, 0.0, 1.0, 0.0], errors=(0, 2, 1, 0))) == 0.5
    assert penalty_of(sample([0.0, 1.0], errors=(0, 0), finished=False)) == 1.0


def test_the_cleanest_successes_and_spaced_failures_are_kept():
    won = [sample([0.0, 1.0], errors=(number, 0), key=f"won {number}") for number in (1, 0, 2, 0)]
    lost = [sample([0.0, 0.0], key=f"lost {number}") for number in range(4)]
    (kept,) = FILTERS["resample_on_correct"]([Group("task", (*won, *lost))], keep=4)
    assert [one.key for one in kept.samples] == ["won 0", "won 0", "lost 0", "lost 3"]
    # One success of eight is kept although a proportional share would be a half.
    (few,) = FILTERS["resample_on_correct"]([Group("task", (won[0], *lost, *lost[:3]))], keep=4)
    assert [one.reward for one in few.samples] == [1.0, 0.0, 0.0, 0.0]
    whole = Group("task", tuple(lost))
    assert FILTERS["resample_on_correct"]([whole], keep=4) == [whole]
    (flat,) = FILTERS["resample_on_correct"]([Group("task", tuple(lost))], keep=2, least=1)
    assert len(flat.samples) == 2
    with pytest.raises(ValueError, match="got keep=3, least=2"):
        FILTERS["resample_on_correct"]([whole], keep=3)


def test_failed_calls_of_successes_are_not_trained_on():
    won = sample([0.0, 0.0, 1.0], errors=(0, 1, 0))
    lost = sample([0.0, 0.0], errors=(1, 1))
    (result,) = FILTERS["mask_errors"]([Group("task", (won, lost))])
    assert result.samples[0].withheld is not None
    assert set(won.turn[result.samples[0].withheld]) == {1}
    assert result.samples[0].withheld.sum() == 2
    assert result.samples[1] is lost
