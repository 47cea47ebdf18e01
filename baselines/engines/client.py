"""The base of chat clients: sends requests over HTTP, whatever API they speak.

It waits for a slot of the adaptive limit, sends, retries transient errors within the caller's
deadline and prices the reply. Subclasses write the request and read the reply.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable

import httpx

from hexathlon.baselines.engines.base import ChatReply, ChatRequest
from hexathlon.baselines.engines.limiter import AdaptiveLimit
from hexathlon.baselines.engines.prices import PriceTable
from hexathlon.baselines.engines.replies import Completion
from hexathlon.baselines.engines.sending import HttpSettings, Sender

__all__ = ["ChatClient"]


class ChatClient(ABC):
    """Sends chat requests to one server.

    Args:
        settings: Address, credentials and retry settings.
        limit: Shared limit of concurrent requests.
        prices: Price table for the cost of replies.
        client: An HTTP client with its own connections (for tests).
        clock: Monotonic clock, in seconds.
    """

    def __init__(
        self,
        settings: HttpSettings,
        limit: AdaptiveLimit,
        prices: PriceTable,
        client: httpx.AsyncClient | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.settings = settings
        self.limit = limit
        self._prices = prices
        self._sender = Sender(settings, limit, client, clock)

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Return the reply to a request; see `Engine.chat`."""
        url, body = self._written(request)
        sent = await self._sender.post(url, body, self._read, request.deadline)
        message, finish, usage = sent.value
        usage = usage._replace(cost=self._prices.cost(self.settings.model, usage))
        return ChatReply(message, usage, finish, sent.worked, sent.waited)

    async def close(self) -> None:
        """Close the connections."""
        await self._sender.close()

    @abstractmethod
    def _written(self, request: ChatRequest) -> tuple[str, bytes]:
        """Return the URL and the body of a request."""

    @abstractmethod
    async def _read(self, response: httpx.Response) -> Completion:
        """Read a reply."""
