"""`train`: from a recipe to a checkpoint, a curve and metrics."""

from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["train"]


def train(
    recipe: Annotated[
        str | None, typer.Argument(help="A recipe's name, or a TOML file; none lists them.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Run folder; a folder with the same recipe is continued.")
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option("--set", help="KEY=VALUE over the recipe's, as rollout.groups=8."),
    ] = None,
    log_to: Annotated[
        list[str] | None, typer.Option(help="Also log to tensorboard or wandb.")
    ] = None,
    print_config: Annotated[
        bool, typer.Option("--print-config", help="Print the resolved recipe and stop.")
    ] = False,
) -> None:
    """Train a policy by a recipe."""
    import json

    from hexathlon.baselines.harness.errors import UsageError
    from hexathlon.baselines.training.recipe import RecipeError, load_recipe, recipe_names

    if recipe is None:
        typer.echo("\n".join(recipe_names()))
        return
    try:
        found = load_recipe(recipe, dict(map(_change, change or [])))
    except RecipeError as error:
        raise UsageError(str(error)) from None
    if print_config:
        typer.echo(json.dumps(found.scaled().model_dump(mode="json"), indent=1))
        return
    _run(found, out or Path("runs") / f"train-{found.name}", tuple(log_to or ()))


def _change(text: str) -> tuple[str, Any]:
    import tomllib

    from hexathlon.baselines.harness.errors import UsageError

    key, found, value = text.partition("=")
    if not found:
        raise UsageError(f"--set wants KEY=VALUE, got {text!r}")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value


def _run(recipe: Any, out: Path, names: tuple[str, ...]) -> None:
    from hexathlon.baselines.engines.errors import EngineMissing
    from hexathlon.baselines.engines.local.loading import require_torch
    from hexathlon.baselines.harness.errors import EnvironmentUnavailable

    try:
        require_torch()
    except EngineMissing as error:
        raise EnvironmentUnavailable(str(error)) from None
    _train(recipe, out, names)


def _train(recipe: Any, out: Path, names: tuple[str, ...]) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from hexathlon.baselines.engines.local.loading import CheckpointError
    from hexathlon.baselines.harness.errors import CommandError, UsageError
    from hexathlon.baselines.learner.learner import LossNotFinite
    from hexathlon.baselines.training.collect import StartsDiffer
    from hexathlon.baselines.training.loop import NothingToLearn
    from hexathlon.baselines.training.metrics import listeners
    from hexathlon.baselines.training.run import RecipeDiffers, train
    from hexathlon.baselines.training.saving import StateTorn

    columns = (
        TextColumn("{task.description:11}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[said]}"),
    )
    try:
        with Progress(*columns, console=Console(stderr=True)) as progress:
            bars: dict[str, Any] = {}

            def report(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
                if phase not in bars:
                    bars[phase] = progress.add_task(phase, total=steps, said="")
                progress.update(bars[phase], completed=step, said=_said(metrics))

            found = train(recipe, out, report, tuple(listeners(names, out, recipe.name)))
    except (RecipeDiffers, CheckpointError, ValueError) as error:
        raise UsageError(str(error)) from None
    except (NothingToLearn, LossNotFinite, StateTorn, StartsDiffer) as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise CommandError(f"the run stopped: {error}; run it again when that is mended") from None
    typer.echo(
        f"success on unseen tasks: {found['before']:.3f} before, {found['after']:.3f} after\n"
        f"checkpoint: {out / 'policy'}\ncurve: {out / 'curve.html'}"
    )


def _said(metrics: dict[str, float]) -> str:
    shown = (
        ("loss", "loss/policy"),
        ("success", "success"),
        ("dev", "dev/success"),
        ("entropy", "entropy"),
    )
    return "  ".join(f"{name} {metrics[key]:.3f}" for name, key in shown if key in metrics)
