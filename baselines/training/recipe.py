"""Recipes: one TOML file that configures a whole training run.

Each table of a recipe configures one component. `scale` multiplies only the sizes that make a run
longer and better.
"""

import copy
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field, ValidationError, field_validator, model_validator

from hexathlon.baselines.algorithms.catalogue import BOUNDS, ESTIMATORS, TOKEN_RULES
from hexathlon.baselines.learner.critic import CriticConfig
from hexathlon.baselines.learner.learner import LearnerConfig
from hexathlon.baselines.learner.preference import PreferenceConfig
from hexathlon.baselines.pipeline.catalogue import ALLOCATORS, FILTERS, SHAPINGS
from hexathlon.baselines.pipeline.structures import leaves
from hexathlon.baselines.pipeline.tables import (
    AsynchronyTable,
    GenerateTable,
    PaletteTable,
    RecipeTable,
    ReplayTable,
)
from hexathlon.baselines.pipeline.tasks_table import (
    TasksTable,
    check_mixture,
    largest_share,
)
from hexathlon.baselines.training.recipe_files import RecipeError, recipe_names, recipe_path
from hexathlon.baselines.training.tables import (
    CloneTable,
    ClusterTable,
    CreditTable,
    EngineTable,
    EvaluationTable,
    LearnerTable,
    LearnTable,
    PolicyTable,
    RolloutTable,
    SwarmTable,
)
from hexathlon.evaluators.settings_text import read_settings_text
from hexathlon.tasks.validation import explain, reason

__all__ = ["Recipe", "RecipeError", "load_recipe", "recipe_names", "recipe_of", "recipe_path"]


class Recipe(RecipeTable):
    """A whole training run."""

    name: str
    scale: float = Field(default=1.0, gt=0)
    seed: int = 0
    steps: int = Field(default=50, ge=0)
    save_every: int = Field(default=10, ge=1)
    ranks: int = Field(default=1, ge=1, le=64)
    """Number of learner processes, one core or GPU each; runs with equal numbers agree bit for
    bit."""

    tasks: tuple[TasksTable, ...] = Field(default_factory=lambda: (TasksTable(),), min_length=1)
    """One table, or a list of them: a mixture of events for one policy."""

    policy: PolicyTable = Field(default_factory=PolicyTable)
    clone: CloneTable = Field(default_factory=CloneTable)
    rollout: RolloutTable = Field(default_factory=RolloutTable)
    engine: EngineTable = Field(default_factory=EngineTable)
    cluster: ClusterTable = Field(default_factory=ClusterTable)
    asynchrony: AsynchronyTable = Field(default_factory=AsynchronyTable)
    generate: GenerateTable = Field(default_factory=GenerateTable)
    replay: ReplayTable = Field(default_factory=ReplayTable)
    palette: PaletteTable = Field(default_factory=PaletteTable)
    swarm: SwarmTable = Field(default_factory=SwarmTable)
    credit: CreditTable = Field(default_factory=CreditTable)
    learn: LearnTable = Field(default_factory=LearnTable)
    learner: LearnerTable = Field(default_factory=LearnerTable)
    critic: CriticConfig | None = None
    """Required by the estimators `gae` and `gae_turns`."""

    preference: PreferenceConfig | None = None
    """If set, the run trains a reward model on pairs of replies instead of the policy."""

    evaluation: EvaluationTable = Field(default_factory=EvaluationTable)
    control: Literal["none", "no_update", "shuffled_rewards"] = "none"
    """Control runs that must not learn: a learning rate of 0, or rewards permuted at random."""

    @field_validator("tasks", mode="before")
    @classmethod
    def _as_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, (dict, TasksTable)) else value

    @field_validator("tasks")
    @classmethod
    def _distinct(cls, tables: tuple[TasksTable, ...]) -> tuple[TasksTable, ...]:
        check_mixture(tables)
        return tables

    @model_validator(mode="after")
    def _rollouts_divide(self) -> "Recipe":
        leaf_count = leaves(self.generate.splits())
        if self.rollout.members % leaf_count:
            raise ValueError(
                f"rollout.members must be a multiple of {leaf_count}, since the structure splits "
                f"each rollout into {leaf_count}, got {self.rollout.members}"
            )
        if self.generate.growth() is not None and self.asynchrony.redundant:
            raise ValueError(
                f"the structure {self.generate.structure.name} grows a group as one tree, which "
                "cannot have redundant rollouts: set asynchrony.redundant = 0"
            )
        part, roots = self.generate.allocator, self.rollout.members // leaf_count
        ALLOCATORS[part.name](np.full(1, 0.5), roots, **part.parameters)
        return self

    @model_validator(mode="after")
    def _pools_suffice(self) -> "Recipe":
        groups = self._groups_scaled()
        for number, table in enumerate(self.tasks):
            most = largest_share(self.tasks, number, groups)
            if 0 < table.pool < most:
                raise ValueError(
                    f"the pool of {table.label} must have at least the {most} tasks of a step, got "
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
        for part in self.credit.tokens:
            TOKEN_RULES.resolve(part.name, part.parameters)
            if part.name == "asyppo" and (self.critic is None or self.critic.heads < 2):
                raise ValueError("asyppo compares the heads of a critic: set critic.heads to 2")
        BOUNDS.resolve(self.learn.bounds.name, self.learn.bounds.parameters)
        self.learn.objective.check()
        if self.credit.estimator.name.startswith("gae") != (self.critic is not None):
            raise ValueError(
                "a critic is required with the estimators gae and gae_turns, and only with them"
            )
        if self.engine.transfer == "adapter" and not self.policy.lora_rank:
            raise ValueError('transfer = "adapter" sends low-rank adapters: set policy.lora_rank')
        if self.engine.sleep and self.asynchrony.active:
            raise ValueError(
                "engine.sleep needs a synchronous run: in an asynchronous one, the engine samples "
                "while the learner updates"
            )
        if self.engine.transfer == "nccl" and self.policy.lora_rank:
            raise ValueError('transfer = "nccl" sends whole models: set transfer = "adapter"')
        return self

    @model_validator(mode="after")
    def _asynchrony_fits(self) -> "Recipe":
        table, objective = self.asynchrony, self.learn.objective
        if table.least > self.rollout.members:
            raise ValueError(
                f"asynchrony.least must be at most rollout.members, {self.rollout.members}, got "
                f"{table.least}"
            )
        if table.ratio not in ("auto", "none") and objective.proximal != "start":
            raise ValueError(
                f"asynchrony.ratio {table.ratio!r} sets the proximal policy: remove "
                f"learn.objective.proximal, got {objective.proximal!r}"
            )
        if self.generate.pruning is not None and (table.active or self.ranks > 1):
            raise ValueError(
                "generate.pruning compares the rollouts of a group while they are played: it needs "
                f"a synchronous run with one rank, got {self.ranks} and staleness "
                f"{table.staleness}"
            )
        if self.rollout.heat and (table.active or self.engine.kind != "local"):
            raise ValueError(
                "rollout.heat needs a local engine and a synchronous run, got engine "
                f"{self.engine.kind} and staleness {table.staleness}"
            )
        if table.update == "abort" and not table.active:
            raise ValueError(
                'asynchrony.update = "abort" needs requests in flight at an update: set '
                "asynchrony.staleness or over_provision"
            )
        return self

    @model_validator(mode="after")
    def _palette_fits(self) -> "Recipe":
        structure = self.generate.structure.name
        causes = [
            (self.engine.kind != "local", f"engine.kind = {self.engine.kind!r}: it takes no "
             "embeddings"),
            (self.asynchrony.active, "an asynchronous run: rollouts of several steps, thus of "
             "several shares, are in progress at a time"),
            (self.swarm.share or self.swarm.peers, "a swarm: peers read rollouts as text, and a "
             "prefix has none"),
            (self.learner.kind == "sharded", 'learner.kind = "sharded": the embedding that reads '
             "prefixes is not on one rank"),
            (self.generate.growth() is not None, f"the structure {structure}: a branch that begins "
             "anew would have another prefix than its tree"),
            (self.preference is not None, "preference, which has no rollouts"),
        ]  # fmt: skip
        cause = next((text for unfit, text in causes if unfit), "")
        if self.palette.active and cause:
            raise ValueError(f"palette.share cannot be combined with {cause}")
        return self

    @model_validator(mode="after")
    def _engine_pools_fit(self) -> "Recipe":
        for name, pool in self.cluster.engine_pools.items():
            if pool.more and self.engine.kind != "vllm":
                raise ValueError(
                    f"cluster.engine_pools.{name}.more has arguments for servers: set "
                    'engine.kind = "vllm"'
                )
        return self

    @model_validator(mode="after")
    def _endpoint_fits(self) -> "Recipe":
        if self.engine.kind != "tinker":
            return self
        unfit = {
            "asynchrony": self.asynchrony.active,
            "ranks": self.ranks > 1,
            "critic": self.critic is not None,
            "credit.tokens": bool(self.credit.tokens),
            "learner.kind": self.learner.kind == "sharded",
            "clone.demonstrations": self.clone.demonstrations > 0,
            "policy.checkpoint (for its tokenizer; it is missing)": not self.policy.checkpoint,
        }
        if names := [name for name, bad in unfit.items() if bad]:
            raise ValueError(f'engine.kind = "tinker" does not fit {", ".join(names)}')
        return self

    @model_validator(mode="after")
    def _preference_fits(self) -> "Recipe":
        if self.preference is not None and (self.ranks > 1 or self.engine.kind != "local"):
            raise ValueError(
                'preference trains in one process: set ranks = 1 and engine.kind = "local", got '
                f"{self.ranks} and {self.engine.kind!r}"
            )
        return self

    @model_validator(mode="after")
    def _learner_fits(self) -> "Recipe":
        if self.learner.kind != "sharded":
            return self
        cause = ""
        if self.learn.optimiser.kind == "muon":
            cause = 'Muon needs whole matrices on every rank: set learn.optimiser.kind = "adamw"'
        elif self.critic is not None and self.critic.trunk == "shared":
            cause = "a critic cannot read the states of a sharded policy: set critic.trunk = "
            cause += '"copy", which every rank holds as a whole'
        elif self.ratio in ("snapshot", "ewma"):
            cause = f"asynchrony.ratio {self.ratio!r} keeps whole copies of the policy: set "
            cause += '"a3po" or "none"'
        if cause:
            raise ValueError(f'learner.kind = "sharded": {cause}')
        return self

    @model_validator(mode="after")
    def _enough_unseen(self) -> "Recipe":
        needed = self.evaluation.tasks
        for table in self.tasks:
            count = len(table.addresses("dev", needed))
            if count < needed:
                raise ValueError(
                    f"{table.source} has {count} dev tasks of this kind, fewer than the {needed} "
                    "of the evaluation: lower evaluation.tasks"
                )
        return self

    def scaled(self) -> "Recipe":
        """Return the recipe with `scale` applied to demonstrations, cloning, groups and steps."""
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
        update = {
            "scale": 1.0, "clone": clone, "rollout": rollout,
            "steps": round(self.steps * self.scale),
        }  # fmt: skip
        if self.preference is not None:
            update["preference"] = replace(
                self.preference,
                pairs=max(1, round(self.preference.pairs * self.scale)),
                steps=round(self.preference.steps * self.scale),
            )
        return self.model_copy(update=update)

    def origin(self, folder: Path) -> Path:
        """Return the checkpoint directory of the policy that a run is given or clones."""
        return Path(self.policy.checkpoint) if self.policy.checkpoint else folder / "start"

    def starting(self, folder: Path) -> Path:
        """Return the checkpoint directory of the initial policy of a run in a folder.

        It is the origin, or with a palette the policy that has learned to read prefixes.
        """
        return folder / "palette" if self.palette.active else self.origin(folder)

    @property
    def ratio(self) -> str:
        """`asynchrony.ratio`, with `auto` resolved."""
        table = self.asynchrony
        if table.ratio != "auto":
            return table.ratio
        return "snapshot" if table.active and self.learn.objective.proximal == "start" else "none"

    def learner_config(self) -> LearnerConfig:
        """Return the configuration of the learner."""
        optimiser = self.learn.optimiser
        if self.control == "no_update":
            optimiser = replace(optimiser, learning_rate=0.0, matrix_learning_rate=0.0)
        objective = self.learn.objective
        if self.ratio == "a3po":
            objective = replace(objective, proximal="interpolated")
        return LearnerConfig(
            optimiser=optimiser,
            objective=objective,
            bounds=self.learn.bounds.name,
            bounds_parameters=self.learn.bounds.parameters,
            token_budget=self.learn.token_budget,
            temperature=self.rollout.temperature,
            minibatches=self.learn.minibatches,
            epochs=self.learn.epochs,
            checkpointing=self.learn.checkpointing,
            precision=self.learn.precision,
            packing=self.learner.packing,
        )


def load_recipe(spec: str, changes: dict[str, Any] | None = None) -> Recipe:
    """Read a recipe.

    Args:
        spec: A name or a path.
        changes: Values that replace the file's, by dotted key, such as `rollout.groups`.

    Raises:
        RecipeError: If it cannot be read, or has an unknown key or a bad value.
    """
    path = recipe_path(spec)
    try:
        table = tomllib.loads(read_settings_text(path))
    except (OSError, ValueError) as error:
        raise RecipeError(f"{path} cannot be read: {reason(error)}") from None
    try:
        return recipe_of(table, changes)
    except RecipeError as error:
        raise RecipeError(f"{spec}: {error}") from None


def recipe_of(table: dict[str, Any], changes: Mapping[str, Any] | None = None) -> Recipe:
    """Return the recipe that a table describes.

    Args:
        table: The content of the TOML file.
        changes: Values that replace the table's, by dotted key, such as `rollout.groups`.

    Raises:
        RecipeError: If it has an unknown key or a bad value.
    """
    table = copy.deepcopy(table)
    for key, value in (changes or {}).items():
        _put(table, key, value)
    try:
        return Recipe(**table)
    except ValidationError as error:
        raise RecipeError(explain(error, most=1)) from None


def _put(table: dict[str, Any], key: str, value: Any) -> None:
    *places, last = key.split(".")
    holder: Any = table
    for place in places:
        if isinstance(holder, list):
            holder = holder[_index(key, place, holder)]
        else:
            holder = holder.setdefault(place, {})
        if not isinstance(holder, (dict, list)):
            raise RecipeError(f"{key}: expected a table at {place}, got {holder!r}")
    if isinstance(holder, list):
        holder[_index(key, last, holder)] = value
    else:
        holder[last] = value


def _index(key: str, place: str, items: list[Any]) -> int:
    if not place.isdigit() or int(place) >= len(items):
        raise RecipeError(f"{key}: expected a number from 0 to {len(items) - 1}, got {place!r}")
    return int(place)
