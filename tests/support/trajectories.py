"""Random trajectories on SQL tasks: parts of the oracle's path, unrelated calls, statements, prose.

Everything here is a function of numbers, so that another process, with another hash seed or another
Python, can reproduce it: `python -c "from support.trajectories import digest; …"`.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from hexathlon.envs.sql.env import SQLEnv
from hexathlon.envs.testing.fuzzing import fuzzed_actions
from hexathlon.envs.testing.tracing import canonical
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.sql.schema import Table
from hexathlon.tasks.sql.world.world import world_for
from hexathlon.tasks.task import Task
from support.sql_toy import call

__all__ = ["Trajectory", "digest", "replay", "task_of", "trajectories", "wander"]

PROSE = (
    "Let me think about this.", "", "SELECT 1", "I am done.", '{"name": "run_query", "arguments": ',
    '{"name": "run_query", "arguments": {"sql": "SELECT 1",}}', "{'name': 'list_tables'}",
    '[{"name": "list_tables", "arguments": {}}, {"name": "list_documents", "arguments": {}}]',
    "¿Qué? 数 \u2028", '{"name": "submit"} and that is it',
)  # fmt: skip
LEVELS = ("tiny", "tiny", "tiny", "easy", "easy", "easy", "medium", "medium", "hard")


class Trajectory(NamedTuple):
    """Actions, and everything observed after them, as canonical lines."""

    task: Task
    seed: int
    actions: list[str]
    lines: list[str]


def trajectories(count: int, levels: Sequence[str] = LEVELS) -> Iterator[Trajectory]:
    """Play `count` random trajectories."""
    env = SQLEnv()
    for number in range(count):
        yield wander(env, task_of(number, levels), number)
    env.close()


def digest(count: int, levels: Sequence[str] = LEVELS) -> str:
    """Return one digest over all observations in `count` trajectories."""
    seen = hashlib.sha256()
    for trajectory in trajectories(count, levels):
        seen.update("\n".join(trajectory.lines).encode())
    return seen.hexdigest()


def task_of(number: int, levels: Sequence[str] = LEVELS) -> Task:
    """Return the task of a trajectory: cycles over the levels and, inside, over the templates."""
    source = get_source("sql")
    level: Any = levels[number % len(levels)]
    place = int(generator_for("trajectory-task", number).integers(source.size("test", level) or 1))
    return source.build(source.address("test", place, level))


def wander(env: SQLEnv, task: Task, seed: int) -> Trajectory:
    """Play one episode, as often off the oracle's path as on it, and possibly not to its end."""
    rng = generator_for("trajectory", task.id, seed)
    oracle, stray = get_source("sql").oracle(task), _stray(task, rng)
    lines = [canonical(env.reset(seed=seed, options={"task": task.id}))]
    actions: list[str] = []
    following: str | None = next(oracle)
    for _ in range(int(rng.integers(2, 18))):
        on_the_way = following is not None and rng.random() < 0.55
        action = following if following is not None and on_the_way else next(stray)
        step = env.step(action)
        actions.append(action)
        lines.append(canonical(step))
        if step[2] or step[3]:
            break
        if on_the_way:
            following = _sent(oracle, step[0])
    lines += _end(env)
    return Trajectory(task, seed, actions, lines)


def replay(env: SQLEnv, trajectory: Trajectory, start: int = 0, stop: int | None = None) -> None:
    """Play the actions from `start` to `stop` and require their recorded lines."""
    expected = trajectory.lines[1:]
    for place in range(start, len(trajectory.actions) if stop is None else stop):
        line = canonical(env.step(trajectory.actions[place]))
        assert line == expected[place], (trajectory.task.id, trajectory.seed, place)
    if stop is None:
        assert _end(env) == trajectory.lines[-2:], (trajectory.task.id, trajectory.seed)


def _end(env: SQLEnv) -> list[str]:
    verdict = env.verdict()
    return [canonical(env.final_state()), canonical(verdict.model_dump())]


def _sent(script: Any, observation: str) -> str | None:
    try:
        return str(script.send(observation))
    except StopIteration:
        return None


def _stray(task: Task, rng: np.random.Generator) -> Iterator[str]:
    """Yield an endless sequence of actions off the path."""
    tables = world_for(task.params["world"]).schema.tables
    fuzz = fuzzed_actions(task, 100, int(rng.integers(1 << 30)))
    names = [tool.name for tool in task.tools]
    while True:
        kind = rng.random()
        if kind < 0.25:
            yield next(fuzz)
        elif kind < 0.35:
            yield PROSE[int(rng.integers(len(PROSE)))]
        elif kind < 0.4 and "ask_user" in names:
            yield call("ask_user", question=f"What do you mean by {task.instruction[10:40]}?")
        elif kind < 0.45:
            sql = _statement(tables, rng)
            yield json.dumps([{"name": "run_query", "arguments": {"sql": sql}}] * 2)
        elif kind < 0.48:
            yield call("submit", **({"sql": _statement(tables, rng)} if _reading(task) else {}))
        else:
            yield call("run_query", sql=_statement(tables, rng))


def _reading(task: Task) -> bool:
    return task.params["mode"] == "read"


def _statement(tables: Sequence[Table], rng: np.random.Generator) -> str:
    """Return a statement that reads, writes, or fails."""
    table = tables[int(rng.integers(len(tables)))]
    other = tables[int(rng.integers(len(tables)))]
    column = table.columns[int(rng.integers(len(table.columns)))].name
    options = (
        f"SELECT * FROM {table.name}",
        f"SELECT {column}, COUNT(*) FROM {table.name} GROUP BY {column} ORDER BY 2 DESC",
        f"SELECT DISTINCT {column} FROM {table.name} LIMIT {int(rng.integers(1, 80))}",
        f"SELECT AVG({column}), MIN({column}), TOTAL({column}) FROM {table.name}",
        f"SELECT a.*, b.* FROM {table.name} a JOIN {other.name} b LIMIT 7",
        f"SELECT {column}x FROM {table.name}", f"SELEC * FROM {table.name}", "SELECT 1; SELECT 2",
        f"UPDATE {table.name} SET {column} = NULL", f"DELETE FROM {table.name} WHERE rowid % 3 = 0",
        f"INSERT INTO {table.name} SELECT * FROM {other.name}", "BEGIN", "ROLLBACK", "COMMIT",
        f"CREATE TABLE extra AS SELECT * FROM {table.name}", f"DROP TABLE {table.name}",
        f"ALTER TABLE {table.name} ADD COLUMN extra", "PRAGMA table_list", "EXPLAIN SELECT 1",
        "SELECT random(), CURRENT_TIMESTAMP", "SELECT date('now'), 1e300 * 1e10, 1.0 / 3, 2.5e-7",
        "SELECT json_group_array(name) FROM sqlite_master", f"SELECT {column} FROM {table.name} -",
        f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 900) "
        f"SELECT * FROM n, {table.name}",
    )  # fmt: skip
    return options[int(rng.integers(len(options)))]
