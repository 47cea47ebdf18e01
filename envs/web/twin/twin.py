"""The twin: tabs, cookies, navigation and every action that needs no layout."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urldefrag, urljoin, urlsplit

from hexathlon.envs.web.browser import View
from hexathlon.envs.web.errors import ActionError
from hexathlon.envs.web.page.node import PageNode, Path, at, iterate, replaced
from hexathlon.envs.web.page.parse import parse_fragment, parse_page
from hexathlon.envs.web.page.tree import role_of
from hexathlon.envs.web.twin import forms
from hexathlon.envs.web.twin.behaviours import CLICKED, clicked, dependent, nearest
from hexathlon.envs.web.twin.tab import HistoryEntry, Page, Tab
from hexathlon.tasks.web.world.exchange import Upload, WebRequest, WebResponse, decoded_path
from hexathlon.tasks.web.world.network import Network

__all__ = ["TwinBrowser", "TwinState"]

_MAX_REDIRECTS = 10
_MAX_TABS = 8
_BLANK = Page("about:blank", "", PageNode("body", {}, (), 0), 1)


class TwinState(NamedTuple):
    """The state of the twin; immutable, shared between forks."""

    tabs: tuple[Tab, ...]
    current: int
    cookies: Mapping[str, Mapping[str, str]]
    blocked: tuple[str, ...]


class TwinBrowser:
    """An in-process stand-in for the browser."""

    def __init__(self) -> None:
        self._network: Network | None = None
        self._state = TwinState((), 0, {}, ())

    # The protocol ------------------------------------------------------------------------------

    def open(self, network: Network) -> None:
        """Begin an episode."""
        self._network = network
        cookies = network.start_cookies()
        self._state = TwinState((Tab((), -1, _BLANK),), 0, cookies, ())
        self._navigate(WebRequest.get(network.start_url))

    def act(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Carry out one action."""
        remark: str | None = getattr(self, f"_do_{name}")(**arguments)
        return remark or ""

    def view(self) -> View:
        """Return the current screen."""
        tabs = tuple((tab.page.title, tab.page.url) for tab in self._state.tabs)
        page = self._page.described
        return View(tabs, self._state.current, page.text, page.content)

    @property
    def blocked(self) -> tuple[str, ...]:
        """Blocked URLs outside the episode."""
        return self._state.blocked

    def save(self) -> TwinState:
        """Return the state."""
        return self._state

    def load(self, state: TwinState, network: Network) -> None:
        """Restore a state."""
        self._state, self._network = state, network

    def close(self) -> None:
        """Nothing to release."""

    # Actions on elements -----------------------------------------------------------------------

    def _do_click(self, bid: str) -> None:
        path = self._element(bid)
        self._press_element(path)

    def _do_dblclick(self, bid: str) -> None:
        self._do_click(bid)

    def _do_hover(self, bid: str) -> None:
        self._element(bid)

    def _do_focus(self, bid: str) -> None:
        self._element(bid)

    def _do_fill(self, bid: str, text: str) -> None:
        path = self._element(bid)
        self._change(forms.fill(self._page.body, path, text))
        self._show(dependent(self._page, path, self._fetch))

    def _do_clear(self, bid: str) -> None:
        self._do_fill(bid, "")

    def _do_select_option(self, bid: str, options: str | list[str]) -> None:
        path = self._element(bid)
        chosen = [options] if isinstance(options, str) else options
        self._change(forms.choose(self._page.body, path, chosen))
        self._show(dependent(self._page, path, self._fetch))

    def _do_press(self, bid: str, key_comb: str) -> str:
        path = self._element(bid)
        node = at(self._page.body, path)
        if key_comb == "Enter" and node.tag == "input" and node.get("type") not in (
            "button", "submit", "reset", "image", "file",
        ):  # fmt: skip
            form = forms.form_around(self._page.body, path)
            if form is not None:
                self._submit(form, forms.default_button(self._page.body, form))
            return ""
        if key_comb in ("Enter", "Space", " ") and role_of(node) not in ("textbox", "combobox"):
            self._press_element(path)
            return ""
        if key_comb == "Escape":
            self._close_dialog()
            return ""
        if key_comb == "Tab":
            return ""
        raise ActionError(f"the key {key_comb[:40]!r} does nothing here; use fill for text")

    def _do_drag_and_drop(self, from_bid: str, to_bid: str) -> None:
        source, target = self._element(from_bid), self._element(to_bid)
        body = self._page.body
        dragged = nearest(body, source, ("data-drag",))
        zone = nearest(body, target, ("data-drop",))
        if dragged is None:
            raise ActionError(f"element [{from_bid}] cannot be dragged")
        if zone is None:
            raise ActionError(f"nothing can be dropped on element [{to_bid}]")
        item = (("item", at(body, dragged).get("data-drag")),)
        self._send("POST", at(body, zone).get("data-drop"), item, {})

    def _do_upload_file(self, bid: str, file: str) -> None:
        path = self._element(bid)
        node = at(self._page.body, path)
        if node.tag != "input" or node.get("type") != "file":
            raise ActionError("this element takes no file")
        if file not in self._net.files:
            known = ", ".join(sorted(self._net.files)) or "none"
            raise ActionError(f"there is no file {file[:80]!r}; the files are: {known}")
        self._change(replaced(self._page.body, path, node.with_attrs(value=file)))

    def _do_scroll(self, delta_x: float = 0, delta_y: float = 0) -> str:
        return "The whole page is listed; scrolling changes nothing."

    # Actions on tabs and pages -----------------------------------------------------------------

    def _do_goto(self, url: str) -> None:
        address = url.strip().partition("#")[0]
        if not self._allowed(address):
            self._block(address)
            raise ActionError(f"{address[:200]} is outside the sites of this task")
        place, mark, query = address.partition("?")
        self._navigate(WebRequest.get(place.replace("\\", "/") + mark + query))

    def _do_go_back(self) -> None:
        self._travel(-1)

    def _do_go_forward(self) -> None:
        self._travel(1)

    def _do_new_tab(self) -> None:
        if len(self._state.tabs) >= _MAX_TABS:
            raise ActionError(f"at most {_MAX_TABS} tabs can be open")
        tabs = (*self._state.tabs, Tab((HistoryEntry("about:blank", True),), 0, _BLANK))
        self._state = self._state._replace(tabs=tabs, current=len(tabs) - 1)

    def _do_tab_close(self) -> None:
        if len(self._state.tabs) == 1:
            raise ActionError("this is the only tab")
        tabs = tuple(tab for i, tab in enumerate(self._state.tabs) if i != self._state.current)
        self._state = self._state._replace(
            tabs=tabs, current=min(self._state.current, len(tabs) - 1)
        )

    def _do_tab_focus(self, index: int) -> None:
        if not 0 <= index < len(self._state.tabs):
            raise ActionError(f"the tabs are 0 to {len(self._state.tabs) - 1}")
        self._state = self._state._replace(current=int(index))

    def _do_noop(self, wait_ms: float = 0) -> None:
        """Do nothing."""

    # Clicks ------------------------------------------------------------------------------------

    def _press_element(self, path: Path) -> None:
        body = self._page.body
        node = at(body, path)
        if nearest(body, path, CLICKED) is not None:
            self._show(clicked(self._page, path, self._fetch))
            body = self._page.body
            if node.tag == "button" and node.get("type", "submit") != "submit":
                return
        if node.tag == "a" and node.has("href"):
            self._follow(node, _frame_of(body, path))
        elif node.tag == "summary":
            details = path[:-1]
            around = at(body, details)
            mark = None if around.has("open") else ""
            self._change(replaced(body, details, around.with_attrs(open=mark)))
        elif node.tag == "input" and node.get("type") in ("checkbox", "radio"):
            self._change(forms.tick(body, path))
            self._show(dependent(self._page, path, self._fetch))
        elif node.tag == "button" or (
            node.tag == "input" and node.get("type") in ("submit", "image")
        ):
            kind = node.get("type", "submit")
            form = forms.form_around(body, path)
            if form is not None and kind in ("submit", "image"):
                if at(body, form).get("method") == "dialog":
                    self._close_dialog()
                else:
                    self._submit(form, path)

    def _follow(self, link: PageNode, frame: Path | None) -> None:
        base = self._base(frame)
        address, fragment = urldefrag(urljoin(base, link.get("href")))
        if fragment and address == urldefrag(base).url:
            return
        self._checked(address)
        if link.get("target") == "_blank":
            self._do_new_tab()
            frame = None
        elif link.get("target") == "_top":
            frame = None
        self._navigate(WebRequest.get(address), frame=frame)

    def _submit(self, form: Path, button: Path | None) -> None:
        sent = forms.submission(self._page.body, form, button)
        frame = _frame_of(self._page.body, form)
        if sent.method == "GET":
            address = urljoin(self._base(frame), sent.action).partition("?")[0]
            parts = urlsplit(address)
            self._checked(address)
            request = WebRequest("GET", parts.netloc, decoded_path(parts.path), sent.fields)
            self._navigate(request, frame=frame)
            return
        files = {
            name: Upload(file, self._net.files.get(file, b"")) for name, file in sent.files.items()
        }
        self._send(sent.method, sent.action, sent.fields, files, frame)

    def _send(
        self, method: str, action: str, fields: tuple[tuple[str, str], ...],
        files: Mapping[str, Upload], frame: Path | None = None,
    ) -> None:  # fmt: skip
        address = urljoin(self._base(frame), action)
        self._checked(address)
        parts = urlsplit(address)
        query = tuple(parse_qsl(parts.query, keep_blank_values=True))
        request = WebRequest(
            method, parts.netloc, decoded_path(parts.path), query, fields, dict(files)
        )
        self._navigate(request, frame=frame)

    def _close_dialog(self) -> None:
        body = self._page.body
        opened = [
            where for where, node in iterate(body) if node.tag == "dialog" and node.has("open")
        ]
        if opened:
            where = opened[-1]
            self._change(replaced(body, where, at(body, where).with_attrs(open=None)))

    # Navigation --------------------------------------------------------------------------------

    def _navigate(
        self, request: WebRequest, *, place: int | None = None, frame: Path | None = None
    ) -> None:
        """Load a page.

        Args:
            request: Request for the page.
            place: Its position in the tab's history, if it has one already.
            frame: Frame to load it into; the tab itself if None.
        """
        response, request = self._fetched(request)
        if response.download is not None:
            self._net.receive(response.download)
            return
        if frame is not None:
            self._load_frame(frame, request.url, response)
            return
        url = request.url
        keys = count(1)
        title, body = self._parsed(response, keys)
        if "<iframe" in response.body:
            body = self._with_frames(body, url, keys)
        page = Page(url, title, body, next(keys))
        tab = self._state.tabs[self._state.current]
        if place is None:
            entry = HistoryEntry(url, request.method == "GET")
            history = (*tab.history[: tab.position + 1], entry)
            tab = Tab(history, len(history) - 1, page)
        else:
            tab = Tab(tab.history, place, page)
        self._replace_tab(tab)

    def _load_frame(self, frame: Path, url: str, response: WebResponse) -> None:
        page = self._page
        keys = count(page.next_key)
        inner = self._with_frames(self._parsed(response, keys)[1], url, keys)
        node = at(page.body, frame).with_attrs(src=url).with_children((inner,))
        body = replaced(page.body, frame, node)
        self._show(replace(page, body=body, ids=page.described.ids, next_key=next(keys)))

    def _travel(self, step: int) -> None:
        tab = self._state.tabs[self._state.current]
        place = tab.position + step
        if not 0 <= place < len(tab.history) or tab.history[place].url == "about:blank":
            raise ActionError("there is no page in that direction")
        entry = tab.history[place]
        if not entry.repeatable:
            raise ActionError("that page was the answer to a form and cannot be shown again")
        self._navigate(WebRequest.get(entry.url), place=place)

    def _fetched(self, request: WebRequest) -> tuple[WebResponse, WebRequest]:
        """Send a request and follow redirects; return the last response and its request."""
        for _ in range(_MAX_REDIRECTS):
            response = self._sent(request)
            if not response.location:
                return response, request
            target = urljoin(request.url, response.location)
            self._checked(target)
            request = WebRequest.get(urldefrag(target).url)
        raise ActionError("the page redirects in a circle")

    def _sent(self, request: WebRequest) -> WebResponse:
        known = self._state.cookies.get(request.host, {})
        sent = WebRequest(request.method, request.host, request.path, request.query, request.form,
                          request.files, dict(known))  # fmt: skip
        response = self._net.handle(sent)
        if response.cookies:
            merged = {**known, **response.cookies}
            kept = {name: value for name, value in merged.items() if value}
            cookies = {**self._state.cookies, request.host: kept}
            self._state = self._state._replace(cookies=cookies)
        return response

    def _fetch(self, method: str, url: str) -> str:
        """Send a request of a page behaviour."""
        address = urljoin(self._page.url, url)
        self._checked(address)
        parts = urlsplit(address)
        query = tuple(parse_qsl(parts.query, keep_blank_values=True))
        return self._sent(WebRequest(method, parts.netloc, decoded_path(parts.path), query)).body

    def _parsed(self, response: WebResponse, keys: Iterator[int]) -> tuple[str, PageNode]:
        if response.media_type != "text/html":
            return "", PageNode(
                "body", {}, (PageNode("pre", {}, (response.body,), next(keys)),), next(keys)
            )
        if "<body" not in response.body:
            # A fragment that was opened as a page.
            return "", PageNode("body", {}, parse_fragment(response.body, keys), next(keys))
        return parse_page(response.body, keys)

    def _with_frames(self, body: PageNode, base: str, keys: Iterator[int]) -> PageNode:
        """Load the pages inside the page."""
        for where, node in list(iterate(body)):
            if node.tag != "iframe":
                continue
            url = urljoin(base, node.get("src"))
            if self._allowed(url):
                response, _ = self._fetched(WebRequest.get(url))
                inner = self._parsed(response, keys)[1]
                framed = node.with_attrs(src=url).with_children((inner,))
                body = replaced(body, where, framed)
            else:
                self._block(url)
        return body

    # Helpers -----------------------------------------------------------------------------------

    @property
    def _net(self) -> Network:
        if self._network is None:
            raise RuntimeError("open() comes first")
        return self._network

    @property
    def _page(self) -> Page:
        return self._state.tabs[self._state.current].page

    def _element(self, bid: str) -> Path:
        number = str(bid).strip("[] ")
        path = self._page.path_of(int(number)) if number.isdecimal() and len(number) < 9 else None
        if path is None:
            raise ActionError(f"there is no element [{number[:40]}] on this page")
        if at(self._page.body, path).has("disabled"):
            raise ActionError(f"element [{number}] is disabled")
        return path

    def _base(self, frame: Path | None) -> str:
        """Return the base URL of relative addresses."""
        return self._page.url if frame is None else at(self._page.body, frame).get("src")

    def _change(self, body: PageNode) -> None:
        self._show(self._page.with_body(body))

    def _show(self, page: Page) -> None:
        self._replace_tab(self._state.tabs[self._state.current].showing(page))

    def _replace_tab(self, tab: Tab) -> None:
        tabs = list(self._state.tabs)
        tabs[self._state.current] = tab
        self._state = self._state._replace(tabs=tuple(tabs))

    def _allowed(self, url: str) -> bool:
        try:
            parts = urlsplit(url)
        except ValueError:
            return False
        return parts.scheme == "http" and self._net.knows(parts.netloc)

    def _checked(self, url: str) -> None:
        if not self._allowed(url):
            self._block(url)
            raise ActionError(f"{url[:200]} is outside the sites of this task")

    def _block(self, url: str) -> None:
        if len(self._state.blocked) < 50:
            self._state = self._state._replace(blocked=(*self._state.blocked, url[:500]))


def _frame_of(body: PageNode, path: Path) -> Path | None:
    """Return the path of the innermost frame around an element."""
    for depth in range(len(path) - 1, -1, -1):
        if at(body, path[:depth]).tag == "iframe":
            return path[:depth]
    return None
