"""Tables of a recipe that configure the pipeline's stages."""

import math
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from hexathlon.baselines.algorithms.palette import Schedule, prefix_share
from hexathlon.baselines.pipeline.buffer import AdmissionRules
from hexathlon.baselines.pipeline.catalogue import (
    ALLOCATORS,
    CONTEXTS,
    HINTS,
    HORIZONS,
    LATENESS,
    PRUNINGS,
    REPLAYS,
    SAMPLERS,
    STRUCTURES,
)
from hexathlon.baselines.pipeline.growth import TreeGrowth
from hexathlon.baselines.pipeline.replay import Memory
from hexathlon.baselines.pipeline.structures import ForkPoint
from hexathlon.baselines.pipeline.task_statistics import TaskStatistics
from hexathlon.baselines.tokens.soft import MOST_SOFT
from hexathlon.tasks.seeding import generator_for

__all__ = ["AsynchronyTable", "GenerateTable", "PaletteTable", "PartTable", "RecipeTable",
           "ReplayTable"]  # fmt: skip


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
    """Chooses a step's tasks among candidates, by their estimated difficulty."""

    candidates: int = Field(default=1, ge=1)
    """Candidates per chosen task."""

    allocator: PartTable = PartTable(name="equal")
    """Divides the step's rollouts, `groups` times `members`, among its tasks."""

    structure: PartTable = PartTable(name="independent")
    """Where the rollouts of a group split."""

    hint: PartTable = PartTable(name="none")
    """Number of the oracle's first actions that a task's rollouts start from."""

    context: PartTable = PartTable(name="none")
    """Texts that rollouts read after the opening of their task, such as strategies."""

    hinted: float = Field(default=1.0, gt=0, le=1)
    """Share of a group's rollouts that get its hint; the others start at the beginning."""

    pruning: PartTable | None = None
    """Which rollouts go on after `prune_after` turns; None lets all go on."""

    prune_after: int = Field(default=1, ge=1)
    """Number of the policy's turns before pruning; turns of a hint do not count."""

    horizon: PartTable = PartTable(name="fixed")
    """Turns of a step's rollouts, at most those of the task's table."""

    @model_validator(mode="after")
    def _exist(self) -> "GenerateTable":
        SAMPLERS.resolve(self.sampler.name, self.sampler.parameters)
        ALLOCATORS.resolve(self.allocator.name, self.allocator.parameters)
        HINTS.resolve(self.hint.name, self.hint.parameters)
        STRUCTURES.resolve(self.structure.name, self.structure.parameters)
        if self.hinted < 1 and self.structure.name != "independent":
            raise ValueError(
                "generate.hinted below 1 needs rollouts that do not fork: set structure to "
                f"independent, got {self.structure.name}"
            )
        # Trial calls, so that bad values raise here rather than during the run.
        self.splits()
        HINTS[self.hint.name](0.5, 4, **self.hint.parameters)
        if self.pruning is not None:
            PRUNINGS.resolve(self.pruning.name, self.pruning.parameters)
            PRUNINGS[self.pruning.name](np.full(2, 0.5), **self.pruning.parameters)
            if self.structure.name != "independent":
                raise ValueError(
                    "generate.pruning needs rollouts that do not fork: set structure to "
                    f"independent, got {self.structure.name}"
                )
        if self.context.name != "none" and self.structure.name not in ("independent", "forked"):
            raise ValueError(
                "generate.context gives each rollout its text before it splits: set structure to "
                f"independent or forked, got {self.structure.name}"
            )
        CONTEXTS.resolve(self.context.name, self.context.parameters)
        CONTEXTS[self.context.name](0.5, 4, generator_for("trial"), **self.context.parameters)
        HORIZONS.resolve(self.horizon.name, self.horizon.parameters)
        HORIZONS[self.horizon.name](0, 8, **self.horizon.parameters)
        SAMPLERS[self.sampler.name](
            ["a task"], TaskStatistics(), 1, generator_for("trial"), **self.sampler.parameters
        )
        return self

    def splits(self) -> tuple[ForkPoint, ...]:
        """Return where rollouts split; empty if the structure grows trees."""
        made = self._structure()
        return () if isinstance(made, TreeGrowth) else made

    def growth(self) -> TreeGrowth | None:
        """Return how trees grow; None for a structure of fixed splits."""
        made = self._structure()
        return made if isinstance(made, TreeGrowth) else None

    def _structure(self) -> tuple[ForkPoint, ...] | TreeGrowth:
        return STRUCTURES[self.structure.name](**self.structure.parameters)


class ReplayTable(RecipeTable):
    """Replay of rollouts from earlier steps."""

    name: str = "none"
    parameters: dict[str, Any] = Field(default_factory=dict)
    groups: int = Field(default=256, ge=1)
    """Maximum number of stored groups."""

    tasks: int = Field(default=4_096, ge=1)
    """Maximum number of tasks with a stored success."""

    @model_validator(mode="after")
    def _exists(self) -> "ReplayTable":
        REPLAYS.resolve(self.name, self.parameters)
        REPLAYS[self.name]([], Memory(), generator_for("trial"), **self.parameters)
        return self


class PaletteTable(RecipeTable):
    """Soft prefixes before the prompts of training rollouts (Reasoning Palette).

    The run fits a variational autoencoder to its demonstrations, and trains the initial policy for
    `warmup_steps` with `learn.optimiser` to read the prefixes that it decodes. Evaluations have no
    prefix.
    """

    share: float = Field(default=0.0, ge=0, le=1)
    """Share of the first step's rollouts that begin with a prefix, each with its own; 0 makes no
    palette."""

    schedule: Schedule = "linear"
    """`linear` lets the share fall to 0 at `until`; `two_phase` keeps it until then."""

    until: float = Field(default=0.5, gt=0, le=1)
    """Share of the steps after which no rollout has a prefix."""

    tokens: int = Field(default=4, ge=1, le=MOST_SOFT)
    """Soft tokens of a prefix."""

    latent: int = Field(default=16, ge=1)
    """Size of the latent variable."""

    beta: float = Field(default=1.0, ge=0)
    """Weight of the divergence from the prior."""

    pairs: int = Field(default=256, ge=2)
    """Demonstrations to which the autoencoder is fitted."""

    fit_steps: int = Field(default=500, ge=1)
    """Steps of its fit, each on at most 64 pairs."""

    warmup_steps: int = Field(default=30, ge=0)
    """Supervised steps in which the policy learns to read prefixes, each on 32 demonstrations."""

    @property
    def active(self) -> bool:
        """Whether any rollout has a prefix."""
        return self.share > 0

    def share_at(self, progress: float) -> float:
        """Return the share in effect after the fraction `progress` of the steps."""
        return prefix_share(self.share, self.schedule, self.until, progress)


class AsynchronyTable(RecipeTable):
    """Rollouts that continue during updates, and what happens to late and failed ones."""

    staleness: int = Field(default=0, ge=0, le=64)
    """Maximum number of updates between a group's submission and its update; 0 submits nothing
    ahead, which makes a run synchronous and reproducible bit for bit."""

    over_provision: float = Field(default=1.0, ge=1.0, le=8.0)
    """Groups submitted per group of an update; the slowest are left for later updates (APRIL)."""

    redundant: int = Field(default=0, ge=0)
    """Rollouts started per group beyond `rollout.members`; once as many as those have a score, the
    others end, so that neither stragglers nor failures delay the group."""

    late: str = "pace"
    """Policy for rollouts with tokens older than `staleness`: pace, token_mask, withhold or
    drop."""

    update: Literal["keep", "abort"] = "keep"
    """Effect of an update on requests in flight: `keep` continues them with the new weights;
    `abort` ends them with the tokens sampled so far, and resumes them after the update."""

    window: float = Field(default=1.0, ge=1.0)
    """Number of groups, in the order of submission, from which an update chooses finished ones, as
    a multiple of an update's groups; 1 takes them strictly in that order."""

    deadline: float = Field(default=3600.0, gt=0)
    """Maximum time that an update waits for its groups, in seconds."""

    least: int = Field(default=1, ge=1)
    """Minimum number of scored rollouts in a group; another task's group replaces a smaller one."""

    ratio: Literal["auto", "none", "snapshot", "a3po", "ewma"] = "auto"
    """Source of the log-probabilities in the ratio's denominator for tokens older than the policy:
    the objective's own (`none`); the learner with the weights that sampled each token
    (`snapshot`); A-3PO's interpolation; or a moving average of the weights (PPO-EWMA). `auto` means
    `snapshot` in asynchronous runs whose objective names no proximal policy."""

    decay: float = Field(default=0.9, ge=0, lt=1)
    """Decay of the moving average per update."""

    @property
    def active(self) -> bool:
        """Whether rollouts may continue while the learner updates."""
        return self.staleness > 0 or self.over_provision > 1 or self.redundant > 0

    def rules(self, groups: int, slots: int) -> AdmissionRules:
        """Return the sizes of the work buffer.

        Args:
            groups: Groups per update.
            slots: Maximum number of concurrent rollouts.
        """
        widest = max(self.window, self.over_provision)
        return AdmissionRules(
            groups,
            slots,
            self.staleness,
            math.ceil(groups * self.over_provision) - groups,
            max(groups, math.floor(groups * widest)),
            self.least,
            self.late == "pace",
        )

    @model_validator(mode="after")
    def _fits(self) -> "AsynchronyTable":
        LATENESS.resolve(self.late, {})
        if self.late == "pace" and self.over_provision > 1:
            raise ValueError(
                "over_provision leaves groups unfinished, and pacing would wait for them: set late "
                "to token_mask, withhold or drop"
            )
        return self
