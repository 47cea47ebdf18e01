"""Policies before and after training, evaluated as `hexathlon eval` evaluates a checkpoint."""

from collections.abc import Callable, Sequence
from pathlib import Path

from hexathlon.baselines.harness.config import EvalConfig, ExecutionConfig, SamplingConfig
from hexathlon.baselines.harness.errors import CommandError
from hexathlon.baselines.harness.progress import Progress
from hexathlon.baselines.harness.run import evaluate
from hexathlon.baselines.limits import TrialLimits
from hexathlon.baselines.training.metrics import Report
from hexathlon.baselines.training.recipe import Recipe
from hexathlon.evaluators.records import read_records
from hexathlon.evaluators.statistics import ScoreInterval, score_interval

__all__ = ["evaluated"]


class _Told(Progress):
    """Passes progress on to a report."""

    def __init__(self, phase: str, total: int, report: Report) -> None:
        super().__init__(phase, total)
        self._report: Callable[[int], None] = lambda done: report(phase, done, total, {})

    def advance(self, note: str = "") -> None:
        self.done += 1
        self._report(self.done)


def evaluated(
    recipe: Recipe, checkpoint: Path, tasks: Sequence[str], run: Path, report: Report
) -> ScoreInterval:
    """Play tasks once each into a run folder, or finish what was begun there.

    Args:
        recipe: How the policy is measured.
        checkpoint: The policy's directory.
        tasks: Ids of tasks that it was not trained on.
        run: The run folder; its plan names the checkpoint, so it can be executed again.
        report: Is told of every trial.

    Returns:
        The mean reward, with an interval over tasks drawn like these from the same templates.

    Raises:
        CommandError: The checkpoint cannot be played, or not every trial was scored.
    """
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
    evaluate(config, execution, run, progress=_Told(run.name, len(tasks), report))
    records = list(read_records(run))
    unscored = [record["error"] for record in records if record["status"] != "scored"]
    if unscored:
        raise CommandError(
            f"{run}: {len(unscored)} of {len(records)} trials have no score ({unscored[0]}); "
            f"mend that and run the recipe again"
        )
    return score_interval([float(record["reward"]) for record in records])
