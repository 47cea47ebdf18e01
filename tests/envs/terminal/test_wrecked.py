"""Agents that break their sandbox: always a scored 0, never a trial without a score."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hexathlon.envs.sandbox.base import Availability, SandboxFault
from hexathlon.envs.sandbox.changes import Changes
from hexathlon.envs.sandbox.image import Entry
from hexathlon.envs.sandbox.limits import SandboxLimits
from hexathlon.envs.status import Status
from hexathlon.envs.terminal.env import TerminalEnv
from hexathlon.envs.terminal.grading import judge_probes
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.terminal.directories import directory_source
from support.task_folders import write_folder
from support.terminal import act, commands, play

GENERATED = "terminal/log_breaches/tiny/test/00000"
PROGRAM = "terminal/py_slots/easy/test/00000"

WRECKS = {
    "a fork bomb without a shell": [":(){ :|:& };: ; kill -9 $$", "echo", "kill -9 $$"],
    "a fork bomb that ignores signals": [
        "f() { trap '' INT TERM HUP; f & f & }; f; kill -9 $$", "echo",
    ],
    "processes that come back": [
        "cat > /tmp/a.py <<'E'\nimport os, signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "while True:\n    try: os.fork()\n    except OSError: pass\nE",
        "setsid python3 /tmp/a.py >/dev/null 2>&1 & sleep 0.3; kill -9 $$", "echo",
    ],
    "a full disk": ["yes | head -c 2G > /app/full; dd if=/dev/zero of=/tmp/full bs=1M; echo"],
    "no inodes": ["mkdir /app/many; for i in {1..99999}; do : > /app/many/$i || break; done"],
    "no descriptors": ["for i in {60..2000}; do eval \"exec $i</dev/null\" || break; done", "echo"],
    "closed descriptors": ["for i in {0..254}; do eval \"exec $i>&-\"; done", "echo"],
    "no memory": ["x=$(yes | head -c 3G)", "python3 -c 'x = bytearray(4 << 30)'", "echo"],
    "a link for a folder": ["rm -rf /app; ln -s /etc /app"],
    "a file for a folder": ["rm -rf /app; echo x > /app"],
    "a pipe for a folder": ["rm -rf /app; mkfifo /app"],
    "no folder": ["rm -rf /app /tmp /root /home"],
    "links for all folders": ["for d in /*; do rm -rf $d; ln -s /dev/null $d; done 2>/dev/null"],
    "no permissions": ["chmod -R 0 /app; chmod 0 / /tmp"],
    "deep folders": ["cd /tmp; for i in {1..2000}; do mkdir aaaaaaaaa && cd aaaaaaaaa; done"],
    "strange names": ["cd /app; touch $'a\\nb' $'\\xff' -- -rf; mkdir $'\\x01\\xfe'"],
    "forged reports": [
        "for i in 1 2 3 10 11 12 13 14 15 57 58 59; do printf '0\\0junk\\0' >&$i; done 2>/dev/null",
        "printf 'junk\\0\\0\\0' | tee /proc/$$/fd/* >/dev/null",
        "trap 'printf \"\\0\" >&15' DEBUG", ":",
    ],
    "a stopped shell": ["kill -STOP $$", "echo"],
    "a shell that replaces itself": ["exec sleep 1000"],
    "a shell of other commands": [
        "builtin() { :; }; eval() { :; }; printf() { :; }", "enable -n printf", "echo",
    ],
}  # fmt: skip


QUICK = (
    "a fork bomb without a shell", "no descriptors", "a link for a folder", "a pipe for a folder",
    "links for all folders", "no permissions", "strange names", "forged reports",
)  # fmt: skip


@pytest.fixture
def env(backend_name: str) -> Iterator[TerminalEnv]:
    made = TerminalEnv(sandbox=backend_name, limits={"seconds_per_action": 5.0})
    yield made
    made.close()


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in WRECKS],
)
def test_a_wreck_is_scored(env: TerminalEnv, name: str) -> None:
    reward, state = play(env, GENERATED, commands(WRECKS[name]))
    assert reward == 0.0
    assert env.verdict().status == "scored", env.verdict()
    assert not [step["fault"] for step in state["steps"] if step["fault"]]
    assert play(env, GENERATED, commands(["echo next"]))[1]["flags"] == []


def test_only_the_agent_is_blamed_and_only_where_sandboxes_work(
    env: TerminalEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    env.reset(seed=0, options={"task": GENERATED})
    backend = env._opener()
    assert env._shell is not None

    def broken(*arguments: object) -> None:
        raise SandboxFault("no answer")

    monkeypatch.setattr(env._shell, "execute", broken)
    monkeypatch.setattr(backend, "check", lambda: Availability(False, "down"))
    with pytest.raises(SandboxFault, match="no answer"):
        env.step(act("run", command="echo"))
    monkeypatch.setattr(backend, "check", lambda: Availability(True, "up"))
    env.reset(seed=0, options={"task": GENERATED})
    assert env._shell is not None
    monkeypatch.setattr(env._shell, "execute", broken)
    shown, reward, terminated, truncated, info = env.step(act("run", command="echo"))
    assert "no longer works" in shown
    assert (reward, terminated, truncated) == (0.0, True, False)
    assert info["status"] == Status.COMPLETED
    assert env.verdict().status == "scored"
    assert env.verdict().terms["flag_wrecked"] == 1.0


FOLDERS = {
    "a link": "mv /app /app.old; ln -s /app.old /app",
    "a file": "rm -rf /app; echo x > /app",
    "an empty one": "rm -rf /app/*",
}


@pytest.mark.parametrize("kind", FOLDERS)
def test_kept_files_of_a_replaced_folder_are_missing(env: TerminalEnv, kind: str) -> None:
    task = "terminal/make_stale/tiny/test/00000"
    _, state = play(env, task, commands([FOLDERS[kind]]))
    kept = {name: what for name, what in state["steps"][0]["tests"] if name.startswith("keep:")}
    assert set(kept.values()) == {"missing"}


def test_the_machine_is_not_read_through_the_harness(env: TerminalEnv) -> None:
    env.reset(seed=0, options={"task": GENERATED})
    for path in ("/proc/self/maps", "/proc/1/maps", "/proc/self/environ"):
        shown = env.step(act("read_file", path=path))[0]
        assert "ermission denied" in shown or "hexathlon" not in shown


SUBMISSIONS = {
    "endless": "while True: pass\n",
    "kills the tests": "import os, signal\nos.kill(0, signal.SIGKILL)\n",
    "kills all": "import os, signal\nos.kill(-1, signal.SIGKILL)\n",
    "takes the place of the reward": "import os\nos.makedirs('/logs/verifier/reward.txt/x')\n",
    "not a number": "open('/logs/verifier/reward.txt', 'w').write('x')\nimport os\nos.kill(0, 9)\n",
    "forks": "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n",
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name in ("endless", "forks") else name
        for name in SUBMISSIONS
    ],
)
def test_a_submission_that_stops_its_tests_has_failed(
    env: TerminalEnv, tmp_path: Path, name: str
) -> None:
    folder = write_folder(tmp_path, "module")
    (folder / "task.toml").write_text('version = "1.0"\n[verifier]\ntimeout_sec = 20.0\n')
    source, task_id = directory_source(folder)
    task = get_source(source).build(task_id)
    write = f"cat > /calc/adding.py <<'E'\n{SUBMISSIONS[name]}E"
    reward, state = play(env, task.id, commands([write]))
    assert reward == 0.0
    assert env.verdict().status == "scored", state


def test_tests_that_work_for_nobody_are_a_fault(env: TerminalEnv, tmp_path: Path) -> None:
    folder = write_folder(tmp_path, "module")
    (folder / "tests/test.sh").write_text("true\n")
    source, task_id = directory_source(folder)
    task = get_source(source).build(task_id)
    play(env, task.id, commands(["echo > /calc/adding.py"]))
    assert env.verdict().status == "unscored"
    assert env.verdict().evidence["fault"] == "the tests wrote no reward"


SHARED_OUT = """
import os, time
pids = []
for _ in range(6):
    pid = os.fork()
    if not pid:
        while time.process_time() < 0.4:
            pass
        os._exit(0)
    pids.append(pid)
for pid in pids:
    os.waitpid(pid, 0)
print(7)
"""


@pytest.mark.parametrize(
    ("program", "outcome"), [("print(7)", "passed"), (SHARED_OUT, "processor_time")]
)
def test_a_budget_is_for_all_processes_together(
    env: TerminalEnv, program: str, outcome: str
) -> None:
    env.reset(seed=0, options={"task": GENERATED})
    backend = env._opener()
    probe = {
        "id": "p", "files": {}, "stdin": "", "seconds": 60.0, "cpu": 1.8,
        "setup": "touch ready", "run": "ls ready >&2 && python3 a.py", "expect": {"number": 7},
    }  # fmt: skip
    changes = Changes({"/app/a.py": Entry(program.encode())})
    checks = {"keep": {}, "probes": [probe]}
    with backend.open(env._image(), SandboxLimits(seconds=60.0)) as sandbox:
        if sandbox.cpu_seconds() is None:
            pytest.skip("the engine's control groups cannot be read")
    judged = judge_probes(backend, env._image(), changes, checks, SandboxLimits(seconds=60.0))
    assert judged == [["p", outcome]]
