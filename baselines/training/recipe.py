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

from pydantic import Field, ValidationError, field_validator, model_validator

from hexathlon.baselines.algorithms.catalogue import (
    ALLOCATORS,
    ESTIMATORS,
    FILTERS,
    HINTS,
    REPLAYS,
    SAMPLERS,
    SHAPINGS,
    STRUCTURES,
)
from hexathlon.baselines.algorithms.objectives import Objective
from hexathlon.baselines.algorithms.structures import Split, leaves
from hexathlon.baselines.learner.critic import CriticConfig
from hexathlon.baselines.learner.learner import LearnerConfig
from hexathlon.baselines.learner.optimiser import OptimiserConfig
from hexathlon.baselines.training.cloning import CloneConfig
from hexathlon.baselines.training.demonstrations import Noise
from hexathlon.baselines.training.initial import ModelShape
from hexathlon.baselines.training.tasks_table import Table, TasksTable

__all__ = ["Recipe", "RecipeError", "load_recipe", "recipe_names", "recipe_of", "recipe_path"]

RECIPES = Path(__file__).resolve().parents[1] / "recipes"


class RecipeError(Exception):
    """A recipe cannot be read, or names what does not exist."""


class Part(Table):
    """A registered part with its parameters."""

    name: str
    parameters: dict[str, Any] = Field(default_factory=dict)


class PolicyTable(Table):
    """Who is trained."""

    checkpoint: str = ""
    """A Hugging Face checkpoint directory; empty makes a small policy from scratch."""

    shape: ModelShape = Field(default_factory=ModelShape)
    dialect: str = "compact"
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    lora_rank: int = Field(default=0, ge=0)
    """Rank of low-rank adapters; 0 trains all parameters."""


class CloneTable(Table):
    """Behaviour cloning before reinforcement; no demonstrations leave it out."""

    demonstrations: int = Field(default=0, ge=0)
    noise: Noise = Field(default_factory=Noise)
    thoughts: bool = False
    """Whether demonstrations think aloud before they act, where their source says what."""

    renamed: float = Field(default=0.0, ge=0, le=1)
    """Share of the demonstrations in which names are replaced by made-up ones."""

    copies: int = Field(default=1, ge=1)
    """How often each demonstration is told, with names made up anew: playing one may be dear."""

    settings: CloneConfig = Field(default_factory=CloneConfig)


class RolloutTable(Table):
    """How episodes are played for training."""

    groups: int = Field(default=16, ge=1)
    """Tasks per step."""

    members: int = Field(default=8, ge=1)
    """Rollouts per task."""

    temperature: float = Field(default=1.0, gt=0)
    max_tokens: int = Field(default=128, ge=1)
    """Of one turn."""

    concurrency: int = Field(default=64, ge=1)
    tries: int = Field(default=4, ge=1)
    """Batches that may be drawn to fill one step where filters drop groups."""

    rewards: Literal["played", "rescored"] = "played"
    """Source of the rewards: the episodes, or their records judged again."""

    keep_tokens: bool = False
    """Whether the run's `rollouts/` hold tokens and log-probabilities beside the records."""


class GenerateTable(Table):
    """Which tasks are rolled out, how often, from where and how."""

    sampler: Part = Part(name="first")
    """Chooses a step's tasks among candidates by what is known of their difficulty."""

    candidates: int = Field(default=1, ge=1)
    """Candidates per task that is wanted."""

    allocator: Part = Part(name="equal")
    """Divides the step's rollouts, `groups` times `members`, among its tasks."""

    structure: Part = Part(name="independent")
    """Where the rollouts of a group split."""

    hint: Part = Part(name="none")
    """How many of the oracle's first actions a task's rollouts go on from."""

    @model_validator(mode="after")
    def _exist(self) -> "GenerateTable":
        SAMPLERS.resolve(self.sampler.name, self.sampler.parameters)
        ALLOCATORS.resolve(self.allocator.name, self.allocator.parameters)
        HINTS.resolve(self.hint.name, self.hint.parameters)
        STRUCTURES.resolve(self.structure.name, self.structure.parameters)
        self.splits()
        return self

    def splits(self) -> tuple[Split, ...]:
        """Return where rollouts split."""
        return STRUCTURES[self.structure.name](**self.structure.parameters)


class ReplayTable(Table):
    """How rollouts of earlier steps join fresh ones."""

    name: str = "none"
    parameters: dict[str, Any] = Field(default_factory=dict)
    groups: int = Field(default=256, ge=1)
    """Most groups that are kept."""

    tasks: int = Field(default=4_096, ge=1)
    """Most tasks whose newest success is kept."""


class CreditTable(Table):
    """Credit assignment."""

    estimator: Part = Part(name="grpo")
    per_event: bool = False
    """Scale each event's advantages to a root mean square of 1 over its sampled tokens, so that
    no event of a mixture outweighs another by the spread of its rewards."""

    shapings: tuple[Part, ...] = ()
    filters: tuple[Part, ...] = ()


class LearnTable(Table):
    """How the learner moves."""

    objective: Objective = Field(default_factory=Objective)
    optimiser: OptimiserConfig = Field(default_factory=OptimiserConfig)
    bounds: Part = Part(name="clip")
    token_budget: int = Field(default=4_096, ge=1)
    """Tokens with padding that go through the model at once: 4,096 keeps a small model's numbers
    in a core's cache; a GPU wants many more."""

    minibatches: int = Field(default=1, ge=1)
    epochs: int = Field(default=1, ge=1)
    checkpointing: bool = False
    precision: Literal["float32", "bfloat16"] = "float32"


class EngineTable(Table):
    """What draws the tokens of rollouts.

    The evaluations before and after training are played in this process whatever stands here.
    """

    kind: Literal["local", "vllm"] = "local"
    """`local` draws in this process; `vllm` at a server."""

    url: str = ""
    """A vLLM server that runs already; empty starts one on the policy's checkpoint for the length
    of the run."""

    model: str = ""
    """The model's name at `url`; empty takes the only one that is served."""

    tolerance: float = Field(default=0.0, ge=0)
    """Largest difference of a log-probability between engine and learner after an update; 0 takes
    1e-3 in float32 and 0.3 in lower precision."""

    context: int = Field(default=0, ge=0)
    """Most tokens of a prompt with its reply; 0 takes the model's own."""

    cache_gib: int = Field(default=1, ge=1)
    """Memory for keys and values of a server that is started on a CPU."""

    deadline: float = Field(default=600.0, gt=0)
    """Seconds that a server may take for one reply, retries included."""

    ready_within: float = Field(default=240.0, gt=0)
    """Seconds that a server may take to start."""

    @model_validator(mode="after")
    def _fits(self) -> "EngineTable":
        if self.kind == "local" and (self.url or self.model):
            raise ValueError('url and model are those of a server: set kind = "vllm"')
        if self.url and not self.url.startswith(("http://", "https://")):
            raise ValueError(f"url is {self.url!r}; it begins with http:// or https://")
        if self.model and not self.url:
            raise ValueError("model names one of several at url, which is not set")
        return self


class EvaluationTable(Table):
    """How the policy is measured on the way."""

    every: int = Field(default=0, ge=0)
    """Steps between evaluations on dev tasks; 0 measures at the start and the end."""

    tasks: int = Field(default=100, ge=1)
    temperature: float = Field(default=1.0, ge=0)


class Recipe(Table):
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
        labels = [table.label for table in tables]
        for label in labels:
            if labels.count(label) > 1:
                raise ValueError(f"{labels.count(label)} tables are called {label!r}; set `name`")
        return tables

    @model_validator(mode="after")
    def _rollouts_divide(self) -> "Recipe":
        wide = leaves(self.generate.splits())
        if self.rollout.members % wide:
            raise ValueError(
                f"the structure makes {wide} rollouts of one, so rollout.members is a multiple of "
                f"{wide}, got {self.rollout.members}"
            )
        return self

    @model_validator(mode="after")
    def _parts_exist(self) -> "Recipe":
        REPLAYS.resolve(self.replay.name, self.replay.parameters)
        ESTIMATORS.resolve(self.credit.estimator.name, self.credit.estimator.parameters)
        for part in self.credit.shapings:
            SHAPINGS.resolve(part.name, part.parameters)
        for part in self.credit.filters:
            FILTERS.resolve(part.name, part.parameters)
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
        rollout = self.rollout.model_copy(
            update={"groups": max(1, round(self.rollout.groups * self.scale))}
        )
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
