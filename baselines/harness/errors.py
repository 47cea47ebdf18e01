"""What ends a command, and with which exit code. Every message names the input and the mend."""

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
    "VerificationFailed",
    "near_miss",
]


class ExitCode(IntEnum):
    """Exit codes of every command."""

    FINE = 0
    USAGE = 1
    UNSCORED = 2
    """The run finished, but more of it is unscored than allowed."""

    NOT_VERIFIED = 3
    UNAVAILABLE = 4
    """An environment, a sandbox, an engine or a server that is needed is not there."""


class CommandError(Exception):
    """Ends a command with a message instead of a traceback."""

    code: ClassVar[ExitCode] = ExitCode.USAGE


class UsageError(CommandError):
    """The command was given something that it cannot take."""


class PlanDiffers(UsageError):
    """The run folder belongs to another plan."""


class VerificationFailed(CommandError):
    """Stored records are not what a replay gives."""

    code = ExitCode.NOT_VERIFIED


class EnvironmentUnavailable(CommandError):
    """Something that the run needs is not on this machine or does not answer."""

    code = ExitCode.UNAVAILABLE


def near_miss(kind: str, name: str, known: Iterable[str]) -> str:
    """Return the message for an unknown name, with the nearest known one.

    >>> near_miss("split", "tets", ["train", "dev", "test"])
    "there is no split 'tets'; did you mean 'test'? Known: train, dev, test"
    """
    names = list(known)
    folded = {one.casefold(): one for one in names}
    near = difflib.get_close_matches(name.casefold(), folded, n=1)
    hint = f"; did you mean {folded[near[0]]!r}?" if near else "."
    return f"there is no {kind} {name!r}{hint} Known: {', '.join(names)}"
