"""The command `plan`: step time, memory and cost of a recipe on some GPUs."""

from pathlib import Path
from typing import Annotated, Any

import typer

from hexathlon_cli.options import AsJson

__all__ = ["plan"]


def plan(
    recipe: Annotated[str, typer.Argument(help="Recipe name or TOML file.")],
    gpus: Annotated[int, typer.Option(help="GPUs per machine.", min=1, max=64)] = 8,
    machines: Annotated[int, typer.Option(help="Machines.", min=1, max=512)] = 1,
    device: Annotated[str, typer.Option(help="GPU: h100, h200, a100, l40s or rtx4090.")] = "h100",
    network: Annotated[
        float, typer.Option(help="Bandwidth between machines in GB/s, one direction.", min=0.1)
    ] = 50.0,
    price: Annotated[
        float, typer.Option(help="Dollars per GPU-hour. [default: no costs]", min=0)
    ] = 0.0,
    like: Annotated[
        Path | None,
        typer.Option(
            "--from", help="Training run whose rollouts are typical, in place of assumptions."
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(help="Checkpoint or config.json in place of the recipe's policy."),
    ] = None,
    turns: Annotated[float | None, typer.Option(help="Turns per rollout.", min=1)] = None,
    sampled: Annotated[
        float | None, typer.Option(help="Tokens sampled per rollout.", min=1)
    ] = None,
    tokens: Annotated[
        float | None, typer.Option(help="Tokens per rollout, observations included.", min=2)
    ] = None,
    env_seconds: Annotated[
        float | None, typer.Option(help="Seconds in the environment per rollout.", min=0)
    ] = None,
    efficiency: Annotated[
        list[str] | None,
        typer.Option(
            help="Share of the peak that is reached, such as learn=0.4; learn, prefill, decode or "
            "sync; repeatable."
        ),
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option("--set", help="KEY=VALUE override of the recipe; repeatable."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Predict step time, memory and cost of a recipe on given GPUs.

    Also shows how to divide the GPUs between engines and learner.

    This is a cost model, not a measurement: data-sheet peak figures times efficiencies, and a
    workload that is assumed or read from a run.
    """
    import json

    from hexathlon.baselines.harness.errors import UsageError, near_miss
    from hexathlon.baselines.sizing.demand import SizingError, WorkloadOverrides, plan_of
    from hexathlon.baselines.sizing.devices import device as device_of
    from hexathlon.baselines.sizing.devices import device_names
    from hexathlon.baselines.sizing.estimate import GpuCluster, estimates
    from hexathlon.baselines.sizing.report import as_json as estimates_json
    from hexathlon.baselines.sizing.report import comparison_with_run, tables
    from hexathlon_cli.output import note, print_table, print_text
    from hexathlon_cli.train.guard import require_torch
    from hexathlon_cli.train.run import read_recipe

    if device not in device_names():
        raise UsageError(near_miss("GPU", device, device_names()))
    require_torch()
    found = read_recipe(recipe, change or [])
    try:
        demand, source = plan_of(
            found, like, WorkloadOverrides(model, turns, sampled, tokens, env_seconds)
        )
    except SizingError as error:
        raise UsageError(str(error)) from None
    cluster = GpuCluster(
        device_of(device),
        gpus * machines,
        _efficiency(efficiency or []),
        network if machines > 1 else 0.0,
    )
    layouts = estimates(demand, cluster)
    if as_json:
        print_text(json.dumps(estimates_json(demand, layouts, source), indent=1))
        return
    for table in tables(demand, cluster, layouts, source, price):
        print_table(table)
    if like is not None:
        print_table(comparison_with_run(found, like, demand.workload))
    if not layouts[0].fits:
        note(
            "No division fits into memory: use more GPUs, checkpointing, or fewer tokens per pass."
        )


def _efficiency(given: list[str]) -> Any:
    from hexathlon.baselines.harness.errors import UsageError
    from hexathlon.baselines.sizing.devices import Efficiency
    from hexathlon.tasks.validation import reason

    try:
        return Efficiency(
            **{name: float(value) for name, _, value in (x.partition("=") for x in given)}
        )
    except ValueError as error:
        raise UsageError(
            f"--efficiency takes NAME=SHARE with a share above 0 and up to 1, got "
            f"{', '.join(given)!r}: {reason(error)}"
        ) from None
