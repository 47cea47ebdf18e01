"""Lists of tasks, as other trainers ask for them: splits, numbers, rows by index."""

from collections.abc import Iterable
from typing import Any, ClassVar, get_args

from hexathlon.baselines.harness.environments import find_environment, open_taskset
from hexathlon.baselines.harness.errors import UsageError, near_miss
from hexathlon.tasks.task import Level, Split
from hexathlon.tasks.taskset import TaskSet, build_task

__all__ = ["TRAIN_TASKS", "Discovery", "TaskListing", "offered_tools"]

TRAIN_TASKS = 100_000
"""Number of tasks listed for an unbounded split."""

_LISTED = 1000
_EXAMINED = 64


class TaskListing:
    """The tasks of an event.

    Rows name tasks by their ids, which contain template and level: they are for trainers. What an
    agent sees of a task is its opaque id.

    Args:
        event: Id, or short name such as `SQL`.
        taskset: Name of the task source; the event's own by default.
        level: Restricts the list to one level; None includes all.
        train_tasks: Number of tasks to list for an unbounded split.

    Raises:
        UsageError: If there is no such event or task set.
        EnvironmentUnavailable: If its extra or its data is missing.
    """

    def __init__(
        self,
        event: str,
        taskset: str | None = None,
        level: Level | None = None,
        train_tasks: int = TRAIN_TASKS,
    ) -> None:
        self._train_tasks = train_tasks
        info = find_environment(event)
        opened = {name: open_taskset(info, taskset, name, level, None)
                  for name in get_args(Split) if name != "heldout"}  # fmt: skip
        self._sets: dict[str, TaskSet] = {
            name: tasks for name, tasks in opened.items() if tasks.size != 0
        }

    def splits(self) -> list[str]:
        """Return the names of the splits that have tasks."""
        return list(self._sets)

    def size(self, split: str) -> int:
        """Return the number of tasks listed for a split."""
        size = self._set(split).size
        return self._train_tasks if size is None else size

    def row(self, split: str, index: int) -> dict[str, Any]:
        """Return the row of one task.

        Raises:
            IndexError: If the index is out of range.
        """
        if not 0 <= index < self.size(split):
            raise IndexError(f"{split} has {self.size(split)} tasks; there is no index {index}")
        return {"task": self._set(split).task_id(index), "split": split, "index": index}

    def rows(self, split: str, start: int | None, stop: int | None) -> list[dict[str, Any]]:
        """Return the rows of a range, as a slice of a list would."""
        return [self.row(split, at) for at in range(*slice(start, stop).indices(self.size(split)))]

    def tools(self, split: str) -> dict[str, dict[str, Any]]:
        """Return the tool schemas of the first tasks of a split together, by name."""
        return offered_tools(row["task"] for row in self.rows(split, 0, _EXAMINED))

    def _set(self, split: str) -> TaskSet:
        if split not in self._sets:
            raise UsageError(near_miss("split", split, list(self._sets)))
        return self._sets[split]


class Discovery:
    """The task routes of OpenEnv and of the Open Reward Standard, as methods of a class.

    Attributes:
        listing: The tasks to list; set by subclasses.
    """

    listing: ClassVar[TaskListing]

    @classmethod
    def list_splits(cls) -> list[str]:
        """Return the names of the splits."""
        return cls.listing.splits()

    @classmethod
    def list_tasks(cls, split: str) -> list[dict[str, Any]]:
        """Return the rows of a split, at most the first thousand."""
        return cls.listing.rows(split, 0, min(cls.listing.size(split), _LISTED))

    @classmethod
    def num_tasks(cls, split: str) -> int:
        """Return the number of tasks of a split."""
        return cls.listing.size(split)

    @classmethod
    def get_task(cls, split: str, index: int) -> dict[str, Any]:
        """Return one row."""
        return cls.listing.row(split, index)

    @classmethod
    def get_task_range(
        cls, split: str, start: int | None = None, stop: int | None = None
    ) -> list[dict[str, Any]]:
        """Return the rows of a range."""
        return cls.listing.rows(split, start, stop)


def offered_tools(tasks: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the tool schemas of several tasks together, by name."""
    return {tool.name: tool.model_dump() for task in tasks for tool in build_task(task).tools}
