"""Errors about tasks: one short class each, saying what came and what was expected."""

import difflib
from collections.abc import Iterable

__all__ = ["GenerationExhausted", "MissingData", "TaskError", "UnknownTask", "UnknownTaskSource"]


class TaskError(Exception):
    """Something is wrong with a task, a task source or a request for one."""


class UnknownTask(TaskError):
    """No task has this id."""

    def __init__(self, task_id: str, reason: str) -> None:
        super().__init__(
            f"there is no task {task_id!r}: {reason}. An id reads "
            "'generator/template/level/split/index', for example 'sql/anti_join/hard/test/00042'"
        )


class UnknownTaskSource(TaskError):
    """No generator or loader has this name."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        super().__init__(f"there is no task source {name!r}{hint} Known: {', '.join(names)}")


class MissingData(TaskError):
    """A public data set that the user must bring is not where it was looked for."""


class GenerationExhausted(TaskError):
    """A generator found no acceptable instance within its number of tries."""
