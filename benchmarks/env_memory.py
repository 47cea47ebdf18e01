"""Opens many SQL environments and prints the memory per additional one, in kB, as a JSON line.

    python benchmarks/env_memory.py read|write COUNT

Each has taken one step of an episode on one of twenty tasks. The script runs in a separate process,
so that no freed memory is reused.
"""

import gc
import json
import sys
from itertools import islice
from pathlib import Path

import gymnasium

import hexathlon
from hexathlon.envs.base import Environment
from hexathlon.tasks.taskset import TaskSet

assert hexathlon.__version__  # registers the environments

TASKS = 20
LOOK = '{"name": "list_tables", "arguments": {}}'


def proportional_kb() -> int:
    """Return the proportional set size of this process."""
    text = Path("/proc/self/smaps_rollup").read_text(encoding="ascii")
    return int(text.partition("\nPss:")[2].split()[0])


def opened(task_id: str) -> Environment:
    """Return an environment in an episode, after one step."""
    env = gymnasium.make("hexathlon/SQL-v1").unwrapped
    assert isinstance(env, Environment)
    env.reset(seed=0, options={"task": task_id})
    env.step(LOOK)
    return env


def main() -> None:
    """Run the benchmark and print the figure."""
    mode, count = sys.argv[1], int(sys.argv[2])
    tasks = (task for task in TaskSet("sql", "test", "easy") if task.params["mode"] == mode)
    ids = [task.id for task in islice(tasks, TASKS)]
    warm = [opened(task_id) for task_id in ids]
    gc.collect()
    before = proportional_kb()
    envs = [opened(ids[index % len(ids)]) for index in range(count)]
    gc.collect()
    grown = proportional_kb() - before
    assert len(envs) == count and len(warm) == len(ids)
    print(json.dumps({"kb": grown / count}))


if __name__ == "__main__":
    main()
