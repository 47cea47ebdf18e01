"""Classification of exceptions in a trial, and the policy for each cause.

Infrastructure failures are retried, counted and reported, and never become a reward of 0. What an
agent causes (its actions, giving up, exhausted budgets) is graded and never retried.
"""

import traceback
from typing import Literal, NamedTuple

from hexathlon.baselines.agents.base import AgentMismatch
from hexathlon.baselines.engines.errors import ContextOverflow, EngineError, Refused
from hexathlon.envs.errors import BackendMissing, EnvFault, TaskUnsupported, VerifierFault

__all__ = ["POLICIES", "Fault", "FaultPolicy", "classify"]

Blame = Literal["agent", "environment", "provider", "verifier", "harness"]


class FaultPolicy(NamedTuple):
    """Handling of one cause."""

    retry: bool
    """Whether the trial is retried, up to the run's limit of attempts."""

    grade: bool
    """Whether the final state is graded."""

    counts: bool
    """Whether the trial's reward counts towards the score."""

    blame: Blame


POLICIES: dict[str, FaultPolicy] = {
    "budget": FaultPolicy(retry=False, grade=True, counts=True, blame="agent"),
    "gave_up": FaultPolicy(retry=False, grade=True, counts=True, blame="agent"),
    "refused": FaultPolicy(retry=False, grade=True, counts=True, blame="agent"),
    "context_overflow": FaultPolicy(retry=False, grade=True, counts=True, blame="agent"),
    "env": FaultPolicy(retry=True, grade=False, counts=False, blame="environment"),
    "sandbox": FaultPolicy(retry=True, grade=False, counts=False, blame="environment"),
    "unsupported": FaultPolicy(retry=False, grade=False, counts=False, blame="environment"),
    "provider": FaultPolicy(retry=True, grade=False, counts=False, blame="provider"),
    "bad_request": FaultPolicy(retry=False, grade=False, counts=False, blame="provider"),
    "verifier": FaultPolicy(retry=False, grade=False, counts=False, blame="verifier"),
    "judge": FaultPolicy(retry=False, grade=False, counts=False, blame="verifier"),
    "unclassified": FaultPolicy(retry=True, grade=False, counts=False, blame="harness"),
}
"""By the `cause` of a record; `budget` to `context_overflow` appear as flags of scored records."""

_MAX_MESSAGE = 500


class Fault(NamedTuple):
    """An exception of a trial, classified."""

    cause: str
    """A key of `POLICIES`."""

    message: str
    policy: FaultPolicy
    fatal: bool
    """Whether every other trial would fail in the same way."""


def classify(error: Exception) -> Fault:
    """Classify an exception raised in a trial."""
    cause, detail, fatal = _cause(error)
    message = f"{detail}: {error}"
    if cause == "unclassified":
        message += f" ({_place(error)})"
    if len(message) > _MAX_MESSAGE:
        message = message[:_MAX_MESSAGE] + "…"
    return Fault(cause, message, POLICIES[cause], fatal)


def _place(error: Exception) -> str:
    """Return the module and line that raised an exception, without file paths."""
    frames = list(traceback.walk_tb(error.__traceback__))
    if not frames:
        return "place unknown"
    frame, line = frames[-1]
    return f"{frame.f_globals.get('__name__', '?')}, line {line}"


def _cause(error: Exception) -> tuple[str, str, bool]:
    if isinstance(error, Refused | ContextOverflow):
        return error.kind, error.kind, False
    if isinstance(error, EngineError):
        cause = "bad_request" if error.kind == "bad_request" else "provider"
        return cause, error.kind, error.fatal
    if isinstance(error, VerifierFault):
        return "verifier", error.cause, False
    if isinstance(error, TaskUnsupported):
        return "unsupported", error.cause, False
    if isinstance(error, EnvFault):
        cause = "sandbox" if error.cause.startswith("sandbox") else "env"
        return cause, error.cause, isinstance(error, BackendMissing)
    return "unclassified", type(error).__name__, isinstance(error, AgentMismatch)
