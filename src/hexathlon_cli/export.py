"""The commands `export` and `import`."""

from pathlib import Path
from typing import Annotated

import typer

from hexathlon_cli.options import LevelName, TasksetName

__all__ = ["export", "import_"]

_FORMATS = "openai, sharegpt, atif, verifiers, inspect, hexathlon"
OutPath = Annotated[Path, typer.Option("--out", help="File or directory to write.")]


def export(
    source: Annotated[str, typer.Argument(help="Run directory, file of transcripts, or an event.")],
    out: OutPath,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help=f"{_FORMATS}, every-eval-ever, asciicast, datasets or harbor.",
        ),
    ] = "openai",
    min_reward: Annotated[
        float | None,
        typer.Option(
            help="Leave out trials with a lower reward. [default: all, unscored ones included]"
        ),
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="Tasks per split, for task sets.")] = 100,
    taskset: TasksetName = None,
    level: LevelName = None,
) -> int:
    """Export trajectories, results or tasks for other tools.

    Trajectories and results come from a run directory or a file of transcripts. The format
    asciicast writes recordings of terminal trials, a file each; datasets and harbor write tasks of
    an event.
    """
    from hexathlon_cli.exchange import export_source

    return export_source(source, out, form, min_reward, count, taskset, level)


def import_(
    source: Annotated[Path, typer.Argument(help="File, or directory of files, to read.")],
    out: OutPath,
    form: Annotated[str, typer.Option("--format", help=f"{_FORMATS}.")] = "openai",
    replay: Annotated[
        bool, typer.Option("--replay", help="Replay each conversation and compare its reward.")
    ] = False,
) -> int:
    """Import another tool's trajectories as a file of transcripts.

    Exit code 3 means that a replayed conversation earned a different reward than it states.
    """
    from hexathlon_cli.exchange import import_source

    return import_source(source, out, form, replay=replay)
