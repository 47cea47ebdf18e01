"""The protocol of token engines: what the trainer and the policy agent ask of an engine.

Requests and replies are in `hexathlon.baselines.tokens.requests`; implementations in `local` and
`served`.
"""

from typing import Protocol

from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.tokens.requests import TokenReply, TokenRequest

__all__ = ["TokenEngine"]


class TokenEngine(Protocol):
    """Continues token sequences."""

    @property
    def version(self) -> int:
        """Number of the policy that draws now."""
        ...

    @property
    def context(self) -> int:
        """Most tokens that a prompt and its reply may have together."""
        ...

    async def generate(self, request: TokenRequest) -> TokenReply:
        """Continue a prompt.

        Raises:
            EngineError: If the reply could not be had; a prompt longer than the context is one.
        """
        ...

    def forget(self, session: str) -> None:
        """Drop what is kept of a session; nothing happens where there is none."""
        ...

    async def abort(self, session: str | None = None) -> None:
        """End a session's request, or all; each is answered with what was drawn so far.

        Raises:
            EngineError: If they could not be ended.
        """
        ...

    async def clear(self) -> None:
        """Abort everything and keep nothing, so that the next replies repeat.

        Raises:
            EngineError: If requests could not be ended, or what is kept could not be dropped.
        """
        ...

    async def update(self, weights: Weights, version: int) -> float:
        """Take over weights, and verify that tokens are drawn from them.

        Requests in flight go on under the new weights; their replies say which version drew which
        token, and are handed out only after the verification.

        Args:
            weights: What a learner offers, with the probe that the engine is compared by.
            version: Number of the policy from now on.

        Returns:
            The largest difference of a log-probability between engine and learner.

        Raises:
            WeightsDiffer: If the difference exceeds the probe's tolerance.
            EngineError: If the weights could not be loaded. After a failed comparison, no token is
                sampled until an update succeeds.
        """
        ...

    async def close(self) -> None:
        """Release memory and connections; requests in flight are aborted."""
        ...
