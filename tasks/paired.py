"""Sources whose tasks come in pairs: ids, splits and levels.

The tasks at indices 2k and 2k + 1 share a template; where a template has twins, they differ in the
deciding fact only. What a pair is about, and which side is which, is left to the source.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from hexathlon.tasks.errors import UnknownTask
from hexathlon.tasks.source import TaskAddress, TaskSource, parse_address
from hexathlon.tasks.task import LEVELS, Level, Split

__all__ = ["PairedSource"]


class PairedSource(TaskSource):
    """A source with fixed numbers of tasks by split, spread evenly over levels and templates."""

    sizes: ClassVar[Mapping[Split, int | None]]
    """Number of tasks of each split over all levels; None if it is unbounded."""

    @abstractmethod
    def templates_of(self, level: Level) -> Sequence[str]:
        """Return the names of the templates with tasks of a level, in a fixed order."""

    def size(self, split: Split, level: Level | None = None) -> int | None:
        """Return the number of tasks in the split, or None if it is unbounded."""
        whole = self.sizes[split]
        return whole if whole is None or level is None else whole // len(LEVELS)

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        """Return the id of the task at `index`; a long prefix covers all levels and templates."""
        chosen = level or LEVELS[index % len(LEVELS)]
        number = index if level else index // len(LEVELS)
        names = self.templates_of(chosen)
        return str(TaskAddress(self.name, names[number // 2 % len(names)], chosen, split, number))

    def checked(self, task_id: str, salt: str | None) -> TaskAddress:
        """Parse the id of a task.

        Raises:
            UnknownTask: If there is no such task, or the salt is missing or not needed.
        """
        at = parse_address(task_id)
        known = any(at.template in self.templates_of(level) for level in LEVELS)
        if at.source != self.name or not known:
            raise UnknownTask(task_id, f"{self.name} has no template {at.template!r}")
        size = self.size(at.split, at.level)
        if size is not None and at.index >= size:
            raise UnknownTask(task_id, f"{at.split} has {size} {at.level} tasks")
        if (at.split == "heldout") != (salt is not None):
            raise UnknownTask(task_id, "the held-out split, and only it, needs a salt")
        right = self.address(at.split, at.index, at.level)
        if right != task_id:
            raise UnknownTask(task_id, f"the task at this index is {right}")
        return at
