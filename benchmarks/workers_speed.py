"""`eval`, `verify` and `selftest` with two worker processes compared with one.

    python benchmarks/workers_speed.py [--rounds 3] [--only SQL GUI] [--tasks 4] [--scale 4]
        [--json]

Each round runs the three commands with one process and with two, in fresh directories and without
the cache of built tasks. The wall-clock ratio needs two idle cores, and enough tasks that the start
of the workers does not matter; `--scale` multiplies their number. CPU seconds, summed over all
processes, show work that two workers do twice: they may grow by 8 %.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from comparing import Row, add_options, compare, print_rows
from measuring import Figure, print_findings, run_child

COMMANDS = ("eval", "verify", "selftest")
TASKS = {
    "SQL": (35, 20),
    "Terminal": (25, 5),
    "Shopping": (60, 40),
    "Web": (24, 20),
    "GUI": (60, 10),
    "RolePlay": (1_000, 250),
}
"""Numbers of tasks by event, for `eval` and `verify`, and for `selftest`: about five seconds."""

LEAST_CLOCK = 1.85
LEAST_CPU = 1 / 1.08


class Spent(NamedTuple):
    """Seconds of one command, with all of its processes."""

    clock: float
    cpu: float


def spend(*words: str | Path) -> Spent:
    """Run hexathlon and return its wall-clock and CPU seconds."""
    start = time.perf_counter()
    cpu = run_child([sys.executable, "-m", "hexathlon", *words]).cpu_s
    return Spent(time.perf_counter() - start, cpu)


def play(event: str, workers: int, tasks: tuple[int, int]) -> dict[str, Spent]:
    """Return the seconds of each command."""
    played, checked = map(str, tasks)
    shared = ("--workers", str(workers))
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        chosen = ("--envs", event, "--tasks", played, "--out", run)
        return {
            "eval": spend("eval", "agent:oracle", *chosen, *shared),
            "verify": spend("verify", run, *shared),
            "selftest": spend("selftest", "--env", event, "--tasks", checked, *shared),
        }


def measure(event: str, rounds: int, tasks: tuple[int, int]) -> Iterator[Row]:
    """Yield wall-clock and CPU seconds of each command, with one process beside two."""
    runs: dict[int, list[dict[str, Spent]]] = {1: [], 2: []}
    for number in range(rounds):
        for workers in (1, 2) if number % 2 else (2, 1):
            runs[workers].append(play(event, workers, tasks))
    for command in COMMANDS:
        two, one = ([each[command] for each in runs[workers]] for workers in (2, 1))
        count = tasks[command == "selftest"]
        for unit, place, least in (("s", 0, LEAST_CLOCK), ("s CPU", 1, LEAST_CPU)):
            yield compare(
                f"two workers: {command}, {event}, {count:,} tasks",
                unit,
                [each[place] for each in two],
                [each[place] for each in one],
                beside="one process",
                least=least,
            )


def main() -> None:
    """Run the benchmark and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--tasks", type=int, help="number of tasks, for every event and command")
    parser.add_argument("--scale", type=int, default=1, help="factor of the numbers of tasks")
    add_options(parser, rounds=3)
    options = parser.parse_args()
    os.environ["HEXATHLON_CACHE_SIZE"] = "off"
    for event in options.only:
        played, checked = (options.tasks,) * 2 if options.tasks else TASKS[event]
        tasks = (options.scale * played, options.scale * checked)
        rows = list(measure(event, options.rounds, tasks))
        print_findings(
            Figure(
                f"{row.name}: {row.ours:.2f} and {row.peer:.2f} {row.unit}",
                row.ratio or 0,
                "x",
                row.least,
            )
            for row in rows
        )
        print(f"load {os.getloadavg()[0]:.1f}", flush=True)
        if options.json:
            print_rows(rows)


if __name__ == "__main__":
    main()
