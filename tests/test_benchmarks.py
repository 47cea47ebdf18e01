"""Benchmarks that need a GPU run in a tiny form on a CPU, so that they work when there is one."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


def figures(script: str, *words: str) -> dict[str, float]:
    """Run a benchmark with its tiny model and return what it prints, by name."""
    command = [sys.executable, BENCHMARKS / script, "--shape", "tiny", "--device", "cpu", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    rows = re.findall(r"^(.+?) {2,}([-\d.,e+]+)", done.stdout, re.MULTILINE)
    return {name: float(value.replace(",", "")) for name, value in rows}


def test_speed_of_engine_and_learner() -> None:
    found = figures("device_speed.py", "--sequences", "2", "--prompt", "16", "--drawn", "4")
    for name in ("engine: tokens drawn", "learner: tokens learned", "learner: utilisation"):
        assert found[name] > 0
    assert 0 < found["engine: mean distance from float32"] < 0.1


def test_training_steps_weight_transfers_and_memory() -> None:
    found = figures("device_training.py", "--steps", "2", "--groups", "1", "--drawn", "4")
    for layout in ("shared", "apart", "asynchronous"):
        parts = [found[f"{layout}: of which {part}"] for part in ("collecting", "learning")]
        assert 0 < max(parts) <= found[f"{layout}: step"]
        assert found[f"{layout}: tokens drawn"] > 0
        assert found[f"{layout}: peak memory"] > 0
    assert found["transfer"] > 0
    assert 0 < found["transfer / plain copy, in bandwidth"] < 1


def test_games_of_the_step_benchmark_play_whole_episodes() -> None:
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "step_games.py"],
        input="words-1 3\nwords-5 70\nguess 64\n",
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    name, *answers = done.stdout.splitlines()
    assert name == "hexathlon"
    single, five, guessed = (json.loads(answer) for answer in answers)
    assert (single["steps"], five["steps"]) == (3, 350)
    assert 64 <= guessed["steps"] <= 6 * 64  # bisection finds one of fifty numbers in six guesses
    assert min(each["cpu_s"] for each in (single, five, guessed)) > 0
