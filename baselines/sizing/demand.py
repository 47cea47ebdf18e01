"""Hardware demands of a recipe: its model, its workload, its rollouts in flight."""

import json
from pathlib import Path
from typing import NamedTuple

from hexathlon.baselines.sizing.estimate import StepPlan
from hexathlon.baselines.sizing.footprint import ModelSize
from hexathlon.baselines.sizing.workload import StepWorkload, mean_workload, measured_steps
from hexathlon.baselines.training.recipe import Recipe
from hexathlon.baselines.training.rollouts import recorded
from hexathlon.evaluators.settings_text import read_settings_text
from hexathlon.tasks.validation import reason

__all__ = ["WorkloadOverrides", "SizingError", "plan_of"]

_BATCHES = 5
"""Batches of a run whose records are read; durations of rollouts hardly change over a run."""


class SizingError(Exception):
    """A recipe that cannot be sized; the message says why."""


class WorkloadOverrides(NamedTuple):
    """Values given by the user; None means the value of the run or the recipe."""

    model: Path | None = None
    """A `config.json`, or a directory with one, in place of the recipe's policy."""

    turns: float | None = None
    sampled: float | None = None
    tokens: float | None = None
    env_seconds: float | None = None


def plan_of(recipe: Recipe, run: Path | None, assumed: WorkloadOverrides) -> tuple[StepPlan, str]:
    """Return the demands of a recipe's step, and the source of the figures.

    Args:
        recipe: The recipe; `scale` is applied.
        run: A training run whose rollouts are taken as typical; None assumes that every rollout
            uses all of its turns and half of the tokens that the recipe allows.
        assumed: Values that replace those of the run or the recipe.

    Raises:
        SizingError: If the model's shape or the run cannot be read.
    """
    recipe = recipe.scaled()
    rollouts = recipe.rollout.groups * recipe.rollout.members
    if run is None:
        work, source = _upper(recipe, rollouts), "assumed: all turns, half of the tokens"
    else:
        try:
            records = recorded(run / "rollouts", _BATCHES)
            work = mean_workload(rollouts, measured_steps(run), records)
        except (OSError, ValueError) as error:
            raise SizingError(f"{run} cannot be used: {error}") from None
        source = f"measured in {run}"
    given = {
        name: value
        for name, value in assumed._asdict().items()
        if name != "model" and value is not None
    }
    if given:
        work = work._replace(**given)
        source += f"; given: {', '.join(given)}"
    if work.sampled >= work.tokens:
        raise SizingError(
            f"a rollout has {work.tokens:,.0f} tokens, of which {work.sampled:,.0f} are sampled: "
            "expected more tokens in total"
        )
    plan = StepPlan(
        _model(recipe, assumed.model),
        work,
        min(recipe.rollout.concurrency, rollouts),
        recipe.learn.token_budget,
        recipe.learn.checkpointing,
    )
    return plan, source


def _upper(recipe: Recipe, rollouts: int) -> StepWorkload:
    weight = sum(table.weight for table in recipe.tasks)
    turns = sum(table.turns * table.weight for table in recipe.tasks) / weight
    sampled = turns * recipe.rollout.max_tokens / 2
    return StepWorkload(rollouts, turns, sampled, tokens=4 * sampled)


def _model(recipe: Recipe, given: Path | None) -> ModelSize:
    checkpoint = given or (Path(recipe.policy.checkpoint) if recipe.policy.checkpoint else None)
    if checkpoint is None:
        shape = recipe.policy.shape
        return ModelSize(
            shape.layers,
            shape.width,
            shape.heads,
            shape.kv_heads,
            shape.head_width or shape.width // shape.heads,
            shape.feed_forward,
            shape.vocabulary,
        )
    path = checkpoint / "config.json" if checkpoint.is_dir() else checkpoint
    try:
        return ModelSize.of(json.loads(read_settings_text(path)))
    except (OSError, TypeError, ValueError) as error:
        raise SizingError(
            f"the model's shape cannot be read from {path}: {reason(error)}"
        ) from None
