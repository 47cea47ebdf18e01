"""Time saved by the cache of built tasks: an evaluation without it, with an empty and a full one.

Each round plays the oracle three times in fresh processes: with the cache off, with an empty cache
directory, and with the directory that the second run has filled. Figures are CPU time of the whole
command. An interval is the range of the rounds: of five, it covers the median with 94 %.

    python benchmarks/cache_speed.py [--rounds 5] [--only SQL Web GUI] [--tasks 20] [--json]
"""

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from comparing import Row, add_options, compare, print_rows
from measuring import Figure, print_findings, run_child

TASKS = {"SQL": 100, "Web": 12, "GUI": 16, "Shopping": 40}
"""Hard tasks by event."""

STATES = ("off", "cold", "warm")


def main() -> None:
    """Print CPU time per state and event, and the ratios with their intervals."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser)
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
        rows = ratios(name, seconds)
        for row in rows:
            print_findings([Figure(row.name, row.ratio or 0, "×", least=row.least)])
            print(f"  {row.low:.2f} to {row.high:.2f}")
        print(f"load {os.getloadavg()[0]:.1f}", flush=True)
        if options.json:
            print_rows(rows)


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


def ratios(name: str, seconds: Mapping[str, Sequence[float]]) -> list[Row]:
    """Return the ratios of the states, by round."""
    pairs = (("cold", "off", 0.97), ("warm", "cold", 1.8), ("warm", "off", 1.8))
    return [
        compare(
            f"cache: {name}: {before} / {after}",
            "s CPU",
            seconds[after],
            seconds[before],
            beside=f"cache {before}",
            least=least,
        )
        for after, before, least in pairs
    ]


if __name__ == "__main__":
    main()
