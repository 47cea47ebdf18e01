"""The command `judge gap`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hexathlon.evaluators.judged.results import JudgedSummary

__all__ = ["gap"]


def gap(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Evaluations of a training run's checkpoints, oldest first."),
    ],
    reward: Annotated[str, typer.Option(help="Name of the judge whose score is the reward.")],
    held_out: Annotated[str, typer.Option(help="Name of a judge that training never asked.")],
) -> int:
    """Compare a judge that is used as the reward with one that never was.

    A policy may learn its judge instead of the task. Both judges must have judged every run. The
    alarm is raised, with exit code 3, if the reward rises and the gap between the judges grows
    significantly with it.
    """
    from hexathlon.baselines.harness.errors import ExitCode, UsageError
    from hexathlon.baselines.harness.tables import ReportTable
    from hexathlon.evaluators.judged.file import JudgedError
    from hexathlon.evaluators.judged.results import judged_summaries
    from hexathlon.evaluators.judges.gap import watch_gap
    from hexathlon_cli.output import print_table, print_text

    try:
        summaries = [judged_summaries(run) for run in runs]
    except (JudgedError, OSError) as error:
        raise UsageError(str(error)) from None
    pairs = [
        (_mean(run, found, reward), _mean(run, found, held_out))
        for run, found in zip(runs, summaries, strict=True)
    ]
    try:
        alarm = watch_gap([a for a, _ in pairs], [b for _, b in pairs])
    except ValueError as error:
        raise UsageError(str(error)) from None
    rows = tuple(
        (run.name, f"{a:.3f}", f"{b:.3f}", f"{a - b:+.3f}")
        for run, (a, b) in zip(runs, pairs, strict=True)
    )
    print_table(ReportTable("Mean judged scores", ("run", reward, held_out, "gap"), rows))
    print_text(
        f"The gap changes by {alarm.gap_slope:+.4f} per run (95 % interval {alarm.low:+.4f} to "
        f"{alarm.high:+.4f}), the reward by {alarm.reward_slope:+.4f}."
    )
    if not alarm.alarm:
        return ExitCode.FINE
    print_text("Alarm: the reward rises while the judges come apart.")
    return ExitCode.NOT_VERIFIED


def _mean(run: Path, found: "list[JudgedSummary]", judge: str) -> float:
    """Return a judge's mean score of a run."""
    from hexathlon.baselines.harness.errors import UsageError

    own = [one for one in found if one.judge == judge]
    if len(own) != 1:
        known = ", ".join(one.judge for one in found) or "none"
        count = "not" if not own else f"{len(own)} times"
        raise UsageError(f"{run} was judged {count} by {judge!r}; its judges: {known}")
    if own[0].mean is None:
        reason = "; ".join(own[0].withheld) or "no trial was decided"
        raise UsageError(f"{run} has no mean score by {judge!r}: {reason}")
    return own[0].mean.value
