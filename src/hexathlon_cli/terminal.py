"""The command `terminal run`."""

from pathlib import Path
from typing import Annotated

import typer

from hexathlon_cli.examples import examples
from hexathlon_cli.options import AsJson

__all__ = ["app"]

app = typer.Typer(help="Task directories of the terminal event.", no_args_is_help=True)


@app.command("run", epilog=examples("terminal run"))
def run(
    path: Annotated[
        Path, typer.Argument(help="Task directory in Harbor or Terminal-Bench 1 format.")
    ],
    agent: Annotated[
        str, typer.Option(help="Agent: oracle, noop, random, or a MODEL such as endpoint:URL#NAME.")
    ] = "oracle",
    sandbox: Annotated[str | None, typer.Option(help="Sandbox: namespaces or docker.")] = None,
    base: Annotated[str | None, typer.Option(help="Root tree or image of the sandbox.")] = None,
    verifier: Annotated[
        str,
        typer.Option(
            help="Grader's sandbox: separate, or shared with the agent as in the benchmark."
        ),
    ] = "separate",
    out: Annotated[Path | None, typer.Option(help="File for the trial's record.")] = None,
    as_json: AsJson = False,
) -> int:
    """Run one task directory and show the outcome of each test.

    Exit code 3 means that the task was not solved.
    """
    from hexathlon_cli.task_directory import run_directory

    return run_directory(path, agent, sandbox, base, verifier, out, as_json=as_json)
