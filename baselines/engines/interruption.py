"""Requests that are interrupted by weight updates and then continued with the new weights.

Requests in flight end with the tokens that they have, wait for the update, and are resent with
these tokens, so that no engine step runs while weights change. Players do not notice. Engines that
keep requests through an update do not need this.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from hexathlon.baselines.engines.tokens import TokenEngine
from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.tokens.requests import TokenReply, TokenRequest

__all__ = ["InterruptedRequests"]


class InterruptedRequests:
    """A token engine whose requests are interrupted during `held`.

    Args:
        engine: Serves the requests.

    Attributes:
        engine: The engine that serves them.
        interrupted: Number of requests that were interrupted so far.
    """

    def __init__(self, engine: TokenEngine) -> None:
        self.interrupted = 0
        self.engine = engine
        self._holds = 0
        self._released = asyncio.Event()
        self._released.set()

    @property
    def version(self) -> int:
        """Version of the current policy."""
        return self.engine.version

    @property
    def context(self) -> int:
        """Maximum number of tokens of a prompt and its reply."""
        return self.engine.context

    async def generate(self, request: TokenRequest) -> TokenReply:
        """Continue a prompt, even across interruptions; see `TokenEngine.generate`."""
        sampled: TokenReply | None = None
        while True:
            await self._released.wait()
            holds = self._holds
            rest = request if sampled is None else request.after(sampled)
            reply = await self.engine.generate(rest)
            sampled = reply if sampled is None else sampled.joined(reply)
            if reply.finish != "abort" or self._holds == holds:
                return sampled
            self.interrupted += 1

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Interrupt the requests in flight, and hold all requests back until the block ends."""
        self._holds += 1
        self._released.clear()
        try:
            await self.engine.abort()
            yield
        finally:
            self._released.set()

    def forget(self, session: str) -> None:
        """Drop the cache of a session, if there is one."""
        self.engine.forget(session)

    async def abort(self, session: str | None = None) -> None:
        """Abort the request of a session, or all; see `TokenEngine.abort`."""
        await self.engine.abort(session)

    async def clear(self) -> None:
        """Abort all requests and drop all caches; see `TokenEngine.clear`."""
        await self.engine.clear()

    async def update(self, weights: Weights, version: int) -> float:
        """Load weights; see `TokenEngine.update`. Requests are interrupted during `held` only."""
        return await self.engine.update(weights, version)

    async def close(self) -> None:
        """Close the engine."""
        await self.engine.close()
