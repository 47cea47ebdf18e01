"""A training run in a folder: start, resume, finish.

The folder contains `recipe.json` (the resolved recipe), `start/` (the initial policy), `before/`
and `after/` (evaluations on unseen tasks, run folders like those of `hexathlon eval`), `rollouts/`
(records of the rollouts), `states/` (for resuming), `metrics.jsonl`, `curve.html` and `curve.png`,
and in the end `policy/`, a checkpoint; low-rank adapters are merged into it and also stand alone in
`adapters/`. Running the same recipe into the same folder resumes.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from hexathlon.baselines import interrupts
from hexathlon.baselines.distributed.launch import other_ranks
from hexathlon.baselines.learner.ranks import Ranks
from hexathlon.baselines.rollout.environments import make_env
from hexathlon.baselines.training.checkpoints import save_trained
from hexathlon.baselines.training.curve import write_curve
from hexathlon.baselines.training.measuring import evaluated
from hexathlon.baselines.training.metrics import Listener, MetricsLog, ProgressCallback
from hexathlon.baselines.training.recipe import Recipe, recipe_of
from hexathlon.baselines.training.start import load_reference, load_start
from hexathlon.baselines.training.trainer import Trainer
from hexathlon.evaluators.statistics import ScoreInterval

__all__ = ["RecipeDiffers", "train", "train_further_rank", "train_rank"]

_FURTHER_RANK = f"{__name__}:train_further_rank"


class RecipeDiffers(Exception):
    """The folder contains the run of another recipe."""


def train(
    recipe: Recipe, out: Path, report: ProgressCallback, extra: tuple[Listener, ...] = ()
) -> dict[str, ScoreInterval]:
    """Run a recipe to its end; a folder with part of its run is resumed.

    Args:
        recipe: The recipe; `scale` is applied.
        out: The run's folder.
        report: Called with every step.
        extra: Listeners beside the metrics file.

    Returns:
        Mean rewards on unseen tasks with 95 % intervals, as `before` and `after`; for a mixture
        also by event, as `before/sql-tiny`.

    Raises:
        RecipeDiffers: If the folder contains another recipe's run.
        NothingToLearn: If the filters leave no group to learn from.
        RankFailed: If another rank's process ends with an error.
    """
    recipe = recipe.scaled()
    _claim(out, recipe)

    def stoppable(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
        report(phase, step, steps, metrics)
        interrupts.check()

    with interrupts.deferred(), other_ranks(_FURTHER_RANK, out, recipe.ranks) as ranks:
        return train_rank(recipe, out, stoppable, ranks, extra)


def train_rank(
    recipe: Recipe,
    out: Path,
    report: ProgressCallback,
    ranks: Ranks,
    extra: tuple[Listener, ...] = (),
) -> dict[str, ScoreInterval]:
    """Run one rank's part of a recipe; all ranks do the same, and rank 0 writes and reports."""
    import torch

    torch.set_num_threads(1)
    model, tokenizer = load_start(recipe, out, report, ranks)
    reference = load_reference(recipe, out)
    results = evaluated(recipe, recipe.starting(out), out, "before", report, ranks)
    ranks.wait()
    trainer = Trainer(recipe, model, tokenizer, make_env, out, reference, ranks)
    log: MetricsLog | None = None
    try:
        trainer.resume()
        log = MetricsLog(out / "metrics.jsonl", trainer.step) if ranks.first else None
        if log and trainer.step == 0:
            log.log(0, _success(results, "before"))
        report("train", trainer.step, recipe.steps, {})
        while trainer.step < recipe.steps:
            metrics = trainer.advance()
            every = recipe.evaluation.every
            # After the last step, the evaluation `after` takes its place.
            if every and trainer.step % every == 0 and trainer.step < recipe.steps:
                measured = trainer.measure(recipe.evaluation.tasks)
                metrics |= {"dev/success": measured.success, **measured.by_event}
            for listener in ([log] if log else []) + list(extra):
                listener.log(trainer.step, metrics)
            report("train", trainer.step, recipe.steps, metrics)
            if trainer.step % recipe.save_every == 0 or trainer.step == recipe.steps:
                if ranks.first:
                    trainer.save()
                ranks.wait()
    finally:
        trainer.close()
        for listener in ([log] if log else []) + list(extra):
            listener.close()
    if ranks.first:
        save_trained(recipe, out, model, tokenizer)
    ranks.wait()
    results |= evaluated(recipe, out / "policy", out, "after", report, ranks)
    if "after" in results:
        write_curve(out, _success(results, "after"))
    ranks.wait()
    return results


def train_further_rank(out: Path, ranks: Ranks) -> None:
    """Run the part of a rank started by another process, by the recipe in the run's folder."""
    recipe = recipe_of(json.loads((out / "recipe.json").read_text()))
    train_rank(recipe, out, lambda phase, done, total, metrics: None, ranks)


def _success(results: Mapping[str, ScoreInterval], moment: str) -> dict[str, float]:
    """Return an evaluation as metrics, those by event included."""
    return {
        name.replace(moment, "dev/success", 1): interval.mean
        for name, interval in results.items()
        if name.partition("/")[0] == moment
    }


def _claim(out: Path, recipe: Recipe) -> None:
    out.mkdir(parents=True, exist_ok=True)
    file, text = out / "recipe.json", json.dumps(recipe.model_dump(mode="json"), indent=1)
    if file.exists() and file.read_text() != text:
        raise RecipeDiffers(
            f"{out} contains the run of another recipe (see {file}); choose another --out"
        )
    file.write_text(text)
