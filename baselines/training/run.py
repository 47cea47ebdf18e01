"""A training run in a directory: start, resume, finish.

The directory contains `recipe.json` (the resolved recipe), `start/` (the initial policy), with soft
prefixes also `palette/` (the initial policy that reads them) and `palette.safetensors`, `before/`
and `after/` (evaluations on unseen tasks, each a run directory of `hexathlon eval`), `rollouts/`
(records of the rollouts), `states/` (for resuming), `metrics.jsonl`, `curve.html` and `curve.png`,
and finally `policy/`, a checkpoint with low-rank adapters merged, which are also saved in
`adapters/`. Running the same recipe in the same directory resumes the run.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hexathlon.baselines import interrupts
from hexathlon.baselines.distributed.launch import other_ranks
from hexathlon.baselines.learner.ranks import Ranks
from hexathlon.baselines.rollout.environments import make_env
from hexathlon.baselines.training.backend import TrainingBackend
from hexathlon.baselines.training.checkpoints import save_trained
from hexathlon.baselines.training.curve import write_curve
from hexathlon.baselines.training.folder import claimed
from hexathlon.baselines.training.loggers import Logger, close_loggers, open_loggers
from hexathlon.baselines.training.measuring import evaluated
from hexathlon.baselines.training.metrics import MetricsLog, ProgressCallback
from hexathlon.baselines.training.preference import train_preference
from hexathlon.baselines.training.recipe import Recipe, recipe_of
from hexathlon.baselines.training.samples import choose_samples
from hexathlon.baselines.training.start import load_reference, load_start
from hexathlon.baselines.training.tinker import launch_tinker
from hexathlon.baselines.training.trainer import Trainer
from hexathlon.evaluators.records import RECORDS_FILE, read_records
from hexathlon.evaluators.statistics import ScoreInterval, score_interval

__all__ = ["Launch", "launch_processes", "train", "train_further_rank", "train_rank"]

_FURTHER_RANK = f"{__name__}:train_further_rank"

Launch = Callable[[Recipe, Path, ProgressCallback, Sequence[Logger]], dict[str, ScoreInterval]]
"""Starts the ranks of a run, each with `train_rank`, and returns the results of rank 0."""


def launch_processes(
    recipe: Recipe, out: Path, report: ProgressCallback, loggers: Sequence[Logger]
) -> dict[str, ScoreInterval]:
    """Train with this process as rank 0 and further ranks as its children.

    Raises:
        RankFailed: If another rank's process ends with an error.
    """
    with other_ranks(_FURTHER_RANK, out, recipe.ranks) as ranks:
        return train_rank(recipe, out, report, ranks, loggers)


def train(
    recipe: Recipe,
    out: Path,
    report: ProgressCallback,
    log_to: Sequence[str] = (),
    launch: Launch = launch_processes,
) -> dict[str, ScoreInterval]:
    """Run a recipe to its end, resuming any part that is already in the folder.

    Args:
        recipe: The recipe; `scale` is applied.
        out: The run's folder.
        report: Called with every step.
        log_to: Names of loggers that receive metrics, evaluations and samples; see `loggers`.
        launch: Starts the ranks: processes of this machine, or actors of a cluster.

    Returns:
        Mean rewards on unseen tasks with 95 % intervals, as `before` and `after`; for a mixture
        also by event, as `before/sql-tiny`.

    Raises:
        RecipeDiffers: If the folder contains another recipe's run.
        FolderInUse: If another process is training in the folder.
        NothingToLearn: If the filters leave no group to learn from.
        RankFailed: If another rank's process ends with an error.
    """
    recipe = recipe.scaled()

    def stoppable(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
        report(phase, step, steps, metrics)
        interrupts.check()

    with claimed(out, recipe), interrupts.deferred():
        loggers = open_loggers(log_to, out, recipe)
        if recipe.engine.kind == "tinker":
            launch = launch_tinker
        try:
            return launch(recipe, out, stoppable, loggers)
        finally:
            close_loggers(loggers)


def train_rank(
    recipe: Recipe,
    out: Path,
    report: ProgressCallback,
    ranks: Ranks,
    loggers: Sequence[Logger] = (),
    backend: TrainingBackend | None = None,
) -> dict[str, ScoreInterval]:
    """Run one rank's part of a recipe; all ranks do the same, and rank 0 writes and reports."""
    import torch

    if not torch.cuda.is_available():
        torch.set_num_threads(1)  # a rank is a core
    model, tokenizer = load_start(recipe, out, report, ranks)
    if recipe.preference is not None:
        return train_preference(recipe, out, model, tokenizer, report)
    reference = load_reference(recipe, out)
    results = evaluated(recipe, recipe.starting(out), out, "before", report, ranks)
    ranks.wait()
    trainer = Trainer(recipe, model, tokenizer, make_env, out, reference, ranks, backend)
    log: MetricsLog | None = None
    try:
        trainer.resume()
        # A run that resumes from the start rewrites the row of step 0.
        kept = trainer.step or -1
        log = MetricsLog(out / "metrics.jsonl", kept) if ranks.first else None
        if log and trainer.step == 0:
            log.log(0, _success(results, "before"))
            _tell(loggers, 0, _intervals(results, "before"), _recorded(out / "before"))
        report("train", trainer.step, recipe.steps, {})
        while trainer.step < recipe.steps:
            metrics = trainer.advance()
            every = recipe.evaluation.every
            # After the last step, the evaluation `after` replaces it.
            if every and trainer.step % every == 0 and trainer.step < recipe.steps:
                measured = trainer.measure(recipe.evaluation.tasks)
                metrics |= {"dev/success": measured.success, **measured.by_event}
                rewards = [float(record["reward"] or 0.0) for record in measured.records]
                bounds = _bounds("dev", score_interval(rewards))
                _tell(loggers, trainer.step, bounds, measured.records)
            if log:
                log.log(trainer.step, metrics)
            _tell(loggers, trainer.step, metrics)
            report("train", trainer.step, recipe.steps, metrics)
            if trainer.step % recipe.save_every == 0 or trainer.step == recipe.steps:
                trainer.save()
    finally:
        trainer.close()
        if log:
            log.close()
    if ranks.first:
        save_trained(recipe, out, model, tokenizer)
    ranks.wait()
    results |= evaluated(recipe, out / "policy", out, "after", report, ranks)
    if "after" in results:
        write_curve(out, _success(results, "after"))
        _tell(loggers, recipe.steps, _intervals(results, "after"), _recorded(out / "after"))
    ranks.wait()
    return results


def train_further_rank(out: Path, ranks: Ranks) -> None:
    """Run the part of a rank started by another process, with the recipe in the run's folder."""
    recipe = recipe_of(json.loads((out / "recipe.json").read_text()))
    train_rank(recipe, out, lambda phase, done, total, metrics: None, ranks)


def _success(results: Mapping[str, ScoreInterval], moment: str) -> dict[str, float]:
    """Return an evaluation as metrics, including those by event."""
    return {
        name.replace(moment, "dev/success", 1): interval.mean
        for name, interval in results.items()
        if name.partition("/")[0] == moment
    }


def _intervals(results: Mapping[str, ScoreInterval], moment: str) -> dict[str, float]:
    """Return one evaluation as metrics, with 95 % intervals."""
    metrics = _success(results, moment)
    for name, interval in results.items():
        if name.partition("/")[0] == moment:
            metrics |= _bounds(name.replace(moment, "dev", 1), interval)
    return metrics


def _bounds(name: str, interval: ScoreInterval) -> dict[str, float]:
    place, _, event = name.partition("/")
    suffix = f"/{event}" if event else ""
    return {f"{place}/low{suffix}": interval.low, f"{place}/high{suffix}": interval.high}


def _recorded(run: Path) -> list[Mapping[str, Any]]:
    """Return the records of an evaluation, of all events of a mixture."""
    files = sorted(run.rglob(RECORDS_FILE))
    return [record for file in files for record in read_records(file.parent)]


def _tell(
    loggers: Sequence[Logger],
    step: int,
    metrics: Mapping[str, float],
    records: Sequence[Mapping[str, Any]] = (),
) -> None:
    for logger in loggers:
        logger.log(step, metrics)
        if records:
            logger.show(step, choose_samples(records))
