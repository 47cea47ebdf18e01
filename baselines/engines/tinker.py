"""A token engine that samples at a Tinker endpoint; package `tinker` 0.38.

Requests run to their end: there is no abort, and nothing is cached here.
"""

from typing import Any

from hexathlon.baselines.engines.errors import ContextOverflow, EngineError, ServerError
from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.tokens.requests import Span, TokenReply, TokenRequest

__all__ = ["TinkerEngine"]


class TinkerEngine:
    """Samples with the client that it was last given.

    Args:
        context: Maximum number of tokens of a prompt and its reply.
    """

    def __init__(self, context: int) -> None:
        self.context = context
        self.version = 0
        self._sampler: Any = None

    def use(self, sampler: Any, version: int) -> None:
        """Sample with a `tinker.SamplingClient` from now on."""
        self._sampler, self.version = sampler, version

    async def generate(self, request: TokenRequest) -> TokenReply:
        """Continue a prompt; see `TokenEngine.generate`."""
        from tinker import ModelInput, SamplingParams, TinkerError

        asked, version = request.sampling, self.version
        room = self.context - len(request.ids)
        if room < 1:
            raise ContextOverflow(f"{len(request.ids)} tokens leave no room in {self.context}")
        params = SamplingParams(
            max_tokens=min(asked.max_tokens, room),
            temperature=asked.temperature,
            top_p=asked.top_p,
            top_k=asked.top_k or -1,
            seed=asked.seed % 2**31,
            stop=list(asked.stop_ids) or None,
        )
        try:
            sampled = await self._sampler.sample_async(
                prompt=ModelInput.from_ints(request.ids), num_samples=1, sampling_params=params
            )
        except TinkerError as error:
            raise ServerError(f"the Tinker endpoint: {error}") from None
        (sequence,) = sampled.sequences
        ids = list(sequence.tokens)
        if ids and sequence.logprobs is None:
            raise ServerError("the Tinker endpoint returned no log-probabilities of its sample")
        stopped = bool(ids) and ids[-1] in asked.stop_ids
        return TokenReply(
            ids,
            list(sequence.logprobs or ()),
            "stop" if stopped else "length",
            [Span(version, 0, len(ids))],
        )

    async def logprobs(self, ids: list[int]) -> list[float]:
        """Return the sampler's log-probabilities of all tokens but the first."""
        from tinker import ModelInput

        values = await self._sampler.compute_logprobs_async(ModelInput.from_ints(ids))
        return [float(value) for value in values[1:]]

    def forget(self, session: str) -> None:
        """Do nothing."""

    async def abort(self, session: str | None = None) -> None:
        """Do nothing: requests run to their end."""

    async def clear(self) -> None:
        """Do nothing."""

    async def update(self, weights: Weights, version: int) -> float:
        """Raise: the learner at the endpoint has the weights; see `use`."""
        raise EngineError("a Tinker endpoint takes no weights from here")

    async def close(self) -> None:
        """Do nothing: the service client is closed by its owner."""
