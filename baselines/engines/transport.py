"""A lean HTTP/1.1 transport for httpx, on asyncio's own sockets.

Thousands of small requests to one server spend more time in a general HTTP stack than in anything
else this process does for them; this one does only what chat servers need: requests with a known
body, kept-alive connections, plain or chunked replies, TLS. Time-outs are the caller's
(`asyncio.timeout`). Where a proxy is configured, httpx's own transport is used instead.
"""

import asyncio
import os
import socket
import ssl
from collections.abc import AsyncIterator
from urllib.request import getproxies

import httpx

__all__ = ["SocketTransport", "default_transport"]

_HEAD_LIMIT = 2**16
_PART = 2**16
_IDLE = 60.0
"""Seconds after which a connection that nobody used is not trusted any more."""

_RESTED = 1.0
"""Seconds after which the server may have closed a connection without the loop knowing yet."""


def default_transport() -> httpx.AsyncBaseTransport | None:
    """Return the lean transport, or None (httpx's own) where the environment names a proxy."""
    return None if set(getproxies()) & {"http", "https", "all"} else SocketTransport()


class _Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.used_at = 0.0

    def fresh(self, now: float) -> bool:
        """Whether the server may still be listening."""
        closed = self.writer.is_closing() or self.reader.at_eof()
        return not closed and now - self.used_at < _IDLE


class SocketTransport(httpx.AsyncBaseTransport):
    """Sends each request over a connection of its own or one that has become free.

    Belongs to the event loop in which it is first used.
    """

    def __init__(self) -> None:
        self._free: dict[tuple[str, str, int], list[_Connection]] = {}
        self._ssl: ssl.SSLContext | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request and return its reply, whose body is still to be read."""
        place = _place(request.url)
        connection = await self._connection(place, request)
        try:
            connection.writer.write(_encoded(request))
            await connection.writer.drain()
            status, headers = await _head(connection.reader)
        except (OSError, EOFError, ValueError) as error:
            connection.writer.close()
            raise _named(error, request) from None
        except BaseException:
            connection.writer.close()
            raise
        body = _Body(self, place, connection, status, headers)
        return httpx.Response(status, headers=headers, stream=body)

    async def aclose(self) -> None:
        """Close the connections that nobody uses; those in use close with their replies."""
        for connections in self._free.values():
            for connection in connections:
                connection.writer.close()
        self._free.clear()

    def take_back(self, place: tuple[str, str, int], connection: _Connection) -> None:
        """Keep a connection whose reply was read to its end."""
        connection.used_at = asyncio.get_running_loop().time()
        self._free.setdefault(place, []).append(connection)

    async def _connection(self, place: tuple[str, str, int], request: httpx.Request) -> _Connection:
        free, now = self._free.get(place, []), asyncio.get_running_loop().time()
        while free:
            connection = free.pop()
            if now - connection.used_at >= _RESTED:
                # A loop that did not run meanwhile, as while a policy learns, sees what the server
                # closed in its next pass and tells the reader in the one after.
                await asyncio.sleep(0)
                await asyncio.sleep(0)
            if connection.fresh(now):
                return connection
            connection.writer.close()
        scheme, host, port = place
        if scheme == "https" and self._ssl is None:
            self._ssl = httpx.create_ssl_context()
        secure = self._ssl if scheme == "https" else None
        try:
            pair = await asyncio.open_connection(host, port, ssl=secure, limit=_HEAD_LIMIT)
        except OSError as error:
            raise httpx.ConnectError(_reason(error), request=request) from None
        return _Connection(*pair)


def _reason(error: OSError) -> str:
    """Return why a connection failed; asyncio's own text repeats the address."""
    if isinstance(error, socket.gaierror) or not error.errno:
        return (error.strerror or str(error)).lower()
    return os.strerror(error.errno).lower()


class _Body(httpx.AsyncByteStream):
    """The body of a reply; gives its connection back when it was read to the end."""

    def __init__(
        self,
        transport: SocketTransport,
        place: tuple[str, str, int],
        connection: _Connection,
        status: int,
        headers: list[tuple[bytes, bytes]],
    ) -> None:
        named = {name.lower(): value.strip() for name, value in headers}
        self._transport, self._place, self._connection = transport, place, connection
        self._chunked = b"chunked" in named.get(b"transfer-encoding", b"").lower()
        length = named.get(b"content-length")
        self._length = 0 if status in (204, 304) else int(length) if length else None
        self._kept = named.get(b"connection", b"").lower() != b"close"
        self._done = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        reader = self._connection.reader
        try:
            parts = _chunks(reader) if self._chunked else _bytes(reader, self._length)
            async for part in parts:
                yield part
        except (OSError, EOFError, ValueError) as error:
            raise httpx.RemoteProtocolError(f"the reply broke off: {error}") from None
        self._done = True

    async def aclose(self) -> None:
        """Give the connection back, or close it if something of the reply is still to come."""
        whole = self._chunked or self._length is not None
        if self._done and whole and self._kept:
            self._transport.take_back(self._place, self._connection)
        else:
            self._connection.writer.close()


def _place(url: httpx.URL) -> tuple[str, str, int]:
    return url.scheme, url.host, url.port or (443 if url.scheme == "https" else 80)


def _encoded(request: httpx.Request) -> bytes:
    lines = [b"%s %s HTTP/1.1" % (request.method.encode("ascii"), request.url.raw_path)]
    lines += [
        b"%s: %s" % pair for pair in request.headers.raw if pair[0].lower() != b"accept-encoding"
    ]
    # Bodies are a few kilobytes of JSON: compressing them costs more than it saves.
    lines += [b"accept-encoding: identity", b"", request.content]
    return b"\r\n".join(lines)


async def _head(reader: asyncio.StreamReader) -> tuple[int, list[tuple[bytes, bytes]]]:
    """Return status and headers of the reply; interim replies (1xx) are passed over."""
    while True:
        try:
            raw = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            raise ValueError(f"the reply's head passes {_HEAD_LIMIT} bytes") from None
        first, *rows = raw[:-4].split(b"\r\n")
        protocol, _, rest = first.partition(b" ")
        if not protocol.startswith(b"HTTP/1.") or not rest[:3].isdigit():
            raise ValueError(f"not HTTP: {first[:60]!r}")
        status = int(rest[:3])
        if status >= 200:
            pairs = (row.partition(b":") for row in rows)
            return status, [(name.strip(), value.strip()) for name, _, value in pairs]


async def _bytes(reader: asyncio.StreamReader, length: int | None) -> AsyncIterator[bytes]:
    """Yield a body of known length, or all that comes until the server closes."""
    if length is None:
        while part := await reader.read(_PART):
            yield part
        return
    while length > 0:
        part = await reader.read(min(length, _PART))
        if not part:
            raise EOFError(f"{length} bytes are missing")
        length -= len(part)
        yield part


async def _chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        yield await reader.readexactly(size)
        await reader.readexactly(2)
    while (await reader.readuntil(b"\r\n")) != b"\r\n":
        pass


def _named(error: Exception, request: httpx.Request) -> httpx.TransportError:
    if isinstance(error, EOFError):
        return httpx.RemoteProtocolError("the server closed without a reply", request=request)
    if isinstance(error, OSError):
        return httpx.ReadError(str(error), request=request)
    return httpx.RemoteProtocolError(str(error), request=request)
