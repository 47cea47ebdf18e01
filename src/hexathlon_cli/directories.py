"""`terminal run`: what is done with task directories of Harbor and Terminal-Bench."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["terminal_run"]


def terminal_run(
    path: Annotated[Path, typer.Argument(help="Task directory of Harbor or Terminal-Bench 1.")],
    agent: Annotated[
        str, typer.Option(help="oracle, noop, random, or a MODEL such as endpoint:URL#NAME.")
    ] = "oracle",
    sandbox: Annotated[str | None, typer.Option(help="namespaces, docker or landlock.")] = None,
    base: Annotated[str | None, typer.Option(help="Root tree or image to start from.")] = None,
    verifier: Annotated[
        str, typer.Option(help="separate, or shared: the benchmark's own way.")
    ] = "separate",
    out: Annotated[Path | None, typer.Option(help="Write the trial's record here.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Run one task directory and say what each of its tests came to."""
    from hexathlon_cli.directory_runs import run_directory

    return run_directory(path, agent, sandbox, base, verifier, out, as_json=as_json)
