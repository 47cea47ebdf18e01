"""Generated tasks on DuckDB and PostgreSQL end to end: the verdicts match SQLite's."""

from collections import Counter
from collections.abc import Iterator

import pytest

from hexathlon.envs.sql.env import SQLEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import Script
from hexathlon.tasks.sql.programs.text import GOLD, SqlDialect, sql_text
from hexathlon.tasks.sql.scripts import Exploring, handing_in, solving
from hexathlon.tasks.sql.source import _change, _handing_in_change, _question
from hexathlon.tasks.task import Level, Task

SOURCE = get_source("sql")
Pair = tuple[Script, Script]


def scripts(task: Task, dialect: SqlDialect) -> Iterator[tuple[str, Pair]]:
    """Scripts for the engine and for SQLite: the solution, the alternative, two near misses."""
    if task.params["mode"] == "write":
        change = _change(task)
        misses = list(change.mutants.values())[:2]
        for name, sql in (("gold", change.gold), ("other", change.alternative)):
            yield name, (_handing_in_change(change, sql), _handing_in_change(change, sql))
        for sql in misses:
            yield "near miss", (_handing_in_change(change, sql), _handing_in_change(change, sql))
        return
    made = _question(task)
    slot, own = made.draft.slot, sql_text(made.draft.program, GOLD, dialect)
    yield (
        "gold",
        (solving(own, Exploring(made.tables[:2], (), slot)), handing_in(made.kept.gold, slot)),
    )
    for sql in list(made.kept.mutants.values())[:2]:
        yield "near miss", (handing_in(sql, slot), handing_in(sql, slot))


def score(env: SQLEnv, task: Task, script: Script) -> float:
    env.reset(seed=1, options={"task": task.id})
    action = next(script)
    while True:
        observation, reward, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            return reward
        action = script.send(observation)


def compare(url: str, dialect: SqlDialect, levels: tuple[Level, ...], each: int) -> Counter[str]:
    """Play the first tasks of the levels on both engines; count the scores."""
    found: Counter[str] = Counter()
    engine, sqlite = SQLEnv(backend=url), SQLEnv()
    for level in levels:
        for index in range(each):
            task = SOURCE.build(SOURCE.address("test", index, level))
            if task.checks[0].name == "sql_impossible":
                continue
            found["tasks"] += 1
            for name, (there, here) in scripts(task, dialect):
                got = score(engine, task, there)
                assert got == score(sqlite, task, here), (task.id, name)
                found[f"{name} {got:.0f}"] += 1
    engine.close()
    sqlite.close()
    return found


def check(found: Counter[str], least: int) -> None:
    assert found["tasks"] >= least
    assert found["gold 1"] == found["tasks"] and found["other 1"] >= 1
    assert found["near miss 0"] >= found["tasks"]
    assert not {"gold 0", "other 0", "near miss 1"} & set(found)


def test_a_few_tasks_on_duckdb():
    pytest.importorskip("duckdb", reason="the extra [duckdb] is not installed")
    check(compare("duckdb:///:memory:", "duckdb", ("tiny",), 5), 4)


@pytest.mark.postgres
def test_a_few_tasks_on_postgresql(postgres_url):
    check(compare(postgres_url, "postgresql", ("tiny",), 5), 4)


@pytest.mark.slow
@pytest.mark.timeout(3_000)
@pytest.mark.parametrize(
    "dialect", ["duckdb", pytest.param("postgresql", marks=pytest.mark.postgres)]
)
def test_sixty_tasks_on_other_engines(dialect, request):
    if dialect == "duckdb":
        pytest.importorskip("duckdb", reason="the extra [duckdb] is not installed")
        url = "duckdb:///:memory:"
    else:
        url = request.getfixturevalue("postgres_url")
    check(compare(url, dialect, ("tiny", "easy"), 34), 60)
