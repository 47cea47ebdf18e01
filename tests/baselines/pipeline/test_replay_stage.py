"""The replay stage: when groups are stored, and where stored ones come in."""

from dataclasses import replace

import numpy as np

from hexathlon.baselines.algorithms.samples import Group, Sample
from hexathlon.baselines.pipeline.replay import Memory, ReplayStage
from support.samples import group, sample


def stage(name: str, **parameters: float) -> ReplayStage:
    return ReplayStage(name, parameters, Memory(), seed=0)


def test_without_replay_nothing_is_stored_or_added() -> None:
    replay, groups = stage("none"), [group([0.0, 1.0], "a")]
    assert not replay.active
    assert replay.repaired(groups, 0, 0) == groups
    assert replay.joined(groups, 0) == groups
    assert not replay.memory.groups and not replay.memory.successes


def test_recent_groups_join_after_the_filters() -> None:
    replay = stage("recent", share=0.5)
    old, new = group([0.0, 1.0], "a"), group([1.0, 0.0], "b")
    assert replay.active
    assert replay.repaired([old], 0, 0) == [old] and not replay.memory.groups
    assert replay.joined([old], 0) == [old]
    assert replay.joined([new], 1) == [new, old]


def test_a_success_is_put_into_a_failed_group_before_the_filters() -> None:
    replay = stage("rescue")
    solved, failed = group([0.0, 1.0], "a"), group([0.0, 0.0], "a")
    assert replay.repaired([solved], 0, 0) == [solved]
    (repaired,) = replay.repaired([failed], 1, 0)
    assert sorted(repaired.rewards) == [0.0, 1.0]
    assert replay.joined([failed], 1) == [failed], "groups are repaired once"
    assert replay.memory.successes["a"] is solved.samples[1]


def test_a_stored_success_joins_a_failed_group_as_external() -> None:
    replay = stage("external")
    solved, failed = group([0.0, 1.0], "a"), group([0.0, 0.0], "a")
    assert replay.repaired([solved], 0, 0) == [solved]
    (mixed,) = replay.repaired([failed], 1, 0)
    assert [sample.external for sample in mixed.samples] == [False, False, True]
    assert mixed.rewards.tolist() == [0.0, 0.0, 1.0]


def walked(actions: str, states: str, reward: float) -> Sample:
    """A rollout with an action of two tokens for each letter."""
    one = sample([0.0] * (len(actions) - 1) + [reward], states=states)
    for turn, letter in enumerate(actions):
        one.ids[one.turn == turn] = ord(letter)
    return one


def test_failures_are_corrected_where_they_left_the_way() -> None:
    replay = stage("corrections")
    solved = Group("a", (walked("abc", "123", 1.0),))
    replay.repaired([solved], 0, 0)
    failed = Group("a", (walked("axx", "129", 0.0), walked("xbc", "145", 0.0)))
    (repaired,) = replay.repaired([failed], 1, 0)
    added = repaired.samples[-1]
    assert repaired.samples[:-1] == failed.samples and added.withheld is not None
    trained = added.sampled & ~added.withheld
    assert set(added.turn[trained]) == {0, 1}, "the first failure left at turn 1, the second at 0"
    elsewhere = Group("a", (walked("x", "7", 0.0),))
    assert replay.repaired([elsewhere], 2, 0) == [elsewhere]
    same = Group("a", (walked("ab", "12", 0.0),))
    assert replay.repaired([same], 3, 0) == [same], "it was cut off before it differed"


def given(actions: str, states: str, reward: float, turns: int) -> Sample:
    """A rollout as `walked` whose first turns came from a hint: they have no state."""
    one = walked(actions, states, reward)
    told = (one.turn >= 0) & (one.turn < turns)
    return replace(
        one,
        sampled=one.sampled & ~told,
        turn=np.where(told, -1, one.turn),
        states=("",) * turns + one.states[turns:],
    )


def test_turns_of_a_hint_are_no_deviation() -> None:
    """Whether it is the failure or the success that had the hint."""
    for solved, failed in (
        (walked("abc", "123", 1.0), given("axx", "129", 0.0, 1)),
        (given("abc", "123", 1.0, 1), walked("axx", "129", 0.0)),
    ):
        replay = stage("corrections")
        replay.repaired([Group("a", (solved,))], 0, 0)
        (repaired,) = replay.repaired([Group("a", (failed,))], 1, 0)
        added = repaired.samples[-1]
        assert added.withheld is not None
        assert set(added.turn[added.sampled & ~added.withheld]) == {1}
    elsewhere = Group("a", (given("bxx", "189", 0.0, 1),))
    assert replay.repaired([elsewhere], 2, 0) == [elsewhere], "its state differs after the hint"
