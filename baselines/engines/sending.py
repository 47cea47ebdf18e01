"""Sends requests to a server: within a deadline, under an adaptive limit, again where it may help.

What a request says and how its reply is read is the caller's; which failures are worth another
try is said by the errors themselves.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
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
"""Bytes; what is longer is no reply to anything asked here."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """How a server is spoken to."""

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


class Sent(NamedTuple, Generic[T]):
    """What a request brought."""

    value: T
    worked: float
    """Seconds that the successful try took."""

    waited: float
    """Seconds spent queueing for a place or waiting between tries."""


class Sender:
    """Keeps the connections to one server.

    Args:
        settings: Where and how.
        limit: Shared bound on requests at once.
        client: Brings its own connections (tests); the default one is sized to the limit.
        clock: Monotonic seconds.
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
            headers={"authorization": f"Bearer {settings.key}"} if settings.key else None,
        )

    async def ask(self, url: str, body: bytes | None = None) -> bytes:
        """Return what an address says, asked once: by GET, or by POST where there is a body.

        Raises:
            EngineError: If it cannot be reached, or answers with an error.
        """
        return await self._once("GET" if body is None else "POST", url, body, bounded)

    async def post(
        self,
        url: str,
        body: bytes,
        read: Callable[[httpx.Response], Awaitable[T]],
        deadline: float | None,
    ) -> Sent[T]:
        """Post a JSON body until it is answered or not worth another try.

        Args:
            url: Where to.
            body: JSON.
            read: Turns a reply of status 200 into what is wanted, or raises an EngineError.
            deadline: Seconds that all tries may take together, waiting included.

        Raises:
            EngineError: If no reply could be had.
        """
        try:
            async with asyncio.timeout(deadline):
                return await self._persist(url, body, read)
        except TimeoutError:
            raise ReplyTimeout(
                f"no reply within the {deadline:g} s that the trial had left"
            ) from None

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _persist(
        self, url: str, body: bytes, read: Callable[[httpx.Response], Awaitable[T]]
    ) -> Sent[T]:
        started = self._clock()
        self._requests += 1
        number, attempt = self._requests, 0
        while True:
            await self.limit.acquire()
            begun = self._clock()
            try:
                value = await self._once("POST", url, body, read)
                self.limit.succeeded()
                worked = self._clock() - begun
                return Sent(value, worked, self._clock() - started - worked)
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
                    said = await bounded(response)
                    retry_after = response.headers.get("retry-after")
                    raise error_of(response.status_code, said, retry_after)
                return await read(response)
        except (TimeoutError, httpx.TimeoutException):
            raise ReplyTimeout(f"no reply within {self.settings.timeout:g} s") from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise UnknownModel(f"{url} is no address of a server: {error}") from None
        except httpx.HTTPError as error:
            raise ConnectionFailed(f"{url}: {type(error).__name__}: {error}") from None


async def bounded(response: httpx.Response) -> bytes:
    """Return a reply's body.

    Raises:
        MalformedReply: If it is longer than any reply should be.
    """
    parts, size = [], 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > LARGEST_REPLY:
            raise MalformedReply(f"the reply passed {LARGEST_REPLY} bytes")
        parts.append(part)
    return b"".join(parts)
