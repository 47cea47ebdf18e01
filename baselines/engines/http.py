"""A client of any OpenAI-compatible chat server.

One request at a time goes through `HttpEngine.chat`: it waits for a place under the adaptive
limit, sends, reads a plain or streamed reply, and retries what may succeed a moment later, all
within the caller's deadline. What cannot be had becomes a typed error.
"""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from hexathlon.baselines.engines.base import ChatReply, ChatRequest
from hexathlon.baselines.engines.errors import (
    ConnectionFailed,
    EngineError,
    MalformedReply,
    RateLimited,
    ReplyTimeout,
    UnknownModel,
)
from hexathlon.baselines.engines.limiter import AdaptiveLimit
from hexathlon.baselines.engines.prices import PriceTable
from hexathlon.baselines.engines.replies import (
    Completion,
    StreamReader,
    error_of,
    read_completion,
)
from hexathlon.baselines.engines.transport import default_transport
from hexathlon.tasks.seeding import derive_seed

__all__ = ["HttpEngine", "HttpSettings"]

_LARGEST_REPLY = 16 * 2**20


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """How a chat server is spoken to."""

    url: str
    """Base address, such as `http://localhost:8000/v1`."""

    model: str = ""
    """The model's name on the server."""

    key: str = ""
    """Sent as bearer token where not empty; never stored in records."""

    stream: bool = False
    retries: int = 4
    """Further tries of one request after its first."""

    timeout: float = 600.0
    """Seconds that one try may take."""

    backoff: float = 0.5
    """Seconds before the first retry; each later one waits twice as long, at most `longest`."""

    longest: float = 60.0
    """Longest wait between two tries; a Retry-After beyond it ends the request."""


class HttpEngine:
    """Speaks to one chat server.

    Args:
        settings: Where and how.
        limit: Shared bound on requests at once.
        prices: For the cost of each reply.
        client: Brings its own connections (tests); the default one is sized to the limit.
        clock: Monotonic seconds.
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
        self._clock = clock
        self._requests = 0
        self._client = client or httpx.AsyncClient(
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=200),
            timeout=httpx.Timeout(settings.timeout, connect=min(30.0, settings.timeout)),
            transport=default_transport(),
            headers={"authorization": f"Bearer {settings.key}"} if settings.key else None,
        )

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Answer one request; see `Engine.chat`."""
        started = self._clock()
        try:
            async with asyncio.timeout(request.deadline):
                return await self._persist(request, started)
        except TimeoutError:
            raise ReplyTimeout(
                f"no reply within the {request.deadline:g} s that the trial had left"
            ) from None

    async def models(self) -> list[str]:
        """Return the names of the models that the server offers.

        Raises:
            EngineError: The server does not answer, or not with a list of models.
        """
        try:
            response = await self._client.get(f"{self.settings.url}/models")
        except httpx.HTTPError as error:
            raise ConnectionFailed(f"{self.settings.url}: {error!r}") from None
        if response.status_code != 200:
            raise error_of(response.status_code, response.content, None)
        try:
            return [str(row["id"]) for row in response.json()["data"]]
        except (ValueError, LookupError, TypeError):
            raise MalformedReply(f"{self.settings.url}/models gives no list of models") from None

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _persist(self, request: ChatRequest, started: float) -> ChatReply:
        body = self._body(request)
        self._requests += 1
        number, attempt, worked = self._requests, 0, 0.0
        while True:
            await self.limit.acquire()
            begun = self._clock()
            try:
                completion = await self._once(body)
                self.limit.succeeded()
                worked = self._clock() - begun
                waited = self._clock() - started - worked
                usage = completion.usage
                usage = usage._replace(cost=self._prices.cost(self.settings.model, usage))
                return ChatReply(completion.message, usage, completion.finish, worked, waited)
            except EngineError as error:
                pause = self._pause(error, attempt, number)
            finally:
                self.limit.release()
            attempt += 1
            await asyncio.sleep(pause)

    def _pause(self, error: EngineError, attempt: int, number: int) -> float:
        """Return how long to wait before the next try, or raise when there is to be none."""
        asked = error.retry_after if isinstance(error, RateLimited) else None
        if isinstance(error, RateLimited):
            self.limit.rate_limited(None if asked is None else min(asked, self.settings.longest))
        too_long = asked is not None and asked > self.settings.longest
        if not error.retryable or attempt >= self.settings.retries or too_long:
            raise error
        if asked is not None:
            return asked
        spread = 0.5 + derive_seed("backoff", number, attempt) / 2**63
        return min(self.settings.backoff * 2.0**attempt, self.settings.longest) * spread

    async def _once(self, body: bytes) -> Completion:
        url = f"{self.settings.url}/chat/completions"
        headers = {"content-type": "application/json"}
        try:
            async with (
                asyncio.timeout(self.settings.timeout),
                self._client.stream("POST", url, content=body, headers=headers) as response,
            ):
                return await self._read(response)
        except (TimeoutError, httpx.TimeoutException):
            raise ReplyTimeout(f"no reply within {self.settings.timeout:g} s") from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise UnknownModel(f"{url} is no address of a server: {error}") from None
        except httpx.HTTPError as error:
            raise ConnectionFailed(f"{type(error).__name__}: {error}") from None

    async def _read(self, response: httpx.Response) -> Completion:
        if response.status_code != 200:
            body = await _bounded(response)
            raise error_of(response.status_code, body, response.headers.get("retry-after"))
        if "text/event-stream" not in response.headers.get("content-type", ""):
            return read_completion(await _bounded(response))
        reader, size = StreamReader(), 0
        async for line in response.aiter_lines():
            size += len(line)
            if size > _LARGEST_REPLY:
                raise MalformedReply(f"the stream passed {_LARGEST_REPLY} characters")
            reader.feed(line)
            if reader.done:
                break
        return reader.complete()

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


async def _bounded(response: httpx.Response) -> bytes:
    parts, size = [], 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > _LARGEST_REPLY:
            raise MalformedReply(f"the reply passed {_LARGEST_REPLY} bytes")
        parts.append(part)
    return b"".join(parts)
