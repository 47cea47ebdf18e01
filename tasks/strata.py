"""Sources that cycle through strata (template and level) and number tasks within each stratum."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from hexathlon.tasks.errors import UnknownTask
from hexathlon.tasks.source import TaskAddress, TaskSource, parse_address
from hexathlon.tasks.task import Level, Split

__all__ = ["StratifiedSource"]


class StratifiedSource(TaskSource):
    """A source with a fixed number of tasks per stratum; the train split is unbounded.

    Attributes:
        per_stratum: Number of tasks per template and level, for each bounded split.
        strata: Pairs of template and level, in round-robin order.
    """

    per_stratum: ClassVar[Mapping[Split, int]]
    strata: Sequence[tuple[str, Level]]

    def size(self, split: Split, level: Level | None = None) -> int | None:
        """Return the number of tasks in a split, or None for the unbounded train split."""
        return None if split == "train" else self.per_stratum[split] * len(self.strata_of(level))

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        """Return the id of the task at `index`, in round-robin order over the strata."""
        strata = self.strata_of(level)
        template, own = strata[index % len(strata)]
        return str(TaskAddress(self.name, template, own, split, index // len(strata)))

    def strata_of(self, level: Level | None) -> list[tuple[str, Level]]:
        """Return the strata of one level, or all strata."""
        return [item for item in self.strata if level in (None, item[1])]

    def limit_of(self, address: TaskAddress) -> int | None:
        """Return the number of tasks of one template, level and split; None if it is unbounded."""
        return self.per_stratum.get(address.split)

    def checked(self, task_id: str, salt: str | None) -> TaskAddress:
        """Return the address of an existing task.

        Raises:
            UnknownTask: If the template, level or index does not exist, or the salt is missing.
        """
        address = parse_address(task_id)
        if address.source != self.name or task_id != str(address):
            raise UnknownTask(task_id, f"it does not have the form of {self.name!r} ids")
        if (address.template, address.level) not in self.strata:
            raise UnknownTask(task_id, f"{address.template!r} has no level {address.level!r}")
        limit = self.limit_of(address)
        if limit is not None and address.index >= limit:
            raise UnknownTask(task_id, f"{address.split} holds {limit} tasks of each kind")
        if (address.split == "heldout") != (salt is not None):
            raise UnknownTask(
                task_id, "the held-out split requires a salt, the other splits take none"
            )
        return address
