"""The `hexathlon` command.

This package is separate from `hexathlon` because importing `hexathlon` registers the environments
and loads gymnasium, and `hexathlon --help` should appear at once. One module per command, named as
the command, or one package per group of commands; only typer is imported at the start, everything
else when a command runs. Options that several commands have are in `options`.
"""

import sys

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code.

    Args:
        arguments: Command-line arguments; the process's own by default.
    """
    from hexathlon_cli import interrupts
    from hexathlon_cli.streams import prepare_streams

    code = interrupts.INTERRUPTED
    try:
        prepare_streams()
        interrupts.install()
        from hexathlon_cli.app import run

        code = run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:  # before or after the command itself
        pass
    finally:
        interrupts.leave()
    sys.exit(code)
