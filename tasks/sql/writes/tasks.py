"""Write tasks of the source: the search for an instance, and the fields of its `Task`."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from hexathlon.tasks.errors import GenerationExhausted
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import Script
from hexathlon.tasks.sql.scripts import Exploring, explore
from hexathlon.tasks.sql.supplement import Supplement
from hexathlon.tasks.sql.world.world import world_for
from hexathlon.tasks.sql.writes.hidden import HiddenChange
from hexathlon.tasks.sql.writes.instances import WriteInstance, write_templates
from hexathlon.tasks.task import Check
from hexathlon.tasks.tool_calls import tool_call

__all__ = [
    "compose_write",
    "recompose_write",
    "scripting",
    "write_check",
    "write_params",
    "writing",
]


def compose_write(template: str, worlds: Sequence[str], seed: int) -> tuple[int, WriteInstance]:
    """Return the number of the first suitable world, and its instance.

    Raises:
        GenerationExhausted: If none of the worlds is suitable.
    """
    for attempt, world in enumerate(worlds):
        try:
            return attempt, recompose_write(template, world, seed, attempt)
        except GenerationExhausted:
            continue
    raise GenerationExhausted(
        f"template {template} found no instance in {len(worlds)} worlds, first in {worlds[0]}"
    )


@lru_cache(maxsize=64)
def recompose_write(template: str, world: str, seed: int, attempt: int) -> WriteInstance:
    """Return the instance of one world.

    Raises:
        GenerationExhausted: If the world is not suitable.
    """
    home = world_for(world)
    rng = generator_for("sql-write", seed, attempt)
    return write_templates()[template].instance(home, home.level, rng)


def write_params(made: WriteInstance) -> dict[str, Any]:
    """Return the task parameters specific to write tasks."""
    params: dict[str, Any] = {
        **_address(made),
        "mode": "write",
        "writes": list(made.writes),
        "hidden": [_address(change) for change in made.hidden],
    }
    if made.papers:
        params["supplement"] = Supplement(made.papers).params()
    return params


def _address(made: WriteInstance | HiddenChange) -> dict[str, Any]:
    """Return what determines a database within its world."""
    address: dict[str, Any] = {"population": made.population, "size": made.size}
    if made.tables:
        address["tables"] = [table.params() for table in made.tables]
    return address


def write_check(made: WriteInstance, canary: str) -> Check:
    """Return the check on the final tables, given as the statements that produce them."""
    params: dict[str, Any] = {"statements": list(made.gold), "canary": canary}
    if made.runs > 1:
        params["runs"] = made.runs
    return Check(name="sql_script" if made.hidden else "sql_write", params=params)


def writing(
    statements: Sequence[str], tables: Sequence[str] = (), documents: Sequence[str] = ()
) -> Script:
    """Explore, run statements one by one, submit the database."""
    if tables or documents:
        yield from explore(Exploring(tables, documents))
    for statement in statements:
        yield tool_call("run_query", sql=statement)
    yield tool_call("submit")


def scripting(
    statements: Sequence[str], tables: Sequence[str] = (), documents: Sequence[str] = ()
) -> Script:
    """Explore, submit the statements as a script."""
    if tables or documents:
        yield from explore(Exploring(tables, documents))
    yield tool_call("submit", script="".join(f"{statement};\n" for statement in statements))
