"""The command `rescore`."""

from pathlib import Path
from typing import Annotated

import typer

from hexathlon_cli.options import ClusterAddress, Processes, RunFolder, SaltFile

__all__ = ["rescore"]

_MOST_SHOWN = 20


def rescore(
    run: RunFolder,
    out: Annotated[Path, typer.Option(help="New run directory for the rescored records.")],
    workers: Processes = None,
    cluster: ClusterAddress = None,
    salt_file: SaltFile = None,
) -> int:
    """Rescore stored trials with the current verifiers.

    The records of RUN are not changed; rewards that differ are listed.
    """
    from hexathlon.baselines.harness.plan import read_salt
    from hexathlon.baselines.harness.rescore import rescore_run
    from hexathlon_cli.cluster import distributing
    from hexathlon_cli.output import print_text

    with distributing(cluster) as distribute:
        result = rescore_run(run, out, read_salt(salt_file), workers or 0, distribute)
    for task, old, new in result.changed[:_MOST_SHOWN]:
        print_text(f"{task}: {old} -> {new}")
    print_text(f"{result.changes:,} of {result.records:,} rewards changed. Records: {result.run}")
    return 0
