"""Choice and order of tasks for `hexathlon play`, and one session per task."""

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
from hexathlon.envs.registry import EnvironmentInfo, short
from hexathlon.tasks.errors import MissingData, TaskError
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import has_template
from hexathlon.tasks.task import LEVELS, Level, Split, Task
from hexathlon.tasks.taskset import TaskSet
from hexathlon_cli.output import flush_output, note, print_text
from hexathlon_cli.playing.jsonl import LineGame, append_verdicts
from hexathlon_cli.playing.session import Session

__all__ = ["TaskChoice", "TaskQueue", "line_command", "play_command", "shell_language"]

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


class TaskQueue:
    """The tasks of one command, in the order of play; none is drawn twice.

    Args:
        info: The environment.
        choice: The tasks to draw from, or the single task that is played every time.
    """

    def __init__(self, info: EnvironmentInfo, choice: TaskChoice) -> None:
        self._choice = choice
        self._tasks = None if choice.task else _tasks_of(info, choice)
        self._drawn: set[str] = set()

    def at_most(self, count: int) -> int:
        """Return how many of `count` tasks there are; a note says if there are fewer."""
        tasks, template = self._tasks, self._choice.template
        if tasks is None or tasks.size is None:
            return count
        ids = map(tasks.task_id, range(tasks.size))
        size = sum(has_template(task_id, template) for task_id in ids) if template else tasks.size
        if not 0 < size < count:
            return count
        kind = f" of templates {template!r}…" if template else ""
        note(
            f"{tasks.name} has {size:,} tasks{kind}, fewer than the {count:,} requested; "
            "all of them are played"
        )
        return size

    def options(self, number: int) -> dict[str, Any]:
        """Return the reset options of the number-th task.

        Raises:
            UsageError: If there is no such task, or all were drawn.
        """
        if self._tasks is None:
            return {"task": self._choice.task}
        task_id = self._draw(self._tasks, number)
        self._drawn.add(task_id)
        return {"task": task_id}

    def _draw(self, tasks: TaskSet, number: int) -> str:
        choice = self._choice
        size = _UNBOUNDED if tasks.size is None else tasks.size
        first = int(generator_for("play", choice.seed, number).integers(size)) if size else 0
        for place in range(min(size, _MOST_SEARCHED + len(self._drawn))):
            task_id = tasks.task_id((first + place) % size)
            if task_id in self._drawn or not has_template(task_id, choice.template):
                continue
            if _language_of(tasks.get(task_id)) in (None, choice.language):
                return task_id
        raise UsageError(_none_found(tasks, choice, further=bool(self._drawn)))


def play_command(env: str, choice: TaskChoice) -> int:
    """Play tasks in a terminal until the person stops."""
    info = find_environment(env)
    choice.check(info)
    with contextlib.suppress(ImportError):
        importlib.import_module("readline")  # `input` then has a history and can be edited
    with _opened(info) as world:
        queue = TaskQueue(info, choice)
        _, details = world.reset(seed=choice.seed, options=queue.options(0))
        number = 1
        while Session(world, details).play():
            _, details = world.reset(options=queue.options(number))
            number += 1
    return ExitCode.FINE


def line_command(env: str, choice: TaskChoice, count: int, verdicts: Path | None) -> int:
    """Play tasks through lines of JSON on standard input and output."""
    info = find_environment(env)
    choice.check(info)
    if verdicts is not None:
        append_verdicts(verdicts)
    with _opened(info) as world:
        queue = TaskQueue(info, choice)
        game = LineGame(world, queue.options, queue.at_most(count), choice.seed, verdicts)
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


def _tasks_of(info: EnvironmentInfo, choice: TaskChoice) -> TaskSet:
    level = cast("Level | None", choice.level)
    split = cast("Split", choice.split or "train")
    tasks = open_taskset(info, choice.taskset, split, level, None)
    if tasks.size == 0 and choice.split is None:
        return open_taskset(info, choice.taskset, "test", level, None)
    return tasks


def _language_of(task: Task) -> str | None:
    """Return the language of a task or of its world; None if it comes in one only."""
    world = task.params.get("world")
    own = world.get("language") if isinstance(world, dict) else None
    return cast("str | None", task.params.get("language", own))


def _none_found(tasks: TaskSet, choice: TaskChoice, *, further: bool) -> str:
    wanted = [f"language {choice.language!r}"]
    if choice.template:
        wanted.insert(0, f"a template {choice.template!r}…")
    return (
        f"{tasks.name} has no {'further ' * further}task with {' and '.join(wanted)}"
        if tasks.size != 0
        else (f"{tasks.name} has no tasks; choose another split, level or task set")
    )
