"""The terminal event: right work scores 1, wrong work 0; fork, replay, observations."""

import json

import pytest

from hexathlon.envs.status import Status
from hexathlon.envs.terminal import steps
from hexathlon.envs.terminal.keys import key_codes
from hexathlon.evaluators.verifier import verify
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import play as run_script
from support.terminal import act, commands, play

SOURCE = get_source("terminal")
TINY = "terminal/log_breaches/tiny/test/00000"
SAMPLE = (TINY, "terminal/git_lost/tiny/test/00001", "terminal/c_tally/tiny/dev/00000",
          "terminal/json_table/medium/test/00002",
          "terminal/chain_two/medium/dev/00001")  # fmt: skip


@pytest.mark.parametrize("task_id", SAMPLE)
def test_right_work_scores_one_and_near_misses_zero(env, task_id):
    task = SOURCE.build(task_id)
    assert play(env, task_id, SOURCE.oracle(task))[0] == 1.0
    for name, script in SOURCE.alternatives(task).items():
        assert play(env, task_id, script)[0] == 1.0, name
    for name, script in list(SOURCE.mutants(task).items())[:3]:
        assert play(env, task_id, script)[0] == 0.0, name
    assert play(env, task_id, commands(()))[0] == 0.0


LOOK_AROUND = (
    "env; hostname; id; pwd; cat /proc/*/{cmdline,environ} /proc/self/mountinfo | tr '\\0' ' '",
    "ls -laR /app /root /home /tmp /tests /oracle /logs /mnt /opt /srv 2>&1",
    "find / -xdev -iname '*hexathlon*' -o -xdev -iname '*task*' -not -path '/proc/*' -not -path "
    "'/usr/*' -not -path '/etc/*' 2>&1",
)


@pytest.mark.parametrize("task_id", SAMPLE)
def test_nothing_in_the_sandbox_names_the_task(env, task_id):
    opening, info = env.reset(seed=0, options={"task": task_id})
    task = SOURCE.build(task_id)
    seen = [opening, *(env.step(act("run", command=line))[0] for line in LOOK_AROUND)]
    assert info["task_id"] == task.opaque_id and "/app" in seen[1]
    for name in (task.id, task.template, task.opaque_id, task.hash[:16], str(task.seed), "test/0"):
        assert not [text for text in seen if name in text], name


def test_without_grading_the_same_episode_scores_0_and_no_test_runs(env, monkeypatch):
    actions: list[str] = []

    def step(action: str) -> str:
        actions.append(action)
        return env.step(action)[0]

    for grading in (True, False):
        monkeypatch.setattr(env, "grading", grading)
        env.reset(seed=0, options={"task": TINY})
        run_script(SOURCE.oracle(SOURCE.build(TINY)), step)
        assert env.verdict().score == float(grading)
        monkeypatch.setattr(steps, "judge_probes", None)  # a call would fail
    assert actions[: len(actions) // 2] == actions[len(actions) // 2 :]


def test_another_instances_solution_does_not_pass(env):
    other = SOURCE.build("terminal/log_breaches/tiny/train/00007")
    assert play(env, TINY, SOURCE.oracle(other))[0] == 0.0


def test_the_final_state_is_plain_stable_and_enough_to_judge_by(env):
    task = SOURCE.build(TINY)
    first, again = (play(env, TINY, SOURCE.oracle(task))[1] for _ in range(2))
    assert first == again == json.loads(json.dumps(first))
    assert verify(task, first, ()).score == 1.0
    (made,) = first["steps"][0]["changed"]
    assert made.endswith("_breaches") and f"/app/{made} " in task.instruction


def test_observations_are_text_with_an_exit_status(env):
    env.reset(seed=0, options={"task": TINY})
    bold = "printf '\\033[1mb'"
    lines = ("pwd; false", "cd /tmp; x=5", "echo $x; pwd", "cat nothing", bold)
    seen = [env.step(act("run", command=line))[0] for line in lines]
    assert seen[0] == "/app\n[exit status 1]"
    assert seen[1] == "[exit status 0]"
    assert seen[2] == "5\n/tmp\n[exit status 0]"
    assert seen[3].endswith("[exit status 1]") and "No such file" in seen[3]
    assert seen[4] == "b\n[exit status 0]"


def test_files_are_read_and_written_whole(env):
    env.reset(seed=0, options={"task": TINY})
    assert env.step(act("write_file", path="/app/new/x.txt", text="é\n"))[0] == "Wrote 3 bytes."
    assert env.step(act("read_file", path="/app/new/x.txt"))[0] == "é\n"
    assert env.step(act("read_file", path="/app"))[0].startswith("Error: ")
    assert env.step(act("run", command="a\0b"))[0].startswith("Error: ")


def test_a_command_is_stopped_at_its_limit(env):
    env.reset(seed=0, options={"task": TINY})
    shown = env.step(act("run", command="echo begun; sleep 60", timeout=4))[0]
    assert shown.startswith("begun\n[") and "stopped at its time limit" in shown


def test_a_full_screen_program_is_shown_as_a_screen(env):
    env.reset(seed=0, options={"task": TINY})
    shown = env.step(act("send_keys", keys="printf 'a\\nb\\n'; read -r answer\n"))[0]
    assert "\na\nb\n" in shown and "[cursor in row" in shown


def test_keys_have_names_and_screens_are_waited_for(env):
    env.reset(seed=0, options={"task": TINY})
    line = "sleep 1; echo rea''dy; cat<Enter>"
    assert "\nready\n" in env.step(act("send_keys", keys=line, wait_for="ready"))[0]
    assert "\nab\n<a>\n" in env.step(act("send_keys", keys="ax<BSpace>b\n<a><Enter>"))[0]
    assert "^C" in env.step(act("send_keys", keys="C-c", quiet_ms=200))[0]
    shown = env.step(act("send_keys", keys="stty size<Enter>", rows=30, columns=120))[0]
    assert "\n30 120\n" in shown
    assert "100" in env.step(act("send_keys", keys="x", rows=101))[0]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("ls -l\n", "ls -l\n"),
        ("ls<Enter>", "ls\r"),
        ("Enter", "\r"),
        ("C-c", "\x03"),
        ("<C-C><c-c>", "\x03<c-c>"),
        ("<C-[><C-Space><C-?>", "\x1b\0\x7f"),
        ("<M-x><M-Left>", "\x1bx\x1b\x1b[D"),
        ("a<b <div> <C-> <C-xx> 1<2>3", "a<b <div> <C-> <C-xx> 1<2>3"),
        ("x", "x"),
        ("<F5><PageUp>", "\x1b[15~\x1b[5~"),
    ],
)
def test_names_of_keys(text, codes):
    assert key_codes(text) == codes


def test_turns_run_out_and_the_state_is_judged_then(env):
    env.limits_override = {"turns": 2}
    env.reset(seed=0, options={"task": TINY})
    env.step("")
    _, reward, terminated, truncated, info = env.step("")
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["status"] == Status.TRUNCATED_TURNS
    assert env.final_state()["submitted"] == 0


def test_forks_are_independent(env):
    env.reset(seed=0, options={"task": TINY})
    env.step(act("run", command="cd /tmp; echo one > f; x=7"))
    fork, other = env.fork(2)
    try:
        assert fork.step(act("run", command="cat f; echo $x; rm f"))[0] == "one\n7\n[exit status 0]"
        assert other.step(act("run", command="cat f"))[0] == "one\n[exit status 0]"
        assert env.step(act("run", command="pwd; ls f"))[0] == "/tmp\nf\n[exit status 0]"
        solution = list(SOURCE.oracle(SOURCE.build(TINY)))
        assert [fork.step(action)[1] for action in solution][-1] == 1.0
        assert env.step(act("submit"))[1] == 0.0
    finally:
        fork.close()
        other.close()


def test_looking_at_the_verdict_leaves_the_work_running(env):
    env.reset(seed=0, options={"task": TINY})
    env.step(act("run", command="sleep 300 & echo $! > /tmp/pid"))
    assert env.verdict().score == 0.0
    assert env.step(act("run", command="kill -0 $(cat /tmp/pid)"))[0] == "[exit status 0]"


def test_kept_files_must_stay(env):
    task = SOURCE.build("terminal/py_slots/tiny/test/00000")
    solution = list(SOURCE.oracle(task))[1]
    script = commands([json.loads(solution)["arguments"]["command"], "echo '# x' >> main.py"])
    reward, state = play(env, task.id, script)
    assert reward == 0.0
    assert ["keep:main.py", "changed"] in state["steps"][0]["tests"]


def test_only_the_working_directory_reaches_the_grader(env):
    task = SOURCE.build(TINY)
    spoil = (
        "echo 'exit 0' > ~/.bashrc; mkdir -p /usr/local/bin; "
        "printf '#!/bin/sh\\nexit 0\\n' > /usr/local/bin/python3; chmod +x /usr/local/bin/python3"
    )
    reward, state = play(env, TINY, commands([spoil]))
    assert reward == 0.0
    assert {"start_file", "shadowed_tool"} <= set(state["flags"])
    solution = json.loads(list(SOURCE.oracle(task))[1])["arguments"]["command"]
    assert play(env, TINY, commands([solution, spoil]))[0] == 1.0


def test_the_constructor_rejects_unknown_settings():
    import gymnasium

    with pytest.raises(ValueError, match="verifier must be"):
        gymnasium.make("hexathlon/Terminal-v1", verifier="trusting")
