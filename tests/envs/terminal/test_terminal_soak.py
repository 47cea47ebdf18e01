"""Many complete episodes at once: correct work, no work and runaway processes, without leaks."""

import gc
import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import local
from typing import Any

import pytest

from hexathlon.envs.errors import BackendMissing
from hexathlon.envs.sandbox.ladder import choose
from hexathlon.envs.sandbox.namespaces.client import shared_supervisor
from hexathlon.envs.terminal.env import TerminalEnv
from hexathlon.tasks.registry import get_source
from support.terminal import commands, play

CONCURRENCY = 16
SOURCE = get_source("terminal")
TASKS = [f"terminal/{name}/tiny/train/{n:05d}" for n in range(4) for name in
         ("log_breaches", "base_layers", "redact_patterns")]  # fmt: skip
RUNAWAYS = (
    ["(setsid sleep 300 &); sleep 300 & disown; trap '' TERM", "touch /tmp/left /dev/shm/left"],
    [":(){ :|:& };: ; kill -9 $$", "echo"],
    ["f() { trap '' INT TERM HUP; f & f & }; f; kill -9 $$", "echo"],
    ["yes | head -c 300M > /app/full; echo"],
    ["(cd /tmp; for d in {1..400}; do mkdir $d; touch $d/{1..99} || break; done) 2>&1 | tail -1"],
    ['for i in {60..400}; do eval "exec $i</dev/null" || break; done', "echo"],
    ['for i in {0..254}; do eval "exec $i>&-"; done', "echo"],
    ["rm -rf /app; ln -s /etc /app"],
    ["rm -rf /app; mkfifo /app"],
    ["for d in /*; do rm -rf $d; ln -s /dev/null $d; done 2>/dev/null"],
    ["chmod -R 0 /app; chmod 0 / /tmp"],
    ["exec 3<>/dev/ptmx; python3 -c 'import os; [os.open(\"/dev/ptmx\", 2) for _ in range(99)]'"],
    ["kill -STOP $$", "echo"],
)
"""Agents that do nothing useful, and most of which break what they have."""


def children(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        found += [int(word) for word in task.read_text().split()]
    return found


def groups() -> list[Path]:
    """Control groups of single sandboxes of this process's supervisor."""
    name = f"hexathlon-{shared_supervisor()._process.pid}"
    return [path for top in Path("/sys/fs/cgroup").rglob(name) for path in top.iterdir()
            if path.is_dir()]  # fmt: skip


def soak(episodes: int) -> list[float]:
    seats, envs = local(), []

    def seat(name: str, **more: Any) -> TerminalEnv:
        if not hasattr(seats, name):
            setattr(seats, name, TerminalEnv(sandbox="namespaces", **more))
            envs.append(getattr(seats, name))
        found: TerminalEnv = getattr(seats, name)
        return found

    def episode(number: int) -> float:
        task = SOURCE.build(TASKS[number % len(TASKS)])
        runaway = RUNAWAYS[number // 4 % len(RUNAWAYS) if number % 4 else 0]
        if number % 2:
            env, script = seat("patient"), SOURCE.oracle(task)
        else:
            env = seat("hasty", limits={"seconds_per_action": 2.0})
            script = commands(runaway)
        reward = play(env, task.id, script)[0]
        assert env.verdict().status == "scored", runaway
        return reward

    try:
        with ThreadPoolExecutor(CONCURRENCY) as pool:
            return list(pool.map(episode, range(episodes)))
    finally:
        for env in envs:
            env.close()


def check(episodes: int) -> None:
    try:
        choose("namespaces")
    except BackendMissing as error:
        pytest.skip(str(error))
    supervisor = shared_supervisor()
    (inner,) = children(supervisor._process.pid)
    soak(CONCURRENCY)  # threads, images and caches exist from now on
    supervisor.tidy()
    gc.collect()  # descriptors of earlier tests
    held = len(os.listdir("/proc/self/fd")), len(os.listdir(tempfile.gettempdir()))
    mounts = Path("/proc/self/mountinfo").read_text().count(" /sys")
    assert soak(episodes) == [float(number % 2) for number in range(episodes)]
    deadline = time.monotonic() + 60
    while (children(inner) or len(groups()) > 2) and time.monotonic() < deadline:
        supervisor.tidy()
    assert children(inner) == []
    assert len(groups()) <= 2, "the last ones may still be dying, no more"
    now = len(os.listdir("/proc/self/fd")), len(os.listdir(tempfile.gettempdir()))
    assert now[0] <= held[0] and now[1] <= held[1]
    assert Path("/proc/self/mountinfo").read_text().count(" /sys") <= mounts


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_a_short_soak_leaves_nothing():
    check(32)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_two_thousand_episodes_leave_nothing():
    check(2_000)
