"""Plans: coverage of their hash, and what a reader rejects."""

import json

import pytest

from hexathlon.evaluators.records.plan import (
    PlanError,
    plan_differences,
    plan_hash,
    plan_keys,
    read_plan,
    write_plan,
)

PLAN = {
    "schema": "hexathlon.plan/1",
    "run_id": "r1",
    "created": "2026-01-01T00:00:00Z",
    "suite_version": "0.1.0",
    "envs": [{"id": "test/Echo-v0", "version": "1"}],
    "keys": [["test/Echo-v0", "echo/word/easy/test/00000", 0, 0]],
    "model": {"kind": "agent", "name": "oracle"},
    "agent": {"name": "oracle"},
    "limits": {"turns": 20},
    "sandbox": "simulated",
    "price_table": None,
    "code": {"git_revision": "abc", "dirty": False},
    "hardware": {"cores": 2},
    "config": {},
}


def test_plan_round_trips_with_its_hash(tmp_path):
    digest = write_plan(tmp_path / "run", PLAN)
    plan = read_plan(tmp_path / "run")
    assert plan == {**PLAN, "plan_hash": digest}
    assert plan_keys(plan) == [("test/Echo-v0", "echo/word/easy/test/00000", 0, 0)]
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["plan.json"]


@pytest.mark.parametrize("name", list(PLAN))
def test_hash_covers_what_determines_the_run(name):
    changed = plan_hash({**PLAN, name: "other"}) != plan_hash(PLAN)
    assert changed == (name not in ("run_id", "created", "code", "hardware"))
    assert plan_differences(PLAN, {**PLAN, name: "other"}) == ([name] if changed else [])


def test_a_plan_is_never_overwritten(tmp_path):
    write_plan(tmp_path, PLAN)
    with pytest.raises(PlanError, match="already exists"):
        write_plan(tmp_path, PLAN)


def edited(**changes):
    plan = {**PLAN, "plan_hash": plan_hash(PLAN), **changes}
    return json.dumps(plan)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not a plan"),
        ('{"schema": "other"}', "not a plan"),
        (edited(keys=[["e", "t", "0", 0]]), "'keys'"),
        (edited(keys=7), "'keys'"),
        (edited(envs=["e"]), "'envs'"),
        (edited(envs=[{"id": ["e"]}]), "'envs'"),
        (edited(model="m"), "'model'"),
        (edited(limits={"turns": 99}), "was changed"),
        (edited(plan_hash=None), "was changed"),
        (edited(hardware={"cores": float("nan")}), "Out of range"),
    ],
)
def test_invalid_plan_is_rejected_with_a_reason(tmp_path, text, message):
    (tmp_path / "plan.json").write_text(text)
    with pytest.raises(PlanError, match=message):
        read_plan(tmp_path)


def test_directory_without_plan_is_not_a_run(tmp_path):
    with pytest.raises(PlanError, match="no plan.json"):
        read_plan(tmp_path)
