"""The browser's side of an episode: a context, its tabs, and waiting until a page is quiet."""

import asyncio
import contextlib
import weakref
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from hexathlon.envs.errors import EnvFault
from hexathlon.envs.web.browser import View
from hexathlon.envs.web.chromium.driver import Driver, PageChanged, together, within
from hexathlon.envs.web.chromium.server import SECRET_HEADER, Served
from hexathlon.envs.web.chromium.snapshot import foreign_script, page_script
from hexathlon.envs.web.chromium.state import ChromiumState, restore_tab, saved_tab
from hexathlon.envs.web.chromium.tab import ChromiumTab
from hexathlon.envs.web.miniwob import MiniwobPages
from hexathlon.envs.web.page.node import PageNode, at
from hexathlon.tasks.web.world.network import Network

__all__ = ["MAX_TABS", "SECONDS", "ChromiumSession", "weakly"]

SECONDS = 15.0
"""Deadline of one wait."""

MAX_TABS = 8

_MAX_REQUESTS = 400
"""Number of requests after which the next episode gets a new context: Playwright keeps an object
for every request and response, about 10 kB for both, until their context is closed.
"""


class ChromiumSession:
    """A context of the process's Chromium; the actions are in `ChromiumBrowser`.

    The context is emptied and reused for the next episode unless something went wrong in it or it
    has served many requests.

    Args:
        program: Path of Chromium; see `chromium_path`.
        viewport: Width and height of the window in pixels.
    """

    def __init__(self, program: str | None = None, viewport: tuple[int, int] = (1280, 720)) -> None:
        self._driver = Driver.shared(program)
        self._viewport = viewport
        self._network: Network | None = None
        self._served: Served | None = None
        self._context: Any = None
        self._tabs: list[ChromiumTab] = []
        self._current = 0
        self._script = ""
        self._opened: list[Any] = []
        self._spoiled = False
        self._request_count = 0
        self._staying = asyncio.Event()
        # Attributes do not refer back to the session, so they can outlive it.
        weakref.finalize(self, _abandon, vars(self)).atexit = False

    def view(self) -> View:
        """Return the current screen."""
        tabs = tuple((tab.snapshot.title, tab.snapshot.url) for tab in self._tabs)
        titles = tuple((" ".join(title.split()), url) for title, url in tabs)
        return View(titles, self._current, self._tab.text.text, self._tab.text.content)

    @property
    def blocked(self) -> tuple[str, ...]:
        """Blocked URLs outside the episode."""
        return () if self._served is None else tuple(self._served.blocked)

    def save(self) -> ChromiumState:
        """Return the state; see `hexathlon.envs.web.chromium.state` for its content."""
        state: ChromiumState = self._call(self._save())
        return state

    def load(self, state: ChromiumState, network: Network) -> None:
        """Restore a state in a fresh context, without requests to the sites."""
        self._call(self._load(state, network))

    def close(self) -> None:
        """Close the context; Chromium itself stays for the next episode."""
        if self._context is not None:
            self._call(self._close())

    def boxes(self) -> dict[int, tuple[float, float, float, float]]:
        """Return where numbered elements are in the window: left, top, width and height."""
        tab = self._tab
        keys = {number: at(self._body, path).key for number, path in tab.text.elements.items()}
        found: dict[str, list[float]] = self._call(tab.run("boxes", list(keys.values())))
        return {
            number: (box[0], box[1], box[2], box[3])
            for number, key in keys.items()
            if (box := found.get(str(key)))
        }

    def screenshot(self, *, whole: bool = False) -> bytes:
        """Return the current tab as PNG; the window, or the whole page."""
        tab, page = self._tab, self._tab.page

        async def shoot() -> bytes:
            with contextlib.suppress(PageChanged):
                if not whole and await tab.run("steady"):
                    return await tab.picture()
            # Playwright stops animations and hides the caret, which takes twice as long.
            picture: bytes = await within(
                SECONDS, "a screenshot", page.screenshot(full_page=whole, animations="disabled")
            )
            return picture

        picture: bytes = self._call(shoot())
        return picture

    def _call(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        try:
            result = self._driver.call(coroutine)
        except EnvFault:
            self._spoiled = True
            raise
        fault = None if self._served is None else self._served.fault
        if fault is not None:
            self._spoiled = True
            raise fault
        return result

    async def _open(self, network: Network, cookies: Mapping[str, Mapping[str, str]]) -> None:
        await self._prepare(network, cookies)
        await self._goto(network.start_url)
        if isinstance(network, MiniwobPages):
            begun = await within(
                SECONDS,
                "starting the page",
                self._tab.page.evaluate(network.opening, network.opening_arguments),
            )
            network.begun(begun)
        await self._settle()

    async def _prepare(self, network: Network, cookies: Mapping[str, Mapping[str, str]]) -> None:
        """Create a context with one empty tab, or empty that of the previous episode."""
        old, self._network = self._network, network
        old_hosts = () if old is None else tuple(old.hosts.values())
        if self._served is not None:
            self._request_count += self._served.served
        reused = self._context is not None and not self._spoiled
        reused = reused and self._request_count < _MAX_REQUESTS
        reused = reused and isinstance(old, MiniwobPages) == self._is_foreign
        script = page_script(network.hosts.values(), foreign=self._is_foreign)
        if reused:
            try:
                await self._forget(old_hosts)
            except EnvFault:
                reused = False
        if not reused:
            await self._close()
        if self._served is not None:
            self._driver.server.dismiss(self._served)
        self._served = served = self._driver.server.admit(network)
        loop, self._staying = asyncio.get_running_loop(), asyncio.Event()
        staying = self._staying

        def on_stay() -> None:
            loop.call_soon_threadsafe(staying.set)

        served.on_stay = on_stay
        jar = [
            {"name": name, "value": value, "url": f"http://{host}/", "httpOnly": True}
            for host, values in cookies.items()
            for name, value in values.items()
        ]
        self._script, self._current, self._spoiled = script, 0, False
        if reused:
            secret = {SECRET_HEADER: served.secret}
            steps = [self._context.set_extra_http_headers(secret), self._tab.renew(script, served)]
        else:
            await self._new_context(served)
            steps = []
        if jar:
            steps.append(self._context.add_cookies(jar))
        await within(SECONDS, "preparing a context", together(*steps))

    async def _new_context(self, served: Served) -> None:
        self._request_count = 0
        width, height = self._viewport
        self._context = await self._driver.new_context(
            served.secret, viewport={"width": width, "height": height}
        )
        if self._is_foreign:
            script = self._context.add_init_script(foreign_script())
            await within(SECONDS, "preparing a context", script)
        self._context.on("requestfailed", weakly(self._on_failed))
        self._tabs = [await self._new_tab()]
        self._context.on("page", weakly(self._on_page))

    async def _forget(self, hosts: Iterable[str]) -> None:
        """Remove everything of an episode from the context: tabs, cookies, storage, the tab's name.

        The last page remains until the next one replaces it; it was quiet, so it sends nothing.
        """
        self._tabs, others = self._tabs[:1], self._tabs[1:]
        self._current = 0
        tab, opened = self._tab, [page for page in self._opened if not page.is_closed()]
        self._opened.clear()
        with contextlib.suppress(PageChanged):
            await tab.run("forget")
        await within(
            SECONDS,
            "emptying a context",
            together(
                self._context.clear_cookies(),
                *(tab.clear_storage(host) for host in hosts),
                *(each.page.close() for each in others),
                *(page.close() for page in opened),
            ),
        )

    async def _save(self) -> ChromiumState:
        cookies = await within(SECONDS, "reading cookies", self._context.cookies())
        jar = tuple((cookie["domain"], cookie["name"], cookie["value"]) for cookie in cookies)
        tabs = [await saved_tab(tab) for tab in self._tabs]
        return ChromiumState(tuple(tabs), self._current, jar, self.blocked)

    async def _load(self, state: ChromiumState, network: Network) -> None:
        cookies: dict[str, dict[str, str]] = {}
        for host, name, value in state.cookies:
            cookies.setdefault(host, {})[name] = value
        await self._prepare(network, cookies)
        for _ in state.tabs[1:]:
            self._tabs.append(await self._new_tab())
        self._opened.clear()
        for tab, saved in zip(self._tabs, state.tabs, strict=True):
            await restore_tab(tab, saved, self._site, network.files)
        self._current = state.current
        self._site.blocked[:] = state.blocked

    async def _close(self) -> None:
        context, self._context = self._context, None
        if self._served is not None:
            self._driver.server.dismiss(self._served)
            self._served = None
        self._tabs, self._opened = [], []
        if context is not None:
            try:
                await within(SECONDS, "closing a context", context.close())
            except EnvFault:
                # Chromium itself is gone; the next context starts another one.
                pass

    async def _new_tab(self) -> ChromiumTab:
        page = await within(SECONDS, "opening a tab", self._context.new_page())
        return await ChromiumTab.attach(self._context, page, self._script, self._site)

    async def _settle(self, place: int | None = None) -> str:
        """Wait until the page is quiet and read it.

        Args:
            place: New position in the history, if the action navigates in it.

        Returns:
            An address outside the episode that the page tried to go to; empty if none.
        """
        site, tab = self._site, self._tab
        while True:
            served = site.served
            if await self._observe(tab):
                tab.entered(place)
            # A request that began while the page was being read belongs to this action.
            if not site.pending and site.served == served:
                break
        if isinstance(self._network, MiniwobPages):
            state = tab.page.evaluate(self._network.reading)
            self._network.note(await within(SECONDS, "reading the page's verdict", state))
        for url in (*tab.snapshot.refused, *tab.snapshot.violations):
            site.block(url)
        await self._adopt_popups()
        return tab.snapshot.refused[-1] if tab.snapshot.refused else ""

    async def _observe(self, tab: ChromiumTab) -> bool:
        """Read the page; if a site answered without a page, tell the open page that it stays."""
        reading = asyncio.ensure_future(tab.observe())
        try:
            while not reading.done():
                staying = asyncio.ensure_future(self._staying.wait())
                await asyncio.wait({reading, staying}, return_when=asyncio.FIRST_COMPLETED)
                staying.cancel()
                if self._staying.is_set() and not reading.done():
                    self._staying.clear()
                    await tab.run("stay")
            return reading.result()
        finally:
            self._staying.clear()
            reading.cancel()

    async def _adopt_popups(self) -> None:
        """Turn windows that pages opened by themselves into tabs, if they may stay open."""
        while self._opened:
            page = self._opened.pop(0)
            if page.is_closed():
                continue
            url = page.url
            if len(self._tabs) >= MAX_TABS or not (url == "about:blank" or self._allowed(url)):
                await within(SECONDS, "closing a window", page.close())
                continue
            tab = await ChromiumTab.attach(self._context, page, self._script, self._site)
            if await tab.observe():
                tab.entered(None)
            self._tabs.append(tab)

    async def _goto(self, url: str) -> None:
        page, site = self._tab.page, self._site
        stays = site.stays

        async def go() -> None:
            try:
                await page.goto(url, wait_until="load", timeout=1_000 * SECONDS)
            except Exception:
                # After a download, or an answer that keeps the page, nothing was loaded.
                if site.stays == stays:
                    raise

        await within(2 * SECONDS, f"opening {url[:200]}", go())

    def _on_page(self, page: Any) -> None:
        self._opened.append(page)

    def _on_failed(self, request: Any) -> None:
        if self._served is not None and not self._allowed(request.url):
            self._served.block(request.url)

    def _allowed(self, url: str) -> bool:
        try:
            parts = urlsplit(url)
        except ValueError:
            return False
        return parts.scheme == "http" and self._net.knows(parts.netloc)

    @property
    def _net(self) -> Network:
        if self._network is None:
            raise RuntimeError("open() comes first")
        return self._network

    @property
    def _site(self) -> Served:
        if self._served is None:
            raise RuntimeError("open() comes first")
        return self._served

    @property
    def _tab(self) -> ChromiumTab:
        return self._tabs[self._current]

    @property
    def _body(self) -> PageNode:
        return self._tab.snapshot.body

    @property
    def _is_foreign(self) -> bool:
        """Whether the pages are not those of the event's sites."""
        return isinstance(self._network, MiniwobPages)


def weakly(method: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a listener that does not keep the method's object alive."""
    reference = weakref.WeakMethod(method)

    def listener(event: Any) -> Any:
        found = reference()
        return None if found is None else found(event)

    return listener


def _abandon(attributes: Mapping[str, Any]) -> None:
    """Release what a session held that was never closed."""
    driver: Driver = attributes["_driver"]
    if attributes["_served"] is not None:
        driver.server.dismiss(attributes["_served"])
    if attributes["_context"] is not None:
        driver.abandon(attributes["_context"])
