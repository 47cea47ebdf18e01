"""Recipes: one TOML file that says what is trained, on what, how and for how long.

Every table of a recipe is the configuration of one component. `scale` is the one dial: it
multiplies the sizes that make a run longer and better, and nothing else.
"""

import copy
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field, ValidationError, field_validator, model_validator

from hexathlon.baselines.algorithms.catalogue import BOUNDS, ESTIMATORS
from hexathlon.baselines.learner.critic import CriticConfig
from hexathlon.baselines.learner.learner import LearnerConfig
from hexathlon.baselines.pipeline.catalogue import ALLOCATORS, FILTERS, SHAPINGS
from hexathlon.baselines.pipeline.structures import leaves
from hexathlon.baselines.pipeline.tables import GenerateTable, RecipeTable, ReplayTable
from hexathlon.baselines.pipeline.tasks_table import (
    TasksTable,
    check_mixture,
    largest_share,
)
from hexathlon.baselines.training.tables import (
    CloneTable,
    CreditTable,
    EngineTable,
    EvaluationTable,
    LearnTable,
    PolicyTable,
    RolloutTable,
)

__all__ = ["Recipe", "RecipeError", "load_recipe", "recipe_names", "recipe_of", "recipe_path"]

RECIPES = Path(__file__).resolve().parents[1] / "recipes"


class RecipeError(Exception):
    """A recipe cannot be read, or names what does not exist."""


class Recipe(RecipeTable):
    """A whole training run."""

    name: str
    scale: float = Field(default=1.0, gt=0)
    seed: int = 0
    steps: int = Field(default=50, ge=0)
    save_every: int = Field(default=10, ge=1)
    ranks: int = Field(default=1, ge=1, le=64)
    """Processes that train together, one core each; part of what makes a run repeat bit for
    bit."""

    tasks: tuple[TasksTable, ...] = Field(default_factory=lambda: (TasksTable(),), min_length=1)
    """One table, or a list of them: a mixture on which one policy is trained."""

    policy: PolicyTable = Field(default_factory=PolicyTable)
    clone: CloneTable = Field(default_factory=CloneTable)
    rollout: RolloutTable = Field(default_factory=RolloutTable)
    engine: EngineTable = Field(default_factory=EngineTable)
    generate: GenerateTable = Field(default_factory=GenerateTable)
    replay: ReplayTable = Field(default_factory=ReplayTable)
    credit: CreditTable = Field(default_factory=CreditTable)
    learn: LearnTable = Field(default_factory=LearnTable)
    critic: CriticConfig | None = None
    """Needed by the estimators `gae` and `gae_turns`."""

    evaluation: EvaluationTable = Field(default_factory=EvaluationTable)
    control: Literal["none", "no_update", "shuffled_rewards"] = "none"
    """Runs that must not learn: a learning rate of 0, or rewards dealt out at random."""

    @field_validator("tasks", mode="before")
    @classmethod
    def _as_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, (dict, TasksTable)) else value

    @field_validator("tasks")
    @classmethod
    def _told_apart(cls, tables: tuple[TasksTable, ...]) -> tuple[TasksTable, ...]:
        check_mixture(tables)
        return tables

    @model_validator(mode="after")
    def _rollouts_divide(self) -> "Recipe":
        wide = leaves(self.generate.splits())
        if self.rollout.members % wide:
            raise ValueError(
                f"the structure makes {wide} rollouts of one, so rollout.members is a multiple of "
                f"{wide}, got {self.rollout.members}"
            )
        part = self.generate.allocator
        ALLOCATORS[part.name](np.full(1, 0.5), self.rollout.members // wide, **part.parameters)
        return self

    @model_validator(mode="after")
    def _pools_suffice(self) -> "Recipe":
        groups = self._groups_scaled()
        for number, table in enumerate(self.tasks):
            wanted = largest_share(self.tasks, number, groups)
            if 0 < table.pool < wanted:
                raise ValueError(
                    f"a step takes up to {wanted} tasks of {table.label}, more than its pool of "
                    f"{table.pool}"
                )
        return self

    def _groups_scaled(self) -> int:
        return max(1, round(self.rollout.groups * self.scale))

    @model_validator(mode="after")
    def _parts_exist(self) -> "Recipe":
        ESTIMATORS.resolve(self.credit.estimator.name, self.credit.estimator.parameters)
        for part in self.credit.shapings:
            SHAPINGS.resolve(part.name, part.parameters)
        for part in self.credit.filters:
            FILTERS.resolve(part.name, part.parameters)
        BOUNDS.resolve(self.learn.bounds.name, self.learn.bounds.parameters)
        self.learn.objective.check()
        if self.credit.estimator.name.startswith("gae") != (self.critic is not None):
            raise ValueError("a critic and the estimators gae and gae_turns need each other")
        if self.engine.kind == "vllm" and self.ranks > 1:
            raise ValueError(f"a vLLM engine serves one rank, not {self.ranks}: set ranks = 1")
        return self

    @model_validator(mode="after")
    def _enough_unseen(self) -> "Recipe":
        wanted = self.evaluation.tasks
        for table in self.tasks:
            found = len(table.addresses("dev", wanted))
            if found < wanted:
                raise ValueError(
                    f"{table.source} has {found} dev tasks of this kind, the recipe's evaluation "
                    f"wants {wanted}: lower evaluation.tasks"
                )
        return self

    def scaled(self) -> "Recipe":
        """Return the recipe with its dial applied: more demonstrations, cloning, groups, steps."""
        if self.scale == 1.0:
            return self
        clone = self.clone.model_copy(
            update={
                "demonstrations": round(self.clone.demonstrations * self.scale),
                "settings": replace(
                    self.clone.settings, steps=round(self.clone.settings.steps * self.scale)
                ),
            }
        )
        rollout = self.rollout.model_copy(update={"groups": self._groups_scaled()})
        steps = round(self.steps * self.scale)
        return self.model_copy(
            update={"scale": 1.0, "clone": clone, "rollout": rollout, "steps": steps}
        )

    def starting(self, folder: Path) -> Path:
        """Return the checkpoint directory that a run in a folder starts from."""
        return Path(self.policy.checkpoint) if self.policy.checkpoint else folder / "start"

    def learner_config(self) -> LearnerConfig:
        """Return the learner's part."""
        optimiser = self.learn.optimiser
        if self.control == "no_update":
            optimiser = replace(optimiser, learning_rate=0.0, matrix_learning_rate=0.0)
        return LearnerConfig(
            optimiser=optimiser,
            objective=self.learn.objective,
            bounds=self.learn.bounds.name,
            bounds_parameters=self.learn.bounds.parameters,
            token_budget=self.learn.token_budget,
            temperature=self.rollout.temperature,
            minibatches=self.learn.minibatches,
            epochs=self.learn.epochs,
            checkpointing=self.learn.checkpointing,
            precision=self.learn.precision,
        )


def recipe_names() -> list[str]:
    """Return the names of the recipes that come with the package."""
    return sorted(path.stem for path in RECIPES.glob("*.toml"))


def recipe_path(spec: str) -> Path:
    """Return the file of a recipe given by name or by path.

    Raises:
        RecipeError: There is none.
    """
    for path in (Path(spec), RECIPES / f"{spec}.toml"):
        if path.is_file():
            return path
    raise RecipeError(
        f"there is no recipe {spec!r}; give a TOML file or one of {', '.join(recipe_names())}"
    )


def load_recipe(spec: str, changes: dict[str, Any] | None = None) -> Recipe:
    """Read a recipe.

    Args:
        spec: A name or a path.
        changes: Values by dotted key that replace the file's, as `rollout.groups`.

    Raises:
        RecipeError: It cannot be read, or a key or value is not what is expected.
    """
    path = recipe_path(spec)
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RecipeError(f"{path} cannot be read: {error}") from None
    try:
        return recipe_of(table, changes)
    except RecipeError as error:
        raise RecipeError(f"{path}: {error}") from None


def recipe_of(table: dict[str, Any], changes: Mapping[str, Any] | None = None) -> Recipe:
    """Return the recipe that a table describes.

    Args:
        table: As read from TOML.
        changes: Values by dotted key that replace the table's, as `rollout.groups`.

    Raises:
        RecipeError: A key or value is not what is expected.
    """
    table = copy.deepcopy(table)
    for key, value in (changes or {}).items():
        _put(table, key, value)
    try:
        return Recipe(**table)
    except ValidationError as error:
        raise RecipeError(_first(error)) from None


def _put(table: dict[str, Any], key: str, value: Any) -> None:
    *places, last = key.split(".")
    holder: Any = table
    for place in places:
        if isinstance(holder, list):
            holder = holder[_index(key, place, holder)]
        else:
            holder = holder.setdefault(place, {})
        if not isinstance(holder, (dict, list)):
            raise RecipeError(f"{key}: {place} is {holder!r} and holds no keys")
    if isinstance(holder, list):
        holder[_index(key, last, holder)] = value
    else:
        holder[last] = value


def _index(key: str, place: str, items: list[Any]) -> int:
    if not place.isdigit() or int(place) >= len(items):
        raise RecipeError(f"{key}: {place!r} is no number from 0 to {len(items) - 1}")
    return int(place)


def _first(error: ValidationError) -> str:
    found = error.errors()[0]
    place = ".".join(str(part) for part in found["loc"])
    if found["type"] == "value_error":  # A sentence of ours, which says what came.
        said = str(found["ctx"]["error"])
    else:
        said = f"{found['msg']} (found {found['input']!r:.80})"
    return f"{place}: {said}" if place else said
