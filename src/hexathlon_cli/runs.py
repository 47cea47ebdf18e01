"""Final output of `eval` and `resume`: notes on the run, the report, the exit code."""

from pathlib import Path

from hexathlon.baselines.harness.config import ExecutionConfig
from hexathlon.baselines.harness.errors import ExitCode
from hexathlon.baselines.harness.report import read_run, unscored_share
from hexathlon.baselines.harness.run import RunOutcome
from hexathlon_cli.output import note, print_report

__all__ = ["conclude", "describe"]


def describe(outcome: RunOutcome) -> None:
    """Report torn records, earlier records and an exhausted budget on standard error."""
    if outcome.torn:
        note(f"{outcome.torn} bytes of an unfinished record were moved to records.torn")
    before = outcome.recorded - outcome.played
    if before:
        note(f"{before:,} of {outcome.planned:,} trials were recorded before")
    if outcome.stopped is not None:
        note(
            f"stopped between trials, {outcome.recorded:,} of {outcome.planned:,} are recorded: "
            f"{outcome.stopped}; continue with `hexathlon resume {outcome.run}` and a larger budget"
        )


def conclude(run: Path, execution: ExecutionConfig) -> ExitCode:
    """Print a run's report and return the exit code of the command."""
    stored = read_run(run)
    print_report(stored, details=False)
    share = unscored_share(stored)
    if share > execution.max_unscored:
        note(f"{share:.1%} of the trials have no score, more than --max-unscored allows")
        return ExitCode.UNSCORED
    return ExitCode.FINE
