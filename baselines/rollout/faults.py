"""What to do when a trial does not simply end: one table, by cause.

The table separates what happened from what follows of it. Infrastructure that fails is retried,
counted and shown, and never becomes a reward of 0; what an agent does, gives up or runs out of is
graded and never retried.
"""

import traceback
from typing import Literal, NamedTuple

from hexathlon.baselines.agents.base import AgentMismatch
from hexathlon.baselines.engines.errors import ContextOverflow, EngineError, Refused
from hexathlon.envs.errors import BackendMissing, EnvFault, VerifierFault

__all__ = ["POLICIES", "Fault", "FaultPolicy", "classify"]

Blame = Literal["agent", "environment", "provider", "verifier", "harness"]


class FaultPolicy(NamedTuple):
    """What follows of a cause."""

    retry: bool
    """Whether the trial is tried again, within the bound of the run."""

    grade: bool
    """Whether the state reached is judged."""

    counts: bool
    """Whether the trial's reward counts."""

    blame: Blame


POLICIES: dict[str, FaultPolicy] = {
    "budget": FaultPolicy(retry=False, grade=True, counts=True, blame="agent"),
    "gave_up": FaultPolicy(retry=False, grade=True, counts=True, blame="agent"),
    "refused": FaultPolicy(retry=False, grade=True, counts=True, blame="agent"),
    "context_overflow": FaultPolicy(retry=False, grade=True, counts=True, blame="agent"),
    "env": FaultPolicy(retry=True, grade=False, counts=False, blame="environment"),
    "sandbox": FaultPolicy(retry=True, grade=False, counts=False, blame="environment"),
    "provider": FaultPolicy(retry=True, grade=False, counts=False, blame="provider"),
    "bad_request": FaultPolicy(retry=False, grade=False, counts=False, blame="provider"),
    "verifier": FaultPolicy(retry=False, grade=False, counts=False, blame="verifier"),
    "judge": FaultPolicy(retry=False, grade=False, counts=False, blame="verifier"),
    "unclassified": FaultPolicy(retry=True, grade=False, counts=False, blame="harness"),
}
"""By the `cause` that a record names (`budget` to `context_overflow` are flags of scored ones)."""

_SHOWN = 500


class Fault(NamedTuple):
    """An exception of a trial, classified."""

    cause: str
    """A key of `POLICIES`."""

    message: str
    policy: FaultPolicy
    fatal: bool
    """Whether every other trial would fail the same way."""


def classify(error: Exception) -> Fault:
    """Return what an exception means for its trial."""
    cause, detail, fatal = _cause(error)
    message = f"{detail}: {error}"
    if cause == "unclassified":
        message += f" ({_place(error)})"
    if len(message) > _SHOWN:
        message = message[:_SHOWN] + "…"
    return Fault(cause, message, POLICIES[cause], fatal)


def _place(error: Exception) -> str:
    """Return module and line where a defect showed, without the machine's paths."""
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
    if isinstance(error, EnvFault):
        cause = "sandbox" if error.cause.startswith("sandbox") else "env"
        return cause, error.cause, isinstance(error, BackendMissing)
    return "unclassified", type(error).__name__, isinstance(error, AgentMismatch)
