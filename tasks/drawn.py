"""Sources of one template whose tasks are drawn: an author writes `draw` and the scripts.

`build` and `address` are provided. Splits must differ in more than their seeds, so `draw` takes its
values from the split's own share, see `own_share`.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np

from hexathlon.tasks.errors import UnknownTask
from hexathlon.tasks.seeding import derive_seed, generator_for
from hexathlon.tasks.source import TaskAddress, TaskSource, parse_address
from hexathlon.tasks.task import SPLITS, Check, Level, Limits, Split, Task, ToolSchema

__all__ = ["DrawnSource", "own_share"]

_Value = TypeVar("_Value")


def own_share(values: Sequence[_Value], split: Split) -> Sequence[_Value]:
    """Return every fourth value, different ones for each split, so that splits share none."""
    return values[SPLITS.index(split) :: len(SPLITS)]


class DrawnSource(TaskSource):
    """A source of one template.

    Subclasses set `name`, `version` and `tools`, and implement `draw` and `oracle`. The verifier
    registered under the source's name receives the truth as its parameters.
    """

    tools: ClassVar[Sequence[ToolSchema]]
    template: ClassVar[str] = "drawn"
    levels: ClassVar[Sequence[Level]] = ("easy",)
    limits: ClassVar[Limits] = Limits()
    sizes: ClassVar[Mapping[Split, int]] = {"dev": 100, "test": 100, "heldout": 100}
    """Tasks in the bounded splits; train is unbounded."""

    @abstractmethod
    def draw(
        self, split: Split, level: Level, rng: np.random.Generator
    ) -> tuple[str, dict[str, Any]]:
        """Draw a task.

        Args:
            split: The split, whose own share of the values is to be used.
            level: The level.
            rng: The task's generator.

        Returns:
            The instruction, and the truth as JSON: both the task's `params` and its check's.
        """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not hasattr(cls, "family") and hasattr(cls, "name"):
            cls.family = cls.name

    def size(self, split: Split, level: Level | None = None) -> int | None:
        """Return the number of tasks in the split, or None for train."""
        if level is not None and level not in self.levels:
            return 0
        whole = self.sizes.get(split)
        return whole if whole is None or level is None else whole // len(self.levels)

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        """Return the id of the task at `index`, cycling through the levels."""
        number, place = divmod(index, len(self.levels)) if level is None else (index, 0)
        chosen = level or self.levels[place]
        return str(TaskAddress(self.name, self.template, chosen, split, number))

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Build one task.

        Raises:
            UnknownTask: If the template or level does not exist, or the salt is missing.
        """
        at = parse_address(task_id)
        if (at.source, at.template) != (self.name, self.template) or at.level not in self.levels:
            raise UnknownTask(task_id, f"{self.name} has tasks such as {self.address('dev', 0)}")
        if (at.split == "heldout") != (salt is not None):
            raise UnknownTask(
                task_id, "the held-out split requires a salt, the other splits take none"
            )
        seed = derive_seed(self.name, task_id, salt or "")
        instruction, truth = self.draw(at.split, at.level, generator_for(self.name, seed))
        return Task(
            id=task_id,
            family=self.family,
            generator=self.name,
            version=self.version,
            level=at.level,
            split=at.split,
            seed=seed,
            instruction=instruction,
            params=truth,
            tools=tuple(self.tools),
            limits=self.limits,
            checks=(Check(name=self.name, params=truth),),
            canary=f"{self.name}-{derive_seed('canary', seed):016x}",
        )
