"""What answers a gateway's requests: the interface, and the model on a server."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

from hexathlon.baselines.engines.apis.base import ApiCall
from hexathlon.baselines.engines.base import ChatReply, Engine, Sampling
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
        sampling: Defaults for requests without these parameters.
    """

    context = 0

    def __init__(self, engine: Engine, name: str, sampling: Sampling | None = None) -> None:
        self._engine = engine
        self._sampling = sampling or Sampling()
        self.name = name

    async def answer(self, call: ApiCall) -> ModelAnswer:
        """Return the engine's reply."""
        asked, default = call.request.sampling, self._sampling
        sampling = Sampling(
            default.temperature if asked.temperature is None else asked.temperature,
            default.top_p if asked.top_p is None else asked.top_p,
            asked.max_tokens or default.max_tokens,
            default.seed if asked.seed is None else asked.seed,
            asked.stop,
        )
        return ModelAnswer(await self._engine.chat(replace(call.request, sampling=sampling)))
