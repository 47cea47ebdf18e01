"""Time saved by the cache of built tasks: an evaluation without it, with an empty and a full one.

Each round plays the oracle three times in fresh processes: with the cache off, with an empty cache
directory, and with the directory that the second run has filled. Figures are CPU time of the whole
command. An interval is the range of the rounds: of five, it covers the median with 94 %.

    python benchmarks/cache_speed.py [--rounds 5] [--only SQL Web GUI] [--tasks 20]
"""

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from measuring import Figure, print_findings, ratio_of_pairs, run_child

TASKS = {"SQL": 100, "Web": 12, "GUI": 16, "Shopping": 40}
"""Hard tasks by event."""

STATES = ("off", "cold", "warm")


def main() -> None:
    """Print CPU time per state and event, and the ratios with their intervals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--tasks", type=int, help="number of tasks, for every event")
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}, {options.rounds} rounds")
    for event in options.only:
        tasks = options.tasks or TASKS[event]
        rounds = [play_round(event, tasks) for _ in range(options.rounds)]
        seconds = {state: [each[state] for each in rounds] for state in STATES}
        name = f"{event}, {tasks} hard tasks"
        print_findings(
            Figure(f"{name}: {state}", statistics.median(seconds[state]), "s CPU")
            for state in STATES
        )
        print_ratio(f"{name}: off / cold", seconds["off"], seconds["cold"], 0.97)
        print_ratio(f"{name}: cold / warm", seconds["cold"], seconds["warm"], 1.8)
        print_ratio(f"{name}: off / warm", seconds["off"], seconds["warm"], 1.8)
        print(f"load {os.getloadavg()[0]:.1f}")


def play_round(event: str, tasks: int) -> dict[str, float]:
    """Return the CPU seconds of an evaluation in each state."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HEXATHLON_CACHE"] = str(Path(folder) / "cache")
        return {state: play(event, tasks, state, Path(folder) / state) for state in STATES}


def play(event: str, tasks: int, state: str, out: Path) -> float:
    """Return the CPU seconds of one evaluation by the oracle."""
    os.environ["HEXATHLON_CACHE_SIZE"] = "off" if state == "off" else "1GB"
    chosen = ("--envs", event, "--level", "hard", "--tasks", str(tasks), "--workers", "1")
    command = (sys.executable, "-m", "hexathlon", "eval", "agent:oracle", *chosen, "--out", out)
    return run_child(command).cpu_s


def print_ratio(name: str, ones: Sequence[float], others: Sequence[float], least: float) -> None:
    """Print the median ratio of paired figures with the range of the rounds."""
    ratios = [one / other for one, other in zip(ones, others, strict=True)]
    print_findings([Figure(name, ratio_of_pairs(ones, others), "×", least=least)])
    print(f"  {min(ratios):.2f} to {max(ratios):.2f}")


if __name__ == "__main__":
    main()
