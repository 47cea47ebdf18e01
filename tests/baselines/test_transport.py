"""The HTTP transport against servers that answer with exact bytes."""

import asyncio
import socket
import ssl
import subprocess
import threading

import httpx
import pytest

from hexathlon.baselines.engines import transport
from hexathlon.baselines.engines.base import ChatRequest
from hexathlon.baselines.engines.http import HttpEngine, HttpSettings
from hexathlon.baselines.engines.limiter import AdaptiveLimit
from hexathlon.baselines.engines.prices import PriceTable
from hexathlon.baselines.engines.transport import SocketTransport, default_transport

PLAIN = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"


class Server:
    """Answers each request with the next of its replies; None closes without one."""

    def __init__(self, *replies, **options):
        self.replies, self.options = list(replies), options
        self.connections = 0
        self.requests = []

    async def __aenter__(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0, **self.options)
        scheme = "https" if self.options else "http"
        self.url = f"{scheme}://localhost:{self.server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *error):
        self.server.close()

    async def serve(self, reader, writer):
        self.connections += 1
        try:
            while self.replies:
                head = await reader.readuntil(b"\r\n\r\n")
                lengths = [row for row in head.lower().split(b"\r\n") if b"content-length" in row]
                size = int(lengths[0].split(b":")[1]) if lengths else 0
                self.requests.append((head, await reader.readexactly(size)))
                reply = self.replies.pop(0)
                if reply is None:
                    break
                writer.write(reply)
                await writer.drain()
                if b"connection: close" in reply or b"content" not in reply[:60]:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()


def fetch(*replies, times=1, body=b"{}"):
    """Return the texts of this many replies, and the server that sent them."""

    async def run():
        async with (
            Server(*replies) as server,
            httpx.AsyncClient(transport=SocketTransport()) as client,
        ):
            texts = []
            for _ in range(times):
                response = await client.post(f"{server.url}/v1/x?y=1", content=body)
                texts.append((response.status_code, response.text))
            return texts, server

    return asyncio.run(asyncio.wait_for(run(), 120))


def test_connection_closed_during_a_blocked_loop_is_not_reused(monkeypatch):
    monkeypatch.setattr(transport, "_RECHECK", 0.0)
    closed = threading.Event()

    def serve(listening):
        for _ in range(2):
            connection, _ = listening.accept()
            with connection:
                connection.recv(2**16)
                connection.sendall(PLAIN)
            closed.set()

    async def run(url):
        async with httpx.AsyncClient(transport=SocketTransport()) as client:
            texts = [(await client.get(url)).text]
            assert closed.wait(120)
            return [*texts, (await client.get(url)).text]

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=(listening,), daemon=True)
        thread.start()
        texts = asyncio.run(run(f"http://127.0.0.1:{listening.getsockname()[1]}/"))
        thread.join(120)
    assert texts == ["hello", "hello"]


def test_connection_is_reused():
    texts, server = fetch(PLAIN, PLAIN, PLAIN, times=3, body=b'{"a": 1}')
    assert texts == [(200, "hello")] * 3
    assert server.connections == 1
    head, body = server.requests[0]
    assert head.startswith(b"POST /v1/x?y=1 HTTP/1.1\r\n") and body == b'{"a": 1}'
    assert b"accept-encoding: identity" in head and b"host: localhost:" in head.lower()


@pytest.mark.parametrize("reply, text", [
    (b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", ""),
    (b"HTTP/1.1 200 OK\r\ncontent-x: 1\r\ntransfer-encoding: chunked\r\n\r\n"
     b"3\r\nhel\r\n2;a=b\r\nlo\r\n0\r\n\r\n", "hello"),
    (b"HTTP/1.1 200 OK\r\ncontent-x: 1\r\ntransfer-encoding: chunked\r\n\r\n"
     b"5\r\nhello\r\n0\r\ntrailer: x\r\n\r\n", "hello"),
    (b"HTTP/1.0 200 OK\r\n\r\nuntil the end", "until the end"),
    (b"HTTP/1.1 100 Continue\r\n\r\n" + PLAIN, "hello"),
    (b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello", "hello"),
    (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nset-cookie: a=b\r\nset-cookie: c=d\r\n\r\nhello",
     "hello"),
])  # fmt: skip
def test_all_body_encodings(reply, text):
    assert fetch(reply)[0] == [(200, text)]


def test_closed_connection_is_replaced():
    closing = b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello"
    texts, server = fetch(closing, PLAIN, times=2)
    assert texts == [(200, "hello")] * 2 and server.connections == 2


@pytest.mark.parametrize("reply", [
    None, b"nonsense\r\n\r\n", b"HTTP/1.1 2\r\n\r\n", b"HTTP/2 200\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 50\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhello",
    b"HTTP/1.1 200 OK\r\nx: " + b"y" * 70_000 + b"\r\n\r\n",
])  # fmt: skip
def test_broken_replies_are_transport_errors(reply):
    with pytest.raises(httpx.TransportError):
        fetch(reply)


def test_closed_port_is_a_connect_error():
    async def run():
        async with httpx.AsyncClient(transport=SocketTransport()) as client:
            await client.get("http://127.0.0.1:9/")

    with pytest.raises(httpx.ConnectError):
        asyncio.run(run())


def test_unread_reply_closes_only_its_connection():
    async def run():
        async with (
            Server(PLAIN, PLAIN) as server,
            httpx.AsyncClient(transport=SocketTransport()) as client,
        ):
            async with client.stream("GET", server.url) as response:
                assert response.status_code == 200
            assert (await client.get(server.url)).text == "hello"
            return server.connections

    assert asyncio.run(run()) == 2


def test_slow_server_hits_the_callers_timeout():
    async def run():
        forever = asyncio.Event()

        async def silent(reader, writer):
            await forever.wait()
            writer.close()

        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        settings = HttpSettings(url, "m", retries=0, timeout=0.1)
        engine = HttpEngine(settings, AdaptiveLimit(), PriceTable("", "", {}))
        try:
            await engine.chat(ChatRequest([{"role": "user", "content": "x"}]))
        finally:
            await engine.close()
            forever.set()
            server.close()

    with pytest.raises(Exception, match=r"no reply within 0.1 s"):
        asyncio.run(run())


def test_tls_certificates_are_verified(tmp_path, monkeypatch):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
         "-keyout", key, "-out", certificate],
        capture_output=True, check=False,
    )  # fmt: skip
    if made.returncode != 0:
        pytest.skip("openssl cannot make a certificate here")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)

    async def run():
        async with (
            Server(PLAIN, ssl=context) as server,
            httpx.AsyncClient(transport=SocketTransport()) as client,
        ):
            return (await client.get(server.url)).text

    with pytest.raises(httpx.ConnectError, match="(?i)certificate"):
        asyncio.run(run())
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert asyncio.run(run()) == "hello"


def test_configured_proxy_is_used(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    assert isinstance(default_transport(), SocketTransport)
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    assert default_transport() is None
