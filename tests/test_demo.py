"""`make demo` as a newcomer sees it: commands, tables, a page; and a second run from cached
results.
"""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.product
ROOT = Path(__file__).resolve().parents[1]
TASKS = 1
EVENTS = ("GUI", "RolePlay", "SQL", "Shopping", "Terminal", "Web")
DEADLINE = 800.0


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


def environment(place: Path) -> dict[str, str]:
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {
        **os.environ,
        "PATH": programs,
        "RUNS": str(place / "runs"),
        "SITE": str(place / "site"),
    }


def demo(
    place: Path, tasks: int = TASKS, scale: float = 0, **variables: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [ROOT / "scripts" / "demo", str(tasks), str(scale)],
        env={**environment(place), **variables},
        capture_output=True, text=True, timeout=DEADLINE, check=False,
    )  # fmt: skip


def boards(place: Path) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads((place / "site" / "board.json").read_text("utf-8"))[
        "boards"
    ]
    return found


@pytest.fixture(scope="module")
def first(place: Path) -> str:
    done = demo(place)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_shows_the_commands_and_a_table_of_each_event(first: str) -> None:
    names = ("show", "selftest", "eval", "eval", "compare", "leaderboard")
    assert tuple(re.findall(r"^\$ hexathlon (\w+)", first, re.MULTILINE)) == names
    for name in EVENTS:
        assert f"\n{name} · easy, version" in first
    rows = re.findall(r"^ +– +(\w+) .* (floor|ceiling) *$", first, re.MULTILINE)
    assert [name for name, _ in rows[:9]] == [
        "oracle", "constant", "dump", "identity", "majority", "neighbour", "noop", "overlap",
        "random",
    ]  # fmt: skip
    assert len(rows) == 9 * len(EVENTS)
    assert len(re.findall(r"noisy:0\.5 +demo", first)) == len(EVENTS)


def test_its_page_is_there_and_every_run_was_replayed(first: str, place: Path) -> None:
    (named,) = re.findall(r"Open (\S+index\.html)", first)
    pages = sorted(Path(named).parent.glob("boards/*.html"))
    counts = [page.read_text("utf-8").count(">replay-verified<") for page in pages]
    assert counts == [11] * len(EVENTS)
    assert [board["ceiling"] for board in boards(place)] == [1.0] * len(EVENTS)
    for board in boards(place):
        assert all(row["infra"] == row["unscored"] == 0 for row in board["rows"])


def no_sandbox(tmp_path: Path) -> dict[str, str]:
    """Environment variables under which no sandbox works."""
    nowhere = f"unix://{tmp_path}/no-engine.sock"
    return {"HEXATHLON_SANDBOX": "docker", "DOCKER_HOST": nowhere}


def test_without_a_sandbox_it_says_so_and_continues_without_the_terminal(tmp_path: Path) -> None:
    """Ends with the first evaluation; the slow test is the whole demo."""
    process = subprocess.Popen(
        [ROOT / "scripts" / "demo", "1", "0"],
        env={**environment(tmp_path), **no_sandbox(tmp_path)},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip
    seen = ""
    try:
        assert process.stdout is not None
        for line in process.stdout:
            seen += line
            if line.startswith("$ hexathlon eval"):
                break
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=DEADLINE)
    assert "no sandbox works here" in seen
    assert "Terminal is left out below" in seen
    assert "$ hexathlon eval agent:noisy:0.2 --envs SQL,Shopping,RolePlay,Web,GUI " in seen


@pytest.mark.slow
def test_without_a_sandbox_the_page_has_the_other_events(tmp_path: Path) -> None:
    done = demo(tmp_path, 1, **no_sandbox(tmp_path))
    assert done.returncode == 0, done.stderr
    assert [board["title"] for board in boards(tmp_path)] == [
        f"{name} · easy" for name in EVENTS if name != "Terminal"
    ]


@pytest.mark.slow
def test_a_second_run_continues_or_starts_afresh(first: str, place: Path) -> None:
    again = demo(place)
    assert again.returncode == 0, again.stderr
    trials = TASKS * len(EVENTS)
    assert f"{trials} of {trials} trials were recorded before" in again.stderr
    other = demo(place, TASKS + 1)
    assert other.returncode == 0, other.stderr
    assert {row["tasks"] for row in boards(place)[0]["rows"]} == {TASKS + 1}


@pytest.mark.slow
def test_its_policy_learns(tmp_path: Path) -> None:
    """In full: three to four minutes on two quiet cores."""
    done = demo(tmp_path, 1, 0.3)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "runs" / "training" / "curve.html").exists()
    (dev,) = (board for board in boards(tmp_path) if board["title"] == "SQL · dev")
    score = {row["name"]: row["score"] for row in dev["rows"]}
    assert score["policy"] > score["start"]
    assert dev["ceiling"] == 1.0 and dev["floor"] is not None


@pytest.mark.slow
def test_on_a_terminal_it_draws_progress_bars(tmp_path: Path) -> None:
    terminal, other = pty.openpty()
    process = subprocess.Popen(
        [ROOT / "scripts" / "demo", "40", "0"],
        env={**environment(tmp_path), "TERM": "xterm", "COLUMNS": "100"},
        stdin=other, stdout=other, stderr=other,
    )  # fmt: skip
    os.close(other)
    seen, deadline = "", time.monotonic() + DEADLINE
    try:
        while "Done" not in seen:
            assert time.monotonic() < deadline, seen[-2000:]
            if select.select([terminal], [], [], 1.0)[0]:
                seen += os.read(terminal, 65536).decode("utf-8", "replace")
        assert process.wait(DEADLINE) == 0
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
    assert re.search(r"noisy:0\.2.*━.*/160", seen)
