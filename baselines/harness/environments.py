"""Environments by the names that people type, and task sets by theirs."""

from collections.abc import Callable
from functools import cache

import gymnasium

from hexathlon.baselines.harness.errors import EnvironmentUnavailable, UsageError, near_miss
from hexathlon.baselines.limits import TrialLimits
from hexathlon.envs.base import Environment
from hexathlon.envs.errors import EnvFault
from hexathlon.envs.plugins import PluginError, load_plugins
from hexathlon.envs.registry import ENVIRONMENTS, EnvironmentInfo, missing_extra
from hexathlon.tasks.errors import TaskError
from hexathlon.tasks.source import parse_address
from hexathlon.tasks.task import Level, Split
from hexathlon.tasks.taskset import TaskSet

__all__ = [
    "all_environments",
    "environment_for_task",
    "find_environment",
    "make_environment",
    "open_taskset",
    "short",
]


def short(env_id: str) -> str:
    """Return the short name of an id.

    >>> short("hexathlon/SQL-v0")
    'SQL'
    """
    return env_id.rpartition("/")[2].rpartition("-v")[0]


def all_environments() -> list[EnvironmentInfo]:
    """Return every environment, those of plugins included.

    Raises:
        UsageError: An installed plugin cannot be loaded.
    """
    _load_plugins_once()
    return list(ENVIRONMENTS.values())


@cache
def _load_plugins_once() -> None:
    try:
        load_plugins()
    except PluginError as error:
        raise UsageError(str(error)) from error


def find_environment(name: str) -> EnvironmentInfo:
    """Return what is registered under an id or short name, upper and lower case alike.

    Raises:
        UsageError: Nothing is.
        EnvironmentUnavailable: It needs an extra that is not installed.
    """
    for info in all_environments():
        if name.casefold() in (info.id.casefold(), short(info.id).casefold(), info.family):
            install = missing_extra(info)
            if install:
                raise EnvironmentUnavailable(f"{info.id} needs an extra: {install}")
            return info
    names = [short(info.id) for info in all_environments()]
    raise UsageError(near_miss("environment", name, names))


def environment_for_task(task_id: str) -> EnvironmentInfo:
    """Return the environment in which a task is played.

    Raises:
        UsageError: No registered environment plays tasks of this source.
    """
    try:
        source = parse_address(task_id).source
    except TaskError as error:
        raise UsageError(str(error)) from None
    for info in all_environments():
        if source in info.tasksets:
            return find_environment(info.id)
    known = [name for info in all_environments() for name in info.tasksets]
    raise UsageError(near_miss("task set", source, known))


def make_environment(env_id: str, limits: TrialLimits) -> Callable[[], Environment]:
    """Return a function that makes the environment with a run's own limits."""

    def make() -> Environment:
        overrides = {} if limits.turns is None else {"turns": limits.turns}
        env = gymnasium.make(env_id, limits=overrides).unwrapped
        if not isinstance(env, Environment):
            raise EnvFault(
                f"{env_id} makes a {type(env).__name__}, expected a hexathlon Environment",
                cause="not_an_environment",
            )
        return env

    return make


def open_taskset(
    info: EnvironmentInfo, name: str | None, split: Split, level: Level | None, salt: str | None
) -> TaskSet:
    """Return a task set that the environment can draw from.

    Raises:
        UsageError: The environment does not know the name, or the set cannot be opened.
    """
    name = name or info.tasksets[0]
    if name not in info.tasksets:
        raise UsageError(near_miss(f"task set for {short(info.id)}", name, info.tasksets))
    try:
        return TaskSet(name, split, level, salt)
    except TaskError as error:
        raise UsageError(str(error)) from None
