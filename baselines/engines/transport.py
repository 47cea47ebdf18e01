"""A minimal HTTP/1.1 transport for httpx on asyncio streams.

With thousands of small requests to one server, a general HTTP stack dominates this process's CPU
time. This transport supports only what chat servers need: requests with a known body, keep-alive
connections, plain or chunked replies, and TLS. Timeouts are left to the caller (`asyncio.timeout`).
If a proxy is configured, httpx's own transport is used instead.
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
"""Seconds after which an idle connection is not reused."""

_RECHECK = 1.0
"""Idle seconds after which the event loop may not have noticed yet that the server closed."""


def default_transport() -> httpx.AsyncBaseTransport | None:
    """Return the minimal transport, or None (httpx's own) if a proxy is configured."""
    return None if set(getproxies()) & {"http", "https", "all"} else SocketTransport()


class _Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.used_at = 0.0

    def fresh(self, now: float) -> bool:
        """Return whether the connection can be reused."""
        closed = self.writer.is_closing() or self.reader.at_eof()
        return not closed and now - self.used_at < _IDLE


class SocketTransport(httpx.AsyncBaseTransport):
    """Sends requests over new or idle keep-alive connections.

    A transport belongs to the event loop in which it is first used.
    """

    def __init__(self) -> None:
        self._idle: dict[tuple[str, str, int], list[_Connection]] = {}
        self._ssl: ssl.SSLContext | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request and return its response with an unread body."""
        place = _place(request.url)
        connection = await self._connection(place, request)
        try:
            connection.writer.write(_encoded(request))
            await connection.writer.drain()
            status, headers = await _head(connection.reader)
        except (OSError, EOFError, ValueError) as error:
            connection.writer.close()
            raise _transport_error(error, request) from None
        except BaseException:
            connection.writer.close()
            raise
        body = _Body(self, place, connection, status, headers)
        return httpx.Response(status, headers=headers, stream=body)

    async def aclose(self) -> None:
        """Close idle connections; connections in use are closed with their responses."""
        for connections in self._idle.values():
            for connection in connections:
                connection.writer.close()
        self._idle.clear()

    def take_back(self, place: tuple[str, str, int], connection: _Connection) -> None:
        """Keep a connection for reuse after its response was read completely."""
        connection.used_at = asyncio.get_running_loop().time()
        self._idle.setdefault(place, []).append(connection)

    async def _connection(self, place: tuple[str, str, int], request: httpx.Request) -> _Connection:
        idle, now = self._idle.get(place, []), asyncio.get_running_loop().time()
        while idle:
            connection = idle.pop()
            if now - connection.used_at >= _RECHECK:
                # If the loop was blocked, as during a training step, it needs one iteration to see
                # that the server closed the connection and another one to notify the reader.
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
    """Return why a connection failed; asyncio's own text repeats the address.

    Numbers of name and TLS errors are not those of the operating system.
    """
    if isinstance(error, (socket.gaierror, ssl.SSLError)) or not error.errno:
        return (error.strerror or str(error)).lower()
    return os.strerror(error.errno).lower()


class _Body(httpx.AsyncByteStream):
    """The body of a response; returns its connection for reuse when it was read completely."""

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
        self._keep_alive = named.get(b"connection", b"").lower() != b"close"
        self._done = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        reader = self._connection.reader
        try:
            parts = _chunks(reader) if self._chunked else _bytes(reader, self._length)
            async for part in parts:
                yield part
        except (OSError, EOFError, ValueError) as error:
            raise httpx.RemoteProtocolError(f"the reply is incomplete: {error}") from None
        self._done = True

    async def aclose(self) -> None:
        """Return the connection for reuse, or close it if the response was not read completely."""
        delimited = self._chunked or self._length is not None
        if self._done and delimited and self._keep_alive:
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
    """Return status and headers of the response, skipping interim responses (1xx)."""
    while True:
        try:
            raw = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            raise ValueError(f"the reply's head exceeds {_HEAD_LIMIT} bytes") from None
        first, *rows = raw[:-4].split(b"\r\n")
        protocol, _, rest = first.partition(b" ")
        if not protocol.startswith(b"HTTP/1.") or not rest[:3].isdigit():
            raise ValueError(f"not HTTP: {first[:60]!r}")
        status = int(rest[:3])
        if status >= 200:
            pairs = (row.partition(b":") for row in rows)
            return status, [(name.strip(), value.strip()) for name, _, value in pairs]


async def _bytes(reader: asyncio.StreamReader, length: int | None) -> AsyncIterator[bytes]:
    """Yield a body of known length, or everything until the server closes the connection."""
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


def _transport_error(error: Exception, request: httpx.Request) -> httpx.TransportError:
    if isinstance(error, EOFError):
        message = "the server closed the connection without a reply"
        return httpx.RemoteProtocolError(message, request=request)
    if isinstance(error, OSError):
        return httpx.ReadError(str(error), request=request)
    return httpx.RemoteProtocolError(str(error), request=request)
