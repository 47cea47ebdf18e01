"""Lookup of environments and task sets by name, with errors for the command line."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import gymnasium

from hexathlon.baselines.harness.errors import EnvironmentUnavailable, UsageError, near_miss
from hexathlon.baselines.harness.listing import all_environments
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.envs.base import Environment
from hexathlon.envs.errors import EnvFault
from hexathlon.envs.registry import (
    ENVIRONMENTS,
    RETIRED,
    EnvironmentInfo,
    missing_extra,
    retired,
    short,
)
from hexathlon.tasks.errors import MissingData, TaskError
from hexathlon.tasks.source import parse_address
from hexathlon.tasks.task import Level, Split
from hexathlon.tasks.taskset import TaskSet

__all__ = [
    "environment_for_task",
    "find_environment",
    "make_environment",
    "open_taskset",
    "refuse_retired",
]


def find_environment(name: str) -> EnvironmentInfo:
    """Return the environment registered under an id or short name, ignoring case.

    Raises:
        UsageError: If the name is unknown.
        EnvironmentUnavailable: If it is retired, or needs an extra that is not installed.
    """
    refuse_retired(known for known in RETIRED if name.casefold() == known.casefold())
    info = _first_match(lambda candidate: name.casefold() in _names(candidate))
    if info is None:
        names = [short(known.id) for known in ENVIRONMENTS.values()]
        raise UsageError(near_miss("environment", name, names))
    install = missing_extra(info)
    if install:
        raise EnvironmentUnavailable(f"{info.id} needs an extra: {install}")
    return info


def refuse_retired(env_ids: Iterable[str]) -> None:
    """Raise if one of the ids is retired, such as an old run's.

    Raises:
        EnvironmentUnavailable: The message names its successor.
    """
    for env_id in env_ids:
        message = retired(env_id)
        if message is not None:
            raise EnvironmentUnavailable(message)


def environment_for_task(task_id: str) -> EnvironmentInfo:
    """Return the environment that plays a task.

    Raises:
        UsageError: If no registered environment plays tasks of this source.
    """
    try:
        source = parse_address(task_id).source
    except TaskError as error:
        raise UsageError(str(error)) from None
    info = _first_match(lambda candidate: source in candidate.tasksets)
    if info is None:
        names = [name for known in ENVIRONMENTS.values() for name in known.tasksets]
        raise UsageError(near_miss("task set", source, names))
    return find_environment(info.id)


def _first_match(matches: Callable[[EnvironmentInfo], bool]) -> EnvironmentInfo | None:
    """Return the first match; plugins are loaded only if no built-in environment matches."""
    own = next(filter(matches, list(ENVIRONMENTS.values())), None)
    return own or next(filter(matches, all_environments()), None)


def _names(info: EnvironmentInfo) -> tuple[str, str, str]:
    return info.id.casefold(), short(info.id).casefold(), info.family.casefold()


def make_environment(
    env_id: str, limits: TrialLimits, options: Mapping[str, Any] | None = None
) -> Callable[[], Environment]:
    """Return a factory of the environment with the limits of a run.

    Args:
        env_id: Registered id.
        limits: Budgets of the run; `limits.turns` replaces the tasks' own turn limits.
        options: Further keyword arguments of the environment, such as `sandbox`.
    """

    def make() -> Environment:
        overrides = {} if limits.turns is None else {"turns": limits.turns}
        env = gymnasium.make(env_id, limits=overrides, **(options or {})).unwrapped
        if not isinstance(env, Environment):
            raise EnvFault(
                f"{env_id} creates a {type(env).__name__}, expected a hexathlon Environment",
                cause="not_an_environment",
            )
        return env

    return make


def open_taskset(
    info: EnvironmentInfo, name: str | None, split: Split, level: Level | None, salt: str | None
) -> TaskSet:
    """Return a task set of an environment.

    Raises:
        UsageError: If the environment has no such task set, or it cannot be opened.
        EnvironmentUnavailable: If its data is not on this machine.
    """
    name = info.tasksets[0] if name is None else name
    if name not in info.tasksets:
        raise UsageError(near_miss(f"task set of {short(info.id)}", name, info.tasksets))
    try:
        tasks = TaskSet(name, split, level, salt)
        _ = tasks.size  # reads the data of public formats, so that missing data raises here
        return tasks
    except MissingData as error:
        raise EnvironmentUnavailable(str(error)) from None
    except TaskError as error:
        raise UsageError(str(error)) from None
