"""The command `verify`."""

from pathlib import Path
from typing import Annotated

import typer

from hexathlon_cli.options import ClusterAddress, Processes, RunFolder, SaltFile

__all__ = ["verify"]

_MOST_SHOWN = 20


def verify(
    run: RunFolder,
    allow_incomplete: Annotated[
        bool, typer.Option("--allow-incomplete", help="Accept planned trials without a record.")
    ] = False,
    workers: Processes = None,
    cluster: ClusterAddress = None,
    salt_file: SaltFile = None,
    mount: Annotated[
        list[Path] | None,
        typer.Option(
            help="Directory mounted for the program of `harness`; mounted again for the replay."
        ),
    ] = None,
) -> int:
    """Verify a run's plan and hash chain, and replay its trials.

    The trials are derived from the plan's configuration; each must be recorded. The recorded
    actions are replayed in fresh environments; observations, rewards and hashes must be the same.
    Exit code 3 means that the run is rejected.
    """
    from hexathlon.baselines.harness.errors import ExitCode
    from hexathlon.baselines.harness.plan import read_salt
    from hexathlon.baselines.harness.verify import NOT_VERIFIABLE, verify_run
    from hexathlon.baselines.programs.replayed import program_replays
    from hexathlon_cli.cluster import distributing
    from hexathlon_cli.output import note, print_text

    salt = read_salt(salt_file)
    with distributing(cluster) as distribute:
        result = verify_run(
            run,
            salt,
            whole=not allow_incomplete,
            workers=workers or 0,
            distribute=distribute,
            programs=program_replays(run, [str(path.resolve()) for path in mount or ()]),
        )
    for finding in result.findings[:_MOST_SHOWN]:
        note(f"mismatch: {finding}")
    count = len(result.findings)
    if count > _MOST_SHOWN:
        note(f"… and {count - _MOST_SHOWN} more")
    if not result.sound:
        print_text(f"rejected: {run}: {count:,} finding{'' if count == 1 else 's'}")
        return ExitCode.NOT_VERIFIED
    print_text(
        f"verified: {run}: {result.replayed:,} of {result.planned:,} trials replayed identically"
    )
    without = result.missing + result.unscored
    if without:
        print_text(f"planned trials without a score: {without:,}; {_bounds(run)}")
    print_text(f"not verifiable by replay: {', '.join(NOT_VERIFIABLE)}")
    return ExitCode.FINE


def _bounds(run: Path) -> str:
    """Return the score of each environment under each treatment of trials without a score."""
    from hexathlon.baselines.harness.report import percent, read_run, span
    from hexathlon.envs.registry import short

    parts = []
    for env in read_run(run).summary.envs:
        bounds = env.score.bounds
        parts.append(
            f"{short(env.env)} {percent(bounds.excluded) or 'no score'} without them, "
            f"{span(bounds.low, bounds.high)} if they failed or passed"
        )
    return "; ".join(parts)
