"""The command tree, and exit codes for errors.

Exit codes: 0 success, 1 usage error, 2 finished with too many unscored trials, 3 verification
failed, 4 environment or sandbox missing, 130 interrupted.
"""

from functools import cache
from importlib import import_module
from typing import Any

import typer

from hexathlon_cli.examples import examples
from hexathlon_cli.interrupts import INTERRUPTED
from hexathlon_cli.output import OutputFailed, flush_output, note, print_text
from hexathlon_cli.streams import discard_output

__all__ = ["command", "run"]

_FINE = 0
_USAGE = 1
_RECORDED = "; recorded trials are kept, `hexathlon resume` continues the run"
_KEPT = {
    "eval": _RECORDED,
    "harness": "; recorded trials are kept, the same command continues",
    "resume": _RECORDED,
    "train": "; the same command continues from the last saved state",
    "judge": "; judged trials are kept, the same command continues",
    "arena": "; recorded trials and verdicts are kept, the same command continues",
}
"""Note on what an interrupted command leaves behind."""

_COMMANDS = {
    "list": "list_", "show": "show", "play": "play", "eval": "eval_", "harness": "harness",
    "resume": "resume", "rescore": "rescore", "verify": "verify", "compare": "compare",
    "arena": "arena", "report": "report", "selftest": "selftest", "plan": "plan",
    "export": "export", "import": "import_", "doctor": "doctor",
}  # fmt: skip
"""Function of each command, in the module of its name."""

_MODULES = {"import": "export"}
"""Module of a command that is not in the one of its name."""

_GROUPS = ("data", "cache", "submit", "leaderboard", "train", "terminal", "serve", "judge")


def _version(shown: bool) -> None:
    if shown:
        from hexathlon import __version__  # the version stored in records

        print_text(f"hexathlon {__version__}")
        raise typer.Exit


def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    pass


@cache
def command(only: str = "") -> Any:
    """Return the parser of all commands, or of one, which spares the imports of the others."""
    app = typer.Typer(
        name="hexathlon",
        help="Evaluate and train language-model agents on six events.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(_root)
    for name in [only] if only else _COMMANDS:
        module = import_module(f"hexathlon_cli.{_MODULES.get(name, name)}")
        app.command(name, epilog=examples(name))(getattr(module, _COMMANDS[name]))
    for name in () if only else _GROUPS:
        app.add_typer(import_module(f"hexathlon_cli.{name}").app, name=name)
    return typer.main.get_command(app)


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code; bad input never shows a traceback."""
    try:
        only = arguments[0] if arguments and arguments[0] in _COMMANDS else ""
        code: Any = command(only)(arguments, prog_name="hexathlon", standalone_mode=False)
        flush_output()
        if code == INTERRUPTED:  # how newer versions of typer report it
            return _interrupted(arguments)
        return code if isinstance(code, int) else _FINE
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted(arguments)
    except SystemExit as error:  # the parser raises it if the reader closed the pipe
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        return _FINE
    except BrokenPipeError:
        discard_output()
        return _FINE
    except Exception as error:
        code = _code_of(error)
        if code is None:
            raise
        note(_message(error))
        if isinstance(error, OutputFailed):
            discard_output()
        return int(code)


def _interrupted(arguments: list[str]) -> int:
    kept = _KEPT.get(arguments[0] if arguments else "", "")
    note(f"interrupted{kept}")
    return INTERRUPTED


def _code_of(error: Exception) -> int | None:
    """Return the exit code of an expected error, None for a bug."""
    if hasattr(error, "format_message"):  # the argument parser's own, old typer or new
        return _USAGE
    if isinstance(error, (OutputFailed, OSError)):
        return _USAGE
    if type(error).__module__.partition(".")[0] != "hexathlon":
        return None
    from hexathlon.baselines.harness.errors import CommandError

    return int(error.code) if isinstance(error, CommandError) else None


def _message(error: Exception) -> str:
    formatted = getattr(error, "format_message", None)
    if formatted is not None:
        if type(error).__name__ == "NoArgsIsHelpError":  # its message is the help text
            return str(formatted())
        context = getattr(error, "ctx", None)
        hint = f"\nSee `{context.command_path} --help`." if context is not None else ""
        return f"error: {_parse_problem(error) or formatted()}{hint}"
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return f"error: the command stopped: {place}{(error.strerror or str(error)).lower()}"
    return f"error: {error}"


def _parse_problem(error: Exception) -> str:
    """Return the message of a pydantic error that the argument parser wrapped, or ""."""
    cause = error.__cause__
    parameter = getattr(error, "param", None)
    if type(cause).__name__ != "ValidationError" or parameter is None:
        return ""
    from hexathlon.tasks.validation import explain

    name = max(parameter.opts, key=len) if parameter.opts[0][:1] == "-" else parameter.name.upper()
    return explain(cause, place=lambda location: name)  # type: ignore[arg-type]
