"""Evaluation and training as functions, for scripts and notebooks.

Each corresponds to the command of its name, with the same plans, records and directories. Flags
become keyword arguments; configuration files and exit codes are left to `hexathlon_cli`.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hexathlon.baselines.agents.base import Agent
from hexathlon.baselines.agents.function import FunctionAgent
from hexathlon.baselines.harness.config import EvalConfig, ExecutionConfig
from hexathlon.baselines.harness.errors import UsageError
from hexathlon.baselines.harness.models import OpenedModel, open_model
from hexathlon.baselines.harness.report import ReadRun, read_run
from hexathlon.baselines.harness.run import evaluate as run_evaluation
from hexathlon.envs.messages import Message
from hexathlon.evaluators.statistics import ScoreInterval
from hexathlon.tasks.validation import explain

__all__ = ["evaluate", "load_run", "make_agent", "train"]

Model = str | Agent | Callable[[list[Message]], dict[str, object]]
"""A MODEL argument of the command line, an agent, or a function from messages to a message."""

_SETTINGS = (*EvalConfig.model_fields, *ExecutionConfig.model_fields)


def make_agent(model: Model, **settings: Any) -> Agent:
    """Create an agent.

    >>> make_agent("agent:oracle").name
    'oracle'
    >>> make_agent(lambda messages: {"role": "assistant", "content": "?"}).name
    '<lambda>'

    Args:
        model: `agent:NAME`, `endpoint:URL#NAME`, a checkpoint directory, or a function from the
            conversation to an assistant message. An agent is returned unchanged.
        **settings: Fields of `EvalConfig` that concern the model, such as `dialect`.

    Raises:
        UsageError: If `model` or a setting is invalid.
        EnvironmentUnavailable: If its server does not answer.
    """
    if isinstance(model, str):
        return open_model(_config(model, settings), ExecutionConfig()).agent
    return _agent(model)


def evaluate(model: Model, out: str | Path, **settings: Any) -> ReadRun:
    """Evaluate a model and return the summarised run.

    An interrupted run with the same plan is continued.

    Args:
        model: See `make_agent`.
        out: The run directory.
        **settings: Fields of `EvalConfig` (`envs`, `tasks`, `level`, `limits`, ...) and of
            `ExecutionConfig` (`concurrency`, `retries`, ...).

    Raises:
        UsageError: If a setting is unknown or out of range.
        PlanDiffers: If the directory contains a different plan.
        CommandError: If the run cannot be played.
    """
    fields = ExecutionConfig.model_fields
    execution = {name: value for name, value in settings.items() if name in fields}
    chosen = {name: value for name, value in settings.items() if name not in fields}
    opened = None
    if not isinstance(model, str):
        agent = _agent(model)
        description = {"kind": "custom", "name": agent.name, "place": ""}
        opened, model = OpenedModel(agent, description, None), f"custom:{agent.name}"
    try:
        execution_config = ExecutionConfig(**execution)
    except ValidationError as error:
        raise UsageError(explain(error, fields)) from None
    run_evaluation(_config(model, chosen), execution_config, Path(out), model=opened)
    return read_run(Path(out))


def load_run(path: str | Path) -> ReadRun:
    """Return plan, scores with intervals, and judged results of a run directory.

    Raises:
        UsageError: If the directory contains no run, or no record yet.
    """
    return read_run(Path(path))


def train(
    recipe: str | Mapping[str, Any],
    out: str | Path,
    *,
    log_to: Sequence[str] = (),
    **changes: Any,
) -> dict[str, ScoreInterval]:
    """Train a policy with a recipe and return its mean rewards on unseen tasks.

    Needs the extra `train`. An interrupted run with the same recipe is continued.

    Args:
        recipe: A recipe's name, a TOML file, or the recipe as a dictionary.
        out: The run directory.
        log_to: `tensorboard`, `wandb` or both, beside `metrics.jsonl` in the run directory.
        **changes: Overrides of the recipe's values, such as `seed` or `scale`; nested values as
            `**{"rollout.groups": 8}`.

    Returns:
        Mean rewards `before` and `after` training, with 95 % intervals.

    Raises:
        RecipeError: If the recipe cannot be read.
        RecipeDiffers: If the directory contains a run of a different recipe.
    """
    from hexathlon.baselines.training.recipe import load_recipe, recipe_of
    from hexathlon.baselines.training.run import train as run_training

    if isinstance(recipe, str):
        loaded = load_recipe(recipe, changes)
    else:
        loaded = recipe_of(dict(recipe), changes)
    return run_training(loaded, Path(out), lambda phase, step, steps, metrics: None, log_to)


def _agent(model: Agent | Callable[[list[Message]], dict[str, object]]) -> Agent:
    if hasattr(model, "begin"):
        return model  # type: ignore[return-value]
    if callable(model):
        return FunctionAgent(model)
    raise UsageError(
        f"expected a string such as 'agent:oracle', an agent or a function, got {model!r:.80}"
    )


def _config(model: str, settings: Mapping[str, Any]) -> EvalConfig:
    envs = settings.get("envs")
    if isinstance(envs, str):
        settings = {**settings, "envs": (envs,)}
    try:
        return EvalConfig(model=model, **settings)
    except ValidationError as error:
        raise UsageError(explain(error, _SETTINGS)) from None
