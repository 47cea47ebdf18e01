"""Task records for questions, impossible questions and changes."""

from dataclasses import replace
from typing import Any

from hexathlon.tasks.seeding import derive_seed, generator_for
from hexathlon.tasks.source import TaskAddress
from hexathlon.tasks.sql.bench import bench_for
from hexathlon.tasks.sql.clarify import agenda, idle_agenda
from hexathlon.tasks.sql.composing import Composition
from hexathlon.tasks.sql.engines.finding import Accepted
from hexathlon.tasks.sql.engines.tasks import engine_check, engine_instruction, engine_params
from hexathlon.tasks.sql.estates.estate import Estate
from hexathlon.tasks.sql.estates.tasks import (
    estate_check,
    estate_instruction,
    estate_params,
    estate_turns,
)
from hexathlon.tasks.sql.shifts.day import ShiftDay
from hexathlon.tasks.sql.shifts.tasks import (
    shift_check,
    shift_instruction,
    shift_params,
    shift_turns,
)
from hexathlon.tasks.sql.tools import sql_tools
from hexathlon.tasks.sql.world.world import world_for
from hexathlon.tasks.sql.writes.instances import WriteInstance
from hexathlon.tasks.sql.writes.tasks import write_check, write_params
from hexathlon.tasks.task import Check, Limits, Task

__all__ = ["engine_task", "estate_task", "question_task", "shift_task", "write_task"]

_IDLE_USER = 0.3
"""Share of fully specified questions that still come with a user."""


def question_task(
    address: TaskAddress, version: str, seed: int, made: Composition, twin: str | None
) -> Task:
    """Return the task of a question, possible or impossible."""
    bench = bench_for(made.world)
    documents = [document.name for document in bench.schema.documents]
    user = _user(made, seed)
    supplement = made.supplement
    if supplement is not None:
        documents += [document.name for document in supplement.documents]
    params = {
        **bench.visible.address(),
        "mode": "read",
        "documents": documents,
        "supplement": supplement.params() if supplement is not None else None,
        "user": user,
        "hidden": [*(population.address() for population in bench.hidden), *made.kept.at_bounds],
    }
    tools = sql_tools("sql", documents=bool(documents), user=user is not None)
    check = _question_check(made, canary_of(seed))
    return Task(
        instruction=made.instruction,
        params={**_common(made.world, made.attempt), **params},
        tools=tools,
        checks=(check,),
        twin=str(replace(address, template=twin)) if twin else None,
        **_identity(address, version, seed),
    )


def write_task(
    address: TaskAddress, version: str, seed: int, made: WriteInstance, attempt: int
) -> Task:
    """Return the task of a change."""
    common = _common(made.world, attempt)
    common["documents"] += [paper.name for paper in made.papers]
    return Task(
        instruction=made.instruction,
        params={**common, **write_params(made), "user": None},
        tools=sql_tools(
            "script" if made.hidden else "database", documents=bool(common["documents"])
        ),
        checks=(write_check(made, canary_of(seed)),),
        **_identity(address, version, seed),
    )


def shift_task(address: TaskAddress, version: str, seed: int, made: ShiftDay, attempt: int) -> Task:
    """Return the task of a day."""
    common = {"backend": "sqlite", "world": made.world, "attempt": attempt}
    identity = _identity(address, version, seed)
    return Task(
        instruction=shift_instruction(made),
        params={**common, **shift_params(made, seed)},
        tools=sql_tools("ticket", documents=True),
        checks=(shift_check(made, canary_of(seed)),),
        **{**identity, "limits": Limits(turns=shift_turns(made))},
    )


def estate_task(address: TaskAddress, version: str, seed: int, made: Estate) -> Task:
    """Return the task of a business question on an estate."""
    common = {"backend": "sqlite", "world": made.company, "attempt": made.attempt}
    identity = _identity(address, version, seed)
    return Task(
        instruction=estate_instruction(made),
        params={**common, **estate_params(made)},
        tools=sql_tools("sql", documents=True, user=True),
        checks=(estate_check(made, canary_of(seed)),),
        **{**identity, "limits": Limits(turns=estate_turns(made))},
    )


def engine_task(address: TaskAddress, version: str, seed: int, made: Accepted) -> Task:
    """Return the task of a question about an engine."""
    return Task(
        instruction=engine_instruction(made),
        params={"backend": "sqlite", **engine_params(made)},
        tools=sql_tools("sql"),
        checks=(engine_check(made, canary_of(seed)),),
        **_identity(address, version, seed),
    )


def canary_of(seed: int) -> str:
    """Return the string that occurs in a task's ground truth and nowhere else."""
    return f"hexathlon-sql-{derive_seed('sql-canary', seed):016x}"


def _identity(address: TaskAddress, version: str, seed: int) -> dict[str, Any]:
    return {
        "id": str(address),
        "family": "sql",
        "generator": "sql",
        "version": version,
        "level": address.level,
        "split": address.split,
        "seed": seed,
        "limits": Limits(turns=20 if address.level in ("tiny", "easy") else 30),
        "canary": canary_of(seed),
    }


def _common(world: str, attempt: int) -> dict[str, Any]:
    documents = [document.name for document in world_for(world).schema.documents]
    return {"backend": "sqlite", "world": world, "attempt": attempt, "documents": documents}


def _question_check(made: Composition, canary: str) -> Check:
    obstacle = made.obstacle
    if obstacle is not None:
        params: dict[str, Any] = {"reason": obstacle.reason, "evidence": list(obstacle.evidence)}
        return Check(name="sql_impossible", params={**params, "canary": canary})
    kept = made.kept
    params = {"gold": kept.gold, "ordered": kept.ordered, "columns": kept.columns}
    if made.draft.slot is not None:
        params["asked"] = [made.draft.slot.name]
    return Check(name="sql_result", params={**params, "canary": canary})


def _user(made: Composition, seed: int) -> dict[str, Any] | None:
    if made.draft.slot is not None:
        return agenda(made.draft.slot)
    rng = generator_for("sql-user", seed)
    return idle_agenda() if rng.random() < _IDLE_USER else None
