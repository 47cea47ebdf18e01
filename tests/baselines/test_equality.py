"""Records of a fixed plan over all events are unchanged: see tests/support/equality.py."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support import equality

GOLDEN = json.loads(equality.GOLDEN.read_text("utf-8"))


BRIEF = {"oracle": equality.SHORT, "noop": 4, "noisy:0.3": 8}
"""Tasks by agent of the brief form: the first of those with golden digests."""


RUNS = """
import json, sys
from hexathlon_cli.app import run
for line in json.loads(sys.argv[1]):
    code = run(line)
    if code:
        sys.exit(code)
"""


def run_plan(event: str, tasks: dict[str, int], out: Path) -> None:
    """Play the runs of an event in one process, in which each task is built once."""
    lines = [
        ["eval", f"agent:{agent}", "--envs", event, "--tasks", str(count),
         "--out", str(out / equality.run_name(event, agent))]
        for agent, count in tasks.items()
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", RUNS, json.dumps(lines)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise equality.EvaluationFailed(done.returncode, done.stdout)


def require_golden(event: str, tasks: dict[str, int], out: Path) -> None:
    """Play a number of tasks by each agent, and compare the records with the golden digests."""
    try:
        run_plan(event, tasks, out)
    except equality.EvaluationFailed as error:
        if event == "Terminal" and error.code == equality.MISSING:
            pytest.skip(str(error))
        raise
    for agent, count in tasks.items():
        name = equality.run_name(event, agent)
        now, golden = equality.digests(out / name), GOLDEN[name]
        changed = [key for key in now if now[key] != golden.get(key)]
        assert not changed, f"{name}: {sorted(changed)}. {equality.RENEW}"
        assert len(now) == count


@pytest.mark.parametrize("event", equality.EVENTS)
def test_records_equal_the_golden_ones(event: str, tmp_path: Path) -> None:
    require_golden(event, BRIEF, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("event", equality.EVENTS)
def test_all_records_equal_the_golden_ones(event: str, tmp_path: Path) -> None:
    require_golden(event, dict.fromkeys(equality.AGENTS, equality.SHORT), tmp_path)


def test_golden_digests_are_those_of_the_plan() -> None:
    names = {
        equality.run_name(event, agent) for event in equality.EVENTS for agent in equality.AGENTS
    }
    assert {name: len(GOLDEN[name]) for name in names} == dict.fromkeys(names, equality.SHORT)
    assert GOLDEN.keys() == names | {"about"}


RECORD = {
    "key": {"env": "e", "task": "t", "seed": 0, "trial": 0},
    "reward": 1.0,
    "task_hash": "a",
    "timing": {"env": 1.5},
    "steps": [{"action": "x", "observation": "y"}, {"action": "x", "observation": "z"}],
    "final_state": {"steps": [{"changed": {"p": "q"}, "tests": []}]},
}
PLAN = {"created": "now", "envs": [{"id": "e", "taskset_hash": "a"}]}


def write_run(folder: Path, plan: dict, record: dict) -> Path:
    run = folder / "Terminal-noop"
    run.mkdir(parents=True)
    (run / "plan.json").write_text(json.dumps(plan))
    (run / "records.jsonl").write_text(json.dumps(record) + "\n")
    return folder


@pytest.fixture
def before(tmp_path: Path) -> Path:
    return write_run(tmp_path / "before", PLAN, RECORD)


def test_differences_are_reported_with_their_location(before, tmp_path):
    steps = [RECORD["steps"][0], {"action": "x", "observation": "w"}]
    after = write_run(
        tmp_path / "after",
        PLAN | {"envs": [{"id": "e", "taskset_hash": "b"}]},
        RECORD | {"reward": 1, "task_hash": "b", "steps": steps, "more": None},
    )
    result = [str(difference) for difference in equality.compare(before, after)]
    assert result == [
        "Terminal-noop plan envs[0] taskset_hash: 'a' != 'b'",
        "Terminal-noop e/t/0/0 more: None != '(only after)'",
        "Terminal-noop e/t/0/0 reward: 1.0 != 1",
        "Terminal-noop e/t/0/0 steps[1] observation: 'z' != 'w'",
        "Terminal-noop e/t/0/0 task_hash: 'a' != 'b'",
    ]
    ignored = ["task_hash", "envs.taskset_hash", "steps.observation", "reward", "more"]
    assert not list(equality.compare(before, after, ignored))


def test_timing_and_hardware_are_not_compared(before, tmp_path):
    after = write_run(
        tmp_path / "after", PLAN | {"created": "later"}, RECORD | {"timing": {}, "hash": "x"}
    )
    assert not list(equality.compare(before, after))


def test_a_missing_run_or_record_is_a_difference(before, tmp_path):
    other = dict(RECORD["key"], task="u")
    after = write_run(tmp_path / "after", PLAN, RECORD | {"key": other})
    places = [difference.place for difference in equality.compare(before, after)]
    assert places == ["Terminal-noop e/t/0/0", "Terminal-noop e/u/0/0"]
    (tmp_path / "none").mkdir()
    (difference,) = equality.compare(before, tmp_path / "none")
    assert str(difference) == f"Terminal-noop: 'a run' != 'none in {tmp_path / 'none'}'"


@pytest.mark.parametrize(
    ("change", "alike"),
    [
        ({"timing": {}, "task_hash": "b"}, True),
        ({"steps": [{"action": "x", "observation": "w"}] * 2}, True),
        ({"final_state": {"steps": [{"changed": {}, "tests": []}]}}, True),
        ({"steps": [{"action": "w", "observation": "y"}] * 2}, False),
        ({"final_state": {"steps": [{"changed": {}, "tests": [1]}]}}, False),
        ({"reward": 0.0}, False),
    ],
)
def test_digests_exclude_host_dependent_fields(change, alike, before, tmp_path):
    after = write_run(tmp_path / "after", PLAN, RECORD | change)
    one, other = (equality.digests(folder / "Terminal-noop") for folder in (before, after))
    assert (one == other) == alike
