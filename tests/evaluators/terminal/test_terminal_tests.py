"""The verdict over outcomes: every expected test once, passed; nothing else counts."""

from typing import Any

import pytest

from hexathlon.evaluators.terminal.tests import harbor_reward, terminal_tests
from hexathlon.evaluators.verifier import verify
from hexathlon.tasks.registry import get_source

TASK = get_source("terminal").build("terminal/log_zones/easy/test/00000")


def step(*tests: tuple[str, str], name: str = "", **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "tests": [list(test) for test in tests],
        "reward": None,
        "fault": "",
        **more,
    }


def verdict(*steps: dict[str, Any], ids: Any = None, flags: tuple[str, ...] = ()) -> Any:
    params = {"tests": ids or {"": ["a", "b"]}}
    return terminal_tests(TASK, params, {"steps": list(steps), "flags": list(flags)}, ())


def test_all_passed():
    result = verdict(step(("a", "passed"), ("b", "passed")))
    assert result.score == 1.0 and result.partial == 1.0 and result.status == "scored"


@pytest.mark.parametrize(
    ("tests", "failed"),
    [
        ((("a", "passed"),), "b: missing"),
        ((), "a: missing"),
        ((("a", "passed"), ("b", "skipped")), "b: skipped"),
        ((("a", "passed"), ("b", "xfail")), "b: xfail"),
        ((("a", "passed"), ("b", "passed"), ("b", "passed")), "b: repeated"),
        ((("a", "passed"), ("b", "failed"), ("b", "passed")), "b: repeated"),
        ((("a", "passed"), ("b", "PASSED")), "b: PASSED"),
        ((("a", "passed"), ("b", "passed"), ("c", "failed")), "c: unexpected"),
    ],
)
def test_failing_outcomes(tests, failed):
    result = verdict(step(*tests))
    assert result.score == 0.0 and result.evidence["failed"] == [failed]
    assert result.partial is not None and result.partial < 1.0


def test_missing_steps_fail():
    assert verdict().score == 0.0
    assert terminal_tests(TASK, {"tests": {"": ["a"]}}, {}, ()).score == 0.0


def test_reward_below_one_fails_despite_passing_tests():
    tests = (("a", "passed"), ("b", "passed"))
    assert verdict(step(*tests, reward={"reward": 0.5})).score == 0.0
    assert verdict(step(*tests, reward={"reward": 1.0})).score == 1.0


def test_step_without_ids_is_graded_by_its_reward():
    ids = {"": []}
    assert verdict(step(reward={"reward": 1}), ids=ids).score == 1.0
    assert verdict(step(reward={"reward": 0.99}), ids=ids).score == 0.0
    assert verdict(step(), ids=ids).score == 0.0


def test_a_fault_of_the_tests_is_unscored():
    result = verdict(step(fault="the tests wrote no reward"))
    assert result.status == "unscored" and not result.passed


def test_every_step_must_pass():
    ids = {"one": ["a"], "two": ["b"]}
    one, two = step(("a", "passed"), name="one"), step(("b", "passed"), name="two")
    assert verdict(one, two, ids=ids).score == 1.0
    half = verdict(one, ids=ids)
    assert half.score == 0.0 and half.partial == 0.5
    assert half.evidence["failed"] == ["two: not_reached"]


def test_flags_are_evidence_not_score():
    result = verdict(step(("a", "passed"), ("b", "passed")), flags=("network", "left_running"))
    assert result.score == 1.0
    assert result.terms["flag_network"] == 1.0
    assert result.evidence["flags"] == ["left_running", "network"]


@pytest.mark.parametrize(
    ("strategy", "rewards", "score"),
    [
        ("mean", [{"reward": 1.0}, {"reward": 0.0}], 0.5),
        ("mean", [{"reward": 1.0}], 0.5),
        ("final", [{"reward": 0.0}, {"reward": 1.0}], 1.0),
        ("final", [{"reward": 1.0}], 0.0),
        ("mean", [{"speed": 1.0, "style": 0.5}, {"reward": 1.0, "style": 0.0}], 0.875),
        ("mean", [{"reward": 7.0}, {"reward": -3.0}], 0.5),
    ],
)
def test_harbor_reward(strategy, rewards, score):
    state = {"steps": [step(reward=reward) for reward in rewards]}
    assert harbor_reward(TASK, {"strategy": strategy, "steps": 2}, state, ()).score == score


def test_a_step_without_reward_leaves_the_whole_unscored():
    state = {"steps": [step(reward={"reward": 1.0}), step()]}
    assert harbor_reward(TASK, {"steps": 2}, state, ()).status == "unscored"


def test_stored_state_is_rescored_without_a_sandbox():
    ids = TASK.checks[0].params["tests"][""]
    state = {"steps": [step(*((name, "passed") for name in ids))], "flags": []}
    assert verify(TASK, state, ()).score == 1.0
    state["steps"][0]["tests"][0][1] = "text"
    assert verify(TASK, state, ()).score == 0.0


def test_a_ticket_counts_while_its_work_is_right_at_every_report():
    ids = {"t1": ["t1/a"], "t2": ["t1/a", "t2/b"], "t3": ["t1/a", "t2/b", "t3/c"]}
    params = {"tests": ids, "parts": True}

    def partial(broken: dict[str, str]) -> float | None:
        steps = [
            step(*((t, "text" if broken.get(name) == t else "passed") for t in tests), name=name)
            for name, tests in ids.items()
        ]
        result = terminal_tests(TASK, params, {"steps": steps, "flags": []}, ())
        assert result.score == float(not broken)
        return result.partial

    assert partial({}) == 1.0
    assert partial({"t3": "t3/c"}) == pytest.approx(2 / 3)
    assert partial({"t2": "t1/a"}) == pytest.approx(2 / 3)
    assert partial({"t2": "t1/a", "t3": "t2/b"}) == pytest.approx(1 / 3)
    unfinished = {"steps": [step(("t1/a", "passed"), name="t1")], "flags": []}
    assert terminal_tests(TASK, params, unfinished, ()).partial == 0.0
