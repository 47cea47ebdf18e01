"""Choice of tasks for `hexathlon play`, and one session per task."""

import contextlib
import importlib
import os
from typing import Any, NamedTuple, cast

from hexathlon.baselines.harness.environments import (
    find_environment,
    make_environment,
    open_taskset,
)
from hexathlon.baselines.harness.errors import (
    EnvironmentUnavailable,
    ExitCode,
    UsageError,
    near_miss,
)
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.envs.errors import EnvFault
from hexathlon.envs.registry import EnvironmentInfo
from hexathlon.tasks.errors import MissingData, TaskError
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import parse_address
from hexathlon.tasks.task import LEVELS, Level
from hexathlon_cli.playing.session import Session

__all__ = ["Wish", "play_command", "shell_language"]

_ENDLESS = 1_000_000
"""Number of tasks to choose from in an unbounded set."""

_TRIES = 2_000
"""Maximum number of tasks searched for the requested template and language."""


class Wish(NamedTuple):
    """The tasks that a person wants to play."""

    taskset: str | None
    level: str | None
    template: str
    """Prefix of a template's name; empty for any."""

    language: str
    """Language of tasks that have one."""


def play_command(env: str, task: str | None, wish: Wish, seed: int) -> int:
    """Run `hexathlon play`."""
    if wish.level is not None and wish.level not in LEVELS:
        raise UsageError(near_miss("level", wish.level, LEVELS))
    info = find_environment(env)
    with contextlib.suppress(ImportError):
        importlib.import_module("readline")  # `input` then has a history and can be edited
    try:
        with contextlib.closing(make_environment(info.id, TrialLimits())()) as world:
            chosen = {"task": task} if task else _chosen(info, wish, seed, 0)
            _, details = world.reset(seed=seed, options=chosen)
            number = 1
            while Session(world, details).play():
                _, details = world.reset(options=_chosen(info, wish, seed, number))
                number += 1
    except MissingData as error:
        raise EnvironmentUnavailable(str(error)) from None
    except TaskError as error:
        raise UsageError(str(error)) from None
    except EnvFault as error:
        raise EnvironmentUnavailable(str(error)) from error
    return ExitCode.FINE


def shell_language() -> str:
    """Return `zh` if the shell's locale is Chinese, else `en`."""
    named = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    return "zh" if next(filter(None, named), "").startswith("zh") else "en"


def _chosen(info: EnvironmentInfo, wish: Wish, seed: int, number: int) -> dict[str, Any]:
    """Choose the number-th task of the train split, or of test if train is empty."""
    level = cast("Level | None", wish.level)
    tasks = open_taskset(info, wish.taskset, "train", level, None)
    if tasks.size == 0:
        tasks = open_taskset(info, wish.taskset, "test", level, None)
    size = _ENDLESS if tasks.size is None else tasks.size
    first = int(generator_for("play", seed, number).integers(size)) if size else 0
    for place in range(min(size, _TRIES)):
        task_id = tasks.task_id((first + place) % size)
        if wish.template and not parse_address(task_id).template.startswith(wish.template):
            continue
        if tasks.get(task_id).params.get("language", wish.language) == wish.language:
            return {"task": task_id}
    raise UsageError(
        f"{tasks.name} has no task with a template {wish.template!r}… in language {wish.language!r}"
    )
