"""The scheduler of asynchronous training on a fake clock, and the work buffer on its own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hexathlon.baselines.algorithms.samples import Group
from hexathlon.baselines.pipeline.buffer import AdmissionRules, WorkBuffer
from hexathlon.baselines.pipeline.lateness import LATENESS, withheld_of
from hexathlon.baselines.pipeline.simulation import (
    RunSettings,
    SimulatedRollout,
    bound,
    log_normal,
    simulate,
)
from support.samples import sample

LONG_TAIL = log_normal(2.0, 1.5, turns=1)


def settings(staleness: int = 0, **more) -> RunSettings:
    """Batches of 8 groups of 4 rollouts, on 32 slots."""
    rules = {name: more.pop(name) for name in ("surplus", "window", "least", "pacing", "slots")
             if name in more}  # fmt: skip
    return RunSettings(AdmissionRules(8, staleness=staleness, **{"slots": 32, **rules}), 4, **more)


# The work buffer --------------------------------------------------------------------------------


def filled(buffer: WorkBuffer[str, str], members: int = 1) -> list[int]:
    numbers = []
    while buffer.admits():
        numbers.append(buffer.submit("task", members).number)
    return numbers


def finish(buffer: WorkBuffer[str, str], *numbers: int, scored: int = 1) -> list[bool]:
    return [buffer.report(number, 0, [f"result {number}"], scored) for number in numbers]


def taken(buffer: WorkBuffer[str, str], wanted: int, **more) -> list[int]:
    return [group.number for group in buffer.take(wanted, **more)]


def test_admission_follows_the_bound_on_staleness() -> None:
    buffer: WorkBuffer[str, str] = WorkBuffer(AdmissionRules(2, slots=100, staleness=1))
    assert filled(buffer) == [0, 1, 2, 3]  # (eta + v + 1) B = 4
    finish(buffer, 0, 1, 2)
    assert not buffer.admits()  # accepted and running together are four
    assert taken(buffer, 2) == [0, 1]
    assert not buffer.admits()  # the batch counts until the version rises
    buffer.advance(1)
    assert filled(buffer) == [4, 5]
    assert [group.version for group in buffer.open] == [0, 0, 1, 1]


def test_admission_without_staleness_submits_nothing_ahead() -> None:
    buffer: WorkBuffer[str, str] = WorkBuffer(AdmissionRules(3, slots=100))
    assert filled(buffer) == [0, 1, 2]
    finish(buffer, 0, 1, 2)
    assert taken(buffer, 3) == [0, 1, 2]
    assert not buffer.admits()
    buffer.advance(1)
    assert filled(buffer) == [3, 4, 5]


def test_admission_keeps_the_slots_busy_and_no_more() -> None:
    buffer: WorkBuffer[str, str] = WorkBuffer(AdmissionRules(8, slots=6, staleness=3))
    assert filled(buffer, members=4) == [0, 1]  # the second group fills the last two slots
    assert buffer.running == 8
    for member in range(2):
        buffer.report(0, member, [], 1)
    assert not buffer.admits()
    buffer.report(0, 2, [], 1)
    assert buffer.admits()


def test_batches_follow_the_order_of_submission_within_the_window() -> None:
    strict: WorkBuffer[str, str] = WorkBuffer(AdmissionRules(2, slots=9, staleness=2))
    wide: WorkBuffer[str, str] = WorkBuffer(
        AdmissionRules(2, slots=9, staleness=2, window=3, pacing=False)
    )
    for buffer in (strict, wide):
        filled(buffer)
        finish(buffer, 4, 3, 2, 1)
    assert not strict.ready(2)  # group 0 runs
    assert taken(wide, 2) == [1, 2]  # of the first three
    assert not wide.ready(2) or taken(wide, 2) == [3, 4]
    finish(strict, 0)
    assert taken(strict, 2) == [0, 1]


def test_pacing_waits_for_the_group_that_would_be_too_old() -> None:
    rules = AdmissionRules(2, slots=9, staleness=1, window=4)
    buffer: WorkBuffer[str, str] = WorkBuffer(rules)
    filled(buffer)
    finish(buffer, 1, 2)
    assert taken(buffer, 2) == [1, 2]  # group 0 may still be one update old
    buffer.advance(1)
    filled(buffer)
    finish(buffer, 3, 4)
    assert not buffer.ready(2)  # groups 0 and 3 are of version 0
    finish(buffer, 0)
    assert taken(buffer, 2) == [0, 3]


def test_a_group_below_its_least_size_is_lost() -> None:
    buffer: WorkBuffer[str, str] = WorkBuffer(AdmissionRules(1, slots=4, staleness=0, least=2))
    (first,) = filled(buffer, members=3)
    assert not buffer.report(first, 0, ["a"], 1)
    assert not buffer.report(first, 1, ["b"], 0)
    assert buffer.report(first, 2, ["c"], 0)
    assert (buffer.lost_in_a_row, buffer.ready(1)) == (1, False)
    (second,) = filled(buffer, members=3)
    for member, scored in enumerate((1, 0, 1)):
        assert not buffer.report(second, member, [f"{member}"], scored)
    (group,) = buffer.take(1)
    assert (group.number, group.all_results(), group.scored) == (second, ["0", "1", "2"], 2)
    assert buffer.lost_in_a_row == 0


def test_a_deadline_ends_stragglers_and_late_reports_are_ignored() -> None:
    buffer: WorkBuffer[str, str] = WorkBuffer(AdmissionRules(3, slots=9))
    for time in (0.0, 1.0, 5.0):
        buffer.submit("task", 2, time)
    buffer.report(0, 1, ["kept"], 1)
    ended = buffer.expire(1.0)
    assert [(e.group.number, e.members, e.lost) for e in ended] == [
        (0, [0], False),
        (1, [0, 1], True),
    ]
    assert not buffer.report(0, 0, ["too late"], 1)
    assert not buffer.report(1, 0, ["too late"], 1)
    assert buffer.running == 2
    (group,) = buffer.take(3, closing=True)
    assert (group.number, group.all_results(), group.cut) == (0, ["kept"], 1)


def test_redundant_members_end_once_enough_others_have_a_score() -> None:
    buffer: WorkBuffer[str, str] = WorkBuffer(AdmissionRules(1, slots=8, least=2))
    buffer.submit("task", 4, enough=2)
    assert not buffer.report(0, 3, ["fault"], 0)
    assert not buffer.report(0, 1, ["a"], 1)
    assert buffer.surplus(0) == [] and not buffer.ready(1)
    assert not buffer.report(0, 2, ["b"], 1)
    assert buffer.surplus(0) == [0] and buffer.surplus(0) == []
    assert buffer.running == 0
    assert not buffer.report(0, 0, ["late"], 1)
    (group,) = buffer.take(1)
    assert (group.all_results(), group.cut) == (["a", "b", "fault"], 1)


def test_redundant_members_shorten_the_long_tail() -> None:
    """Groups keep their size, and failed members do not shrink them."""
    rollouts = log_normal(10.0, 1.5, failing=0.1)
    plain = simulate(rollouts, settings(learner=1.0, least=4, slots=64), 20)
    spare = simulate(rollouts, settings(learner=1.0, least=4, slots=64, redundant=2), 20)
    assert spare.seconds < 0.7 * plain.seconds
    assert 10 * spare.lost < plain.lost
    assert len(spare.trained) == len(plain.trained) == 20 * 8 * 4


@pytest.mark.parametrize("bad", [{"groups": 0}, {"slots": 0}, {"staleness": -1}, {"least": 0}])
def test_impossible_rules_are_rejected(bad: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="expected groups, slots and least >= 1"):
        AdmissionRules(**{"groups": 1, "slots": 1, **bad})


# Late policies ----------------------------------------------------------------------------------


def late_group() -> Group:
    versions = np.array([-1, -1, 3, 3, -1, 5, 5, -1])
    late = sample([0.0, 1.0], version=versions)
    fresh = sample([1.0, 0.0], version=np.where(versions >= 0, 5, -1))
    return Group("task", (late, fresh))


@pytest.mark.parametrize(
    ("name", "trained"),
    [("pace", [4, 4]), ("token_mask", [2, 4]), ("withhold", [0, 4]), ("drop", None)],
)
def test_late_policies_withhold_old_tokens(name: str, trained: list[int] | None) -> None:
    kept = LATENESS[name](late_group(), 4)
    if trained is None:
        assert kept is None
        return
    assert kept is not None
    assert [int((s.sampled & ~withheld_of(s)).sum()) for s in kept.samples] == trained
    assert kept.rewards.tolist() == [1.0, 1.0]  # what is withheld counts in the mean
    in_time = LATENESS[name](late_group(), 3)
    assert in_time is not None
    assert not any(withheld_of(s).any() for s in in_time.samples)


# The simulation ---------------------------------------------------------------------------------


def test_synchronous_step_lasts_as_long_as_its_slowest_rollout() -> None:
    report = simulate(LONG_TAIL, settings(learner=3.0), 5)
    slowest = [
        max(LONG_TAIL(group, member).environment for group in batch for member in range(4))
        for batch in report.groups
    ]
    assert report.waits == pytest.approx(slowest)
    assert report.seconds == pytest.approx(sum(slowest) + 5 * 3.0)
    assert set(report.staleness) == {0}
    assert report.groups == [list(range(8 * n, 8 * n + 8)) for n in range(5)]


@given(
    staleness=st.integers(0, 4),
    window=st.integers(0, 40),
    slots=st.integers(1, 60),
    failing=st.sampled_from([0.0, 0.3]),
    seed=st.integers(0, 5),
    lanes=st.integers(0, 3),
)
def test_paced_runs_keep_the_bound_and_lose_no_group(
    staleness: int, window: int, slots: int, failing: float, seed: int, lanes: int
) -> None:
    workload = log_normal(1.0, 1.5, turns=3, engine=0.1, failing=failing, seed=seed)
    run = settings(staleness, window=window, slots=slots, lanes=lanes, learner=0.5, least=2)
    report = simulate(workload, run, 4)
    assert not report.stalled
    assert [len(batch) for batch in report.groups] == [8] * 4
    assert max(report.staleness) <= staleness
    assert report.most_running <= slots
    numbers = [number for batch in report.groups for number in batch]
    assert len(set(numbers)) == len(numbers)
    if window <= 8 and not failing:
        assert numbers == sorted(numbers)  # strictly in the order of submission
        assert numbers == list(range(32))


def test_asynchrony_hides_the_long_tail() -> None:
    wide = settings(4, window=40, pacing=False, late="token_mask", learner=1.0)
    fast = simulate(LONG_TAIL, wide, 60)
    slow = simulate(LONG_TAIL, settings(learner=1.0), 60)
    assert slow.seconds > 2.5 * fast.seconds
    least = max(fast.environment / 32, 60 * 1.0)
    assert fast.seconds < least / 0.9
    played = [LONG_TAIL(group, member) for group in range(480) for member in range(4)]
    assert bound(played, 32, 60.0, 0) == pytest.approx(
        max(sum(rollout.environment for rollout in played) / 32, 60.0)
    )


def test_submission_order_trains_on_the_lengths_that_were_offered() -> None:
    """Batches by completion favour short rollouts; strict windows do not."""

    def favoured(**more) -> float:
        report = simulate(LONG_TAIL, settings(2, **more), 20)
        offered = [
            LONG_TAIL(group, member).environment for group in range(160) for member in range(4)
        ]
        return float(np.mean(report.trained) / np.mean(offered))

    assert favoured() == pytest.approx(1.0)
    assert favoured(window=24) > 0.9  # pacing
    for late in ("token_mask", "withhold", "drop"):
        assert favoured(window=24, pacing=False, late=late) < 0.8


def test_deadline_bounds_every_wait() -> None:
    def workload(group: int, member: int) -> SimulatedRollout:
        hangs = group % 8 == 3 and member == 0
        return SimulatedRollout(0.0, ((0.0, 1e9 if hangs else 1.0),))

    for least, lost, cut in ((1, 0, 10), (4, 10, 10)):
        report = simulate(workload, settings(deadline=30.0, least=least), 10)
        assert max(report.waits) <= 30.0
        assert (report.lost, report.cut) == (lost, cut)
        assert len(report.groups) == 10


def test_run_without_a_finished_group_ends_with_a_reason() -> None:
    def hanging(group: int, member: int) -> SimulatedRollout:
        return SimulatedRollout(0.0, ((0.0, 1e9),))

    report = simulate(hanging, settings(deadline=30.0), 3)
    assert (report.stalled, report.groups) == ("no group finished after 30 s", [])


def test_failed_rollouts_are_absent_and_their_groups_replaced() -> None:
    workload = log_normal(1.0, 0.5, failing=0.5)
    report = simulate(workload, settings(1, least=3), 10)
    assert report.lost > 10
    for group in (number for batch in report.groups for number in batch):
        assert sum(not workload(group, member).fails for member in range(4)) >= 3


def test_over_provision_leaves_stragglers_for_later_updates() -> None:
    run = settings(0, surplus=4, window=12, pacing=False, late="token_mask", slots=48)
    report = simulate(LONG_TAIL, run, 20)
    assert report.seconds < 0.7 * simulate(LONG_TAIL, settings(slots=48), 20).seconds
    assert report.withheld > 0  # what stragglers sampled before the update
    assert [len(batch) for batch in report.groups] == [8] * 20


def test_ten_thousand_environments_are_simulated() -> None:
    run = RunSettings(AdmissionRules(625, slots=10_000, staleness=2, window=1875), 8)
    report = simulate(log_normal(5.0, 1.5, turns=2), run, 4)
    assert report.most_running == 10_000
    assert [len(batch) for batch in report.groups] == [625] * 4
