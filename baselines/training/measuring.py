"""Policies before and after training, evaluated as `hexathlon eval` evaluates a checkpoint."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from hexathlon.baselines.harness.config import EvalConfig, ExecutionConfig, SamplingConfig
from hexathlon.baselines.harness.errors import CommandError
from hexathlon.baselines.harness.progress import Progress
from hexathlon.baselines.harness.run import evaluate
from hexathlon.baselines.learner.ranks import ALONE, Ranks
from hexathlon.baselines.limits import TrialLimits
from hexathlon.baselines.training.metrics import Report
from hexathlon.baselines.training.recipe import Recipe
from hexathlon.evaluators.records import RECORDS_FILE, read_records
from hexathlon.evaluators.statistics import ScoreInterval, score_interval

__all__ = ["evaluated"]


class _Told(Progress):
    """Passes progress on to a report; beside others at work, as if they were as far."""

    def __init__(self, phase: str, total: int, report: Report, ranks: int = 1) -> None:
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
    tasks: Sequence[str],
    run: Path,
    report: Report,
    ranks: Ranks = ALONE,
) -> ScoreInterval | None:
    """Play tasks once each into a run folder, or finish what was begun there.

    Ranks that train together each play their share into a folder beside it; then the first one puts
    the shares together, and only it returns the result.

    Args:
        recipe: How the policy is measured.
        checkpoint: The policy's directory.
        tasks: Ids of tasks that it was not trained on.
        run: The run folder; its plan names the checkpoint, so it can be executed again.
        report: Is told of every trial.
        ranks: The processes that play.

    Returns:
        The mean reward, with an interval over tasks drawn like these from the same templates.

    Raises:
        CommandError: The checkpoint cannot be played, or not every trial was scored.
    """
    several = range(ranks.count if ranks.count > 1 else 0)
    shares = [run.with_name(f"{run.name}.share-{number}") for number in several]
    mine = ranks.share(tasks)
    if shares and mine and not (run / RECORDS_FILE).exists():
        shown = _Told(run.name, len(tasks), report, ranks.count)
        _play(recipe, checkpoint, mine, shares[ranks.number], shown)
    ranks.wait()
    if not ranks.first:
        return None
    played = [folder for folder in shares if folder.exists()]
    _play(recipe, checkpoint, tasks, run, _Told(run.name, len(tasks), report), played)
    for folder in played:
        shutil.rmtree(folder)
    records = list(read_records(run))
    unscored = [record["error"] for record in records if record["status"] != "scored"]
    if unscored:
        raise CommandError(
            f"{run}: {len(unscored)} of {len(records)} trials have no score ({unscored[0]}); "
            f"mend that and run the recipe again"
        )
    return score_interval([float(record["reward"]) for record in records])


def _play(
    recipe: Recipe,
    checkpoint: Path,
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
        limits=TrialLimits(turns=recipe.tasks.turns),
        sampling=SamplingConfig(
            temperature=recipe.evaluation.temperature,
            max_tokens=recipe.rollout.max_tokens,
            sampling_seed=recipe.seed,
        ),
        team="training",
    )
    execution = ExecutionConfig(concurrency=recipe.rollout.concurrency)
    evaluate(config, execution, run, progress=progress, played=played)
