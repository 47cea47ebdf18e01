"""The tables of a recipe that configure the pipeline's stages."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hexathlon.baselines.pipeline.catalogue import (
    ALLOCATORS,
    HINTS,
    REPLAYS,
    SAMPLERS,
    STRUCTURES,
)
from hexathlon.baselines.pipeline.replay import Memory
from hexathlon.baselines.pipeline.structures import ForkPoint
from hexathlon.baselines.pipeline.task_statistics import TaskStatistics
from hexathlon.tasks.seeding import generator_for

__all__ = ["GenerateTable", "PartTable", "RecipeTable", "ReplayTable"]


class RecipeTable(BaseModel):
    """Base of a recipe's tables: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PartTable(RecipeTable):
    """A registered part with its parameters."""

    name: str
    parameters: dict[str, Any] = Field(default_factory=dict)


class GenerateTable(RecipeTable):
    """The generate stage: tasks, rollouts per task, splits and hints."""

    sampler: PartTable = PartTable(name="first")
    """Chooses a step's tasks among candidates by estimates of their difficulty."""

    candidates: int = Field(default=1, ge=1)
    """Candidates per chosen task."""

    allocator: PartTable = PartTable(name="equal")
    """Divides the step's rollouts, `groups` times `members`, among its tasks."""

    structure: PartTable = PartTable(name="independent")
    """Where the rollouts of a group split."""

    hint: PartTable = PartTable(name="none")
    """Number of the oracle's first actions that a task's rollouts start from."""

    @model_validator(mode="after")
    def _exist(self) -> "GenerateTable":
        SAMPLERS.resolve(self.sampler.name, self.sampler.parameters)
        ALLOCATORS.resolve(self.allocator.name, self.allocator.parameters)
        HINTS.resolve(self.hint.name, self.hint.parameters)
        STRUCTURES.resolve(self.structure.name, self.structure.parameters)
        # Trial calls: bad values raise here rather than during the run.
        self.splits()
        HINTS[self.hint.name](0.5, 4, **self.hint.parameters)
        SAMPLERS[self.sampler.name](
            ["a task"], TaskStatistics(), 1, generator_for("trial"), **self.sampler.parameters
        )
        return self

    def splits(self) -> tuple[ForkPoint, ...]:
        """Return where rollouts split."""
        return STRUCTURES[self.structure.name](**self.structure.parameters)


class ReplayTable(RecipeTable):
    """Replay of rollouts from earlier steps."""

    name: str = "none"
    parameters: dict[str, Any] = Field(default_factory=dict)
    groups: int = Field(default=256, ge=1)
    """Largest number of stored groups."""

    tasks: int = Field(default=4_096, ge=1)
    """Largest number of tasks with a stored success."""

    @model_validator(mode="after")
    def _exists(self) -> "ReplayTable":
        REPLAYS.resolve(self.name, self.parameters)
        REPLAYS[self.name]([], Memory(), generator_for("trial"), **self.parameters)
        return self
