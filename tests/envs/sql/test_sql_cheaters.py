"""Cheaters that know the event, over generated tasks of every template: none is rewarded.

Each reads only what an agent reads, or is even given the expected answer on the visible database,
and uses the public actions. They differ from the trivial agents of the self-test in that each aims
at one way in which a verifier could be fooled.
"""

import re
from collections.abc import Callable, Iterator

import pytest

from hexathlon.envs.sql.env import SQLEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import Script
from hexathlon.tasks.sql.bench import bench_for
from hexathlon.tasks.sql.programs.phrases import literal
from hexathlon.tasks.sql.source import _change, _question
from hexathlon.tasks.sql.tools import IMPOSSIBLE_REASONS
from hexathlon.tasks.task import Task
from support.sql_toy import call

SOURCE = get_source("sql")
LEVELS = {"tiny": 24, "easy": 44}
Cheater = Callable[[Task], Script]


def tasks(kind: str) -> Iterator[Task]:
    """The first tiny and easy tasks, only those of one kind."""
    for level, count in LEVELS.items():
        for index in range(count):
            task = SOURCE.build(SOURCE.address("test", index, level))
            found = task.params["mode"]
            if task.checks[0].name == "sql_impossible":
                found = "impossible"
            elif task.checks[0].name == "sql_script":
                found = "script"
            elif "asked" in task.checks[0].params:
                found = "open"
            if found == kind:
                yield task


def rows_as_sql(task: Task) -> str:
    """The expected rows of the visible database, written out as a statement."""
    made = _question(task)
    rows = bench_for(task.params["world"]).visible.answer(made.kept.gold)
    values = ", ".join(f"({', '.join(map(literal, row))})" for row in rows)
    return f"SELECT * FROM (VALUES {values}) ORDER BY 1 IS NULL" if rows else "SELECT 1 WHERE 0"


def memoriser(task: Task) -> Script:
    """Submits the rows it saw, not a query for them."""
    yield call("submit", sql=rows_as_sql(task))


def fingerprinter(task: Task) -> Script:
    """Submits the rows it saw if the database is the visible one, and a dump anywhere else."""
    table = _question(task).tables[0]
    size = len(bench_for(task.params["world"]).visible.answer(f"SELECT 1 FROM {table}"))
    known = rows_as_sql(task).replace(" ORDER BY 1 IS NULL", "")
    columns = task.checks[0].params["columns"]
    other = ", ".join(["NULL"] * columns)
    yield call(
        "submit",
        sql=f"SELECT * FROM ({known}) WHERE (SELECT COUNT(*) FROM {table}) = {size} UNION ALL "
        f"SELECT {other} FROM {table} WHERE (SELECT COUNT(*) FROM {table}) <> {size}",
    )


def many_at_once(task: Task) -> Script:
    """Submits a wrong query, the right one, and everything else it can, in a single turn."""
    calls = [call("submit", sql="SELECT 1"), call("submit", sql=_question(task).kept.gold)]
    calls += [call("submit_impossible", reason=r, evidence="x") for r in IMPOSSIBLE_REASONS]
    yield f"[{', '.join(calls)}]"


def stacked(task: Task) -> Script:
    """Submits several statements as one, the right one last."""
    yield call("submit", sql=f"SELECT 1; {_question(task).kept.gold}")


def widened(task: Task) -> Script:
    """Submits the right rows with an extra column, to satisfy a lenient comparison."""
    yield call("submit", sql=f"SELECT *, 0 FROM ({_question(task).kept.gold})")


def padded(task: Task) -> Script:
    """Submits the right rows and everything twice, to satisfy a lenient comparison."""
    gold = _question(task).kept.gold
    yield call("submit", sql=f"SELECT * FROM ({gold}) UNION ALL SELECT * FROM ({gold})")


def guesser(task: Task) -> Script:
    """Does not ask, and guesses right: the best case of guessing open slots."""
    yield call("submit", sql=_question(task).kept.gold)


def asker_in_passing(task: Task) -> Script:
    """Talks to the user, but not about the open slots, and guesses right."""
    yield call("ask_user", question="Hello! Is everything all right?")
    yield call("submit", sql=_question(task).kept.gold)


def shotgun(task: Task) -> Script:
    """Declares it impossible with every word of the question as evidence at once."""
    yield call("submit_impossible", reason="missing_data", evidence=task.instruction[:200])


def word_by_word(task: Task) -> Script:
    """Declares it impossible with one piece of evidence after another, all in one turn."""
    words = dict.fromkeys(re.findall(r"[a-z]{4,}", task.instruction))
    calls = [
        call("submit_impossible", reason="missing_data", evidence=word) for word in list(words)[:16]
    ]
    yield f"[{', '.join(calls)}]"


def hesitant(task: Task) -> Script:
    """Makes the right change in a transaction that it never commits."""
    yield call("run_query", sql="BEGIN")
    for statement in _change(task).gold:
        yield call("run_query", sql=statement)
    yield call("submit")


def thorough(task: Task) -> Script:
    """Makes the right change, and changes one row elsewhere."""
    for statement in _change(task).gold:
        yield call("run_query", sql=statement)
    named = " ".join(_change(task).gold)
    schema = bench_for(task.params["world"]).schema
    other = next(
        table.name for table in schema.tables if not re.search(rf"\b{table.name}\b", named)
    )
    column = next(c for c in schema.table(other).columns if c.role != "key" and c.type == "TEXT")
    yield call(
        "run_query",
        sql=f"UPDATE {other} SET {column.name} = {column.name} || ' ' WHERE rowid = "
        f"(SELECT MIN(rowid) FROM {other} WHERE {column.name} IS NOT NULL)",
    )
    yield call("submit")


def deserter(task: Task) -> Script:
    """Makes the right change and declares the task impossible."""
    for statement in _change(task).gold:
        yield call("run_query", sql=statement)
    yield call("submit_impossible", reason="not_permitted", evidence="write")


def judge_shadower(task: Task) -> Script:
    """Makes no change, but creates a view that shadows the tables."""
    table = bench_for(task.params["world"]).schema.tables[0].name
    yield call("run_query", sql=f"CREATE TEMP VIEW {table} AS SELECT 1")
    yield call("run_query", sql=f"CREATE VIEW main.{table} AS SELECT 1")
    yield call("submit")


def visible_rows(task: Task) -> Script:
    """Hands in a script that changes the rows it saw, by their keys and values."""
    repeated = _change(task).mutants.get("repeated_rows")
    yield call("submit", script="; ".join(repeated or _change(task).gold[:-1] or ("SELECT 1",)))


def in_place(task: Task) -> Script:
    """Makes the right change in its own copy, and hands in a script that looks at it."""
    for statement in _change(task).gold:
        yield call("run_query", sql=statement)
    yield call("submit", script="SELECT 1")


def uncommitted(task: Task) -> Script:
    """Hands in the right script, in a transaction that it never commits."""
    yield call("submit", script="; ".join(["BEGIN", *_change(task).gold]))


CHEATERS: list[tuple[str, Cheater]] = [
    *(("read", cheater) for cheater in (memoriser, fingerprinter, many_at_once, stacked, widened,
                                        padded)),
    *(("open", cheater) for cheater in (guesser, asker_in_passing, memoriser)),
    *(("impossible", cheater) for cheater in (shotgun, many_at_once)),
    *(("write", cheater) for cheater in (hesitant, thorough, deserter, judge_shadower)),
    *(("script", cheater) for cheater in (visible_rows, in_place, uncommitted)),
]  # fmt: skip


def mean(kind: str, cheater: Cheater) -> float:
    env, scores = SQLEnv(), []
    for task in tasks(kind):
        env.reset(seed=5, options={"task": task.id})
        for action in cheater(task):
            _, reward, terminated, truncated, info = env.step(action)
        assert terminated and not truncated and info["status"] == "completed"
        scores.append(reward)
    env.close()
    assert len(scores) >= 2
    return sum(scores) / len(scores)


@pytest.mark.parametrize(
    ("kind", "cheater"), CHEATERS, ids=[f"{kind}-{cheater.__name__}" for kind, cheater in CHEATERS]
)
def test_no_cheater_is_rewarded(kind, cheater):
    assert mean(kind, cheater) == 0.0


def test_only_the_first_of_many_calls_that_end_an_episode_counts():
    env = SQLEnv()
    for task in tasks("impossible"):
        env.reset(seed=5, options={"task": task.id})
        observation, *_ = env.step(next(word_by_word(task)))
        assert observation.count("had already ended") == observation.count("\n\n")
    env.close()


def test_an_agent_that_asks_is_rewarded_for_the_same_query():
    env = SQLEnv()
    for task in tasks("open"):
        made = _question(task)
        env.reset(seed=5, options={"task": task.id})
        env.step(call("ask_user", question=made.draft.slot.question))
        _, reward, *_, info = env.step(call("submit", sql=made.kept.gold))
        assert reward == 1.0 and info["reward_terms"]["asked"] == 1.0
    env.close()
