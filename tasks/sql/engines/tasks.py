"""Questions about engines as tasks: parameters, check, oracle, alternatives, near misses."""

from collections.abc import Callable, Generator, Mapping
from typing import Any

from hexathlon.tasks.source import Script
from hexathlon.tasks.sql.engines.finding import BUDGETS, TEMPLATES, Accepted, hidden_of
from hexathlon.tasks.sql.engines.question import DIALECTS, EngineTexts
from hexathlon.tasks.sql.pools import pool_name
from hexathlon.tasks.sql.scripts import fixed
from hexathlon.tasks.task import Check
from hexathlon.tasks.tool_calls import tool_call

__all__ = [
    "ENGINES", "engine_alternatives", "engine_check", "engine_instruction", "engine_mutants",
    "engine_oracle", "engine_params", "engine_policies",
]  # fmt: skip

ENGINES = tuple(TEMPLATES)
"""The templates."""
_PROBE = "SELECT typeof(1)"
"""Each engine answers in its own way: `integer`, `INTEGER`, and PostgreSQL with an error."""


def engine_instruction(made: Accepted) -> str:
    """Return the question and, if work is limited, the limit."""
    drawn = made.drawn
    firm = pool_name("company", drawn.split, drawn.values("firm").below(100))
    text = f"You are an analyst at {firm}. {made.question.text} One row each, in any order."
    if made.question.steps is None:
        return text
    indexed = any(table.indexes for table in made.question.tables)
    return (
        f"{text}\n\nThe statement that you hand in may take at most {made.question.steps:,} steps "
        "of the database engine, on this database and on the others on which it is run. After "
        "every statement you see how many it took; until you hand in, statements may take more. "
        f"There are {'' if indexed else 'no '}indexes, and you cannot add any."
    )


def engine_params(made: Accepted) -> dict[str, Any]:
    """Return the task parameters: databases, and the dialects or the work."""
    drawn = made.drawn
    address = {"template": drawn.template, "level": drawn.level, "split": drawn.split}
    params: dict[str, Any] = {
        "mode": "read",
        "engine": {**address, "seed": drawn.seed, "attempt": drawn.attempt, "number": 0},
        "hidden": [{"engine": number + 1} for number in range(hidden_of(drawn.template))],
    }
    if made.question.steps is not None:
        return {**params, "steps": made.question.steps}
    return {**params, "dialects": list(DIALECTS), "dialect": DIALECTS[drawn.seed % len(DIALECTS)]}


def engine_check(made: Accepted, canary: str) -> Check:
    """Return the check: the expected query on SQLite and, if it is limited, the work."""
    params: dict[str, Any] = {"gold": made.question.texts["sqlite"].gold, "ordered": False}
    if made.question.steps is not None:
        params["steps"] = made.question.steps
    return Check(name="sql_result", params={**params, "canary": canary})


def engine_oracle(made: Accepted) -> Script:
    """Look at the tables and at the engine, test the query and submit it."""
    yield tool_call("list_tables")
    for table in made.question.tables:
        yield tool_call("describe_table", table=table.name)
        yield tool_call("sample_rows", table=table.name, limit=5)
    gold = (yield from _texts(made)).gold
    yield tool_call("run_query", sql=gold)
    yield tool_call("submit", sql=gold)


def engine_alternatives(made: Accepted) -> Mapping[str, Script]:
    """Return other right statements; an engine that lacks one gets the first of its own."""
    return _scripts(made, lambda texts: texts.others)


def engine_mutants(made: Accepted) -> Mapping[str, Script]:
    """Return near misses; an engine that lacks one gets the first of its own."""
    return {
        **_scripts(made, lambda texts: texts.wrong),
        "called_impossible": fixed(
            [tool_call("submit_impossible", reason="missing_data", evidence="1")]
        ),
    }


def engine_policies(made: Accepted) -> Mapping[str, Script]:
    """Return trivial agents."""
    first, last = made.question.tables[0].name, made.question.tables[-1].name
    queries = {
        "dump": f"SELECT * FROM {last}",
        "majority": f"SELECT COUNT(*) FROM {last}",
        "first_table": f"SELECT * FROM {first}",
        "empty": "SELECT NULL WHERE 1 = 0",
    }
    return {
        **{name: fixed([tool_call("submit", sql=sql)]) for name, sql in queries.items()},
        "always_impossible": fixed(
            [tool_call("submit_impossible", reason="missing_data", evidence=last)]
        ),
    }


def _scripts(
    made: Accepted, choose: Callable[[EngineTexts], Mapping[str, str]]
) -> dict[str, Script]:
    """Return a script for each name that any engine has."""
    names = {name: None for texts in made.question.texts.values() for name in choose(texts)}

    def handing_in(name: str) -> Script:
        own = choose((yield from _texts(made)))
        yield tool_call("submit", sql=own.get(name) or next(iter(own.values())))

    return {name: handing_in(name) for name in names}


def _texts(made: Accepted) -> Generator[str, str, EngineTexts]:
    """Find out which engine it is, and return the statements for it."""
    if made.drawn.template in BUDGETS:
        return made.question.texts["sqlite"]
    reply = yield tool_call("run_query", sql=_PROBE)
    lines = reply.splitlines()
    dialect = "postgresql"
    if "integer" in lines:
        dialect = "sqlite"
    elif "INTEGER" in lines:
        dialect = "duckdb"
    return made.question.texts[dialect]
