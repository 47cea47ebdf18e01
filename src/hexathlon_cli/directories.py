"""The command `terminal run`: one task directory of Harbor or Terminal-Bench."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["terminal_run"]


def terminal_run(
    path: Annotated[
        Path, typer.Argument(help="Task directory in Harbor or Terminal-Bench 1 form.")
    ],
    agent: Annotated[
        str, typer.Option(help="Agent: oracle, noop, random, or a MODEL such as endpoint:URL#NAME.")
    ] = "oracle",
    sandbox: Annotated[
        str | None, typer.Option(help="Sandbox: namespaces, docker or landlock.")
    ] = None,
    base: Annotated[str | None, typer.Option(help="Root tree or image of the sandbox.")] = None,
    verifier: Annotated[
        str,
        typer.Option(
            help="Grader's sandbox: separate, or shared with the agent as in the benchmark."
        ),
    ] = "separate",
    out: Annotated[Path | None, typer.Option(help="File for the trial's record.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON output.")] = False,
) -> int:
    """Run one task directory and show the outcome of each test."""
    from hexathlon_cli.directory_runs import run_directory

    return run_directory(path, agent, sandbox, base, verifier, out, as_json=as_json)
