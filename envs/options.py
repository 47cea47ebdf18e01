"""Options of `reset`, and the choices of `make`, checked before anything is built."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from gymnasium.error import Error
from pydantic import ValidationError

from hexathlon.envs.errors import UnknownOption
from hexathlon.tasks.errors import TaskError
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import parse_address
from hexathlon.tasks.task import LEVELS, SPLITS, Level, Limits, Split, Task
from hexathlon.tasks.taskset import shared_taskset
from hexathlon.tasks.validation import choice_problem, explain

__all__ = ["check_choices", "check_limits", "check_options", "check_seed", "choose_task"]

_TEXTS = ("task", "taskset", "split", "level", "salt")
_OPTIONS = ("task", "taskset", "split", "level", "index", "salt")
_UNBOUNDED_DRAW = 1 << 24


def check_choices(split: object, level: object) -> None:
    """Check the names of a split and a level.

    Raises:
        ValueError: If there is no such split or level.
    """
    problem = choice_problem("split", split, SPLITS)
    if not problem and level is not None:
        problem = choice_problem("level", level, LEVELS)
    if problem:
        raise ValueError(problem)


def check_limits(limits: object) -> dict[str, Any]:
    """Return overrides of a task's limits as a dictionary.

    Raises:
        ValueError: If a limit is unknown or out of range.
    """
    if not isinstance(limits, Mapping):
        raise ValueError(f"limits must be a mapping such as {{'turns': 5}}, got {limits!r:.80}")
    if not limits:
        return {}
    try:
        Limits(**limits)
    except (ValidationError, TypeError) as error:
        said = explain(error, Limits.model_fields) if isinstance(error, ValidationError) else error
        raise ValueError(f"limits: {said}") from None
    return dict(limits)


def check_options(options: object) -> None:
    """Check the options of a reset.

    Raises:
        UnknownOption: If a name is unknown.
        ValueError: If a value has the wrong type, or options contradict each other.
    """
    if not isinstance(options, Mapping):
        raise ValueError(f"options must be a dictionary, got {options!r:.80}")
    for name, value in options.items():
        if name not in _OPTIONS:
            raise UnknownOption(str(name), _OPTIONS)
        if name in _TEXTS and value is not None and not isinstance(value, str):
            raise ValueError(f"option {name!r} must be a string, got {value!r:.80}")
    if options.get("task") is not None and len(options) > 1 + ("salt" in options):
        raise ValueError(f"'task' names one task; drop the other options of {dict(options)}")
    index = options.get("index", 0)
    if isinstance(index, bool) or not hasattr(index, "__index__") or index < 0:
        raise ValueError(f"option 'index' must be a whole number of at least 0, got {index!r:.80}")


def choose_task(
    options: Mapping[str, Any], taskset: str, split: Split, level: Level | None, seed: int
) -> Task:
    """Return the task that the options name, or one drawn by the seed.

    Args:
        options: `task` (an id), or any of `taskset`, `split`, `level`, `index`; `salt` for a
            held-out round.
        taskset: Name of the task source, if the options name none.
        split: Split, if the options name none.
        level: Level, if the options name none; None for all.
        seed: Draws the task, if the options leave several.

    Raises:
        UnknownOption: If a name is unknown.
        ValueError: If a value has the wrong type, or options contradict each other.
        TaskError: If there is no such task.
    """
    if options.__class__ is dict and len(options) == 1:  # the usual cases, checked by their types
        task_id, index = options.get("task"), options.get("index")
        if task_id.__class__ is str:
            return _named_task(task_id, None)
        if index.__class__ is int and index >= 0:
            return shared_taskset(taskset, split, level, None)[index]
    check_options(options)
    salt = options.get("salt")
    task_id = options.get("task")
    if task_id is not None:
        return _named_task(task_id, salt)
    split = options.get("split", "heldout" if salt else split)
    level = options.get("level", level)
    tasks = shared_taskset(options.get("taskset", taskset), split, level, salt)
    if "index" in options:
        return tasks[options["index"]]
    size = tasks.size if tasks.size is not None else _UNBOUNDED_DRAW
    if size == 0:
        raise TaskError(f"{tasks.name} has no tasks; choose another split or level")
    draw = generator_for("task", tasks.name, seed)
    return tasks[int(draw.integers(size))]


def _named_task(task_id: str, salt: str | None) -> Task:
    source, split = _home_of(task_id)
    return shared_taskset(source, split, None, salt).get(task_id)


@lru_cache(maxsize=4096)
def _home_of(task_id: str) -> tuple[str, Split]:
    """Return the names of a task's source and split."""
    address = parse_address(task_id)
    return address.source, address.split


def check_seed(seed: object) -> None:
    """Raise `gymnasium.error.Error` unless the seed is a non-negative integer."""
    if seed.__class__ is int and seed >= 0:
        return
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise Error(f"a seed is a whole number of at least 0, got {seed!r}")
