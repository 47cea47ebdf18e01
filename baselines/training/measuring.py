"""Evaluation of the policies before and after training, as by `hexathlon eval`."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hexathlon.baselines.harness.config import EvalConfig, ExecutionConfig, SamplingConfig
from hexathlon.baselines.harness.errors import CommandError
from hexathlon.baselines.harness.progress import Progress
from hexathlon.baselines.harness.run import evaluate
from hexathlon.baselines.learner.ranks import ALONE, Ranks
from hexathlon.baselines.pipeline.tasks_table import TasksTable
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.training.metrics import ProgressCallback
from hexathlon.baselines.training.recipe import Recipe
from hexathlon.evaluators.records import RECORDS_FILE, read_records
from hexathlon.evaluators.statistics import ScoreInterval, score_interval

__all__ = ["evaluated"]


class _Forwarded(Progress):
    """Forwards progress to a callback; other ranks are assumed to have made the same progress."""

    def __init__(self, phase: str, total: int, report: ProgressCallback, ranks: int = 1) -> None:
        super().__init__(phase, total)
        self._report: Callable[[int], None] = lambda done: report(
            phase, min(done * ranks, total), total, {}
        )

    def advance(self, note: str = "") -> None:
        self.done += 1
        self._report(self.done)


def evaluated(
    recipe: Recipe,
    checkpoint: Path,
    out: Path,
    name: str,
    report: ProgressCallback,
    ranks: Ranks = ALONE,
) -> dict[str, ScoreInterval]:
    """Play each table's dev tasks once into run directories, or resume those runs.

    A single table's run is `out/name`; a mixture's are `out/name/LABEL`. Several ranks each write
    their share to a folder beside it; then rank 0 joins the shares, and only it returns results.

    Args:
        recipe: The recipe, with its tasks and evaluation settings.
        checkpoint: The policy's directory.
        out: The training run's folder.
        name: Name of the evaluation, such as `before`.
        report: Called with every trial.
        ranks: The ranks that play.

    Returns:
        Mean rewards, with intervals over tasks of the same templates: overall under `name`, for a
        mixture also by table under `name/LABEL`.

    Raises:
        CommandError: If the checkpoint cannot be played, or a trial has no score.
    """
    rewards: list[float] = []
    results: dict[str, ScoreInterval] = {}
    for table in recipe.tasks:
        several = len(recipe.tasks) > 1
        run = out / name / table.label if several else out / name
        records = _records(recipe, checkpoint, table, run, report, ranks)
        if ranks.first:
            own = _rewards(run, records)
            rewards += own
            if several:
                results[f"{name}/{table.label}"] = score_interval(own)
    return results | {name: score_interval(rewards)} if ranks.first else {}


def _records(
    recipe: Recipe,
    checkpoint: Path,
    table: TasksTable,
    run: Path,
    report: ProgressCallback,
    ranks: Ranks,
) -> list[dict[str, Any]]:
    """Play one table's tasks with all ranks; return the records on rank 0, [] on others."""
    tasks = table.addresses("dev", recipe.evaluation.tasks)
    phase = run.name if len(recipe.tasks) == 1 else f"{run.parent.name} {run.name}"
    several = range(ranks.count if ranks.count > 1 else 0)
    shares = [run.with_name(f"{run.name}.share-{number}") for number in several]
    mine = ranks.share(tasks)
    report(phase, 0, len(tasks), {})
    play = partial(_play, recipe, checkpoint, table.turns)
    if shares and mine and not (run / RECORDS_FILE).exists():
        play(mine, shares[ranks.number], _Forwarded(phase, len(tasks), report, ranks.count))
    ranks.wait()
    if not ranks.first:
        return []
    played = [folder for folder in shares if folder.exists()]
    play(tasks, run, _Forwarded(phase, len(tasks), report), played)
    for folder in played:
        shutil.rmtree(folder)
    return list(read_records(run))


def _rewards(run: Path, records: Sequence[Mapping[str, Any]]) -> list[float]:
    unscored = [record["error"] for record in records if record["status"] != "scored"]
    if unscored:
        raise CommandError(
            f"{run}: {len(unscored)} of {len(records)} trials have no score ({unscored[0]}); "
            "fix this and run the recipe again"
        )
    return [float(record["reward"]) for record in records]


def _play(
    recipe: Recipe,
    checkpoint: Path,
    turns: int,
    tasks: Sequence[str],
    run: Path,
    progress: Progress,
    played: Sequence[Path] = (),
) -> None:
    config = EvalConfig(
        model=str(checkpoint),
        task=tuple(tasks),
        split="dev",
        dialect=recipe.policy.dialect,  # type: ignore[arg-type]
        limits=TrialLimits(turns=turns),
        sampling=SamplingConfig(
            temperature=recipe.evaluation.temperature,
            max_tokens=recipe.rollout.max_tokens,
            sampling_seed=recipe.seed,
        ),
        team="training",
    )
    execution = ExecutionConfig(
        concurrency=recipe.rollout.concurrency, keep_tokens=recipe.rollout.keep_tokens
    )
    evaluate(config, execution, run, progress=progress, played=played)
