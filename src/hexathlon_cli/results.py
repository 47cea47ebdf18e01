"""`rescore`, `verify`, `compare`, `report` and `leaderboard build`: what is done with records."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["compare", "leaderboard_build", "report", "rescore", "verify"]

_Salt = Annotated[Path | None, typer.Option(help="File with the secret of a held-out round.")]


def rescore(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    out: Annotated[Path, typer.Option(help="New folder for the records judged again.")],
    salt_file: _Salt = None,
) -> int:
    """Judge stored trials by today's verifiers. No model or environment is needed."""
    from hexathlon_cli.reading import rescore_command

    return rescore_command(run, out, salt_file)


def verify(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    allow_incomplete: Annotated[
        bool, typer.Option("--allow-incomplete", help="Accept trials without a record.")
    ] = False,
    salt_file: _Salt = None,
) -> int:
    """Check the hash chain and replay every trial. Any mismatch gives exit code 3."""
    from hexathlon_cli.reading import verify_command

    return verify_command(run, salt_file, whole=not allow_incomplete)


def compare(
    runs: Annotated[list[Path], typer.Argument(help="The first run is compared with each other.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Compare runs on the tasks they share. Paired, Holm, smallest detectable difference."""
    from hexathlon_cli.reading import compare_command

    return compare_command(runs, as_json=as_json)


def report(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    form: Annotated[str, typer.Option("--format", help="table, markdown or json.")] = "table",
    anchor: Annotated[
        list[Path] | None, typer.Option(help="Run of a built-in agent, for floor or ceiling.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write to this file.")] = None,
) -> int:
    """Say what a run came to: scores, bounds, faults, usage."""
    from hexathlon_cli.reading import report_command

    return report_command(run, form, anchor or [], out)


def leaderboard_build(
    runs: Annotated[
        list[Path], typer.Argument(help="Run folders, or folders of them; anchors are added.")
    ],
    out: Annotated[Path, typer.Option(help="Folder of the site.")] = Path("site"),
    verify: Annotated[
        bool, typer.Option("--verify", help="Replay every trial first; what holds gets a badge.")
    ] = False,
) -> int:
    """Build the static site from records alone."""
    from hexathlon_cli.reading import leaderboard_command

    return leaderboard_command(runs, out, verify=verify)
