"""The replay stage: when groups are stored, and where stored ones come in."""

from hexathlon.baselines.pipeline.replay import Memory, ReplayStage
from support.samples import group


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
