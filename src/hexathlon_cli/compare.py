"""The command `compare`."""

from pathlib import Path
from typing import Annotated

import typer

from hexathlon_cli.options import AsJson

__all__ = ["compare"]


def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Run directories; the first is compared with each of the others."),
    ],
    as_json: AsJson = False,
) -> int:
    """Compare runs on shared tasks with paired, corrected tests.

    The table gives the difference of the scores with its 95 % interval, the p value with
    Holm's correction, and the smallest difference that these tasks could have detected.
    """
    import json

    from hexathlon.baselines.harness.compare import compare_runs
    from hexathlon.baselines.harness.report import percent, span
    from hexathlon.baselines.harness.tables import ReportTable
    from hexathlon.envs.registry import short
    from hexathlon_cli.output import note, print_table, print_text

    rows = compare_runs(runs)
    if as_json:
        print_text(json.dumps([row.as_json() for row in rows], indent=2))
        return 0
    headings = ("event", "A and B", "tasks", "A - B", "95% interval", "p", "detectable", "test")
    body = tuple(
        (
            short(row.env),
            f"{row.a} and {row.b}",
            f"{row.result.tasks:,}",
            percent(row.result.difference),
            span(row.result.low, row.result.high),
            f"{row.adjusted:.2g}",
            percent(row.result.detectable),
            row.result.method,
        )
        for row in rows
    )
    print_table(ReportTable("Paired comparison, p corrected by Holm", headings, body))
    for row in rows:
        if row.warning:
            note(f"warning, {row.a} and {row.b}: {row.warning}")
    return 0
