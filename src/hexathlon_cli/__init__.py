"""The `hexathlon` command.

A package of its own, beside `hexathlon`, because importing that one registers the environments
and so loads gymnasium, while `hexathlon --help` should be there at once. Here nothing but typer
is imported at the start; every command imports what it needs when it runs.
"""

import sys

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code.

    Args:
        arguments: Instead of those of the process.
    """
    from hexathlon_cli.app import run

    sys.exit(run(sys.argv[1:] if arguments is None else arguments))
