"""Why a model gave no reply: one class a cause, so that the harness can decide by kind.

`retryable` is whether the same request may succeed a moment later. `fatal` is whether every other
request of the run would fail the same way, so that the run should stop and say so.
"""

from typing import ClassVar

__all__ = [
    "AuthRejected",
    "BadRequest",
    "ConnectionFailed",
    "ContextOverflow",
    "EngineError",
    "EngineMissing",
    "MalformedReply",
    "RateLimited",
    "Refused",
    "ReplyTimeout",
    "ServerError",
    "UnknownModel",
    "VersionDiffers",
    "WeightsDiffer",
]


class EngineError(Exception):
    """A model gave no usable reply."""

    kind: ClassVar[str] = "unclassified"
    retryable: ClassVar[bool] = False
    fatal: ClassVar[bool] = False


class RateLimited(EngineError):
    """The server asks for fewer requests."""

    kind = "rate_limited"
    retryable = True

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds that the server asked to wait, if it said so."""


class ServerError(EngineError):
    """The server failed (HTTP 5xx, or an error inside a stream)."""

    kind = "server_error"
    retryable = True


class ConnectionFailed(EngineError):
    """No connection, or it broke before the reply was whole."""

    kind = "connection"
    retryable = True


class ReplyTimeout(EngineError):
    """The reply did not come within its deadline."""

    kind = "timeout"
    retryable = True


class MalformedReply(EngineError):
    """What came is not a chat completion."""

    kind = "malformed_reply"
    retryable = True


class Refused(EngineError):
    """The model or its filter refused to answer; a property of the agent, so it is graded."""

    kind = "refused"


class ContextOverflow(EngineError):
    """The conversation no longer fits the model; the agent's budget, so it is graded."""

    kind = "context_overflow"


class BadRequest(EngineError):
    """The server rejects the request as such."""

    kind = "bad_request"


class AuthRejected(EngineError):
    """The server wants another key."""

    kind = "auth"
    fatal = True


class UnknownModel(EngineError):
    """The server does not know the model, or has no chat endpoint at this address."""

    kind = "unknown_model"
    fatal = True


class EngineMissing(EngineError):
    """This installation has no engine for the model asked for."""

    kind = "engine_missing"
    fatal = True


class WeightsDiffer(EngineError):
    """A server gives other log-probabilities than the learner whose weights it was sent."""

    kind = "weights_differ"
    fatal = True


class VersionDiffers(EngineError):
    """A server names another policy version than the one it was sent."""

    kind = "version_differs"
    fatal = True
