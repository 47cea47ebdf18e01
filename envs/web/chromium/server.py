"""The sites over HTTP on loopback: one server per process, many episodes at once.

A browser context names its episode by a secret header. A request without a known secret is answered
with 421 and nothing else. Handlers are those of `Network.handle`; assets are not traced.
"""

import secrets
import threading
import time
from collections.abc import Callable, Mapping, MutableMapping
from importlib import resources
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urljoin, urlsplit

import uvicorn
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from hexathlon.envs.errors import DeadlineExceeded
from hexathlon.envs.web.miniwob import MiniwobPages
from hexathlon.tasks.web.world.exchange import Upload, WebRequest, WebResponse, decoded_path
from hexathlon.tasks.web.world.network import Network
from hexathlon.tasks.web.world.sites.table import DOMAIN

__all__ = ["SECRET_HEADER", "PageAnswer", "Served", "SiteServer"]

SECRET_HEADER = "x-hexathlon-episode"
_START_SECONDS = 20.0
_MAX_BODY = 8_000_000
_MAX_BLOCKED = 50
_MAX_REDIRECTS = 10
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-src 'self'; "
    f"form-action 'self' http://*.{DOMAIN}; base-uri 'none'; frame-ancestors 'self'"
)
_PAGE_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": _POLICY,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
_FOREIGN_HEADERS = {
    "cache-control": "max-age=3600",
    "content-security-policy": "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'self'",
    "referrer-policy": "no-referrer",
}
"""Headers of pages that are not the event's own; their scripts can reach only this host."""

_ASSET_HEADERS = {"cache-control": "max-age=3600", "x-content-type-options": "nosniff"}
_URL_SAFE = "%/:@!$&'()*+,;=~?#"
_ASSETS = {"kit.css": "text/css", "site.js": "text/javascript", "site.css": "text/css"}


class PageAnswer(NamedTuple):
    """The last answer that a tab or frame received for a URL."""

    method: str
    status: int


class Served:
    """An episode on the server.

    Attributes:
        secret: Value of the header that selects the episode.
        network: Sites of the episode; None refuses every request.
        lock: Held while a handler runs.
        documents: Pages answered so far, by URL.
        replay: Pages to answer without a handler or a trace, by URL, while a state is restored.
        pending: Requests being answered.
        served: Requests answered by handlers.
        blocked: Addresses outside the episode that pages or sites requested.
        redirects: Redirects since a page was answered.
        stays: Answers that left the browser on its page.
        refusal: Why the last answer had no effect; cleared once the agent has been told.
        on_stay: Called, in the server's thread, when an answer leaves the browser on its page.
        fault: The first error of a handler; its request was answered with status 500.
    """

    def __init__(self, secret: str) -> None:
        self.secret = secret
        self.network: Network | None = None
        self.lock = threading.Lock()
        self.documents: dict[str, PageAnswer] = {}
        self.replay: dict[str, list[str]] | None = None
        self.pending = 0
        self.served = 0
        self.blocked: list[str] = []
        self.redirects = 0
        self.stays = 0
        self.refusal = ""
        self.on_stay: Callable[[], None] | None = None
        self.fault: Exception | None = None

    def refuse(self, refusal: str) -> None:
        """Note why an answer leaves the browser on its page."""
        self.refusal = refusal
        self.stay()

    def stay(self) -> None:
        """Note that an answer leaves the browser on its page."""
        self.stays += 1
        if self.on_stay is not None:
            self.on_stay()

    def block(self, url: str) -> None:
        """Note an address that was refused."""
        if len(self.blocked) < _MAX_BLOCKED:
            self.blocked.append(url[:500])


class SiteServer:
    """A server of sites in a background thread.

    Use `SiteServer.shared()`; one per process is enough.
    """

    _shared: "SiteServer | None" = None
    _shared_lock = threading.Lock()

    def __init__(self) -> None:
        self._episodes: dict[str, Served] = {}
        config = uvicorn.Config(
            self._app, host="127.0.0.1", port=0, log_level="critical", access_log=False,
            lifespan="off", ws="none", interface="asgi3", proxy_headers=False,
            server_header=False, timeout_keep_alive=10,
            log_config=None,  # its default closes the logging handlers of everyone else
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, name="hexathlon-sites", daemon=True
        )
        self._thread.start()
        deadline = time.monotonic() + _START_SECONDS
        while not self._server.started:
            if time.monotonic() > deadline or not self._thread.is_alive():
                raise DeadlineExceeded(f"the site server did not start in {_START_SECONDS:.0f} s")
            time.sleep(0.002)
        self.port: int = self._server.servers[0].sockets[0].getsockname()[1]

    @classmethod
    def shared(cls) -> "SiteServer":
        """Return the process's server; start it on first use, and again after a fork."""
        with cls._shared_lock:
            if cls._shared is None or not cls._shared._thread.is_alive():
                cls._shared = cls()
            return cls._shared

    @property
    def episodes(self) -> int:
        """Number of episodes being served."""
        return len(self._episodes)

    def admit(self, network: Network | None) -> Served:
        """Start serving an episode."""
        served = Served(secrets.token_hex(16))
        served.network = network
        self._episodes[served.secret] = served
        return served

    def dismiss(self, served: Served) -> None:
        """Stop serving an episode."""
        self._episodes.pop(served.secret, None)
        served.network = None

    # The application ---------------------------------------------------------------------------

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        served = self._episodes.get(request.headers.get(SECRET_HEADER, ""))
        answer: ASGIApp
        if served is None or served.network is None:
            answer = Response(status_code=421)
        else:
            served.pending += 1
            try:
                answer = await _answer(request, served, served.network)
            except Exception as error:
                served.fault = served.fault or error
                answer = Response(status_code=500)
            finally:
                served.pending -= 1
        await answer(scope, receive, send)


async def _answer(request: Request, served: Served, network: Network) -> Response:
    host = request.headers.get("host", "").lower()
    path = request.url.path
    socket = request.headers.get("upgrade", "").lower() == "websocket"
    if socket or not network.knows(host):
        served.block(f"{'ws' if socket else 'http'}://{host}{path}")
        return Response(status_code=421)
    file = network.file(path) if isinstance(network, MiniwobPages) else None
    if file is not None:
        return Response(file.content, media_type=file.media_type, headers=_FOREIGN_HEADERS)
    if path.startswith("/assets/"):
        return _asset(host, path.removeprefix("/assets/"))
    if path == "/favicon.ico":
        return Response(status_code=404)
    if served.replay is not None:
        query = request.url.query
        url = f"http://{host}{_raw_path(request)}" + (f"?{query}" if query else "")
        waiting = served.replay.get(url, [])
        body = waiting.pop(0) if len(waiting) > 1 else "".join(waiting)
        return Response(body, media_type="text/html", headers=_PAGE_HEADERS)
    asked = await _decoded(request, host)
    if asked is None:
        return Response(status_code=413)
    with served.lock:
        response = network.handle(asked)
        served.served += 1
        navigates = "html" in request.headers.get("accept", "")
        return _http(response, asked, served, network, navigates)


async def _decoded(request: Request, host: str) -> WebRequest | None:
    """Return a request in the form that sites expect; None if it is too large."""
    if int(request.headers.get("content-length") or 0) > _MAX_BODY:
        return None
    fields: list[tuple[str, str]] = []
    files: dict[str, Upload] = {}
    if request.method not in ("GET", "HEAD"):
        async with request.form(max_part_size=_MAX_BODY) as form:
            for name, value in form.multi_items():
                if isinstance(value, UploadFile):
                    files[name] = Upload(value.filename or "", await value.read())
                else:
                    fields.append((name, value.replace("\r\n", "\n")))
    asked = parse_qsl(request.url.query, keep_blank_values=True)
    query = tuple((name, value.replace("\r\n", "\n")) for name, value in asked)
    cookies = {name: unquote(value) for name, value in request.cookies.items()}
    return WebRequest(
        request.method, host, decoded_path(_raw_path(request)), query, tuple(fields), files, cookies
    )


def _raw_path(request: Request) -> str:
    """Return the path as the browser wrote it."""
    raw: bytes = request.scope.get("raw_path") or request.url.path.encode()
    return raw.partition(b"?")[0].decode("latin-1")


def _http(
    response: WebResponse, asked: WebRequest, served: Served, network: Network, navigates: bool
) -> Response:
    headers: MutableMapping[str, str] = dict(_PAGE_HEADERS)
    if response.download is not None:
        if navigates:
            network.receive(response.download)
            served.stay()
        name = quote(response.download.filename)
        headers["content-disposition"] = f"attachment; filename*=UTF-8''{name}"
        answer = Response(
            response.download.content, 200, headers, media_type="application/octet-stream"
        )
    elif response.location:
        target = urljoin(asked.url, response.location)
        parts = urlsplit(target)
        if parts.scheme != "http" or not network.knows(parts.netloc):
            served.block(target)
            served.refuse(f"{target[:200]} is outside the sites of this task")
            answer = Response(status_code=204, headers=headers)
        elif navigates and served.redirects + 1 >= _MAX_REDIRECTS:
            served.redirects = 0
            served.refuse("the page redirects in a circle")
            answer = Response(status_code=204, headers=headers)
        else:
            served.redirects += navigates
            headers["location"] = quote(target, safe=_URL_SAFE)
            answer = Response(status_code=response.status, headers=headers)
    else:
        served.redirects = 0
        if navigates:
            served.documents[asked.url] = PageAnswer(asked.method, response.status)
        answer = Response(response.body, response.status, headers, media_type=response.media_type)
    _set_cookies(answer, response.cookies)
    return answer


def _set_cookies(answer: Response, cookies: Mapping[str, str]) -> None:
    for name, value in cookies.items():
        if value:
            answer.set_cookie(name, quote(value), httponly=True, samesite="lax")
        else:
            answer.delete_cookie(name, httponly=True, samesite="lax")


def _asset(host: str, name: str) -> Response:
    kind = _ASSETS.get(name)
    if kind is None:
        return Response(status_code=404)
    content = _asset_bytes(host.partition(".")[0], name)
    return Response(content, media_type=f"{kind}; charset=utf-8", headers=_ASSET_HEADERS)


_asset_cache: dict[tuple[str, str], bytes] = {}


def _asset_bytes(site: str, name: str) -> bytes:
    """Return an asset; `site.css` is the site's own style sheet, if it has one."""
    key = (site if name == "site.css" else "", name)
    if key not in _asset_cache:
        world = resources.files("hexathlon.tasks.web.world")
        place = world.joinpath("assets", name)
        own = world.joinpath("sites", site, "style.css")
        if name == "site.css" and own.is_file():
            place = own
        _asset_cache[key] = place.read_bytes()
    return _asset_cache[key]
