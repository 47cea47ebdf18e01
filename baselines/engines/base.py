"""The interface of chat engines: a request in, a reply with its usage out.

The HTTP engine sends requests to a server, the local engine runs a checkpoint in this process. Both
raise only the errors of `hexathlon.baselines.engines.errors`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

__all__ = ["ChatReply", "ChatRequest", "Engine", "Sampling", "Usage"]


class Usage(NamedTuple):
    """Tokens, calls and cost of calls to a model."""

    input: int = 0
    """Prompt tokens, including cached ones."""

    output: int = 0
    """Completion tokens, including reasoning."""

    calls: int = 0
    cached: int = 0
    reasoning: int = 0
    cost: float | None = None
    """Cost in the price table's currency; None if unknown."""

    def plus(self, other: "Usage") -> "Usage":
        """Return the sum of two usages; the cost is known only if that of every call is."""
        if self.calls == 0 or other.calls == 0:
            cost = self.cost if other.calls == 0 else other.cost
        else:
            cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.calls + other.calls,
            self.cached + other.cached,
            self.reasoning + other.reasoning,
            cost,
        )


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling parameters of a chat request; None means the server's default."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    """Maximum length of the reply, in tokens."""

    seed: int | None = None
    """Base seed; every request gets a seed derived from it, the trial and the turn."""

    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request to a model."""

    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]] = ()
    sampling: Sampling = field(default_factory=Sampling)
    deadline: float | None = None
    """Seconds that the call may take, including retries and waiting."""

    schema: Mapping[str, Any] | None = None
    """JSON schema for the reply; servers may ignore it, so the reply must still be checked."""


class ChatReply(NamedTuple):
    """One reply of a model."""

    message: dict[str, Any]
    """An assistant message: role, content, and tool_calls if there are any."""

    usage: Usage
    finish: str
    """Finish reason: stop, length or tool_calls."""

    latency: float
    """Seconds that the successful request took."""

    waited: float
    """Seconds in the queue for a connection and between retries."""


class Engine(Protocol):
    """Answers chat requests."""

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Return the reply to a request.

        Raises:
            EngineError: If there is no reply; its class gives the reason.
        """
        ...

    async def close(self) -> None:
        """Release connections and memory."""
        ...
