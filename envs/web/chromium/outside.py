"""Chromium on sites outside this process: the user's own copies of a benchmark's sites.

Only the origins of the task's sites are loaded; a redirect elsewhere is recorded and abandoned
before it is shown. The episode receives network events as HAR entries. Sites need `http://` URLs.
"""

import asyncio
import contextlib
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hexathlon.envs.errors import BackendMissing
from hexathlon.envs.web.chromium.chromium import ChromiumBrowser
from hexathlon.envs.web.chromium.driver import Driver, chromium_path, within
from hexathlon.envs.web.chromium.server import Served
from hexathlon.envs.web.chromium.session import SECONDS, weakly
from hexathlon.envs.web.chromium.snapshot import foreign_script, page_script
from hexathlon.envs.web.external import ExternalSites
from hexathlon.tasks.web.world.network import Network

__all__ = ["OutsideBrowser"]

STATES_SETTING = "HEXATHLON_SITE_STATES"
"""Folder of Playwright storage states, by the file names that the tasks give."""

_TEXT_LIMIT = 200_000


class OutsideDriver(Driver):
    """A separate Chromium, which resolves the hosts of some sites and no others.

    Args:
        program: Path of Chromium.
        hosts: Names of the hosts.
    """

    def __init__(self, program: str, hosts: frozenset[str]) -> None:
        super().__init__(program)
        self.hosts = hosts

    def abandon(self, context: Any) -> None:
        """Close Chromium, since the one session that used it is gone, without waiting."""
        threading.Thread(target=self.close, name="hexathlon-closing", daemon=True).start()

    def resolver_rules(self) -> str:
        """Return Chromium's rules for host names."""
        known = "".join(f", EXCLUDE {host}" for host in sorted(self.hosts))
        return f"MAP * ~NOTFOUND{known}"

    async def plain_context(self, **options: Any) -> Any:
        """Open a context that sends nothing about the episode."""
        browser = await self._running()
        return await within(
            SECONDS, "opening a context", browser.new_context(service_workers="block", **options)
        )


class OutsideBrowser(ChromiumBrowser):
    """A context of Chromium on the user's own sites.

    Args:
        program: Path of Chromium; see `chromium_path`.
        viewport: Width and height of the window in pixels.
    """

    def __init__(self, program: str | None = None, viewport: tuple[int, int] = (1280, 720)) -> None:
        super().__init__(program, viewport)
        self._program = chromium_path(program)
        self._requests: dict[Any, dict[str, Any] | None] = {}
        self._reading: set[asyncio.Task[None]] = set()
        self._leaving: set[Any] = set()
        self._answered = asyncio.Event()

    def open(self, network: Network) -> None:
        """Begin an episode; another Chromium is started if the sites have other hosts."""
        assert isinstance(network, ExternalSites)
        hosts = frozenset(urlsplit(f"//{host}").hostname or "" for host in network.hosts.values())
        if not isinstance(self._driver, OutsideDriver) or self._driver.hosts != hosts:
            self.close()
            self._driver = OutsideDriver(self._program, hosts)
        super().open(network)

    def close(self) -> None:
        """Close the context and its Chromium."""
        super().close()
        if isinstance(self._driver, OutsideDriver):
            self._driver.close()

    def current_url(self) -> str:
        """Return the URL of the current tab."""
        url: str = self._tab.page.url
        return url

    def read(self, url: str, expression: str, prepare: tuple[str, ...]) -> str:
        """Read a text from a page; empty if the expression raised or found nothing."""
        text: str = self._call(self._read(url, expression, prepare))
        return text

    # Internals ---------------------------------------------------------------------------------

    async def _open(self, network: Network, cookies: Mapping[str, Mapping[str, str]]) -> None:
        assert isinstance(network, ExternalSites)
        await self._prepare(network, cookies)
        for url in network.start_urls[1:]:
            self._tabs.append(await self._new_tab())
            self._current = len(self._tabs) - 1
            await self._goto(url)
            await self._settle()
        self._opened.clear()
        self._current = 0
        await self._goto(network.start_url)
        await self._settle()

    async def _prepare(self, network: Network, cookies: Mapping[str, Mapping[str, str]]) -> None:
        assert isinstance(network, ExternalSites)
        secure = [url for url in network.urls.values() if url.startswith("https:")]
        if secure:
            raise BackendMissing(f"sites need http:// URLs, got {', '.join(secure)}")
        await self._close()
        self._network, self._requests, self._leaving = network, {}, set()
        self._served = Served("")
        self._script = page_script(network.hosts.values(), foreign=True)
        self._context = await self._outside_context(network)
        script = self._context.add_init_script(foreign_script())
        await within(SECONDS, "preparing a context", script)
        routed = self._context.route("**/*", weakly(self._on_route))
        await within(SECONDS, "preparing a context", routed)
        self._context.on("request", weakly(self._on_request))
        self._context.on("requestfinished", weakly(self._on_finished))
        self._context.on("requestfailed", weakly(self._on_ended))
        self._tabs, self._current = [await self._new_tab()], 0
        self._context.on("page", weakly(self._on_page))

    async def _outside_context(self, network: ExternalSites) -> Any:
        assert isinstance(self._driver, OutsideDriver)
        settings = network.settings
        width, height = self._viewport
        options: dict[str, Any] = {"viewport": {"width": width, "height": height}}
        folder, state = os.environ.get(STATES_SETTING), settings.get("storage_state")
        if folder and state:
            options["storage_state"] = str(Path(folder) / Path(state).name)
        if settings.get("geolocation"):
            options |= {"geolocation": settings["geolocation"], "permissions": ["geolocation"]}
        return await self._driver.plain_context(**options)

    async def _settle(self, place: int | None = None) -> str:
        refused = await super()._settle(place)
        end = time.monotonic() + SECONDS
        # A page that is still loading belongs to this action.
        while self._leaving and time.monotonic() < end:
            self._answered.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._answered.wait(), end - time.monotonic())
            refused = await super()._settle(place) or refused
        page = self._tab.page
        if page.url != "about:blank" and not self._allowed(page.url):
            # The site redirected elsewhere: that page is not shown.
            refused = page.url
            self._site.block(refused)
            await within(SECONDS, "leaving a page", page.goto("about:blank"))
            await super()._settle(place)
        if self._reading:
            await asyncio.wait(self._reading, timeout=SECONDS)
        for request, entry in list(self._requests.items()):
            if entry is None:
                break
            self._net.record(entry)  # type: ignore[attr-defined]
            del self._requests[request]
        return refused

    async def _on_route(self, route: Any) -> None:
        url = route.request.url
        if self._allowed(url) or url.startswith(("data:", "blob:")):
            await route.continue_()
            return
        self._site.block(url)
        await route.abort("blockedbyclient")

    def _on_request(self, request: Any) -> None:
        if urlsplit(request.url).scheme in ("http", "https") and self._allowed(request.url):
            self._requests[request] = None
            if request.is_navigation_request():
                self._leaving.add(request)

    def _on_ended(self, request: Any) -> None:
        self._leaving.discard(request)
        self._answered.set()
        if self._requests.get(request, request) is None:
            del self._requests[request]

    def _on_finished(self, request: Any) -> None:
        self._leaving.discard(request)
        self._answered.set()
        if request in self._requests:
            task = asyncio.ensure_future(self._note(request))
            self._reading.add(task)
            task.add_done_callback(self._reading.discard)

    async def _note(self, request: Any) -> None:
        try:
            self._requests[request] = await _entry(request)
        except Exception:
            # The page was left before the answer could be read.
            self._requests.pop(request, None)

    async def _read(self, url: str, expression: str, prepare: tuple[str, ...]) -> str:
        page = self._tab.page
        if url:
            page = await within(SECONDS, "opening a page", self._context.new_page())
            await within(
                2 * SECONDS,
                f"opening {url[:200]}",
                page.goto(url, wait_until="load", timeout=1_000 * SECONDS),
            )
        if not expression:
            content: str = await within(SECONDS, "reading a page", page.content())
            return content
        for each in prepare:
            await _evaluated(page, each)
        return await _evaluated(page, expression)

    def _allowed(self, url: str) -> bool:
        network = self._net
        return isinstance(network, ExternalSites) and network.allows(url)

    @property
    def _is_foreign(self) -> bool:
        return True


async def _evaluated(page: Any, expression: str) -> str:
    """Return the value of a published expression as text; empty if it raises or finds nothing."""
    try:
        value = await asyncio.wait_for(page.evaluate(f"() => {expression}"), SECONDS)
    except Exception:
        return ""
    return "" if value is None else str(value)


async def _entry(request: Any) -> dict[str, Any]:
    response = await request.response()
    headers = await request.all_headers()
    answered = await response.headers_array()
    media = next((each["value"] for each in answered if each["name"].lower() == "content-type"), "")
    asked: dict[str, Any] = {
        "method": request.method,
        "url": request.url,
        "headers": _pairs(headers),
    }
    if request.post_data:
        asked["postData"] = {
            "mimeType": headers.get("content-type", ""),
            "text": request.post_data[:_TEXT_LIMIT],
        }
    given: dict[str, Any] = {
        "status": response.status,
        "headers": answered,
        "cookies": _cookies(answered),
    }
    if "application/json" in media:
        given["content"] = {"mimeType": media, "text": (await response.text())[:_TEXT_LIMIT]}
    return {"request": asked, "response": given}


def _pairs(headers: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers.items()]


def _cookies(headers: list[dict[str, str]]) -> list[dict[str, str]]:
    set_by = [each["value"] for each in headers if each["name"].lower() == "set-cookie"]
    found = [text.partition(";")[0].partition("=") for text in set_by]
    return [{"name": name.strip(), "value": value} for name, _, value in found]
