"""The commands `terminal run`, `terminal check` and `terminal prefetch`."""

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


_TASKS = typer.Argument(help="Directory with task directories, or one of them.")
_SANDBOX = typer.Option(help="Sandbox: namespaces or docker.")
_BASE = typer.Option(help="Root tree or image of the sandbox.")


@app.command("check", epilog=examples("terminal check"))
def check(
    path: Annotated[Path, _TASKS],
    sample: Annotated[
        int, typer.Option(min=0, help="Check a fixed sample of this size; 0 checks all.")
    ] = 0,
    sandbox: Annotated[str | None, _SANDBOX] = None,
    base: Annotated[str | None, _BASE] = None,
    out: Annotated[
        Path | None, typer.Option(help="File for one line (JSON) per directory.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Build and judge task directories, with their reference solutions.

    Without a solution, they are judged as they are. Those that cannot be used here are listed with
    the reason.
    """
    from hexathlon_cli.task_folders import check_folders

    return check_folders(path, sample, sandbox, base, out, as_json=as_json)


@app.command("prefetch", epilog=examples("terminal prefetch"))
def prefetch(
    path: Annotated[Path, _TASKS],
    only: Annotated[str, typer.Option(help="Names of packages to fetch, comma-separated.")] = "",
    listing: Annotated[
        bool, typer.Option("--list", help="List the packages without downloading them.")
    ] = False,
    sandbox: Annotated[str | None, _SANDBOX] = None,
    base: Annotated[str | None, _BASE] = None,
) -> int:
    """Download packages that task directories need and the sandbox lacks.

    They are stored below $HEXATHLON_PACKAGES, in wheels and debs, where builds find them.
    """
    from hexathlon_cli.task_folders import prefetch_packages

    names = [name.strip() for name in only.split(",") if name.strip()]
    return prefetch_packages(path, names, sandbox, base, listing=listing)
