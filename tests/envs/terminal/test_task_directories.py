"""Task directories in both public formats, hand-written and exported, run end to end."""

import json
import os
from pathlib import Path

import gymnasium
import pytest

from hexathlon.envs.errors import BackendMissing, EnvFault
from hexathlon.envs.terminal.env import TerminalEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.terminal.directories import directory_source
from hexathlon.tasks.terminal.source import files_of
from hexathlon_cli.app import run
from support.task_folders import HARBOR, TERMINAL_BENCH, write_folder
from support.terminal import commands, play


def opened(folder: Path):
    name, task_id = directory_source(folder)
    source = get_source(name)
    return source, source.build(task_id)


@pytest.mark.parametrize("name", [*HARBOR, *TERMINAL_BENCH])
def test_solutions_pass_and_nothing_fails(env, tmp_path, name):
    source, task = opened(write_folder(tmp_path, name))
    reward, state = play(env, task.id, source.oracle(task))
    assert reward == 1.0, state
    assert play(env, task.id, commands(()))[0] == 0.0


def test_reward_json_wins_and_every_test_is_named(env, tmp_path):
    source, task = opened(write_folder(tmp_path, "inventory"))
    _, state = play(env, task.id, source.oracle(task))
    step = state["steps"][0]
    assert step["reward"] == {"reward": 1.0, "style": 0.5}
    assert sorted(name for name, _ in step["tests"]) == sorted(task.checks[0].params["tests"][""])


def test_a_step_below_its_minimum_reward_ends_the_task(env, tmp_path):
    _, task = opened(write_folder(tmp_path, "two_steps"))
    reward, state = play(env, task.id, commands(["echo 4 > a.txt"]))
    assert reward == 0.0 and [step["name"] for step in state["steps"]] == ["first"]


def test_the_second_step_continues_from_the_first(env, tmp_path):
    _, task = opened(write_folder(tmp_path, "two_steps"))
    env.reset(seed=0, options={"task": task.id})
    script = commands(["echo 3 > a.txt"])
    for action in script:
        shown, reward, terminated, *_ = env.step(action)
    assert not terminated and "Write twice the number" in shown and reward == 0.0
    for action in commands(["cat a.txt", "echo 5 > b.txt"]):
        _, reward, terminated, *_ = env.step(action)
    assert terminated and reward == 0.0
    assert env.verdict().partial == 0.5


def test_a_step_may_be_prepared_while_nothing_else_runs(env, tmp_path):
    folder = write_folder(tmp_path, "two_steps")
    (folder / "steps" / "second" / "workdir").mkdir()
    hook = "echo 21 > a.txt; ps -A > seen.txt; sleep 300 &\n"
    (folder / "steps" / "second" / "workdir" / "setup.sh").write_text(hook)
    _, task = opened(folder)
    env.reset(seed=0, options={"task": task.id})
    for action in commands(["sleep 77 & echo 3 > a.txt"]):
        env.step(action)
    shown = env.step(json.dumps({"name": "run", "arguments": {"command": "cat *.txt; ps -A"}}))[0]
    assert shown.startswith("21\n") and "sleep" not in shown


@pytest.mark.parametrize(
    ("script", "fault"),
    [
        ("true\n", "the tests wrote no reward"),
        (": > /logs/verifier/reward.txt\n", "reward.txt contains no finite number"),
        ("echo nan > /logs/verifier/reward.txt\n", "reward.txt contains no finite number"),
        ("echo '{}' > /logs/verifier/reward.json\n", "reward.json contains no finite number"),
        ("echo 1 > /logs/verifier/reward.txt; echo x > /logs/verifier/reward.json\n",
         "reward.json contains no finite number"),
    ],
)  # fmt: skip
def test_a_missing_or_empty_reward_is_a_fault_not_a_zero(env, tmp_path, script, fault):
    folder = write_folder(tmp_path, "greeting")
    (folder / "tests/test.sh").write_text(script)
    _, task = opened(folder)
    plant = "mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt"
    _, state = play(env, task.id, commands([plant]))
    assert state["steps"][0]["fault"] == fault and "forged_result" in state["flags"]
    assert env.verdict().status == "unscored"


def test_shared_mode_can_be_fooled_but_separate_mode_cannot(tmp_path):
    _, task = opened(write_folder(tmp_path, "greeting"))
    trick = "mkdir -p /usr/local/bin; printf '#!/bin/sh\\nexit 0\\n' > /usr/local/bin/grep; "
    trick += "chmod +x /usr/local/bin/grep"
    rewards = {}
    for mode in ("shared", "separate"):
        env = gymnasium.make("hexathlon/Terminal-v1", verifier=mode).unwrapped
        assert isinstance(env, TerminalEnv)
        try:
            rewards[mode], state = play(env, task.id, commands([trick]))
        except BackendMissing as error:
            pytest.skip(str(error))
        finally:
            env.close()
        assert state["mode"] == mode
    assert rewards == {"shared": 1.0, "separate": 0.0}
    assert "shadowed_tool" in state["flags"]


@pytest.mark.parametrize("name", ["log_breaches/tiny", "py_slots/easy", "git_lost/easy"])
def test_a_generated_task_gets_the_same_verdict_from_its_own_script(env, tmp_path, name):
    source = get_source("terminal")
    task = source.build(f"terminal/{name}/test/00003")
    for path, data in files_of(task).items():
        target = tmp_path / "task" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    ours, written = opened(tmp_path / "task")
    other = gymnasium.make("hexathlon/Terminal-v1", verifier="shared").unwrapped
    assert isinstance(other, TerminalEnv)
    try:
        near = list(source.mutants(task))[:2]
        scripts = [lambda: ours.oracle(written), lambda: commands(())]
        scripts += [lambda name=name: source.mutants(task)[name] for name in near]
        for number, script in enumerate(scripts):
            reward, state = play(env, written.id, script())
            theirs, foreign = play(other, written.id, script())
            assert reward == theirs == float(number == 0)
            tests = {tuple(pair) for pair in foreign["steps"][0]["tests"]}
            passed = {name for name, what in state["steps"][0]["tests"] if what == "passed"}
            assert {name for name, what in tests if what == "passed"} == passed
    finally:
        other.close()


def test_missing_requirements_are_named(env, tmp_path):
    folder = write_folder(tmp_path, "greeting")
    (folder / "environment/Dockerfile").write_text(
        "FROM debian:12\nRUN apt-get install -y no-such-thing\n"
    )
    _, task = opened(folder)
    with pytest.raises(BackendMissing, match="needs, but the sandbox's base lacks: no-such-thing"):
        env.reset(seed=0, options={"task": task.id})
    (folder / "environment/Dockerfile").write_text("FROM debian:12\nRUN echo broken; exit 7\n")
    _, task = opened(folder)
    with pytest.raises(EnvFault, match="ended with 7: broken"):
        env.reset(seed=0, options={"task": task.id})


def test_the_command(env, tmp_path, capfd):
    folder = write_folder(tmp_path, "count-lines")
    assert run(["terminal", "run", str(folder), "--json", "--out", str(tmp_path / "r.json")]) == 0
    shown = json.loads(capfd.readouterr().out)
    assert shown["reward"] == 1.0
    assert shown["steps"][0]["tests"] == [["test_outputs.py::test_count", "passed"]]
    record = json.loads((tmp_path / "r.json").read_text())
    assert record["sandbox"] == shown["sandbox"] != "simulated"
    assert run(["terminal", "run", str(folder), "--agent", "noop"]) == 3
    assert "test_count" in capfd.readouterr().out
    assert run(["terminal", "run", str(tmp_path / "none")]) == 1
    (folder / "run-tests.sh").unlink()
    assert run(["terminal", "run", str(folder)]) == 1
    assert "there is no run-tests.sh" in capfd.readouterr().err


def test_sources_of_folders_below_the_data_folder(env, tmp_path, monkeypatch):
    write_folder(tmp_path / "harbor", "greeting")
    monkeypatch.setitem(os.environ, "HEXATHLON_DATA", str(tmp_path))
    from hexathlon.tasks.terminal.directories import harbor

    source = harbor()
    assert source.size("test") == 1
    task = source.build(source.address("test", 0))
    assert task.params["path"] == "harbor/greeting"
