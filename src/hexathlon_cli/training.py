"""The commands `train RECIPE` and `train init`."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from hexathlon.baselines.harness.progress import log_interval
from hexathlon_cli.examples import examples

__all__ = ["app"]


class _Recipes(TyperGroup):
    """A group that reads `train RECIPE` as `train run RECIPE`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Insert `run` if the first word is not a command."""
        if args and args[0] not in self.commands:
            args = ["run", *args]
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=_Recipes,
    help="Train a policy from a recipe, or list the recipes.",
    epilog=examples("train"),
    invoke_without_command=True,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)


@app.callback()
def _listed(context: typer.Context) -> None:
    from hexathlon.baselines.training.recipe import recipe_names

    if context.invoked_subcommand is None:
        typer.echo("\n".join(recipe_names()))


@app.command("run", epilog=examples("train run"))
def run(
    recipe: Annotated[str, typer.Argument(help="Recipe name or TOML file.")],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Run folder; a run with the same recipe is resumed. [default: runs/train-RECIPE]"
        ),
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option("--set", help="KEY=VALUE override, such as rollout.groups=8; repeatable."),
    ] = None,
    log_to: Annotated[
        list[str] | None, typer.Option(help="Metrics logger: tensorboard or wandb; repeatable.")
    ] = None,
    print_config: Annotated[
        bool,
        typer.Option(
            "--print-config", help="Print the resolved recipe, with `scale` applied, and exit."
        ),
    ] = False,
) -> None:
    """Train a policy from a recipe; the word `run` is optional."""
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
    typer.echo(f"{_stages(found.scaled())}, in {place}", err=True)
    ended = _guarded(lambda report: _trained(found, place, report, tuple(log_to or ())))
    typer.echo(
        f"{_results(ended)}\n"
        f"checkpoint: {place / 'policy'}\ncurve: {place / 'curve.html'}\n"
        f"evaluations: {place / 'before'} {place / 'after'}"
    )


@app.command("init", epilog=examples("train init"))
def init(
    out: Annotated[Path, typer.Option(help="Checkpoint directory; must not exist.")],
    env: Annotated[str, typer.Option(help="Event that supplies the transcripts.")] = "SQL",
    taskset: Annotated[
        str | None, typer.Option(help="Task set. [default: the event's own]")
    ] = None,
    level: Annotated[
        str | None, typer.Option(help="Level: tiny, easy, medium or hard. [default: all]")
    ] = None,
    transcripts: Annotated[int, typer.Option(min=16, help="Number of oracle transcripts.")] = 500,
    clone: Annotated[
        int, typer.Option(min=0, help="Steps of behaviour cloning; 0 for an untrained policy.")
    ] = 0,
    vocabulary: Annotated[int, typer.Option(min=300, help="Vocabulary size, in tokens.")] = 2048,
    width: Annotated[int, typer.Option(min=32, help="Hidden size, a multiple of 32.")] = 160,
    layers: Annotated[int, typer.Option(min=1, help="Number of layers.")] = 4,
    context: Annotated[int, typer.Option(min=128, help="Context length, in tokens.")] = 2048,
    dialect: Annotated[str, typer.Option(help="Tool-call dialect.")] = "compact",
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
) -> None:
    """Create a small checkpoint and tokenizer for an event.

    The model is of the Qwen3 type; the tokenizer is trained on the event's transcripts.
    """
    from hexathlon.baselines.harness.environments import find_environment
    from hexathlon.baselines.harness.errors import UsageError
    from hexathlon.baselines.training.recipe import RecipeError, recipe_of

    if out.exists():
        raise UsageError(f"{out} exists; name a new directory with --out")
    if width % 32:
        raise UsageError(f"--width must be a multiple of 32, the head size, got {width}")
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
        raise UsageError(f"--set takes KEY=VALUE, got {text!r}")
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
    """Run `work(report)` under a progress display; expected errors become one-line messages."""
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
        raise CommandError(f"the run stopped: {error}; fix this and repeat the command") from None


@contextmanager
def _shown() -> Iterator[Any]:
    """Show progress: bars on a terminal, otherwise a line every few seconds."""
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
    """Progress lines for a log file."""

    def __init__(self) -> None:
        self._started = self._last = time.monotonic()

    def report(self, phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
        now = time.monotonic()
        if now - self._last < log_interval(now - self._started) and step < steps:
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


def _stages(recipe: Any) -> str:
    """Name the stages of a run and their sizes."""
    rollout = recipe.rollout
    steps = f"{recipe.steps:,} steps of {rollout.groups:,} groups of {rollout.members:,} rollouts"
    if recipe.policy.checkpoint:
        return f"{recipe.name}: {steps} from {recipe.policy.checkpoint}"
    table = recipe.clone
    return (
        f"{recipe.name}: {table.demonstrations:,} demonstrations, "
        f"{table.settings.steps:,} steps of behaviour cloning, {steps}"
    )


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
