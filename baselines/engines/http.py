"""Client of OpenAI-compatible chat servers.

`HttpEngine.chat` waits for a slot of the adaptive limit, sends the request, reads a plain or
streamed reply, and retries transient errors, all within the caller's deadline. Failures raise typed
errors.
"""

import json
import time
from collections.abc import Callable
from typing import Any

import httpx

from hexathlon.baselines.engines.base import ChatReply, ChatRequest
from hexathlon.baselines.engines.errors import MalformedReply
from hexathlon.baselines.engines.limiter import AdaptiveLimit
from hexathlon.baselines.engines.prices import PriceTable
from hexathlon.baselines.engines.replies import Completion, StreamReader, read_completion
from hexathlon.baselines.engines.sending import LARGEST_REPLY, HttpSettings, Sender, bounded

__all__ = ["HttpEngine", "HttpSettings"]


class HttpEngine:
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
        url = f"{self.settings.url}/chat/completions"
        sent = await self._sender.post(url, self._body(request), _read, request.deadline)
        completion = sent.value
        cost = self._prices.cost(self.settings.model, completion.usage)
        usage = completion.usage._replace(cost=cost)
        return ChatReply(completion.message, usage, completion.finish, sent.worked, sent.waited)

    async def models(self) -> list[str]:
        """Return the names of the server's models.

        Raises:
            EngineError: If the server does not answer, or its answer is not a list of models.
        """
        body = await self._sender.ask(f"{self.settings.url}/models")
        try:
            return [str(row["id"]) for row in json.loads(body)["data"]]
        except (ValueError, LookupError, TypeError):
            raise MalformedReply(f"{self.settings.url}/models is not a list of models") from None

    async def close(self) -> None:
        """Close the connections."""
        await self._sender.close()

    def _body(self, request: ChatRequest) -> bytes:
        sampling = request.sampling
        body: dict[str, Any] = {"model": self.settings.model, "messages": list(request.messages)}
        if request.tools:
            body["tools"] = [{"type": "function", "function": dict(t)} for t in request.tools]
        for name in ("temperature", "top_p", "max_tokens", "seed"):
            value = getattr(sampling, name)
            if value is not None:
                body[name] = value
        if request.schema is not None:
            form = {"name": "answer", "schema": request.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        if sampling.stop:
            body["stop"] = list(sampling.stop)
        if self.settings.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return json.dumps(body).encode()


async def _read(response: httpx.Response) -> Completion:
    if "text/event-stream" not in response.headers.get("content-type", ""):
        return read_completion(await bounded(response))
    reader, size = StreamReader(), 0
    async for line in response.aiter_lines():
        size += len(line)
        if size > LARGEST_REPLY:
            raise MalformedReply(f"the stream exceeds {LARGEST_REPLY} characters")
        reader.feed(line)
        if reader.done:
            break
    return reader.complete()
