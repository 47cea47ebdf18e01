"""Kill the command at random points and resume: the records are those of an uninterrupted run."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hexathlon.evaluators.records import check_chain
from hexathlon.evaluators.records.plan import read_plan
from hexathlon.tasks.seeding import generator_for
from support.events import records, toy_run

TESTS = Path(__file__).resolve().parents[1]
COMMAND = (sys.executable, "-m", "support.toy_command")
FLAGS = ("agent:oracle", "--envs", "Toy", "--tasks", "40", "--seeds", "25")
DEADLINE = 300.0


def start(*arguments: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [*COMMAND, *arguments], cwd=TESTS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def lines(run: Path) -> int:
    file = run / "records.jsonl"
    return file.read_bytes().count(b"\n") if file.exists() else 0


def kill_after(process: "subprocess.Popen[bytes]", run: Path, wanted: int) -> None:
    """Kill the process as soon as the run has this many records."""
    deadline = time.monotonic() + DEADLINE
    while lines(run) < wanted and process.poll() is None:
        assert time.monotonic() < deadline, "the command made no progress"
    process.send_signal(signal.SIGKILL)
    process.communicate()


def without_timing(run: Path) -> list[dict[str, Any]]:
    return [{**record, "timing": None} for record in records(run)]


def kill_and_resume(tmp_path: Path, kills: int) -> None:
    whole = toy_run(tmp_path / "whole", tasks=40, seeds=25).run
    broken = tmp_path / "broken"
    draw = generator_for("kill points", kills)
    points = sorted(int(point) for point in draw.integers(0, 1000, size=kills))
    killed = 0
    for point in points:
        arguments = ("resume", str(broken)) if (broken / "plan.json").exists() else None
        process = start(*(arguments or ("eval", *FLAGS, "--out", str(broken))))
        kill_after(process, broken, point)
        killed += process.returncode == -signal.SIGKILL
    assert killed >= kills // 2
    last = start("eval", *FLAGS, "--out", str(broken))
    output, _ = last.communicate(timeout=DEADLINE)
    assert last.returncode == 0, output.decode()
    assert check_chain(broken, read_plan(broken)["plan_hash"]) == []
    assert without_timing(broken) == without_timing(whole)


def test_three_kills_do_not_change_the_records(tmp_path: Path) -> None:
    kill_and_resume(tmp_path, 3)


@pytest.mark.slow
def test_twenty_kills_do_not_change_the_records(tmp_path: Path) -> None:
    kill_and_resume(tmp_path, 20)


def test_second_command_on_a_run_directory_is_rejected(tmp_path: Path) -> None:
    run = tmp_path / "run"
    first = start("eval", *FLAGS, "--trials", "20", "--out", str(run))
    deadline = time.monotonic() + DEADLINE
    while lines(run) < 5:
        assert time.monotonic() < deadline and first.poll() is None
    second = start("eval", *FLAGS, "--trials", "20", "--out", str(run))
    output, _ = second.communicate(timeout=DEADLINE)
    first.kill()
    first.communicate()
    assert second.returncode == 1
    assert "is being written by another process" in output.decode()
    assert check_chain(run, read_plan(run)["plan_hash"])[1:] == []
