"""What `hexathlon play` does: picks a task, and another one, and seats a person at it."""

import contextlib
import importlib
from typing import Any

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
from hexathlon.baselines.limits import TrialLimits
from hexathlon.envs.errors import EnvFault
from hexathlon.envs.registry import EnvironmentInfo
from hexathlon.tasks.errors import MissingData, TaskError
from hexathlon.tasks.task import LEVELS
from hexathlon_cli.sitting import Sitting

__all__ = ["play_command"]


def play_command(
    env: str, task: str | None, taskset: str | None, level: str | None, seed: int
) -> int:
    """Run `hexathlon play`."""
    if level is not None and level not in LEVELS:
        raise UsageError(near_miss("level", level, LEVELS))
    info = find_environment(env)
    options = {"task": task} if task else _choice(info, taskset, level)
    with contextlib.suppress(ImportError):
        importlib.import_module("readline")  # `input` then has a history and can be edited
    try:
        with contextlib.closing(make_environment(info.id, TrialLimits())()) as world:
            opening, details = world.reset(seed=seed, options=options)
            while Sitting(world, opening, details).play():
                options = _choice(info, taskset, level)
                opening, details = world.reset(options=options)
    except MissingData as error:
        raise EnvironmentUnavailable(str(error)) from None
    except TaskError as error:
        raise UsageError(str(error)) from None
    except EnvFault as error:
        raise EnvironmentUnavailable(str(error)) from error
    return ExitCode.FINE


def _choice(info: EnvironmentInfo, taskset: str | None, level: str | None) -> dict[str, Any]:
    """Return the options of a random task: of the train split, or of test where train is empty."""
    name = taskset or info.tasksets[0]
    split = "train" if open_taskset(info, name, "train", None, None).size != 0 else "test"
    return {"taskset": name, "split": split, **({"level": level} if level else {})}
