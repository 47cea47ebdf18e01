"""Agents that break their sandbox: always a scored 0, never a trial without a score."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hexathlon.envs.errors import BackendMissing
from hexathlon.envs.sandbox import ladder
from hexathlon.envs.sandbox.base import Availability, SandboxFault
from hexathlon.envs.status import Status
from hexathlon.envs.terminal.env import TerminalEnv
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
        "printf 'junk\\0\\0\\0' | tee /proc/$$/fd/* >/dev/null", "trap 'printf \"\\0\" >&15' DEBUG", ":",
    ],
    "a stopped shell": ["kill -STOP $$", "echo"],
    "a shell that replaces itself": ["exec sleep 1000"],
    "a shell of other commands": ["builtin() { :; }; eval() { :; }; printf() { :; }", "enable -n printf", "echo"],
}  # fmt: skip


@pytest.fixture(params=["namespaces", pytest.param("docker", marks=pytest.mark.slow)])
def env(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[TerminalEnv]:
    if request.param == "docker":
        monkeypatch.setenv("DOCKER_HOST", request.getfixturevalue("docker_url"))
    ladder.backend.cache_clear()
    probe = ladder.backend(request.param).probe()
    if not probe.available:
        pytest.skip(f"{request.param}: {probe.reason}")
    made = TerminalEnv(sandbox=request.param, limits={"seconds_per_action": 3.0})
    yield made
    made.close()
    ladder.backend.cache_clear()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", WRECKS)
def test_a_wreck_is_scored(env: TerminalEnv, name: str) -> None:
    reward, state = play(env, GENERATED, commands(WRECKS[name]))
    assert reward == 0.0
    assert env.verdict().status == "scored", env.verdict()
    assert not [step["fault"] for step in state["steps"] if step["fault"]]
    assert play(env, GENERATED, commands(["echo next"]))[1]["flags"] == []
