"""Soak test: memory stays flat, and no file, thread or process is leaked."""

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[3]
GROWTH = 1.05
MIXED = "tiny,easy,tiny,medium,easy,tiny,hard,easy,tiny,medium,easy,tiny"


def soaked(episodes: int, tasks: int, levels: str, folder: Path) -> dict[str, Any]:
    """Run the soak in a separate process, whose temporary files would appear in `folder`."""
    done = subprocess.run(
        [sys.executable, "-m", "support.soak", str(episodes), str(tasks), levels],
        cwd=FOLDER / "tests", env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True, text=True, check=False, timeout=7_000,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2_000:]
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def check(report: dict[str, Any], episodes: int, warm: int, folder: Path) -> None:
    """Compare the memory after the first `warm` episodes with that of the last `warm` ones."""
    window = warm // report["every"]
    first = fmean(report["samples"][window : 2 * window])
    last = fmean(report["samples"][-window:])
    assert last <= GROWTH * first, (first, last)
    assert report["after"] == report["before"]
    assert list(folder.iterdir()) == []
    assert 0.1 * episodes < report["write"] < 0.9 * episodes
    assert 0.1 * episodes < report["finished"] < 0.9 * episodes
    assert report["forks"] > 0.5 * episodes


def test_a_short_soak(tmp_path):
    check(soaked(300, 30, "tiny,tiny,easy", tmp_path), 300, 100, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(7_200)
def test_ten_thousand_episodes(tmp_path):
    check(soaked(10_000, 480, MIXED, tmp_path), 10_000, 1_000, tmp_path)
