"""What an engine is: a chat request in, a reply with its usage out.

The HTTP engine speaks to a server, the torch engine of the trainer to a checkpoint in this
process. Both raise the errors of `hexathlon.baselines.engines.errors` and no others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

__all__ = ["ChatReply", "ChatRequest", "Engine", "Sampling", "Usage"]


class Usage(NamedTuple):
    """What calls to a model used up."""

    input: int = 0
    """Prompt tokens, cached ones included."""

    output: int = 0
    """Completion tokens, reasoning included."""

    calls: int = 0
    cached: int = 0
    reasoning: int = 0
    cost: float | None = None
    """In the price table's currency; None where the price is unknown."""

    def plus(self, other: "Usage") -> "Usage":
        """Add two usages; a cost is known only where every call's cost is known."""
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
    """How tokens are drawn; None leaves the choice to the server."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    """Longest reply, in tokens."""

    seed: int | None = None
    """Base seed; every request gets one derived from it, its trial and its turn."""

    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One question to a model."""

    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]] = ()
    sampling: Sampling = field(default_factory=Sampling)
    deadline: float | None = None
    """Seconds that this call may take, retries and waiting included."""

    schema: Mapping[str, Any] | None = None
    """JSON schema that the server should hold the reply to; what comes may still differ."""


class ChatReply(NamedTuple):
    """One answer of a model."""

    message: dict[str, Any]
    """An assistant message: role, content, and tool_calls where there are any."""

    usage: Usage
    finish: str
    """Why the model stopped: stop, length or tool_calls."""

    latency: float
    """Seconds the successful request took."""

    waited: float
    """Seconds spent queueing for a connection or waiting between retries."""


class Engine(Protocol):
    """Produces replies."""

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Answer one request.

        Raises:
            EngineError: If the reply could not be had; its class says why.
        """
        ...

    async def close(self) -> None:
        """Release connections and memory."""
        ...
