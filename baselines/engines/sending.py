"""Sends requests to a server with a deadline, an adaptive concurrency limit, and retries.

The caller builds the request and parses the reply. The class of an error determines whether the
request is retried.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

import httpx

from hexathlon.baselines.engines.errors import (
    ConnectionFailed,
    EngineError,
    MalformedReply,
    RateLimited,
    ReplyTimeout,
    UnknownModel,
)
from hexathlon.baselines.engines.limiter import AdaptiveLimit
from hexathlon.baselines.engines.replies import error_of
from hexathlon.baselines.engines.transport import default_transport
from hexathlon.tasks.seeding import derive_seed

__all__ = ["LARGEST_REPLY", "HttpSettings", "Sender", "Sent", "bounded"]

LARGEST_REPLY = 16 * 2**20
"""Maximum size of a reply, in bytes."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Address, credentials and retry settings of a server."""

    url: str
    """Base address, such as `http://localhost:8000/v1`."""

    model: str = ""
    """The model's name on the server."""

    key: str = ""
    """Bearer token, if not empty; never stored in records."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Further headers, such as keys of other forms; never stored in records."""

    stream: bool = False
    retries: int = 4
    """Maximum number of retries of a request."""

    timeout: float = 600.0
    """Seconds that one attempt may take."""

    backoff: float = 0.5
    """Seconds before the first retry, doubled for each further one up to `longest`."""

    longest: float = 60.0
    """Maximum seconds between two attempts; a longer Retry-After fails the request."""


class Sent(NamedTuple, Generic[T]):
    """The result of a request, with timing."""

    value: T
    worked: float
    """Seconds that the successful attempt took."""

    waited: float
    """Seconds in the queue for a slot and between attempts."""


class Sender:
    """Sends requests over connections to one server.

    Args:
        settings: Address, credentials and retry settings.
        limit: Shared limit of concurrent requests.
        client: An HTTP client with its own connections (for tests).
        clock: Monotonic clock, in seconds.
    """

    def __init__(
        self,
        settings: HttpSettings,
        limit: AdaptiveLimit,
        client: httpx.AsyncClient | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.settings = settings
        self.limit = limit
        self._clock = clock
        self._requests = 0
        self._client = client or httpx.AsyncClient(
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=200),
            timeout=httpx.Timeout(settings.timeout, connect=min(30.0, settings.timeout)),
            transport=default_transport(),
            headers={**_bearer(settings.key), **settings.headers},
        )

    async def ask(self, url: str, body: bytes | None = None) -> bytes:
        """Send one request without retries, by POST if there is a body; return the reply's body.

        Raises:
            EngineError: If the server cannot be reached or answers with an error.
        """
        return await self._once("GET" if body is None else "POST", url, body, bounded)

    async def post(
        self,
        url: str,
        body: bytes,
        read: Callable[[httpx.Response], Awaitable[T]],
        deadline: float | None,
    ) -> Sent[T]:
        """Post a JSON body, with retries of transient errors.

        Args:
            url: The address.
            body: The JSON body.
            read: Parses a reply of status 200, or raises an EngineError.
            deadline: Seconds for all attempts together, including waiting; None for no limit.

        Raises:
            EngineError: If the last attempt failed, or the deadline passed.
        """
        try:
            async with asyncio.timeout(deadline):
                return await self._post_with_retries(url, body, read)
        except TimeoutError:
            raise ReplyTimeout(
                f"no reply within the {deadline:g} s that the trial had left"
            ) from None

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _post_with_retries(
        self, url: str, body: bytes, read: Callable[[httpx.Response], Awaitable[T]]
    ) -> Sent[T]:
        started = self._clock()
        self._requests += 1
        number, attempt = self._requests, 0
        while True:
            await self.limit.acquire()
            attempt_started = self._clock()
            try:
                value = await self._once("POST", url, body, read)
                self.limit.succeeded()
                worked = self._clock() - attempt_started
                return Sent(value, worked, self._clock() - started - worked)
            except EngineError as error:
                pause = self._pause(error, attempt, number)
            finally:
                self.limit.release()
            attempt += 1
            await asyncio.sleep(pause)

    def _pause(self, error: EngineError, attempt: int, number: int) -> float:
        """Return the seconds to wait before the next attempt, or raise if there is none."""
        retry_after = error.retry_after if isinstance(error, RateLimited) else None
        longest = self.settings.longest
        if isinstance(error, RateLimited):
            self.limit.rate_limited(None if retry_after is None else min(retry_after, longest))
        too_long = retry_after is not None and retry_after > longest
        if not error.retryable or attempt >= self.settings.retries or too_long:
            raise error
        if retry_after is not None:
            return retry_after
        jitter = 0.5 + derive_seed("backoff", number, attempt) / 2**63
        return min(self.settings.backoff * 2.0**attempt, longest) * jitter

    async def _once(
        self,
        method: str,
        url: str,
        body: bytes | None,
        read: Callable[[httpx.Response], Awaitable[T]],
    ) -> T:
        headers = {"content-type": "application/json"} if body is not None else None
        try:
            async with (
                asyncio.timeout(self.settings.timeout),
                self._client.stream(method, url, content=body, headers=headers) as response,
            ):
                if response.status_code != 200:
                    error_body = await bounded(response)
                    retry_after = response.headers.get("retry-after")
                    raise error_of(response.status_code, error_body, retry_after)
                return await read(response)
        except (TimeoutError, httpx.TimeoutException):
            raise ReplyTimeout(f"no reply within {self.settings.timeout:g} s") from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise UnknownModel(f"{url} is not a valid address: {error}") from None
        except httpx.HTTPError as error:
            raise ConnectionFailed(f"{url}: {type(error).__name__}: {error}") from None


def _bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}


async def bounded(response: httpx.Response) -> bytes:
    """Return the body of a reply.

    Raises:
        MalformedReply: If it exceeds `LARGEST_REPLY`.
    """
    parts, size = [], 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > LARGEST_REPLY:
            raise MalformedReply(f"the reply exceeds {LARGEST_REPLY} bytes")
        parts.append(part)
    return b"".join(parts)
