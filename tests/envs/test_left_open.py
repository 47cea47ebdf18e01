"""Environments that were never closed leave no process, socket, file or warning behind."""

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hexathlon.envs.sandbox.ladder import backend
from support.chromium import skip_without_chromium
from support.desktops import require_desktop

TESTS = Path(__file__).resolve().parents[1]
DEADLINE = 120.0
KINDS = (
    "sql", "sql duckdb", "sql postgresql", "terminal", "terminal screen", "landlock",
    "shopping", "roleplay", "web", "web chromium", "gui", "gui desktop",
    "worker", "vector", "vector terminal",
)  # fmt: skip
SHARED = ("terminal screen", "gui desktop", "vector terminal")
"""Kinds whose sandboxes share a supervisor: two processes and a socket, until the process ends."""

DELETED = ("sql duckdb", "sql postgresql", "terminal screen", "landlock", "gui desktop", "worker")
KILLED = (
    "terminal screen", "landlock", "web chromium", "gui desktop", "worker", "vector terminal",
)  # fmt: skip


@pytest.fixture
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    name: str = request.param
    if name == "sql duckdb":
        pytest.importorskip("duckdb", reason="pip install 'hexathlon[duckdb]'")
    if name == "sql postgresql":
        monkeypatch.setenv("POSTGRES_URL", request.getfixturevalue("postgres_url"))
    if name == "web chromium":
        skip_without_chromium()
    if name == "gui desktop":
        require_desktop()
    if "terminal" in name or name == "landlock":
        probe = backend("landlock" if name == "landlock" else "namespaces").probe()
        if not probe.available:
            pytest.skip(probe.reason)
    return name


def start(kind: str, ending: str, folder: Path) -> "subprocess.Popen[str]":
    # Developer mode also logs asyncio's slow steps, which a browser has on a busy machine.
    mode = ["-W", "error", *(() if kind == "web chromium" else ("-X", "dev"))]
    return subprocess.Popen(
        [sys.executable, *mode, "-m", "support.left_open", kind, ending],
        cwd=TESTS,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )


def handles_of(pids: list[int]) -> list[int]:
    """Open a handle on each process; those that have ended already have none."""
    handles = []
    for pid in pids:
        try:
            handles.append(os.pidfd_open(pid))
        except ProcessLookupError:
            continue
    return handles


def assert_ended(handles: list[int]) -> None:
    for handle in handles:
        ended, _, _ = select.select([handle], [], [], DEADLINE)
        os.close(handle)
        assert ended, "a process outlived the one that started it"


@pytest.mark.parametrize("kind", KINDS, indirect=True)
def test_nothing_is_left_at_exit(kind: str, tmp_path: Path) -> None:
    process = start(kind, "exit", tmp_path)
    output, noise = process.communicate(timeout=DEADLINE)
    assert (process.returncode, noise) == (0, "")
    assert_ended(handles_of(json.loads(output)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", DELETED, indirect=True)
def test_nothing_is_left_of_a_deleted_environment(kind: str, tmp_path: Path) -> None:
    process = start(kind, "delete", tmp_path)
    output, noise = process.communicate(timeout=DEADLINE)
    assert (process.returncode, noise) == (0, "")
    before, processes, descriptors = map(json.loads, output.splitlines())
    assert processes == (2 if kind in SHARED else 0)
    assert len(descriptors) == (1 if kind in SHARED else 0), descriptors
    assert_ended(handles_of(before))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", KILLED, indirect=True)
def test_a_killed_process_takes_all_others_with_it(kind: str, tmp_path: Path) -> None:
    process = start(kind, "wait", tmp_path)
    assert process.stdout is not None
    try:
        pids = json.loads(process.stdout.readline())
        assert process.stdout.readline() == "ready\n"
        handles = handles_of(pids)
        assert pids and len(handles) == len(pids)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert_ended(handles)
