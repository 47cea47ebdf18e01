"""The `hexathlon` command.

This package is separate from `hexathlon` because importing `hexathlon` registers the environments
and loads gymnasium, and `hexathlon --help` should appear at once. Only typer is imported at the
start; every command imports its implementation when it runs.
"""

import sys

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code.

    Args:
        arguments: Command-line arguments; the process's own by default.
    """
    from hexathlon_cli import interrupts

    code = interrupts.INTERRUPTED
    try:
        interrupts.install()
        from hexathlon_cli.app import run

        code = run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:  # before or after the command itself
        pass
    finally:
        interrupts.leave()
    sys.exit(code)
