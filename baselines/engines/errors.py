"""Errors of engines, one class per cause, so that the harness can handle them by kind.

`retryable` errors may disappear when the same request is sent again. `fatal` errors would affect
every other request of the run, so they stop it.
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
    """The server rejected the request because of a rate limit."""

    kind = "rate_limited"
    retryable = True

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds to wait according to the server; None if it did not say."""


class ServerError(EngineError):
    """The server failed (HTTP 5xx, or an error inside a stream)."""

    kind = "server_error"
    retryable = True


class ConnectionFailed(EngineError):
    """The connection failed, or was lost before the reply was complete."""

    kind = "connection"
    retryable = True


class ReplyTimeout(EngineError):
    """The reply did not arrive before the deadline."""

    kind = "timeout"
    retryable = True


class MalformedReply(EngineError):
    """The reply is not a valid completion."""

    kind = "malformed_reply"
    retryable = True


class Refused(EngineError):
    """The model or a content filter refused to answer; the trial is graded."""

    kind = "refused"


class ContextOverflow(EngineError):
    """The conversation exceeds the model's context; the trial is graded."""

    kind = "context_overflow"


class BadRequest(EngineError):
    """The server rejected the request as invalid."""

    kind = "bad_request"


class AuthRejected(EngineError):
    """The server rejected the API key."""

    kind = "auth"
    fatal = True


class UnknownModel(EngineError):
    """The server does not know the model, or has no chat endpoint at this address."""

    kind = "unknown_model"
    fatal = True


class EngineMissing(EngineError):
    """This installation has no engine for the model."""

    kind = "engine_missing"
    fatal = True


class WeightsDiffer(EngineError):
    """An engine's log-probabilities differ from the learner's after a weight update."""

    kind = "weights_differ"
    fatal = True


class VersionDiffers(EngineError):
    """A server reports a different policy version than the one it was sent."""

    kind = "version_differs"
    fatal = True
