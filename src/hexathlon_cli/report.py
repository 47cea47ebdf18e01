"""The command `report`."""

from pathlib import Path
from typing import Annotated

import typer

from hexathlon_cli.options import RunFolder

__all__ = ["report"]

_FORMATS = ("table", "markdown", "json")


def report(
    run: RunFolder,
    form: Annotated[
        str, typer.Option("--format", help="Output format: table, markdown or json.")
    ] = "table",
    anchor: Annotated[
        list[Path] | None,
        typer.Option(help="Run of a built-in agent, for floor or ceiling; repeatable."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Output file, for markdown and json.")] = None,
) -> int:
    """Summarise a run: scores, bounds, faults, usage.

    Scores come with 95 % intervals and three denominators: infrastructure failures counted as
    failures, excluded, and bounds on the score over all their possible outcomes.
    """
    import json

    from hexathlon.baselines.harness.errors import UsageError, near_miss
    from hexathlon.baselines.harness.report import (
        anchor_runs,
        anchors_of,
        as_json,
        markdown,
        read_run,
        same_trials,
    )
    from hexathlon_cli.output import note, print_report, print_text, write_file

    if form not in _FORMATS:
        raise UsageError(near_miss("format", form, _FORMATS))
    if form == "table" and out is not None:
        raise UsageError("--out needs --format markdown or json")
    stored = read_run(run)
    named = list(map(read_run, anchor or []))
    for one in named:
        if not any(same_trials(stored.plan, one.plan, env.env) for env in stored.summary.envs):
            note(f"{one.path} ran different trials from {run}: it sets neither floor nor ceiling")
    anchors = anchors_of([stored, *anchor_runs(run), *named])
    if form == "table":
        print_report(stored, details=True, anchors=anchors)
        return 0
    if form == "json":
        text = json.dumps(as_json(stored, anchors), indent=2, ensure_ascii=False) + "\n"
    else:
        text = markdown(stored, anchors)
    if out is None:
        print_text(text)
    else:
        write_file(out, text)
    return 0
