"""`make demo` as a newcomer sees it: commands, tables, a page; and a second, cached run."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TASKS = 3
SETS = ("sql", "dbbench", "chinook")
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


def demo(place: Path, tasks: int = TASKS) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [ROOT / "scripts" / "demo", str(tasks), "0"],
        env=environment(place), capture_output=True, text=True, timeout=DEADLINE, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def first(place: Path) -> str:
    done = demo(place)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_shows_the_commands_and_a_table_of_each_board(first: str) -> None:
    for name in SETS:
        assert f"$ hexathlon eval agent:noisy:0.1 --envs SQL --taskset {name}" in first
        board = "SQL, version" if name == "sql" else f"SQL · {name}, version"
        assert board in first
    rows = re.findall(r"^ +– +(\w+) .* (floor|ceiling) *$", first, re.MULTILINE)
    assert [name for name, _ in rows[:5]] == ["oracle", "dump", "majority", "noop", "random"]
    assert len(rows) == 5 * len(SETS)
    assert len(re.findall(r"noisy:0\.35 +demo", first)) == len(SETS)


def test_its_page_is_there_and_every_run_was_replayed(first: str, place: Path) -> None:
    (named,) = re.findall(r"Open (\S+index\.html)", first)
    assert Path(named).read_text("utf-8").count(">replay-verified<") == 7 * len(SETS)
    boards = json.loads((place / "site" / "board.json").read_text("utf-8"))["boards"]
    assert [board["ceiling"] for board in boards] == [1.0] * len(SETS)
    assert all(row["infra"] == row["unscored"] == 0 for b in boards for row in b["rows"])


@pytest.mark.slow
def test_again_it_goes_on_from_what_is_there_or_starts_afresh(first: str, place: Path) -> None:
    again = demo(place)
    assert again.returncode == 0, again.stderr
    assert f"{TASKS} of {TASKS} trials were recorded before" in again.stderr
    other = demo(place, TASKS + 1)
    assert other.returncode == 0, other.stderr
    boards = json.loads((place / "site" / "board.json").read_text("utf-8"))["boards"]
    assert {row["tasks"] for row in boards[0]["rows"]} == {TASKS + 1}


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
        while "Done in" not in seen:
            assert time.monotonic() < deadline, seen[-2000:]
            if select.select([terminal], [], [], 1.0)[0]:
                seen += os.read(terminal, 65536).decode("utf-8", "replace")
        assert process.wait(DEADLINE) == 0
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
    assert re.search(r"noisy:0\.1.*━.*/40", seen)
