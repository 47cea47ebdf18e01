"""Speed of the SQL environment: steps, resets, forks, memory, import time.

    python benchmarks/env_speed.py [--tasks 96] [--peer PYTHON] [--only peer] [--rounds 15] [--json]

Every statement of the oracle's trajectories is also executed on a raw `sqlite3` connection to the
same database, just before or just after the environment's step; the difference is printed. With
`--peer`, the interpreter of an environment with skyrl-gym, its text2sql alternates with hexathlon's
on the same workload. One thread; seconds are CPU time, since cores are shared. Only the comparison
with skyrl-gym, which waits for threads, is also given in wall-clock time.
"""

import argparse
import json
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import gymnasium
from comparing import add_options, print_rows
from measuring import Figure, print_findings, quantile, run_child
from point_workload import beside_skyrl, step_over_raw

import hexathlon
from hexathlon.envs.base import Environment
from hexathlon.tasks.source import play
from hexathlon.tasks.sql.world.database import database_bytes
from hexathlon.tasks.task import Level, Task
from hexathlon.tasks.taskset import TaskSet

assert hexathlon.__version__  # registers the environments

IMPORTS = """
import json, time, gymnasium
a = time.process_time()
import hexathlon
b = time.process_time()
gymnasium.make("hexathlon/SQL-v1")
print(json.dumps({"gymnasium": a, "own": b - a, "made": time.process_time() - a}))
"""
LOOK = '{"name": "list_tables", "arguments": {}}'
MEMORY = Path(__file__).parent / "env_memory.py"
ROWS = 10_000
"""Number of rows at which forks are timed."""


def timed(function: Callable[[], object]) -> float:
    """Return the CPU seconds of a call."""
    start = time.process_time()
    function()
    return time.process_time() - start


def made() -> Environment:
    """Return a SQL environment."""
    env = gymnasium.make("hexathlon/SQL-v1").unwrapped
    assert isinstance(env, Environment)
    return env


def imports(rounds: int = 9) -> list[Figure]:
    """Return the CPU seconds of importing, measured in separate processes."""
    said = [run_child([sys.executable, "-c", IMPORTS]).said for _ in range(rounds)]

    def median(name: str) -> float:
        return statistics.median(one[name] for one in said)

    return [
        Figure("import gymnasium, CPU", median("gymnasium"), "s"),
        Figure("import hexathlon over it, CPU", median("own"), "s", most=0.3),
        Figure("the same and making a SQL environment, CPU", median("made"), "s", most=0.3),
    ]


class Steps:
    """Return CPU seconds of steps in the oracle's trajectories, by kind."""

    def __init__(self) -> None:
        self.over: list[float] = []
        self.query: list[float] = []
        self.submit: list[float] = []
        self.other: list[float] = []
        self.rewards: list[float] = []

    def play(self, env: Environment, tasks: TaskSet, task: Task) -> None:
        """Play one task; time each step, and each statement on raw sqlite3."""
        with closing(sqlite3.connect(":memory:")) as raw:
            raw.deserialize(database_bytes(task.params))
            env.reset(seed=0, options={"task": task.id})
            play(tasks.source.oracle(task), lambda action: self._take(env, raw, action))

    def _take(self, env: Environment, raw: sqlite3.Connection, action: str) -> str | None:
        call = json.loads(action)
        is_query = call["name"] == "run_query"
        sql = call["arguments"]["sql"] if is_query else ""
        raw_first = is_query and len(self.query) % 2 == 0
        alone = timed(lambda: raw.execute(sql).fetchmany(1_000)) if raw_first else 0.0
        start = time.process_time()
        observation, reward, terminated, truncated, _ = env.step(action)
        seconds = time.process_time() - start
        if is_query:
            if not raw_first:
                alone = timed(lambda: raw.execute(sql).fetchmany(1_000))
            self.query.append(seconds)
            self.over.append(seconds - alone)
        elif call["name"].startswith("submit"):
            self.submit.append(seconds)
            self.rewards.append(reward)
        else:
            self.other.append(seconds)
        return None if terminated or truncated else str(observation)

    def findings(self) -> list[Figure]:
        """Return the cost of a step."""
        every = self.query + self.submit + self.other
        looking = self.query + self.other
        over = statistics.median(self.over) * 1e3
        return [
            Figure("oracle's trajectories", len(self.rewards)),
            Figure("oracle's score", statistics.mean(self.rewards), least=1.0),
            Figure("run_query over raw sqlite3, median", over, "ms", most=0.1),
            Figure("run_query over raw sqlite3, p95", quantile(self.over, 0.95) * 1e3, "ms"),
            Figure("run_query, median", statistics.median(self.query) * 1e3, "ms"),
            Figure("looking at tables, rows, documents; median", _ms(self.other), "ms"),
            Figure("submit, judged on hidden databases; median", _ms(self.submit), "ms"),
            Figure("steps/s without submit", len(looking) / sum(looking)),
            Figure("steps/s", len(every) / sum(every)),
        ]


def _ms(seconds: list[float]) -> float:
    return statistics.median(seconds) * 1e3


def oracle_steps(count: int) -> list[Figure]:
    """Play the reading tasks among the first tasks."""
    tasks, env, steps = TaskSet("sql", "test"), made(), Steps()
    for index in range(count):
        if tasks[index].params["mode"] == "read":
            steps.play(env, tasks, tasks[index])
    return steps.findings()


def resets(skipped: int, count: int) -> list[Figure]:
    """Time resets to new tasks, then twice more to the same tasks."""
    tasks = TaskSet("sql", "test")
    ids = [tasks.task_id(index) for index in range(skipped, skipped + count)]
    env = made()

    def onto(task_id: str) -> float:
        return timed(lambda: env.reset(seed=0, options={"task": task_id}))

    first = [onto(task_id) for task_id in ids]
    again = [onto(task_id) for task_id in ids * 2]
    return [
        Figure("reset onto a known task, p50", quantile(again, 0.5) * 1e3, "ms"),
        Figure("reset onto a known task, p95", quantile(again, 0.95) * 1e3, "ms"),
        Figure("reset that builds the task, p50", quantile(first, 0.5) * 1e3, "ms"),
        Figure("reset that builds the task, p95", quantile(first, 0.95) * 1e3, "ms"),
    ]


def forks(rounds: int = 300) -> list[Figure]:
    """Time forks at about 10⁴ rows: reading tasks, writing tasks, and those after a change."""
    return [
        *_forks("medium", "read", rounds),
        *_forks("hard", "write", rounds),
    ]


def _forks(level: Level, mode: str, rounds: int) -> Iterator[Figure]:
    tasks = TaskSet("sql", "test", level)
    chosen = [task for task in map(tasks.__getitem__, range(60)) if task.params["mode"] == mode]
    task = min(chosen, key=lambda one: abs(rows_of(one) - ROWS))
    env = made()
    env.reset(seed=0, options={"task": task.id})
    env.step(LOOK)
    label = f"{mode}, {rows_of(task):,} rows"
    yield from _timed_forks(env, label, rounds)
    if mode == "write":
        for action in tasks.source.oracle(task):
            if "run_query" in action:
                env.step(action)
                break
        yield from _timed_forks(env, f"{label}, after a statement", rounds)


def _timed_forks(env: Environment, label: str, rounds: int) -> Iterator[Figure]:
    """Time forks in succession, then forks each followed by a step, which leaves caches cold."""
    row, between, stepping = [], [], []
    for _ in range(rounds):
        row.append(timed(lambda: env.fork(1)[0].close()))
    for _ in range(rounds // 5):
        start = time.process_time()
        (clone,) = env.fork(1)
        between.append(time.process_time() - start)
        stepping.append(timed(lambda clone=clone: clone.step(LOOK)))  # type: ignore[misc]
        clone.close()
        del clone  # otherwise the next fork includes its release
    yield Figure(f"fork, p50 ({label})", quantile(row, 0.5) * 1e3, "ms", most=0.2)
    yield Figure("the same between other work, p50", quantile(between, 0.5) * 1e3, "ms")
    yield Figure("the fork's first step, p50", quantile(stepping, 0.5) * 1e3, "ms")


def rows_of(task: Task) -> int:
    """Return the number of rows of a task's visible database."""
    with closing(sqlite3.connect(":memory:")) as raw:
        raw.deserialize(database_bytes(task.params))
        names = [r[0] for r in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return sum(raw.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names)


def memory(count: int = 500) -> list[Figure]:
    """Return the memory per additional environment."""
    return [
        Figure(
            f"memory of one more environment ({mode})",
            run_child([sys.executable, MEMORY, mode, str(count)]).said["kb"],
            "kB",
        )
        for mode in ("read", "write")
    ]


def main() -> None:
    """Run the benchmark and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tasks", type=int, default=96)
    parser.add_argument("--peer", help="an interpreter that has skyrl-gym")
    parser.add_argument("--only", choices=["peer"], help="only the comparison with skyrl-gym")
    add_options(parser, rounds=15)
    arguments = parser.parse_args()
    result = []
    if arguments.only is None:
        result = [
            *imports(),
            *oracle_steps(arguments.tasks),
            *step_over_raw(),
            *resets(arguments.tasks, arguments.tasks),
            *forks(),
            *memory(),
        ]
    rows = []
    if arguments.peer:
        compared, row = beside_skyrl(arguments.peer, arguments.rounds)
        result += compared
        rows.append(row)
    if result:
        print_findings(result)
    if not arguments.peer:
        print("skyrl-gym: not run; pass --peer")
    if arguments.json:
        print_rows(rows)


if __name__ == "__main__":
    main()
