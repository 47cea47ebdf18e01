"""`train`: from a recipe to a checkpoint and a curve; `train init`: a policy to begin with."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

__all__ = ["app"]


class _Recipes(TyperGroup):
    """A group whose first word may be a recipe instead of a command: then it is run."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Take `train RECIPE …` as `train run RECIPE …`."""
        if args and args[0] not in self.commands:
            args = ["run", *args]
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=_Recipes,
    help="Train a policy by a recipe: `hexathlon train RECIPE`; without one, list the recipes.",
    invoke_without_command=True,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)


@app.callback()
def _listed(context: typer.Context) -> None:
    from hexathlon.baselines.training.recipe import recipe_names

    if context.invoked_subcommand is None:
        typer.echo("\n".join(recipe_names()))


@app.command("run")
def run(
    recipe: Annotated[str, typer.Argument(help="A recipe's name, or a TOML file.")],
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
    """Train a policy by a recipe; `run` itself may be left out."""
    import json

    from hexathlon.baselines.harness.errors import UsageError
    from hexathlon.baselines.training.recipe import RecipeError, load_recipe

    try:
        found = load_recipe(recipe, dict(map(_change, change or [])))
    except RecipeError as error:
        raise UsageError(str(error)) from None
    if print_config:
        typer.echo(json.dumps(found.scaled().model_dump(mode="json"), indent=1))
        return
    _require_torch()
    place = out or Path("runs") / f"train-{found.name}"
    ended = _guarded(lambda report: _trained(found, place, report, tuple(log_to or ())))
    typer.echo(
        f"{_results(ended)}\n"
        f"checkpoint: {place / 'policy'}\ncurve: {place / 'curve.html'}\n"
        f"evaluations: {place / 'before'} {place / 'after'}"
    )


@app.command("init")
def init(
    out: Annotated[Path, typer.Option(help="Directory of the checkpoint; it must not exist yet.")],
    env: Annotated[str, typer.Option(help="Event whose transcripts are learned from.")] = "SQL",
    taskset: Annotated[str | None, typer.Option(help="Task set; the event's own if none.")] = None,
    level: Annotated[str | None, typer.Option(help="Only this level.")] = None,
    transcripts: Annotated[int, typer.Option(min=16, help="Oracle transcripts to read.")] = 500,
    clone: Annotated[
        int, typer.Option(min=0, help="Steps of behaviour cloning; 0 leaves it untrained.")
    ] = 0,
    vocabulary: Annotated[int, typer.Option(min=300, help="Tokens of the vocabulary.")] = 2048,
    width: Annotated[int, typer.Option(min=32, help="Hidden size; a multiple of 32.")] = 160,
    layers: Annotated[int, typer.Option(min=1)] = 4,
    context: Annotated[int, typer.Option(min=128, help="Longest episode, in tokens.")] = 2048,
    dialect: Annotated[str, typer.Option(help="How it calls tools.")] = "compact",
    seed: int = 0,
) -> None:
    """Make a small Qwen3-type checkpoint and its tokenizer from an event's own transcripts."""
    from hexathlon.baselines.harness.environments import find_environment
    from hexathlon.baselines.harness.errors import UsageError
    from hexathlon.baselines.training.recipe import RecipeError, recipe_of

    if out.exists():
        raise UsageError(f"{out} exists; name a new directory with --out")
    if width % 32:
        raise UsageError(f"--width is {width}; it is a multiple of 32, the size of a head")
    info = find_environment(env)
    heads = width // 32
    shape = {
        "vocabulary": vocabulary, "width": width, "layers": layers, "heads": heads,
        "kv_heads": heads // 2 if heads % 2 == 0 else heads, "feed_forward": 3 * width,
        "context": context,
    }  # fmt: skip
    try:
        recipe = recipe_of(
            {
                "name": "init", "seed": seed, "steps": 0,
                "tasks": {"env": info.id, "source": taskset or info.tasksets[0], "level": level},
                "policy": {"dialect": dialect, "shape": shape},
                "clone": {"demonstrations": transcripts, "settings": {"steps": clone}},
            }
        )  # fmt: skip
    except RecipeError as error:
        raise UsageError(str(error)) from None
    _require_torch()
    from hexathlon.baselines.training.run import make_start

    count = _guarded(lambda report: make_start(recipe, out, report))
    typer.echo(f"checkpoint: {out} ({count / 1e6:.2f} M parameters)")


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


def _require_torch() -> None:
    from hexathlon.baselines.engines.errors import EngineMissing
    from hexathlon.baselines.engines.local.loading import require_torch
    from hexathlon.baselines.harness.errors import EnvironmentUnavailable

    try:
        require_torch()
    except EngineMissing as error:
        raise EnvironmentUnavailable(str(error)) from None


def _trained(recipe: Any, out: Path, report: Any, names: tuple[str, ...]) -> Any:
    from hexathlon.baselines.training.metrics import listeners
    from hexathlon.baselines.training.run import train

    return train(recipe, out, report, tuple(listeners(names, out, recipe.name)))


def _guarded(work: Any) -> Any:
    """Run `work(report)` under a progress display; what goes wrong becomes a sentence."""
    from hexathlon.baselines.engines.errors import EngineError
    from hexathlon.baselines.engines.local.loading import CheckpointError
    from hexathlon.baselines.harness.errors import CommandError, UsageError
    from hexathlon.baselines.learner.learner import LossNotFinite
    from hexathlon.baselines.training.collect import StartsDiffer
    from hexathlon.baselines.training.generation import HintFailed
    from hexathlon.baselines.training.loop import NothingToLearn
    from hexathlon.baselines.training.ranks import RankFailed
    from hexathlon.baselines.training.run import RecipeDiffers
    from hexathlon.baselines.training.saving import StateTorn

    try:
        with _shown() as report:
            return work(report)
    except (RecipeDiffers, CheckpointError, ValueError) as error:
        raise UsageError(str(error)) from None
    except (
        NothingToLearn,
        HintFailed,
        LossNotFinite,
        StateTorn,
        StartsDiffer,
        RankFailed,
    ) as error:
        raise CommandError(str(error)) from None
    except EngineError as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise CommandError(f"the run stopped: {error}; run it again when that is mended") from None


@contextmanager
def _shown() -> Iterator[Any]:
    """Show progress: bars on a terminal, elsewhere a line at most every ten seconds."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines().report
        return
    columns = (
        TextColumn("{task.description:11}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[said]}"),
    )
    with Progress(*columns, console=console) as progress:
        bars: dict[str, Any] = {}

        def report(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
            if phase not in bars:
                bars[phase] = progress.add_task(phase, total=steps, said="")
            progress.update(bars[phase], completed=step)
            if metrics:
                progress.update(bars[phase], said=_said(metrics))

        yield report


class _Lines:
    """Progress for a log file."""

    _EVERY_S = 10.0

    def __init__(self) -> None:
        self._started = self._last = time.monotonic()

    def report(self, phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
        now = time.monotonic()
        if now - self._last < self._EVERY_S and step < steps:
            return
        self._last = now
        line = f"{now - self._started:6.0f} s  {phase:11} {step}/{steps}  {_said(metrics)}"
        typer.echo(line.rstrip(), err=True)


_SHOWN = (
    ("loss", "loss/policy"),
    ("reward", "reward"),
    ("success", "success"),
    ("dev", "dev/success"),
    ("KL", "kl"),
    ("entropy", "entropy"),
)


def _said(metrics: dict[str, float]) -> str:
    parts = [f"{name} {metrics[key]:.3f}" for name, key in _SHOWN if key in metrics]
    if "seconds/collect" in metrics:
        parts.append(f"play {metrics['seconds/collect']:.1f} s")
        parts.append(f"learn {metrics['seconds/learn']:.1f} s")
        parts.append(f"{metrics['tokens/drawn'] / metrics['seconds/collect']:,.0f} tokens/s")
    return "  ".join(parts)


def _results(ended: Mapping[str, Any]) -> str:
    """Say what a run did on unseen tasks; for a mixture, on each event's as well."""
    lines = [
        f"mean reward on {ended['after'].tasks} unseen tasks, with 95 % intervals: "
        f"{_interval(ended['before'])} before, {_interval(ended['after'])} after"
    ]
    for name, after in ended.items():
        moment, _, event = name.partition("/")
        if moment == "after" and event:
            before = ended[f"before/{event}"]
            lines.append(
                f"  {event}: {_interval(before)} before, {_interval(after)} after, "
                f"{after.tasks} tasks"
            )
    return "\n".join(lines)


def _interval(found: Any) -> str:
    return f"{found.mean:.3f} ({found.low:.3f} to {found.high:.3f})"
