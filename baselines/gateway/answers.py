"""What answers a gateway's requests: the interface, and the model on a server."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from hexathlon.baselines.engines.apis.base import ApiCall
from hexathlon.baselines.engines.base import ChatReply, Engine
from hexathlon.baselines.tokens.requests import TokenReply

__all__ = ["ModelAnswer", "Answering", "EngineAnswers", "SampledAnswer"]


class SampledAnswer(NamedTuple):
    """The tokens of an answer that was sampled here."""

    prompt: Sequence[int]
    reply: TokenReply
    pieces: Sequence[str]
    """Text of each token of the reply."""


class ModelAnswer(NamedTuple):
    """An answer to one request."""

    reply: ChatReply
    sampled: SampledAnswer | None = None
    """None if the model's tokens are unknown."""


class Answering(Protocol):
    """Answers requests."""

    name: str
    """The model's name, as listed."""

    @property
    def context(self) -> int:
        """Maximum number of tokens of a prompt and its reply; 0 if unknown."""
        ...

    async def answer(self, call: ApiCall) -> ModelAnswer:
        """Return the answer to a request.

        Raises:
            EngineError: If there is none.
        """
        ...


class EngineAnswers:
    """Passes requests on to a chat engine.

    Args:
        engine: Of a model on a server.
        name: The model's name.
    """

    context = 0

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self.name = name

    async def answer(self, call: ApiCall) -> ModelAnswer:
        """Return the engine's reply."""
        return ModelAnswer(await self._engine.chat(call.request))
