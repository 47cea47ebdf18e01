"""Point queries on one 1,000-row database: the workload of skyrl-gym's text2sql.

The peer plays it by `peers/skyrl_text2sql.py`: make, reset, five point SELECTs and one scored
solution per episode. Every episode has a question of its own, or all have the same.
"""

import itertools
import json
import sqlite3
import statistics
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import gymnasium
from comparing import Row, compare
from measuring import Figure, interval, run_child

from hexathlon.tasks.registry import register_source
from hexathlon.tasks.source import Script, TaskAddress, TaskSource, parse_address
from hexathlon.tasks.sql.tools import sql_tools
from hexathlon.tasks.task import Check, Level, Split, Task

__all__ = ["PointSource", "beside_skyrl", "point_selects", "step_over_raw"]

GOLD = "SELECT name FROM item WHERE id = %d AND price >= -%d"
POINTS = (3, 141, 592, 653, 897)
PEER = Path(__file__).parent / "peers" / "skyrl_text2sql.py"
QUERY = '{"name": "run_query", "arguments": {"sql": "SELECT name, price FROM item WHERE id = %d"}}'
ROWS = 1_000
TOOLS = sql_tools(impossible=False)


def gold_of(question: int) -> str:
    """Return the expected statement of a question; no two questions have the same."""
    return GOLD % (question % ROWS, question // ROWS)


class PointSource(TaskSource):
    """Questions on the database file at `path`, scored by the strict rule."""

    family, version = "sql", "1"

    def __init__(self, path: Path, name: str = "points") -> None:
        self.path = path
        self.name = name

    def size(self, split: Split, level: Level | None = None) -> None:
        return None

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        return str(TaskAddress(self.name, "point", level or "tiny", split, index))

    def build(self, task_id: str, salt: str | None = None) -> Task:
        address = parse_address(task_id)
        return Task(
            id=task_id,
            family="sql",
            generator=self.name,
            version="1",
            level=address.level,
            split=address.split,
            seed=0,
            instruction=f"What is the name of item {address.index % ROWS}?",
            params={"backend": "sqlite", "database": {"kind": "file", "path": str(self.path)}},
            tools=TOOLS,
            checks=(Check(name="sql_result", params={"gold": gold_of(address.index)}),),
        )

    def oracle(self, task: Task) -> Script:
        yield _submit(parse_address(task.id).index)


def _submit(question: int) -> str:
    return json.dumps({"name": "submit", "arguments": {"sql": gold_of(question)}})


class _Round(NamedTuple):
    """Steps per second of wall-clock and of CPU time."""

    wall: float
    cpu: float


_questions = itertools.count()


def point_selects(wanted: int, *, distinct: bool = True) -> int:
    """Play episodes until at least `wanted` steps were taken; return their number.

    Args:
        wanted: Number of steps.
        distinct: Whether every episode has a question that no episode had before.
    """
    steps = 0
    while steps < wanted:
        question = next(_questions) if distinct else 0
        env = gymnasium.make("hexathlon/SQL-v1", taskset="points", split="train")
        env.reset(seed=0, options={"index": question})
        for key in POINTS:
            observation, *_ = env.step(QUERY % key)
            assert f"item {key}" in observation
        _, reward, terminated, *_ = env.step(_submit(question))
        assert terminated and reward == 1.0
        env.close()
        steps += len(POINTS) + 1
    return steps


def beside_skyrl(peer: str, rounds: int = 15) -> tuple[list[Figure], Row]:
    """Alternate with skyrl-gym's text2sql, each in rounds of about half a second.

    Returns:
        All figures, and the row of the table: CPU time, every episode with its own question.
    """
    theirs, ours, same = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        file = _database(Path(folder))
        register_source("points", lambda: PointSource(file))
        point_selects(600)
        for _ in range(rounds):
            said = run_child([peer, PEER, folder, "600"]).said
            theirs.append(_Round(said["steps"] / said["wall_s"], said["steps"] / said["cpu_s"]))
            ours.append(_round(distinct=True))
            same.append(_round(distinct=False))
    result = []
    for name, runs in (("", ours), (", one question for all", same)):
        result += [
            Figure(f"point SELECTs{name}, steps/s in wall-clock time", _median(runs, "wall")),
            Figure("the same, in CPU time", _median(runs, "cpu")),
            *_ratios(f"times skyrl-gym{name}", runs, theirs),
        ]
    result += [
        Figure("skyrl-gym, steps/s in wall-clock time", _median(theirs, "wall")),
        Figure("the same, in CPU time", _median(theirs, "cpu")),
    ]
    row = compare(
        "SQL: make, reset, five point SELECTs, one scored solution",
        "steps/s of CPU",
        [each.cpu for each in ours],
        [each.cpu for each in theirs],
        beside="skyrl-gym",
        least=20,
        rate=True,
    )
    return result, row


def _round(*, distinct: bool) -> _Round:
    cpu, wall = time.process_time(), time.perf_counter()
    steps = point_selects(6_000, distinct=distinct)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return _Round(steps / wall, steps / cpu)


def step_over_raw(rounds: int = 2_000) -> list[Figure]:
    """Time a point SELECT through the environment and on raw sqlite3, alternately."""
    with tempfile.TemporaryDirectory() as folder:
        file = _database(Path(folder))
        register_source("point", lambda: PointSource(file, "point"))
        env = gymnasium.make(
            "hexathlon/SQL-v1", taskset="point", split="train", limits={"turns": 2 * rounds}
        )
        env.reset(seed=0, options={"index": 0})
        stepped, alone = [], []
        with closing(sqlite3.connect(file)) as raw:
            for key in range(rounds):
                sql = f"SELECT name, price FROM item WHERE id = {key % 50}"
                start = time.process_time()
                env.step(QUERY % (key % 50))
                middle = time.process_time()
                raw.execute(sql).fetchmany(1_000)
                stepped.append(middle - start)
                alone.append(time.process_time() - middle)
        env.close()
    over = statistics.median(a - b for a, b in zip(stepped, alone, strict=True))
    return [Figure("point SELECT over raw sqlite3, median", over * 1e3, "ms", most=0.1)]


def _median(rounds: list[_Round], name: str) -> float:
    return statistics.median(getattr(one, name) for one in rounds)


def _ratios(name: str, ours: list[_Round], theirs: list[_Round]) -> list[Figure]:
    """Return the ratios to a peer, each with the interval of the median."""
    figures = []
    for clock, words in (("wall", "wall-clock"), ("cpu", "CPU")):
        pairs = [
            getattr(our, clock) / getattr(t, clock) for our, t in zip(ours, theirs, strict=True)
        ]
        low, high = interval(pairs)
        figures += [
            Figure(f"{name} in {words} time", statistics.median(pairs), "x", least=20),
            Figure(f"{name} in {words} time, interval from", low, "x"),
            Figure(f"{name} in {words} time, interval to", high, "x"),
        ]
    return figures


def _database(folder: Path) -> Path:
    """Write the database to the peer's location."""
    path = folder / "spider" / "database" / "bench"
    path.mkdir(parents=True)
    with sqlite3.connect(path / "bench.sqlite") as db:
        db.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL)")
        rows = [(i, f"item {i}", i * 1.5) for i in range(ROWS)]
        db.executemany("INSERT INTO item VALUES (?, ?, ?)", rows)
    db.close()
    return path / "bench.sqlite"
