"""Tables of a sizing: the workload, the memory per GPU, and the best layout of each mode."""

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from hexathlon.baselines.harness.tables import ReportTable
from hexathlon.baselines.sizing.estimate import (
    GpuCluster,
    Mode,
    StepEstimate,
    StepPlan,
    best_by_mode,
)
from hexathlon.baselines.sizing.footprint import GIB, ModelSize, learner_memory
from hexathlon.baselines.sizing.workload import MachineRates, StepWorkload, measured_steps
from hexathlon.baselines.training.recipe import Recipe, recipe_of

__all__ = ["as_json", "comparison_with_run", "tables"]

_MODES: dict[Mode, str] = {
    "shared": "shared, taking turns",
    "apart": "apart, synchronous",
    "asynchronous": "apart, asynchronous",
}


def tables(
    plan: StepPlan, cluster: GpuCluster, found: Sequence[StepEstimate], source: str, price: float
) -> list[ReportTable]:
    """Return the tables that `hexathlon plan` prints.

    Args:
        plan: The recipe's demands.
        cluster: The hardware.
        found: Estimates, best first.
        source: Source of the workload's figures.
        price: Dollars per GPU hour; 0 omits costs.
    """
    work, size = plan.workload, plan.model
    demand = ReportTable(
        f"One training step ({source})",
        ("quantity", "value"),
        (
            ("parameters", f"{size.parameters / 1e9:,.3f} B{_active(size)}"),
            ("rollouts", f"{work.rollouts:,}"),
            ("rollouts in flight", f"{plan.slots:,}"),
            ("turns per rollout", f"{work.turns:.1f}"),
            ("tokens per rollout", f"{work.tokens:,.0f}"),
            ("sampled tokens per rollout", f"{work.sampled:,.0f}"),
            ("environment, seconds per rollout", f"{work.env_seconds:.3f}"),
            ("longest rollout / mean", f"{work.longest(min(work.rollouts, plan.slots)):.1f}"),
        ),
    )
    best = best_by_mode(found)
    rows = tuple(_row(one, cluster.gpus, price) for one in best)
    name = f"{cluster.gpus} x {cluster.device.name}"
    costs = ("$ per step", "$ per 1,000 steps") if price else ()
    layouts = ReportTable(
        f"Best division of {name} in each mode",
        (
            "mode",
            "engines",
            "learners",
            "step s",
            "collect s",
            "learn s",
            "sync s",
            "engines busy",
            "learners busy",
            "fits",
            *costs,
        ),  # fmt: skip
        rows,
    )
    return [demand, layouts, _memory(plan, best[0])]


def comparison_with_run(recipe: Recipe, run: Path, work: StepWorkload) -> ReportTable:
    """Return the predicted step time on the machine of a run, beside the run's measured one.

    Filters that drop groups make a run collect more batches; the recipe is assumed to collect
    equally many.

    Args:
        recipe: The recipe to predict; `scale` is applied.
        run: The run.
        work: The recipe's workload.
    """
    before = recipe_of(json.loads((run / "recipe.json").read_text("utf-8"))).scaled()
    steps = measured_steps(run)
    rollouts = before.rollout.groups * before.rollout.members
    collect, learn = MachineRates.of(steps, rollouts, before.ranks).step(
        work, recipe.scaled().ranks
    )
    measured = fmean(step.collect for step in steps), fmean(step.learn for step in steps)
    rows = (("run, measured", *measured), ("recipe, predicted", collect, learn))
    return ReportTable(
        "The machine of the run",
        ("step of", "step s", "collect s", "learn s"),
        tuple((name, f"{a + b:,.2f}", f"{a:,.2f}", f"{b:,.2f}") for name, a, b in rows),
    )


def _active(size: ModelSize) -> str:
    """Return the parameters that one token uses, if these are not all."""
    used = size.used_parameters(1)
    return f", {used / 1e9:,.3f} B per token" if used < size.parameters else ""


def _row(one: StepEstimate, gpus: int, price: float) -> tuple[str, ...]:
    dollars = price * gpus * one.step / 3600
    costs = (f"{dollars:,.4f}", f"{1000 * dollars:,.2f}") if price else ()
    return (
        _MODES[one.layout.mode],
        str(one.layout.engines),
        str(one.layout.learners),
        f"{one.step:,.2f}",
        f"{one.collect:,.2f}",
        f"{one.learn:,.2f}",
        f"{one.sync:,.3f}",
        f"{one.engine_use:.0%}",
        f"{one.learner_use:.0%}",
        "yes" if one.fits else "no",
        *costs,
    )


def _memory(plan: StepPlan, one: StepEstimate) -> ReportTable:
    parts = learner_memory(
        plan.model, one.layout.learners, plan.forward_tokens, checkpointing=plan.checkpointing
    )
    rows = [("learner", name, _gib(value)) for name, value in parts._asdict().items()]
    rows += [
        ("learner", "all", _gib(parts.total)),
        ("engine", "weights, keys and values", _gib(one.engine_memory)),
        ("GPU", "available", _gib(one.available)),
    ]
    return ReportTable(
        f"Memory per GPU, {_MODES[one.layout.mode]}", ("where", "part", "GiB"), tuple(rows)
    )


def _gib(count: float) -> str:
    return f"{count / GIB:,.2f}"


def as_json(plan: StepPlan, found: Sequence[StepEstimate], source: str) -> dict[str, Any]:
    """Return the plan and all estimates as JSON data; seconds and bytes."""
    rows = [
        {**one.layout._asdict(), **one._asdict(), "layout": None, "fits": one.fits} for one in found
    ]
    for row in rows:
        del row["layout"]
    return {
        "source": source,
        "parameters": plan.model.parameters,
        "slots": plan.slots,
        "workload": plan.workload._asdict(),
        "layouts": rows,
    }
