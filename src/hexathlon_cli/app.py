"""The command tree, and exit codes for errors.

Exit codes: 0 success, 1 usage error, 2 finished with too many unscored trials, 3 verification
failed, 4 environment or sandbox missing, 130 interrupted.
"""

import os
import sys
from typing import Any

import typer

from hexathlon_cli import directories, evaluation, judging, looking, results, training
from hexathlon_cli.examples import examples

__all__ = ["app", "run"]

_FINE = 0
_USAGE = 1
_INTERRUPTED = 130

app = typer.Typer(
    name="hexathlon",
    help="Evaluate and train language-model agents on six events.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("list", epilog=examples("list"))(looking.list_)
app.command("show", epilog=examples("show"))(looking.show)
app.command("play", epilog=examples("play"))(looking.play)
app.command("eval", epilog=examples("eval"))(evaluation.eval_)
app.command("resume", epilog=examples("resume"))(evaluation.resume)
app.command("rescore", epilog=examples("rescore"))(results.rescore)
app.command("verify", epilog=examples("verify"))(results.verify)
app.command("compare", epilog=examples("compare"))(results.compare)
app.command("report", epilog=examples("report"))(results.report)
leaderboard = typer.Typer(help="Leaderboard site.", no_args_is_help=True)
leaderboard.command("build", epilog=examples("leaderboard build"))(results.leaderboard_build)
app.add_typer(leaderboard, name="leaderboard", rich_help_panel=None)
app.add_typer(training.app, name="train")
terminal = typer.Typer(help="Task directories of the terminal event.", no_args_is_help=True)
terminal.command("run", epilog=examples("terminal run"))(directories.terminal_run)
app.add_typer(terminal, name="terminal", rich_help_panel=None)
app.add_typer(judging.app, name="judge")
app.command("selftest", epilog=examples("selftest"))(looking.selftest)
app.command("doctor", epilog=examples("doctor"))(looking.doctor)


def _version(shown: bool) -> None:
    if shown:
        from hexathlon import __version__  # the version stored in records

        typer.echo(f"hexathlon {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    pass


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code; bad input never shows a traceback."""
    try:
        code: Any = app(arguments, prog_name="hexathlon", standalone_mode=False)
        sys.stdout.flush()
        if code == _INTERRUPTED:  # how newer versions of typer report it
            return _interrupted(arguments)
        return code if isinstance(code, int) else _FINE
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted(arguments)
    except SystemExit as error:  # the parser's way of ending when the reader closed the pipe
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        return _FINE
    except BrokenPipeError:
        # The reader closed the pipe; leave nothing for the interpreter to flush into it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _FINE
    except Exception as error:
        code = _code_of(error)
        if code is None:
            raise
        typer.echo(_message(error), err=True)
        return int(code)


def _interrupted(arguments: list[str]) -> int:
    kept = "; recorded trials are kept, `hexathlon resume` continues the run"
    typer.echo(f"interrupted{kept if arguments[:1] in (['eval'], ['resume']) else ''}", err=True)
    return _INTERRUPTED


def _code_of(error: Exception) -> int | None:
    """Return the exit code of a reported error, None for a defect."""
    if hasattr(error, "format_message"):  # the argument parser's own, old typer or new
        return _USAGE
    if type(error).__module__.partition(".")[0] != "hexathlon":
        return None
    from hexathlon.baselines.harness.errors import CommandError

    return int(error.code) if isinstance(error, CommandError) else None


def _message(error: Exception) -> str:
    formatted = getattr(error, "format_message", None)
    if formatted is None:
        return f"error: {error}"
    if type(error).__name__ == "NoArgsIsHelpError":  # its message is the help itself
        return str(formatted())
    context = getattr(error, "ctx", None)
    hint = f"\nSee `{context.command_path} --help`." if context is not None else ""
    return f"error: {formatted()}{hint}"
