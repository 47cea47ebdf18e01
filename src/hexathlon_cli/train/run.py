"""The command `train run`, or `train RECIPE` for short."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from hexathlon_cli.output import note, print_text

__all__ = ["read_recipe", "run"]

_LOGGERS = ("tensorboard", "wandb")


def run(
    recipe: Annotated[str | None, typer.Argument(help="Recipe name or TOML file.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Run directory; a run of the same recipe is resumed. [default: runs/train-RECIPE]"
        ),
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option("--set", help="KEY=VALUE override, such as rollout.groups=8; repeatable."),
    ] = None,
    log_to: Annotated[
        list[str] | None,
        typer.Option(help="Logger beside metrics.jsonl: tensorboard or wandb; repeatable."),
    ] = None,
    watch: Annotated[
        Path | None,
        typer.Option(
            help="Follow the run in this directory, from another terminal; without RECIPE."
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Train on a Ray cluster: auto (this machine), HOST:PORT or ray://HOST:PORT; the "
            "recipe's [cluster] table sets the number of processes."
        ),
    ] = None,
    print_config: Annotated[
        bool,
        typer.Option(
            "--print-config", help="Print the resolved recipe, with `scale` applied, and exit."
        ),
    ] = False,
) -> None:
    """Train a policy from a recipe; the word `run` is optional.

    Progress is saved in the run directory; the same command continues an interrupted run.
    """
    import json

    from hexathlon.baselines.harness.errors import UsageError, near_miss
    from hexathlon_cli.train.guard import guarded, require_torch

    if watch is not None:
        from hexathlon_cli.train.watch import watch as follow

        if recipe is not None:
            raise UsageError(f"--watch takes a run directory and no recipe, got {recipe!r}")
        follow(watch)
        return
    if recipe is None:
        raise UsageError("missing RECIPE; `hexathlon train` lists the built-in ones")
    found = read_recipe(recipe, change or [])
    if print_config:
        print_text(json.dumps(found.scaled().model_dump(mode="json"), indent=1))
        return
    place = out or Path("runs") / f"train-{found.name}"
    for name in log_to or ():
        if name not in _LOGGERS:
            raise UsageError(near_miss("metrics logger", name, _LOGGERS))
    if place.exists() and not place.is_dir():
        raise UsageError(f"{place} is a file: expected a directory for the run")
    require_torch()
    note(f"{_stages(found.scaled())}, in {place}")
    names = tuple(log_to or ())
    with _launching(found, cluster) as launch:
        ended = guarded(lambda report: _trained(found, place, report, names, launch))
    policy, ending = ("tinker.json", ".json") if found.engine.kind == "tinker" else ("policy", "")
    print_text(
        f"{_results(ended)}\n"
        f"checkpoint: {place / policy}\ncurve: {place / 'curve.html'}\n"
        f"evaluations: {place / f'before{ending}'} {place / f'after{ending}'}"
    )


def read_recipe(spec: str, changes: Sequence[str]) -> Any:
    """Return a recipe with its overrides.

    Raises:
        UsageError: If it cannot be read, or an override is wrong.
    """
    from hexathlon.baselines.harness.errors import UsageError
    from hexathlon.baselines.training.recipe_files import RecipeError, recipe_path

    values = dict(map(_change, changes))
    try:
        recipe_path(spec)  # rejects an unknown name before PyTorch is imported
        from hexathlon.baselines.training.recipe import load_recipe

        return load_recipe(spec, values)
    except RecipeError as error:
        raise UsageError(str(error)) from None


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


@contextmanager
def _launching(recipe: Any, address: str | None) -> Iterator[Any]:
    """Connect to a cluster; give what starts the ranks there, or in processes of this machine."""
    from hexathlon.baselines.training.run import launch_processes

    if address is None:
        yield launch_processes
        return
    from hexathlon.baselines.cluster.connect import connect
    from hexathlon.baselines.harness.progress import Waiting

    table, ranks = recipe.cluster, recipe.ranks
    with Waiting(f"connecting to the cluster {address}"):
        cluster = connect(
            address, cpus=table.cpus_in_all(ranks), resources=table.resources_in_all(ranks)
        )
    with cluster:
        from hexathlon.baselines.cluster.learners import launch_on

        yield launch_on(cluster)


def _trained(recipe: Any, out: Path, report: Any, names: tuple[str, ...], launch: Any) -> Any:
    from hexathlon.baselines.training.run import train

    return train(recipe, out, report, names, launch)


def _stages(recipe: Any) -> str:
    """Return the stages of a run and their sizes."""
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
    """Summarise a run's reward on unseen tasks; for a mixture, also by event."""
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
