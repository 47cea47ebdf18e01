"""The commands `rescore`, `verify`, `compare`, `report` and `leaderboard build`."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["compare", "leaderboard_build", "report", "rescore", "verify"]

_Salt = Annotated[Path | None, typer.Option(help="File with the salt of a held-out round.")]


def rescore(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    out: Annotated[Path, typer.Option(help="New run folder for the rescored records.")],
    salt_file: _Salt = None,
) -> int:
    """Rescore stored trials with the current verifiers."""
    from hexathlon_cli.reading import rescore_command

    return rescore_command(run, out, salt_file)


def verify(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    allow_incomplete: Annotated[
        bool, typer.Option("--allow-incomplete", help="Accept planned trials without a record.")
    ] = False,
    salt_file: _Salt = None,
) -> int:
    """Verify a run: check the hash chain and replay every trial."""
    from hexathlon_cli.reading import verify_command

    return verify_command(run, salt_file, whole=not allow_incomplete)


def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Run folders; the first is compared with each of the others."),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="JSON output.")] = False,
) -> int:
    """Compare runs on shared tasks, paired and corrected by Holm."""
    from hexathlon_cli.reading import compare_command

    return compare_command(runs, as_json=as_json)


def report(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    form: Annotated[
        str, typer.Option("--format", help="Output format: table, markdown or json.")
    ] = "table",
    anchor: Annotated[
        list[Path] | None,
        typer.Option(help="Run of a built-in agent, for floor or ceiling; repeatable."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Output file, for markdown and json.")] = None,
) -> int:
    """Summarise a run: scores, bounds, faults, usage."""
    from hexathlon_cli.reading import report_command

    return report_command(run, form, anchor or [], out)


def leaderboard_build(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Run folders, or folders of run folders; their anchor runs are included."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder for the site.")] = Path("site"),
    verify: Annotated[
        bool, typer.Option("--verify", help="Replay every trial first; verified runs get a badge.")
    ] = False,
) -> int:
    """Build the static leaderboard site from records."""
    from hexathlon_cli.reading import leaderboard_command

    return leaderboard_command(runs, out, verify=verify)
