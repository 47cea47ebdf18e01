"""Many SQL episodes in one process, with samples of its resources.

Run as `python -m support.soak EPISODES TASKS LEVELS`; prints JSON. Episodes are random
trajectories; some are forked, and the forks continued or dropped; some environments are abandoned
midway and never closed.
"""

import gc
import json
import sys
import threading
from collections.abc import Iterator, Sequence
from os import getpid, listdir
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from hexathlon.envs.sql.env import SQLEnv
from hexathlon.tasks.seeding import generator_for
from support.trajectories import task_of, wander

__all__ = ["main", "soak"]

_SAMPLED_EVERY = 20


def soak(episodes: int, tasks: int, levels: Sequence[str]) -> dict[str, Any]:
    """Play, and return samples of memory and of open resources at the start and at the end."""
    rng = generator_for("soak", episodes)
    counts = {"write": 0, "finished": 0, "forks": 0}
    samples: list[int] = []
    env = SQLEnv()
    before = _open()
    for number in range(episodes):
        task = task_of(int(rng.integers(tasks)), levels)
        trajectory = wander(env, task, number)
        counts["write"] += task.params["mode"] == "write"
        counts["finished"] += '"str:status": "ongoing"' not in trajectory.lines[-3]
        counts["forks"] += sum(1 for _ in _forked(env, rng))
        if rng.random() < 0.2:  # abandoned without being closed
            env = SQLEnv()
        if number % _SAMPLED_EVERY == 0:
            samples.append(_kilobytes())
    env.close()
    del env
    gc.collect()
    return {"samples": samples, "every": _SAMPLED_EVERY, "before": before, "after": _open(),
            "seconds": process_time(), "tasks": tasks, **counts}  # fmt: skip


def _forked(env: SQLEnv, rng: np.random.Generator) -> Iterator[SQLEnv]:
    """Yield forks of an episode, some of which read and change the database."""
    if rng.random() < 0.6:
        return
    for fork in env.fork(int(rng.integers(1, 4))):
        if fork.verdict().status == "scored" and rng.random() < 0.5:
            fork.reset(seed=1, options={"task": fork.task.id})
            fork.step('{"name": "run_query", "arguments": {"sql": "CREATE TABLE extra (a)"}}')
            fork.step('{"name": "list_tables", "arguments": {}}')
        if rng.random() < 0.5:
            fork.close()
        yield fork


def _open() -> dict[str, int]:
    """Return the number of file descriptors, threads and child processes of this process."""
    tasks = Path(f"/proc/{getpid()}/task")
    children = [(thread / "children").read_text().split() for thread in tasks.iterdir()]
    return {
        "files": len(listdir("/proc/self/fd")),
        "threads": threading.active_count(),
        "tasks": len(children),
        "processes": sum(map(len, children)),
    }


def _kilobytes() -> int:
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def main() -> None:
    """Run the soak test with the command line's arguments."""
    episodes, tasks, levels = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].split(",")
    sys.stdout.write(json.dumps(soak(episodes, tasks, levels)) + "\n")


if __name__ == "__main__":
    main()
