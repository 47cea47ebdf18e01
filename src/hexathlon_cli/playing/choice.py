"""Choice of tasks for `hexathlon play`, and one session per task."""

import contextlib
import importlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

from hexathlon.baselines.harness.environments import (
    environment_for_task,
    find_environment,
    make_environment,
    open_taskset,
    short,
)
from hexathlon.baselines.harness.errors import (
    EnvironmentUnavailable,
    ExitCode,
    UsageError,
    near_miss,
)
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.envs.base import Environment
from hexathlon.envs.errors import EnvFault
from hexathlon.envs.registry import EnvironmentInfo
from hexathlon.tasks.errors import MissingData, TaskError
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import parse_address
from hexathlon.tasks.task import LEVELS, Level, Split, Task
from hexathlon.tasks.taskset import TaskSet
from hexathlon_cli.output import flush_output, print_text
from hexathlon_cli.playing.jsonl import LineGame, open_verdicts
from hexathlon_cli.playing.session import Session

__all__ = ["TaskChoice", "line_command", "play_command", "shell_language"]

PLAYED_SPLITS = ("train", "dev", "test")
LANGUAGES = ("en", "zh")
"""Languages of tasks that come in several."""

_UNBOUNDED = 1_000_000
"""Number of tasks to choose from in an unbounded set."""

_MOST_SEARCHED = 2_000
"""Maximum number of tasks searched for the requested template and language."""


class TaskChoice(NamedTuple):
    """The tasks that a person wants to play."""

    task: str | None
    """One task by id; the other fields are then ignored."""

    taskset: str | None
    split: str | None
    """Split; the train split by default, or test if train is empty."""

    level: str | None
    template: str
    """Prefix of a template's name; empty for any."""

    language: str
    """Language of tasks that have one."""

    seed: int

    def check(self, info: EnvironmentInfo, command: str = "play") -> None:
        """Check the names.

        Args:
            info: The environment.
            command: The command that errors suggest.

        Raises:
            UsageError: If a name is unknown, or the task belongs to another environment.
        """
        for kind, name, known in (
            ("level", self.level, LEVELS),
            ("split", self.split, PLAYED_SPLITS),
            ("language", self.language, LANGUAGES),
        ):
            if name is not None and name not in known:
                raise UsageError(near_miss(kind, name, known))
        if self.task is not None and environment_for_task(self.task).id != info.id:
            other = short(environment_for_task(self.task).id)
            raise UsageError(
                f"{self.task} is a task of {other}: type `hexathlon {command} {other} "
                f"--task {self.task}`"
            )

    def options(self, info: EnvironmentInfo, number: int) -> dict[str, Any]:
        """Return the reset options of the number-th task.

        Raises:
            UsageError: If there is no such task.
        """
        return {"task": self.task or _chosen(info, self, number)}


def play_command(env: str, choice: TaskChoice) -> int:
    """Play tasks in a terminal until the person stops."""
    info = find_environment(env)
    choice.check(info)
    with contextlib.suppress(ImportError):
        importlib.import_module("readline")  # `input` then has a history and can be edited
    with _opened(info) as world:
        _, details = world.reset(seed=choice.seed, options=choice.options(info, 0))
        number = 1
        while Session(world, details).play():
            _, details = world.reset(options=choice.options(info, number))
            number += 1
    return ExitCode.FINE


def line_command(env: str, choice: TaskChoice, count: int, verdicts: Path | None) -> int:
    """Play tasks through lines of JSON on standard input and output."""
    info = find_environment(env)
    choice.check(info)
    with contextlib.ExitStack() as stack:
        file = None if verdicts is None else stack.enter_context(open_verdicts(verdicts))
        world = stack.enter_context(_opened(info))
        game = LineGame(
            world, lambda number: choice.options(info, number), count, choice.seed, file
        )
        for reply in game.replies(sys.stdin):
            print_text(json.dumps(reply, ensure_ascii=False))
            flush_output()
    return ExitCode.FINE


def shell_language() -> str:
    """Return `zh` if the shell's locale is Chinese, else `en`."""
    named = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    return "zh" if next(filter(None, named), "").startswith("zh") else "en"


@contextlib.contextmanager
def _opened(info: EnvironmentInfo) -> Iterator[Environment]:
    """Open the environment; its errors become those of the command."""
    try:
        with contextlib.closing(make_environment(info.id, TrialLimits())()) as world:
            yield world
    except MissingData as error:
        raise EnvironmentUnavailable(str(error)) from None
    except TaskError as error:
        raise UsageError(str(error)) from None
    except EnvFault as error:
        raise EnvironmentUnavailable(str(error)) from error


def _chosen(info: EnvironmentInfo, choice: TaskChoice, number: int) -> str:
    level = cast("Level | None", choice.level)
    split = cast("Split", choice.split or "train")
    tasks = open_taskset(info, choice.taskset, split, level, None)
    if tasks.size == 0 and choice.split is None:
        tasks = open_taskset(info, choice.taskset, "test", level, None)
    size = _UNBOUNDED if tasks.size is None else tasks.size
    first = int(generator_for("play", choice.seed, number).integers(size)) if size else 0
    for place in range(min(size, _MOST_SEARCHED)):
        task_id = tasks.task_id((first + place) % size)
        if choice.template and not parse_address(task_id).template.startswith(choice.template):
            continue
        if _language_of(tasks.get(task_id)) in (None, choice.language):
            return task_id
    raise UsageError(_none_found(tasks, choice))


def _language_of(task: Task) -> str | None:
    """Return the language of a task or of its world; None if it comes in one only."""
    world = task.params.get("world")
    own = world.get("language") if isinstance(world, dict) else None
    return cast("str | None", task.params.get("language", own))


def _none_found(tasks: TaskSet, choice: TaskChoice) -> str:
    wanted = [f"language {choice.language!r}"]
    if choice.template:
        wanted.insert(0, f"a template {choice.template!r}…")
    return (
        f"{tasks.name} has no task with {' and '.join(wanted)}"
        if tasks.size != 0
        else (f"{tasks.name} has no tasks; choose another split, level or task set")
    )
