"""Client of a model provider, in the provider's own API.

`HttpEngine` is the client of OpenAI-compatible servers. This one speaks the other APIs of
`hexathlon.baselines.engines.apis`: the API decides path, headers, body and reply; sending, retries
and errors are the same.
"""

import json
import time
from collections.abc import Callable
from dataclasses import replace

import httpx

from hexathlon.baselines.engines.apis.anthropic import AnthropicMessages
from hexathlon.baselines.engines.apis.base import ChatApi, read_object
from hexathlon.baselines.engines.apis.gemini import Gemini
from hexathlon.baselines.engines.apis.responses import OpenAIResponses
from hexathlon.baselines.engines.base import ChatReply, ChatRequest
from hexathlon.baselines.engines.limiter import AdaptiveLimit
from hexathlon.baselines.engines.prices import PriceTable
from hexathlon.baselines.engines.replies import Completion
from hexathlon.baselines.engines.sending import HttpSettings, Sender, bounded

__all__ = ["PROVIDER_APIS", "ProviderEngine"]

PROVIDER_APIS: dict[str, ChatApi] = {
    api.name: api for api in (AnthropicMessages(), Gemini(), OpenAIResponses())
}
"""The APIs by the names that MODEL arguments use."""


class ProviderEngine:
    """Sends chat requests to one provider.

    Args:
        api: The provider's API.
        settings: Address, key and retry settings.
        limit: Shared limit of concurrent requests.
        prices: Price table for the cost of replies.
        client: An HTTP client with its own connections (for tests).
        clock: Monotonic clock, in seconds.
    """

    def __init__(
        self,
        api: ChatApi,
        settings: HttpSettings,
        limit: AdaptiveLimit,
        prices: PriceTable,
        client: httpx.AsyncClient | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        headers = {**settings.headers, **api.headers(settings.key)}
        self.settings = replace(settings, key="", headers=headers)
        self.api = api
        self._prices = prices
        self._sender = Sender(self.settings, limit, client, clock)

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Return the reply to a request; see `Engine.chat`."""
        model = self.settings.model
        body = json.dumps(self.api.body(request, model)).encode()
        url = self.settings.url + self.api.path(model)
        sent = await self._sender.post(url, body, self._read, request.deadline)
        message, finish, usage = sent.value
        usage = usage._replace(cost=self._prices.cost(model, usage))
        return ChatReply(message, usage, finish, sent.worked, sent.waited)

    async def close(self) -> None:
        """Close the connections."""
        await self._sender.close()

    async def _read(self, response: httpx.Response) -> Completion:
        return self.api.read(read_object(await bounded(response), f"a reply of {self.api.name}"))
