"""Errors about tasks: one short class each; messages state what was received and expected."""

import difflib
from collections.abc import Iterable

__all__ = [
    "GenerationExhausted",
    "InvalidRecord",
    "MissingData",
    "TaskError",
    "UnknownTask",
    "UnknownTaskSource",
]


class TaskError(Exception):
    """Base class: an invalid task, task source or request for one."""


class InvalidRecord(TaskError):
    """A task, check, limit, tool schema or verdict has an invalid field."""


class UnknownTask(TaskError):
    """No task has this id."""

    def __init__(self, task_id: str, reason: str) -> None:
        super().__init__(
            f"there is no task {task_id!r}: {reason}. An id reads "
            "'generator/template/level/split/index', for example 'sql/anti_join/hard/test/00042'"
        )


class UnknownTaskSource(TaskError):
    """No task source is registered under this name."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        super().__init__(f"there is no task source {name!r}{hint} Known: {', '.join(names)}")


class MissingData(TaskError):
    """A public data set that the user must provide was not found."""


class GenerationExhausted(TaskError):
    """A generator found no acceptable instance within its maximum number of attempts."""
