"""How fast the SQL environment is: steps, resets, forks, memory, import time.

    python benchmarks/env_speed.py [--tasks 96] [--peer PYTHON]

Every statement of the oracle's trajectories is also executed on a raw `sqlite3` connection to the
same database, alternating with the environment's step; what is printed is the difference. With
`--peer`, the interpreter of an environment that holds skyrl-gym, its text2sql is run on the same
workload in turn. Times are wall clock on one thread; medians, because cores are shared.
"""

import argparse
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import gymnasium
from point_workload import PointSource

import hexathlon
from hexathlon.tasks.registry import register_source
from hexathlon.tasks.source import play
from hexathlon.tasks.sql.database import database_bytes
from hexathlon.tasks.taskset import TaskSet

assert hexathlon.__version__

PEER = Path(__file__).parent / "peers" / "skyrl_text2sql.py"
POINTS = (3, 141, 592, 653, 897)


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def timed(function: Callable[[], object], repeats: int) -> list[float]:
    """Seconds of each of `repeats` calls."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return times


def import_seconds() -> tuple[float, float]:
    """CPU seconds of `import gymnasium`, and of importing hexathlon after it."""
    code = (
        "import time, gymnasium; a = time.process_time(); import hexathlon;"
        "print(a, time.process_time() - a)"
    )
    pairs = [
        tuple(map(float, subprocess.check_output([sys.executable, "-c", code]).split()))
        for _ in range(7)
    ]
    return statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs)


def oracle_steps(count: int) -> dict[str, float]:
    """Play the oracle; time each step, and raw sqlite3 on each statement right after it."""
    tasks = TaskSet("sql", "test")
    env = gymnasium.make("hexathlon/SQL-v0")
    over, query, submit, other, rewards = [], [], [], [], []
    for index in range(count):
        task = tasks[index]
        if task.params.get("mode") == "write":
            continue
        raw = sqlite3.connect(":memory:")
        raw.deserialize(database_bytes(task.params))
        env.reset(seed=0, options={"task": task.id})

        def respond(action: str, raw: sqlite3.Connection = raw) -> str | None:
            call = json.loads(action)
            start = time.perf_counter()
            observation, reward, terminated, truncated, _ = env.step(action)
            seconds = time.perf_counter() - start
            if call["name"] == "run_query":
                sql = call["arguments"]["sql"]
                alone = timed(lambda: raw.execute(sql).fetchmany(1_000), 1)[0]
                query.append(seconds)
                over.append(seconds - alone)
            elif call["name"].startswith("submit"):
                submit.append(seconds)
                rewards.append(reward)
            else:
                other.append(seconds)
            return None if terminated or truncated else observation

        play(tasks.source.oracle(task), respond)
        raw.close()
    every = query + submit + other
    return {
        "tasks": len(rewards),
        "oracle score": statistics.mean(rewards),
        "run_query over raw sqlite3, median ms": statistics.median(over) * 1e3,
        "run_query, median ms": statistics.median(query) * 1e3,
        "looking steps, median ms": statistics.median(other) * 1e3,
        "submit (scored on hidden databases), median ms": statistics.median(submit) * 1e3,
        "steps/s, all": len(every) / sum(every),
        "steps/s, without submit": len(query + other) / sum(query + other),
    }


def resets(count: int) -> dict[str, float]:
    """Reset onto tasks already built, in turn."""
    ids = list(TaskSet("sql", "test").ids(count))
    env = gymnasium.make("hexathlon/SQL-v0")
    first = [timed(lambda i=i: env.reset(seed=0, options={"task": i}), 1)[0] for i in ids]
    again = [timed(lambda i=i: env.reset(seed=0, options={"task": i}), 1)[0] for i in ids * 3]
    return {
        "reset p50 ms": quantile(again, 0.5) * 1e3,
        "reset p95 ms": quantile(again, 0.95) * 1e3,
        "reset with building the task p50 ms": quantile(first, 0.5) * 1e3,
        "reset with building the task p95 ms": quantile(first, 0.95) * 1e3,
    }


def forks(count: int) -> dict[str, float]:
    """Fork at 10⁴ rows, reading and writing tasks, each fork taking one step afterwards."""
    found = {}
    for mode in ("read", "write"):
        medium = (TaskSet("sql", "test", "medium")[i] for i in range(count))
        task = next((t for t in medium if t.params.get("mode", "read") == mode), None)
        if task is None:
            continue
        env = gymnasium.make("hexathlon/SQL-v0")
        env.reset(seed=0, options={"task": task.id})
        env.step('{"name": "list_tables", "arguments": {}}')
        times = timed(lambda env=env: env.fork(1)[0].close(), 300)
        found[f"fork p50 ms ({mode}, {rows_of(task):,} rows)"] = quantile(times, 0.5) * 1e3
    return found


def rows_of(task) -> int:
    raw = sqlite3.connect(":memory:")
    raw.deserialize(database_bytes(task.params))
    names = [r[0] for r in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return sum(raw.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names)


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def memory(count: int = 1_000) -> dict[str, float]:
    """Memory of one more environment, each in an episode on one of twenty tasks."""
    ids = list(TaskSet("sql", "test", "easy").ids(20))
    warm = gymnasium.make("hexathlon/SQL-v0")
    for task_id in ids:
        warm.reset(seed=0, options={"task": task_id})
        warm.step('{"name": "list_tables", "arguments": {}}')
    before = resident_mb()
    envs = []
    for index in range(count):
        env = gymnasium.make("hexathlon/SQL-v0")
        env.reset(seed=0, options={"task": ids[index % len(ids)]})
        env.step('{"name": "list_tables", "arguments": {}}')
        envs.append(env)
    grown = resident_mb() - before
    for env in envs:
        env.close()
    return {"memory of one more environment, kB": grown * 1024 / count}


def point_selects(wanted: int) -> int:
    """The peer's workload here: make, reset, five point SELECTs, one scored solution."""
    steps = 0
    while steps < wanted:
        env = gymnasium.make("hexathlon/SQL-v0", taskset="points", split="test")
        env.reset(seed=0, options={"index": 0})
        for key in POINTS:
            sql = f"SELECT name, price FROM item WHERE id = {key}"
            observation, *_ = env.step('{"name": "run_query", "arguments": {"sql": "' + sql + '"}}')
            assert f"item {key}" in observation
        _, reward, terminated, *_ = env.step(
            '{"name": "submit", "arguments": {"sql": "SELECT name FROM item WHERE id = 77"}}'
        )
        assert terminated and reward == 1.0
        env.close()
        steps += len(POINTS) + 1
    return steps


def beside_peer(peer: str, rounds: int = 7) -> dict[str, float]:
    """Alternate with skyrl-gym's text2sql; CPU and wall ratios of steps per second."""
    wall, cpu, ours = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spider" / "database" / "bench"
        path.mkdir(parents=True)
        db = sqlite3.connect(path / "bench.sqlite")
        db.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL)")
        rows = [(i, f"item {i}", i * 1.5) for i in range(1_000)]
        db.executemany("INSERT INTO item VALUES (?, ?, ?)", rows)
        db.commit()
        db.close()
        register_source("points", lambda: PointSource(path / "bench.sqlite"))
        for _ in range(rounds):
            out = json.loads(subprocess.check_output([peer, PEER, folder, "300"]))
            c, w = time.process_time(), time.perf_counter()
            steps = point_selects(3_000)
            c, w = time.process_time() - c, time.perf_counter() - w
            ours.append(steps / w)
            wall.append((steps / w) / (out["steps"] / out["wall_s"]))
            cpu.append((steps / c) / (out["steps"] / out["cpu_s"]))
    return {
        "skyrl-gym workload, our steps/s": statistics.median(ours),
        "times skyrl-gym's steps/s, wall": statistics.median(wall),
        "times skyrl-gym's steps/s, CPU": statistics.median(cpu),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tasks", type=int, default=96)
    parser.add_argument("--peer", help="an interpreter that has skyrl-gym")
    arguments = parser.parse_args()
    base, own = import_seconds()
    found = {"import gymnasium, CPU s": base, "import hexathlon over it, CPU s": own}
    found |= oracle_steps(arguments.tasks) | resets(arguments.tasks) | forks(arguments.tasks)
    found |= memory()
    if arguments.peer:
        found |= beside_peer(arguments.peer)
    width = max(map(len, found))
    for name, value in found.items():
        print(f"{name:<{width}}  {value:,.4g}")


if __name__ == "__main__":
    main()
