"""Errors that end a command, with their exit codes.

Every message names the offending input and says how to fix it.
"""

import difflib
from collections.abc import Iterable
from enum import IntEnum
from typing import ClassVar

__all__ = [
    "CommandError",
    "EnvironmentUnavailable",
    "ExitCode",
    "PlanDiffers",
    "UsageError",
    "near_miss",
]


class ExitCode(IntEnum):
    """Exit codes of every command."""

    FINE = 0
    USAGE = 1
    UNSCORED = 2
    """The run finished, but more trials are unscored than allowed."""

    NOT_VERIFIED = 3
    UNAVAILABLE = 4
    """A required environment, sandbox, engine or server is not available."""


class CommandError(Exception):
    """An error that ends a command with a message instead of a traceback."""

    code: ClassVar[ExitCode] = ExitCode.USAGE


class UsageError(CommandError):
    """The command's input is invalid."""


class PlanDiffers(UsageError):
    """The run directory contains a different plan."""


class EnvironmentUnavailable(CommandError):
    """Something the run needs is not installed or does not answer."""

    code = ExitCode.UNAVAILABLE


def near_miss(kind: str, name: str, known: Iterable[str]) -> str:
    """Return the error message for an unknown name, with the nearest known name.

    >>> near_miss("split", "tets", ["train", "dev", "test"])
    "there is no split 'tets'; did you mean 'test'? Known: train, dev, test"
    """
    names = list(known)
    folded = {candidate.casefold(): candidate for candidate in names}
    near = difflib.get_close_matches(name.casefold(), folded, n=1)
    hint = f"; did you mean {folded[near[0]]!r}?" if near else "."
    return f"there is no {kind} {name!r}{hint} Known: {', '.join(names)}"
