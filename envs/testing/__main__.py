"""Command of the conformance kit: check registered environments and print each check with its time.

    python -m hexathlon.envs.testing hexathlon/SQL-v1

Exit codes: 0 if all checks passed, 1 if the command line is wrong, 3 if a check failed, 4 if an
environment cannot run here. The command does not know what the checks are or what they look for.
"""

import argparse
import contextlib
import sys
import time
from collections.abc import Sequence
from typing import Any, NoReturn, TextIO

import gymnasium

from hexathlon.envs.errors import BackendMissing
from hexathlon.envs.plugins import load_plugins
from hexathlon.envs.testing.kit import check_environment, check_names
from hexathlon.envs.testing.report import CheckResult
from hexathlon.tasks.errors import TaskError

__all__ = ["main"]

USAGE, FAILED, MISSING = 1, 3, 4
"""Exit codes."""


class _Parser(argparse.ArgumentParser):
    """Parser that exits with our commands' common code if the command line is wrong."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(USAGE, f"{self.prog}: {message}\n")


class _Progress:
    """Prints the name of a check when it starts, and its result and seconds when it ends."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._since = time.monotonic()

    def started(self, name: str) -> None:
        self._since = time.monotonic()
        self._out.write(f"{name:32}")
        self._out.flush()

    def ended(self, result: CheckResult) -> None:
        seconds = time.monotonic() - self._since
        detail = f": {result.detail}" if result.detail else ""
        self._out.write(f"{result.status:8}{seconds:9.1f} s{detail}\n")
        if result.remedy:
            self._out.write(f"        fix: {result.remedy}\n")
        self._out.flush()


def main(arguments: Sequence[str] | None = None, out: TextIO | None = None) -> int:
    """Check the environments named on the command line.

    Args:
        arguments: Command-line arguments; those of this process by default.
        out: Where progress and results are written; standard output by default.

    Returns:
        The exit code.
    """
    options = _options(arguments)
    out = sys.stdout if out is None else out
    load_plugins()
    kwargs = {} if options.taskset is None else {"taskset": options.taskset}
    for env_id in options.ids:
        code, obstacle = _obstacle(env_id, kwargs)
        if code:
            print(f"{env_id}: {obstacle}", file=sys.stderr)
            return code
    failed = False
    for env_id in options.ids:
        out.write(f"{env_id}\n")
        progress = _Progress(out)
        begun = time.monotonic()
        report = check_environment(
            env_id,
            floor=options.floor,
            fuzz=options.fuzz,
            tasks=options.tasks,
            sample=options.sample,
            seed=options.seed,
            only=options.only,
            skip=options.skip,
            started=progress.started,
            progress=progress.ended,
            **kwargs,
        )
        out.write(f"{report.counts}, {time.monotonic() - begun:.0f} s\n")
        failed = failed or not report.passed
    return FAILED if failed else 0


def _obstacle(env_id: str, kwargs: dict[str, Any]) -> tuple[int, str]:
    """Return the exit code and the reason if an id cannot be made here; 0 if it can."""
    try:
        with contextlib.closing(gymnasium.make(env_id, **kwargs)) as env:
            env.reset(seed=0)
    except BackendMissing as error:
        return MISSING, str(error)
    except (gymnasium.error.Error, TaskError, ValueError) as error:
        return USAGE, str(error)
    return 0, ""


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = _Parser(
        prog="python -m hexathlon.envs.testing",
        description="Check registered environments against the whole environment contract.",
    )
    parser.add_argument("--taskset", metavar="NAME", help="task set [the environment's default]")
    names = check_names()
    parser.add_argument("ids", nargs="+", metavar="ID", help="such as hexathlon/SQL-v1")
    parser.add_argument("--only", nargs="+", choices=names, metavar="CHECK", help="checks to run")
    parser.add_argument(
        "--skip", nargs="+", choices=names, default=[], metavar="CHECK", help="checks to leave out"
    )
    numbers: dict[str, tuple[float, str]] = {
        "--floor": (0.02, "highest mean score allowed for a trivial policy"),
        "--fuzz": (10_000, "fuzzed actions"),
        "--tasks": (1_000, "number of tasks for the oracle"),
        "--sample": (50, "number of tasks for the other score checks"),
        "--seed": (0, "seed of the kit's own choices"),
    }
    for flag, (default, text) in numbers.items():
        parser.add_argument(flag, type=type(default), default=default, help=f"{text} [{default:,}]")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
