"""The plan of a run, written before the first trial.

``plan.json`` lists every key (environment, task, seed, trial), the model, the agent, the limits and
all hashes. Its own hash is the first link of the record chain, so a plan changed after the run no
longer matches its records. Circumstances of the run (creation time, run name, hardware, code
revision) are stored beside it but are not part of the hash.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hexathlon.evaluators.records.canonical import canonical_bytes, canonical_json, content_hash
from hexathlon.evaluators.records.regular import irregularity
from hexathlon.tasks.validation import reason

PLAN_SCHEMA = "hexathlon.plan/1"
PLAN_FILE = "plan.json"
SUBMITTER = "team"
"""Field naming the submitter of the run; hashed, but not part of the work hash."""
UNHASHED = ("plan_hash", "created", "run_id", "hardware", "code", "execution")
"""Fields that may differ between two runs of the same plan."""

TrialKey = tuple[str, str, int, int]
"""(environment id, task id, seed, trial)."""


class PlanError(Exception):
    """A plan that is missing, unreadable, of another schema, or does not match its hash."""


def plan_hash(plan: Mapping[str, Any]) -> str:
    """Return the hash of everything in a plan that determines the run."""
    return content_hash({name: value for name, value in plan.items() if name not in UNHASHED})


def work_hash(plan: Mapping[str, Any]) -> str:
    """Return the hash of the work without its submitter: equal for two teams with the same run."""
    return plan_hash({name: value for name, value in plan.items() if name != SUBMITTER})


def plan_differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return the names of the hashed top-level fields in which two plans differ, sorted."""
    names = sorted((set(old) | set(new)) - set(UNHASHED))
    return [name for name in names if content_hash(old.get(name)) != content_hash(new.get(name))]


def plan_keys(plan: Mapping[str, Any]) -> list[TrialKey]:
    """Return the keys of a plan, in its order."""
    return [(str(env), str(task), int(seed), int(trial)) for env, task, seed, trial in plan["keys"]]


def write_plan(run: Path, plan: Mapping[str, Any]) -> str:
    """Write ``plan.json`` into a run directory, with its hash, and return the hash.

    The file is written atomically. An existing plan is never overwritten.
    """
    target = run / PLAN_FILE
    if target.exists():
        raise PlanError(f"{target} already exists: a run keeps its plan; choose another folder")
    digest = plan_hash(plan)
    run.mkdir(parents=True, exist_ok=True)
    draft = run / (PLAN_FILE + ".part")
    with draft.open("wb") as file:
        file.write(canonical_bytes({**plan, "plan_hash": digest}) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    draft.rename(target)
    return digest


def read_plan(run: Path) -> dict[str, Any]:
    """Read and check the plan of a run directory.

    Raises:
        PlanError: If the file is missing, is not a plan, or was changed after it was written.
    """
    target = run / PLAN_FILE
    fault = irregularity(target)
    if fault:
        raise PlanError(f"cannot read the plan {target}: {fault}")
    try:
        plan = json.loads(target.read_bytes())
        canonical_json(plan)  # raises for numbers out of range, also in fields without a hash
    except (FileNotFoundError, NotADirectoryError):
        raise PlanError(f"{run} has no {PLAN_FILE}: expected a run directory") from None
    except (OSError, ValueError, RecursionError) as error:
        raise PlanError(f"cannot read the plan {target}: {reason(error)}") from None
    _check_plan(target, plan)
    return dict(plan)


def _check_plan(target: Path, plan: Any) -> None:
    if not isinstance(plan, dict) or plan.get("schema") != PLAN_SCHEMA:
        raise PlanError(f"{target} is not a plan: expected an object with schema {PLAN_SCHEMA!r}")
    keys = plan.get("keys")
    if not isinstance(keys, list) or not all(_is_key(key) for key in keys):
        raise PlanError(f"{target}: 'keys' must be a list of [environment, task, seed, trial]")
    if not isinstance(plan.get("envs"), list) or not all(map(_is_environment, plan["envs"])):
        raise PlanError(f"{target}: 'envs' must be a list of objects with names as 'id'")
    for name in ("model", "agent", "limits", "config", "code", "hardware"):
        if not isinstance(plan.get(name, {}), dict):
            raise PlanError(f"{target}: {name!r} must be an object")
    if not isinstance(plan.get(SUBMITTER, ""), str):
        raise PlanError(f"{target}: {SUBMITTER!r} must be a string")
    actual = plan_hash(plan)
    if plan.get("plan_hash") != actual:
        raise PlanError(
            f"{target} was changed after it was written: it names plan hash "
            f"{plan.get('plan_hash')!r}, its content gives {actual}"
        )


def _is_environment(row: Any) -> bool:
    return isinstance(row, dict) and isinstance(row.get("id"), str | None)


def _is_key(key: Any) -> bool:
    return (
        isinstance(key, list)
        and len(key) == 4
        and isinstance(key[0], str)
        and isinstance(key[1], str)
        and type(key[2]) is int
        and type(key[3]) is int
    )
