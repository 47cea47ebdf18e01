"""The `hexathlon` command.

This package is separate from `hexathlon` because importing `hexathlon` registers the environments
and loads gymnasium, and `hexathlon --help` should appear at once. One module per command, named as
the command, or one package per group of commands; only typer is imported at the start, everything
else when a command runs. Options that several commands have are in `options`.
"""

import sys

__all__ = ["main"]

_INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code.

    Args:
        arguments: Command-line arguments; the process's own by default.
    """
    try:
        code = _run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:  # before or after the command itself
        code = _INTERRUPTED
    # Once a KeyboardInterrupt has passed through `exec`, as in the creation of a named tuple,
    # `python -m` exits by SIGINT instead of with this code, even if it was caught; another `exec`
    # resets that.
    exec("")
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    import atexit
    import gc

    from hexathlon_cli import interrupts
    from hexathlon_cli.streams import break_silence, prepare_streams

    # Python's collections at exit visit every object; with PyTorch they take most of a second,
    # after the last output.
    atexit.register(gc.freeze)
    prepare_streams()
    break_silence()
    interrupts.install()
    try:
        from hexathlon_cli.app import run

        return run(arguments)
    except Exception:
        # Python's compiler, for one, turns an interruption of its own imports into a SyntaxError.
        if interrupts.requested():
            return _INTERRUPTED
        raise
    finally:
        interrupts.leave()
