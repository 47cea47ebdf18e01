"""Builds the plan of a run from its configuration: every trial to play, with all hashes.

Writing and reading plans is `hexathlon.evaluators.records.plan`; running them is
`hexathlon.baselines.harness.run`.
"""

import contextlib
import secrets
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from hexathlon.baselines.harness.config import EvalConfig, ExecutionConfig
from hexathlon.baselines.harness.environments import (
    environment_for_task,
    find_environment,
    make_environment,
    open_taskset,
)
from hexathlon.baselines.harness.errors import EnvironmentUnavailable, UsageError
from hexathlon.baselines.harness.machine import code_state, hardware
from hexathlon.baselines.harness.models import OpenedModel
from hexathlon.envs.errors import EnvFault
from hexathlon.envs.registry import EnvironmentInfo, short
from hexathlon.evaluators.records.plan import PLAN_SCHEMA, TrialKey
from hexathlon.evaluators.settings_text import read_settings_text
from hexathlon.tasks.errors import TaskError
from hexathlon.tasks.source import parse_address
from hexathlon.tasks.task import SPLITS, Level
from hexathlon.tasks.taskset import TaskSet, commitment
from hexathlon.tasks.validation import reason
from hexathlon.tasks.version import VERSION

__all__ = [
    "Slice",
    "build_plan",
    "check_salt",
    "env_row",
    "keys_of",
    "open_row",
    "read_salt",
    "slices_of",
]


class Slice(NamedTuple):
    """The tasks that one environment contributes to a run."""

    info: EnvironmentInfo
    taskset: TaskSet
    level: Level | None
    ids: tuple[str, ...]


def build_plan(
    config: EvalConfig, execution: ExecutionConfig, model: OpenedModel
) -> dict[str, Any]:
    """Return the plan of a run, ready to be written.

    Raises:
        UsageError: If a name is unknown, the task set is empty, or its secret is missing.
        EnvironmentUnavailable: If an environment cannot be created on this machine.
    """
    salt = read_salt(execution.salt_file)
    slices = slices_of(config, salt)
    created = datetime.now(UTC)
    return {
        "schema": PLAN_SCHEMA,
        "run_id": f"{created:%Y%m%dT%H%M%S}-{secrets.token_hex(4)}",
        "created": created.isoformat(timespec="seconds"),
        "suite_version": VERSION,
        "envs": [env_row(part, config, salt) for part in slices],
        "keys": [list(key) for key in keys_of(slices, config)],
        "model": dict(model.description),
        "agent": {
            "name": model.agent.name,
            "version": model.agent.version,
            "prompt_hash": getattr(model.agent, "prompt_hash", None),
        },
        "limits": config.limits.model_dump(mode="json"),
        "sandbox": "as the environment declares",
        "price_table": model.price_table,
        "code": code_state(),
        "hardware": hardware(),
        "config": config.model_dump(mode="json", exclude={"limits", "team", *_unset(config)}),
        **({"team": config.team} if config.team else {}),
        "execution": execution.model_dump(mode="json", exclude={"salt_file", "api_key_env"}),
    }


def _unset(config: EvalConfig) -> set[str]:
    """Return the settings of an engine other than torch; {} for torch, as in old plans."""
    return {"engine", "engine_arg"} if config.engine == "torch" else set()


def slices_of(config: EvalConfig, salt: str | None) -> list[Slice]:
    """Return the tasks of a run, grouped by environment.

    Raises:
        UsageError: If a name is unknown, a task set is empty, or the held-out split lacks its salt.
    """
    if config.split == "heldout" and salt is None:
        raise UsageError("the held-out split needs a salt: name its file with --salt-file")
    if config.task:
        return list(_slices_of_ids(config, salt))
    if not config.envs:
        raise UsageError("nothing to evaluate: name events in `envs`, or single tasks in `task`")
    slices = []
    for info in {one.id: one for one in map(find_environment, config.envs)}.values():
        tasks = open_taskset(info, config.taskset, config.split, config.level, salt)
        slices.append(Slice(info, tasks, config.level, _first_ids(info, tasks, config.tasks)))
    return slices


def keys_of(slices: Sequence[Slice], config: EvalConfig) -> Iterator[TrialKey]:
    """Yield the trials of a run, in the order of the plan."""
    for part in slices:
        for task_id in part.ids:
            for seed in range(config.seeds):
                for trial in range(config.trials):
                    yield part.info.id, task_id, seed, trial


def env_row(part: Slice, config: EvalConfig, salt: str | None) -> Mapping[str, Any]:
    """Return the row of a plan's `envs` for the tasks of one environment.

    Raises:
        UsageError: If the task set cannot be hashed.
        EnvironmentUnavailable: If the environment cannot be created.
    """
    tasks = part.taskset
    try:
        with contextlib.closing(make_environment(part.info.id, config.limits)()) as env:
            version = env.version
        taskset_hash = tasks.content_hash
    except EnvFault as error:
        raise EnvironmentUnavailable(f"cannot create {part.info.id}: {error}") from None
    except (TaskError, OSError) as error:
        raise UsageError(f"{part.info.id}: {error}") from None
    return {
        "id": part.info.id,
        "version": version,
        "taskset": tasks.source.name,
        "taskset_version": tasks.version,
        "taskset_hash": taskset_hash,
        "split": tasks.split,
        "level": part.level,
        "size": tasks.size,
        "salt_commitment": None if salt is None else commitment(salt),
    }


def open_row(row: Mapping[str, Any], salt: str | None) -> TaskSet:
    """Return the task set that a row of a plan's `envs` names.

    Raises:
        UsageError: If it cannot be opened, or the salt is not the one that was committed to.
    """
    check_salt(row, salt)
    info = find_environment(row["id"])
    return open_taskset(info, row["taskset"], row["split"], row["level"], salt)


def check_salt(row: Mapping[str, Any], salt: str | None) -> None:
    """Compare a salt with the commitment in a row of a plan's `envs`.

    Raises:
        UsageError: If the salt is missing, or not the one that was committed to.
    """
    committed = row.get("salt_commitment")
    if committed != (None if salt is None else commitment(salt)):
        raise UsageError(
            "the run belongs to a held-out round: name the file of its secret with --salt-file"
            if salt is None
            else "the salt is not the one that this run was planned with"
        )


def read_salt(path: Path | None) -> str | None:
    """Return the secret of a held-out round from its file.

    Raises:
        UsageError: If the file cannot be read.
    """
    if path is None:
        return None
    try:
        salt = read_settings_text(path).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the salt file {path}: {reason(error)}") from None
    if not salt:
        raise UsageError(f"the salt file {path} is empty: expected the secret of the round")
    return salt


def _slices_of_ids(config: EvalConfig, salt: str | None) -> Iterator[Slice]:
    groups: dict[tuple[str, str, str], list[str]] = {}
    for task_id in config.task:
        info = environment_for_task(task_id)
        address = parse_address(task_id)
        groups.setdefault((info.id, address.source, address.split), []).append(task_id)
    for (env_id, source, _), ids in groups.items():
        info = find_environment(env_id)
        split = parse_address(ids[0]).split
        tasks = open_taskset(info, source, split, None, salt)
        for task_id in ids:
            try:
                tasks.get(task_id)
            except TaskError as error:
                raise UsageError(str(error)) from None
        yield Slice(info, tasks, None, tuple(dict.fromkeys(ids)))


def _first_ids(info: EnvironmentInfo, tasks: TaskSet, count: int) -> tuple[str, ...]:
    try:
        size = tasks.size
        if count == 0 and size is None:
            raise UsageError(f"{tasks.name} is unbounded: choose a number of tasks with --tasks N")
        if size == 0:
            filled = [split for split in SPLITS[:3] if tasks.source.size(split, tasks.level) != 0]
            raise UsageError(
                f"{tasks.name} is empty; splits with tasks: {', '.join(filled) or '-'}"
            )
        taken = size if count == 0 or size is None else min(count, size)
        return tuple(tasks.ids(taken if taken is not None else count))
    except TaskError as error:
        raise UsageError(f"{short(info.id)}: {error}") from None
