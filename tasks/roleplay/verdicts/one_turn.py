"""The common part of sources whose tasks are one question to a judge."""

from abc import abstractmethod
from typing import Any

from hexathlon.tasks.roleplay.assembling import canary
from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.source import TaskAddress
from hexathlon.tasks.strata import StratifiedSource
from hexathlon.tasks.task import Check, Level, Limits, Split, Task

__all__ = ["OneTurnSource"]


class OneTurnSource(StratifiedSource):
    """Tasks of one turn; all templates have the same single level.

    Attributes:
        check: Name of the verifier.
    """

    family = "roleplay"
    version = "1"
    check: str

    def size(self, split: Split, level: Level | None = None) -> int | None:
        """Return the number of tasks in a split; there are none at other levels."""
        return super().size(split, level) if self.strata_of(level) else 0

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Build one task; the same id and salt give the same task everywhere.

        Raises:
            UnknownTask: If the template, level or index does not exist, or the salt is missing.
        """
        address = self.checked(task_id, salt)
        seed = derive_seed(self.name, str(address), salt or "")
        instruction, params, truth = self.content(address, seed)
        return Task(
            id=str(address), family=self.family, generator=self.name, version=self.version,
            level=address.level, split=address.split, seed=seed, instruction=instruction,
            params=params, limits=Limits(turns=1), checks=(Check(name=self.check, params=truth),),
            canary=canary(self.name, seed),
        )  # fmt: skip

    @abstractmethod
    def content(
        self, address: TaskAddress, seed: int
    ) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """Return a task's instruction, parameters and truth."""
