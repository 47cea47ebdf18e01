"""Speed of training steps compared with TRL's GRPOTrainer, and of rollouts with the bare engine.

    python benchmarks/trainer_speed.py [--peer PYTHON] [--steps 8] [--rounds 2] [--threads 1]
        [--only steps] [--json]

PYTHON is the interpreter of an environment with TRL; `.venv-oracles/bin/python` is one. Both sides
alternate, each in a separate process, on the workload of `trainer_workload.py`; the first two steps
of each process are excluded. First, our advantages, loss and gradient on the peer's first batch are
compared with its own.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from comparing import Row, add_options, compare, print_rows
from measuring import Figure, print_findings, ratio_of_pairs

HERE = Path(__file__).resolve().parent
DROPPED = 2


def child(threads: int, *command: str | Path) -> dict[str, list[float]]:
    """Run a command and return the JSON object of its last line."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(
        list(map(str, command)), cwd=HERE, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{command} failed: {done.stderr[-2000:]}")
    result: dict[str, list[float]] = json.loads(done.stdout.strip().rpartition("\n")[2])
    return result


def middle(run: dict[str, list[float]], name: str) -> float:
    return statistics.median(run[name][DROPPED:])


def beside_peer(options: argparse.Namespace) -> tuple[list[Figure], list[Row]]:
    """Time whole steps of both trainers alternately."""
    threads, steps = options.threads, str(options.steps + DROPPED)
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            theirs.append(
                child(threads, options.peer, "peers/trl_grpo.py", str(threads), steps, folder)
            )
            # Against a peer with several threads, the same number of single-threaded processes is
            # used.
            one = ("1", steps, str(threads)) if threads > 1 else (str(threads), steps)
            run = child(1, sys.executable, "trainer_steps.py", "steps", *one)
            # Only the first process is measured; the others do the same work.
            ours.append({**run, "cpu_s": [value * threads for value in run["cpu_s"]]})
        apart = child(threads, sys.executable, "trainer_steps.py", "agree", folder)
    result = [
        Figure(f"first batch: {name} apart", float(value), "", most=bound)  # type: ignore[arg-type]
        for (name, value), bound in zip(apart.items(), (1e-5, 1e-5, 1e-4), strict=True)
    ]
    for name, words in (("cpu_s", "CPU seconds"), ("wall_s", "wall-clock seconds")):
        for who, runs in (("ours", ours), ("TRL", theirs)):
            value = statistics.median(middle(run, name) for run in runs)
            result.append(Figure(f"a step of {who}, {words}", value, "s"))
        pairs = [middle(run, name) for run in theirs], [middle(run, name) for run in ours]
        result.append(Figure(f"times less, {words}", ratio_of_pairs(*pairs), "x", least=2))
    for name, words in (("generate_s", "drawing"), ("work_s", "the rest")):
        value = statistics.median(middle(run, name) for run in ours)
        result.append(Figure(f"of hexathlon, {words} in wall-clock time", value, "s"))
    cores = "one thread" if threads == 1 else f"{threads} cores"
    pairs = ([middle(run, "wall_s") for run in runs] for runs in (ours, theirs))
    row = compare(f"training step: {cores}", "s", *pairs, beside="TRL", least=2)
    return result, [row]


def rollouts(options: argparse.Namespace) -> list[Figure]:
    """Time rollouts on SQL, and the engine alone on the same requests."""
    runs = [
        child(options.threads, sys.executable, "rollout_workload.py", str(options.threads))
        for _ in range(options.rounds)
    ]
    result = []
    for name, words in (("wall", "of wall-clock time"), ("cpu", "of CPU time")):
        for who in ("rollout", "engine"):
            value = statistics.median(statistics.median(run[f"{who}_{name}_s"]) for run in runs)
            result.append(Figure(f"{who} on SQL tiny, seconds {words}", value, "s"))
        ratios = [
            statistics.median(one / other for one, other in zip(*pair, strict=True))
            for run in runs
            for pair in [(run[f"rollout_{name}_s"], run[f"engine_{name}_s"])]
        ]
        result.append(
            Figure(f"rollout over engine alone, {words}", statistics.median(ratios), "x", most=1.1)
        )
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", type=Path)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--threads", type=int, default=1)
    add_options(parser, rounds=2)
    parser.add_argument("--only", choices=["steps", "rollouts"])
    options = parser.parse_args()
    rows: list[Row] = []
    if options.only != "rollouts":
        if options.peer:
            options.peer = options.peer.absolute()  # a symbolic link of an environment stays one
            findings, rows = beside_peer(options)
            print_findings(findings)
        else:
            print("TRL: not run; pass an interpreter that has it with --peer")
    if options.only != "steps":
        print_findings(rollouts(options))
    if options.json:
        print_rows(rows)


if __name__ == "__main__":
    main()
