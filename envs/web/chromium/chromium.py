"""Chromium as a `Browser`: the twin's actions, messages and element numbers, on real pages."""

import asyncio
import base64
from collections.abc import Mapping
from typing import Any
from urllib.parse import urldefrag, urljoin

from hexathlon.envs.errors import EnvFault
from hexathlon.envs.web.chromium.driver import within
from hexathlon.envs.web.chromium.session import MAX_TABS, SECONDS, ChromiumSession
from hexathlon.envs.web.chromium.tab import ChromiumTab, ElementGone
from hexathlon.envs.web.errors import ActionError
from hexathlon.envs.web.page.node import PageNode, Path, at, iterate
from hexathlon.envs.web.page.tree import role_of
from hexathlon.envs.web.twin import forms
from hexathlon.envs.web.twin.behaviours import nearest
from hexathlon.envs.web.twin.tab import HistoryEntry
from hexathlon.tasks.web.world.network import Network

__all__ = ["ChromiumBrowser"]


_LONGEST_WAIT = 5_000.0

_FARTHEST_SCROLL = 100_000
"""In pixels; Chromium does not answer when asked to scroll by numbers near the largest float."""

_MAX_TYPED = 500
_TYPED_AT_ONCE = 50
"""Characters within one deadline."""


class ChromiumBrowser(ChromiumSession):
    """A browser connected to the episode's sites; arguments as for `ChromiumSession`."""

    def open(self, network: Network) -> None:
        """Begin an episode."""
        self._call(self._open(network, network.start_cookies()))

    def act(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Carry out one action."""
        remark: str = self._call(self._act(name, arguments))
        return remark

    async def _act(self, name: str, arguments: Mapping[str, Any]) -> str:
        self._site.refusal = ""
        method = getattr(self, f"_do_{name}")
        try:
            remark: str | None = await method(**arguments)
        except ElementGone:
            bid = arguments.get("bid", arguments.get("from_bid", ""))
            await self._settle()
            raise ActionError(f"there is no element [{bid}] on this page") from None
        refused = await self._settle()
        if refused:
            raise ActionError(f"{refused[:200]} is outside the sites of this task")
        if self._site.refusal:
            raise ActionError(self._site.refusal)
        return remark or ""

    async def _do_click(self, bid: str) -> None:
        await self._press_element(self._element(bid))

    async def _do_dblclick(self, bid: str) -> None:
        await self._press_element(self._element(bid), count=2)

    async def _do_hover(self, bid: str) -> None:
        place = await self._tab.run("point", self._node(bid).key)
        if place is not None:
            await within(SECONDS, "moving the pointer", self._tab.page.mouse.move(*place))

    async def _do_focus(self, bid: str) -> None:
        await self._tab.run("focus", self._node(bid).key)

    async def _do_fill(self, bid: str, text: str) -> None:
        path = self._element(bid)
        node = at(self._body, path)
        if not self._is_foreign or not node.has("contenteditable"):
            filled = at(forms.fill(self._body, path, text), path)
            text = filled.get("value")
        await self._tab.run("fill", node.key, text)

    async def _do_clear(self, bid: str) -> None:
        await self._do_fill(bid, "")

    async def _do_select_option(self, bid: str, options: str | list[str]) -> None:
        path = self._element(bid)
        chosen = [options] if isinstance(options, str) else options
        select = at(forms.choose(self._body, path, chosen), path)
        wanted = [
            each.key for _, each in iterate(select) if each.tag == "option" and each.has("selected")
        ]
        await self._tab.run("choose", select.key, wanted)

    async def _do_press(self, bid: str, key_comb: str) -> None:
        path = self._element(bid)
        node = at(self._body, path)
        if not self._is_foreign:
            self._check_key(path, node, key_comb)
        await self._tab.run("focus", node.key)
        if node.tag != "input" or node.get("type") not in ("file", "color"):  # no native choosers
            await self._press(key_comb)

    async def _do_drag_and_drop(self, from_bid: str, to_bid: str) -> None:
        source, target = self._element(from_bid), self._element(to_bid)
        body = self._body
        if not self._is_foreign:
            if nearest(body, source, ("data-drag",)) is None:
                raise ActionError(f"element [{from_bid}] cannot be dragged")
            if nearest(body, target, ("data-drop",)) is None:
                raise ActionError(f"nothing can be dropped on element [{to_bid}]")
        await self._drag(at(body, source).key, at(body, target).key)

    async def _do_upload_file(self, bid: str, file: str) -> None:
        node = self._node(bid)
        if node.tag != "input" or node.get("type") != "file":
            raise ActionError("this element takes no file")
        content = self._net.files.get(file)
        if content is None:
            known = ", ".join(sorted(self._net.files)) or "none"
            raise ActionError(f"there is no file {file[:80]!r}; the files are: {known}")
        await self._tab.run("upload", node.key, file, base64.b64encode(content).decode())

    async def _do_scroll(self, delta_x: float = 0, delta_y: float = 0) -> str:
        far = [max(-_FARTHEST_SCROLL, min(_FARTHEST_SCROLL, each)) for each in (delta_x, delta_y)]
        await within(SECONDS, "scrolling", self._tab.page.mouse.wheel(*far))
        return "The whole page is listed; scrolling changes nothing."

    async def _do_goto(self, url: str) -> None:
        address = url.strip().partition("#")[0]
        if not self._allowed(address):
            self._site.block(address)
            raise ActionError(f"{address[:200]} is outside the sites of this task")
        await self._goto(address)

    async def _do_go_back(self) -> None:
        await self._travel(-1)

    async def _do_go_forward(self) -> None:
        await self._travel(1)

    async def _do_new_tab(self) -> None:
        if len(self._tabs) >= MAX_TABS:
            raise ActionError(f"at most {MAX_TABS} tabs can be open")
        tab = await self._new_tab()
        self._opened.clear()
        tab.history, tab.place = [HistoryEntry("about:blank", True)], 0
        self._tabs.append(tab)
        self._current = len(self._tabs) - 1

    async def _do_tab_close(self) -> None:
        if len(self._tabs) == 1:
            raise ActionError("this is the only tab")
        await self._tabs.pop(self._current).close()
        self._current = min(self._current, len(self._tabs) - 1)

    async def _do_tab_focus(self, index: int) -> None:
        if not 0 <= index < len(self._tabs):
            raise ActionError(f"the tabs are 0 to {len(self._tabs) - 1}")
        self._current = int(index)
        await within(SECONDS, "changing tabs", self._tab.page.bring_to_front())

    async def _do_noop(self, wait_ms: float = 0) -> None:
        """Let time pass on foreign pages; on the event's sites, only actions advance the clock."""
        if self._is_foreign:
            await asyncio.sleep(min(max(wait_ms, 0.0), _LONGEST_WAIT) / 1_000)

    # Actions at coordinates --------------------------------------------------------------------

    async def _do_mouse_click(self, x: float, y: float) -> None:
        await self._at(x, y)
        await within(SECONDS, "clicking", self._tab.page.mouse.click(x, y))

    async def _do_mouse_dblclick(self, x: float, y: float) -> None:
        await self._at(x, y)
        await within(SECONDS, "clicking", self._tab.page.mouse.dblclick(x, y))

    async def _do_mouse_move(self, x: float, y: float) -> None:
        await self._at(x, y)
        await within(SECONDS, "moving the pointer", self._tab.page.mouse.move(x, y))

    async def _do_mouse_drag_and_drop(
        self, from_x: float, from_y: float, to_x: float, to_y: float
    ) -> None:
        await self._at(from_x, from_y)
        await self._at(to_x, to_y)
        mouse = self._tab.page.mouse

        async def drag() -> None:
            await mouse.move(from_x, from_y)
            await mouse.down()
            await mouse.move(to_x, to_y, steps=8)
            await mouse.up()

        await within(SECONDS, "dragging", drag())

    async def _do_keyboard_press(self, key: str) -> None:
        await self._press(key)

    async def _do_keyboard_type(self, text: str) -> None:
        if len(text) > _MAX_TYPED:
            raise ActionError(
                f"at most {_MAX_TYPED} characters can be typed; use keyboard_insert_text for more"
            )
        for start in range(0, len(text), _TYPED_AT_ONCE):
            part = text[start : start + _TYPED_AT_ONCE]
            await within(SECONDS, "typing", self._tab.page.keyboard.type(part))

    async def _do_keyboard_insert_text(self, text: str) -> None:
        await within(SECONDS, "typing", self._tab.page.keyboard.insert_text(text))

    async def _at(self, x: float, y: float) -> None:
        width, height = self._viewport
        if not (0 <= x < width and 0 <= y < height):
            raise ActionError(f"the window is {width} x {height} pixels; {x:g}, {y:g} is outside")

    async def _press(self, key: str) -> None:
        name = "Space" if key == " " else key
        try:
            await within(SECONDS, "pressing a key", self._tab.page.keyboard.press(name))
        except EnvFault as error:
            if "Unknown key" in str(error):
                raise ActionError(f"there is no key {key[:40]!r}") from None
            raise

    async def _press_element(self, path: Path, count: int = 1) -> None:
        node = at(self._body, path)
        if node.tag in ("select", "input") and node.get("type") in ("", "file", "color"):
            await self._tab.run("focus", node.key)
            return
        self._check_target(path, node)
        new_tab = self._opens_tab(path, node)
        if new_tab and len(self._tabs) >= MAX_TABS:
            raise ActionError(f"at most {MAX_TABS} tabs can be open")
        if new_tab:
            await self._press_into_tab(node, count)
            return
        await self._pointer(node, count)

    async def _pointer(self, node: PageNode, count: int = 1) -> None:
        place = await self._tab.run("point", node.key)
        if place is None:
            # Covered, or without an area: press it as a keyboard would.
            await self._tab.run("press", node.key)
            return
        mouse = self._tab.page.mouse
        click = mouse.dblclick(*place) if count == 2 else mouse.click(*place)
        await within(SECONDS, "clicking", click)

    async def _press_into_tab(self, node: PageNode, count: int) -> None:
        context = self._context

        async def opened() -> Any:
            async with context.expect_page(timeout=1_000 * SECONDS) as found:
                await self._pointer(node, count)
            return await found.value

        page = await within(SECONDS, "opening a tab", opened())
        self._opened.clear()
        tab = await ChromiumTab.attach(context, page, self._script, self._site)
        self._tabs.append(tab)
        self._current = len(self._tabs) - 1

    async def _drag(self, source: int, target: int) -> None:
        tab, mouse = self._tab, self._tab.page.mouse
        start = await tab.run("point", source)
        if start is None:
            raise ElementGone

        async def drag() -> None:
            await mouse.move(*start)
            await mouse.down()
            # The drag begins with a movement on the spot; the target may need scrolling.
            await mouse.move(start[0] + 6, start[1] + 6, steps=2)
            end = await tab.run("point", target) or start
            await mouse.move(end[0] - 1, end[1] - 1)
            await mouse.move(*end)
            await mouse.up()

        await within(SECONDS, "dragging", drag())

    def _check_key(self, path: Path, node: PageNode, key_comb: str) -> None:
        """Refuse keys that do nothing on the event's sites, as the twin does."""
        field = node.tag == "input" and node.get("type") not in (
            "button",
            "submit",
            "reset",
            "image",
            "file",
        )
        if key_comb == "Enter" and field:
            form = forms.form_around(self._body, path)
            button = None if form is None else forms.default_button(self._body, form)
            if form is not None:
                self._check_form(form, button)
            return
        if key_comb in ("Enter", "Space", " ") and role_of(node) not in ("textbox", "combobox"):
            self._check_target(path, node)
            return
        if key_comb not in ("Escape", "Tab"):
            raise ActionError(f"the key {key_comb[:40]!r} does nothing here; use fill for text")

    def _check_target(self, path: Path, node: PageNode) -> None:
        """Refuse a link or a form that leads outside."""
        if node.tag == "a" and node.has("href"):
            self._check_url(urljoin(self._base(path), node.get("href")))
            return
        kind = node.get("type", "submit" if node.tag == "button" else "text")
        if node.tag in ("button", "input") and kind in ("submit", "image"):
            form = forms.form_around(self._body, path)
            if form is not None and at(self._body, form).get("method") != "dialog":
                self._check_form(form, path)

    def _check_form(self, form: Path, button: Path | None) -> None:
        sent = forms.submission(self._body, form, button)
        self._check_url(urljoin(self._base(form), sent.action))

    def _check_url(self, url: str) -> None:
        address = urldefrag(url).url
        if not self._allowed(address):
            self._site.block(address)
            raise ActionError(f"{address[:200]} is outside the sites of this task")

    def _opens_tab(self, path: Path, node: PageNode) -> bool:
        if node.tag == "a":
            return node.get("target") == "_blank"
        kind = node.get("type", "submit" if node.tag == "button" else "text")
        form = forms.form_around(self._body, path) if kind == "submit" else None
        return form is not None and at(self._body, form).get("target") == "_blank"

    def _element(self, bid: str) -> Path:
        number = str(bid).strip("[] ")
        known = number.isdecimal() and len(number) < 9
        path = self._tab.text.elements.get(int(number)) if known else None
        if path is None:
            raise ActionError(f"there is no element [{number[:40]}] on this page")
        if at(self._body, path).has("disabled"):
            raise ActionError(f"element [{number}] is disabled")
        return path

    def _node(self, bid: str) -> PageNode:
        return at(self._body, self._element(bid))

    async def _travel(self, step: int) -> None:
        tab = self._tab
        place = tab.place + step
        if not 0 <= place < len(tab.history) or tab.history[place].url == "about:blank":
            raise ActionError("there is no page in that direction")
        if not tab.history[place].repeatable:
            raise ActionError("that page was the answer to a form and cannot be shown again")
        await self._goto(tab.history[place].url)
        await self._settle(place)

    def _base(self, path: Path) -> str:
        """Return the base URL of an element's relative addresses."""
        for depth in range(len(path) - 1, -1, -1):
            around = at(self._body, path[:depth])
            if around.tag == "iframe":
                return around.get("src")
        return self._tab.snapshot.url
