"""Asynchronous training compared with the synchronous loop, on environments that really sleep.

    python benchmarks/async_speed.py [--updates 14] [--seeds 3] [--scale 4]
    python benchmarks/async_speed.py --updates 0 --seeds 6 --first-seed 3    only success

Both sides make the same number of updates with the same number of slots, each in a process of its
own; see `async_workload.py`. The bound is the largest of the environments' work per slot, the
engine's work and the learner's. Wall-clock time is measured, so nothing else should run.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from measuring import Figure, print_findings

from hexathlon.evaluators.statistics.distributions import t_quantile

HERE = Path(__file__).resolve().parent
SLOTS = 32
ASYNCHRONY = {"staleness": 3, "window": 4.0, "late": "token_mask"}


def trained(**settings: Any) -> dict[str, Any]:
    """Train in a separate process."""
    done = subprocess.run(
        [sys.executable, HERE / "async_workload.py", json.dumps(settings)],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    if done.returncode:
        raise RuntimeError(f"{settings} failed: {done.stderr[-2000:]}")
    result: dict[str, Any] = json.loads(done.stdout.strip().rpartition("\n")[2])
    return result


def speed(updates: int, scale: float) -> list[Figure]:
    """Time both loops; the simulation of both is calibrated on the synchronous one's first half."""
    slow = trained(seed=0, steps=updates, scale=scale)
    costs = {"engine": slow["engine"], "learner": slow["learner"]}
    fast = trained(seed=0, steps=updates, scale=scale, **costs, **ASYNCHRONY)
    bound = max(fast["slept"] / SLOTS, sum(fast["learn"]))
    return [
        Figure("synchronous", slow["seconds"], "s"),
        Figure("asynchronous", fast["seconds"], "s"),
        Figure("synchronous / asynchronous", slow["seconds"] / fast["seconds"], "", least=2.5),
        Figure("bound / asynchronous", bound / fast["seconds"], "", least=0.9),
        Figure("simulated / synchronous", slow["predicted"] / slow["seconds"]),
        Figure("simulated / asynchronous", fast["predicted"] / fast["seconds"]),
        Figure("error of the simulation", _error(slow, fast), "", most=0.1),
        Figure("mean staleness", float(np.mean(fast["staleness"])), "updates"),
    ]


def _error(*runs: dict[str, Any]) -> float:
    return max(abs(run["predicted"] / run["seconds"] - 1.0) for run in runs)


def success(seeds: range, updates: int, scale: float) -> list[Figure]:
    """Compare the success of both after equal updates; sleeps do not change the synchronous one."""
    differences = []
    for seed in seeds:
        common = {"seed": seed, "steps": updates, "measure": True}
        slow = trained(**common, scale=0.0)
        fast = trained(**common, scale=scale, **ASYNCHRONY)
        print(
            f"seed {seed}: {slow['before']:.2f} to {slow['after']:.2f} and {fast['after']:.2f}, "
            f"mean staleness {np.mean(fast['staleness']):.2f}, {fast['seconds']:.0f} s",
            flush=True,
        )
        differences.append(fast["after"] - slow["after"])
    mean, count = float(np.mean(differences)), len(differences)
    result = [Figure("success, asynchronous - synchronous, mean", mean)]
    if count > 1:
        half = t_quantile(0.975, count - 1) * np.std(differences, ddof=1) / count**0.5
        result += [
            Figure("95 % interval, low", float(mean - half)),
            Figure("95 % interval, high", float(mean + half)),
        ]
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=14)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=4.0)
    parser.add_argument("--first-seed", type=int, default=0)
    options = parser.parse_args()
    if options.updates:
        print_findings(speed(options.updates, options.scale))
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    if seeds:
        print_findings(success(seeds, 40, options.scale / 2))


if __name__ == "__main__":
    main()
