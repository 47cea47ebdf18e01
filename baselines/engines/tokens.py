"""The interface of token engines, used by the trainer and the policy agent.

Requests and replies are defined in `hexathlon.baselines.tokens.requests`; implementations are in
`local` and `served`.
"""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.tokens.requests import EntropyScale, TokenReply, TokenRequest

__all__ = ["HeatedEngine", "Sleeper", "StreamingEngine", "TokenEngine"]


class TokenEngine(Protocol):
    """Continues token sequences."""

    @property
    def version(self) -> int:
        """Version of the current policy."""
        ...

    @property
    def context(self) -> int:
        """Maximum number of tokens of a prompt and its reply."""
        ...

    async def generate(self, request: TokenRequest) -> TokenReply:
        """Continue a prompt.

        Raises:
            ContextOverflow: If the prompt leaves no room for a reply.
            EngineError: If there is no reply for another reason.
        """
        ...

    def forget(self, session: str) -> None:
        """Drop the cache of a session, if there is one."""
        ...

    async def abort(self, session: str | None = None) -> None:
        """Abort the request of a session, or all; they return the tokens sampled so far.

        Raises:
            EngineError: If they could not be aborted.
        """
        ...

    async def clear(self) -> None:
        """Abort all requests and drop all caches, so that later replies are reproducible.

        Raises:
            EngineError: If requests could not be aborted or caches not dropped.
        """
        ...

    async def update(self, weights: Weights, version: int) -> float:
        """Load weights and verify that tokens are sampled from them.

        Requests in flight continue with the new weights. Their replies state which version sampled
        which tokens, and are returned only after the verification.

        Args:
            weights: The learner's weights, with the probe for the comparison.
            version: The new policy version.

        Returns:
            The maximum difference between log-probabilities of engine and learner.

        Raises:
            WeightsDiffer: If the difference exceeds the probe's tolerance.
            EngineError: If the weights could not be loaded. After a failed comparison, no token is
                sampled until an update succeeds.
        """
        ...

    async def close(self) -> None:
        """Abort requests in flight and release memory and connections."""
        ...


@runtime_checkable
class StreamingEngine(Protocol):
    """A token engine that tells the tokens of a reply while it is sampled."""

    async def stream(self, request: TokenRequest, on_token: Callable[[int], None]) -> TokenReply:
        """Continue a prompt; `on_token` is called with each token. See `TokenEngine.generate`."""
        ...


@runtime_checkable
class HeatedEngine(Protocol):
    """An engine whose requests may have a temperature by entropy."""

    entropy_scale: EntropyScale | None
    """Scale of the requests with heat; may be set between two requests."""


@runtime_checkable
class Sleeper(Protocol):
    """An engine that can leave its GPU's memory to a learner."""

    async def sleep(self) -> None:
        """Abort all requests and release the memory of weights and cache until the next update.

        Raises:
            EngineError: If the engine cannot, or failed.
        """
        ...
