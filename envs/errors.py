"""Errors of environments: infrastructure faults and invalid requests.

An agent's mistake is never an exception; it is answered with an observation.
"""

import difflib
from collections.abc import Iterable

__all__ = [
    "BackendMissing",
    "TaskUnsupported",
    "DeadlineExceeded",
    "EnvFault",
    "ForkUnsupported",
    "ToolError",
    "UnknownOption",
    "VerifierFault",
    "WorkerCrashed",
    "WrongState",
]


class EnvFault(Exception):
    """The infrastructure failed. The trial is retried or reported; it is never a reward of 0.

    Attributes:
        cause: A short slug for tables of errors, such as `worker_crashed`.
    """

    cause = "env"

    def __init__(self, message: str, *, cause: str | None = None) -> None:
        super().__init__(message)
        if cause is not None:
            self.cause = cause


class WorkerCrashed(EnvFault):
    """The process that hosted the environment ended."""

    cause = "worker_crashed"


class DeadlineExceeded(EnvFault):
    """A wait exceeded its deadline; the message names the operation."""

    cause = "deadline"


class BackendMissing(EnvFault):
    """A program or package that the environment needs is not installed."""

    cause = "backend_missing"


class TaskUnsupported(BackendMissing):
    """One task needs what this machine cannot provide; other tasks are not affected."""

    cause = "task_needs"


class VerifierFault(EnvFault):
    """The verifier itself failed; the episode can be graded again."""

    cause = "verifier"


class ForkUnsupported(Exception):
    """The environment's backend cannot be forked; the message gives the reason."""


class WrongState(Exception):
    """A state was restored into an environment of another kind."""


class UnknownOption(ValueError):
    """`reset` received an unknown option."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        super().__init__(f"unknown reset option {name!r}{hint} Known: {', '.join(names)}")


class ToolError(Exception):
    """Raised inside a tool when the call is wrong; the message becomes the observation."""
