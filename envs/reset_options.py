"""The options of `reset`: which task an episode plays."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.error import Error

from hexathlon.envs.errors import UnknownOption
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import parse_address
from hexathlon.tasks.task import Level, Split, Task
from hexathlon.tasks.taskset import shared_taskset

__all__ = ["check_seed", "choose_task"]

_OPTIONS = ("task", "taskset", "split", "level", "index", "salt")
_UNBOUNDED_DRAW = 1 << 24


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
        UnknownOption: If `options` has an unknown key.
        ValueError: If `task` stands beside other options than `salt`.
    """
    for name in options:
        if name not in _OPTIONS:
            raise UnknownOption(name, _OPTIONS)
    salt = options.get("salt")
    if "task" in options:
        if len(options) > 1 + ("salt" in options):
            raise ValueError(f"'task' names one task; drop the other options of {options}")
        address = parse_address(options["task"])
        named = shared_taskset(address.source, address.split, None, salt)
        return named.get(options["task"])
    split = options.get("split", "heldout" if salt else split)
    level = options.get("level", level)
    tasks = shared_taskset(options.get("taskset", taskset), split, level, salt)
    if "index" in options:
        return tasks[options["index"]]
    size = tasks.size if tasks.size is not None else _UNBOUNDED_DRAW
    draw = generator_for("task", tasks.name, seed)
    return tasks[int(draw.integers(size))]


def check_seed(seed: object) -> None:
    """Raise `gymnasium.error.Error` unless the seed is a non-negative integer."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise Error(f"a seed is a whole number of at least 0, got {seed!r}")
