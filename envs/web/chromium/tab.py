"""A tab of Chromium: its page, its history, and what the agent has seen of it."""

import asyncio
import base64
import json
import time
from collections.abc import Mapping
from typing import Any

from hexathlon.envs.errors import DeadlineExceeded
from hexathlon.envs.web.chromium.driver import BrowserCrashed, PageChanged, within
from hexathlon.envs.web.chromium.server import Served
from hexathlon.envs.web.chromium.snapshot import Snapshot, read_snapshot
from hexathlon.envs.web.page.node import PageNode
from hexathlon.envs.web.page.tree import PageText, describe
from hexathlon.envs.web.twin.tab import HistoryEntry

__all__ = ["ChromiumTab", "ElementGone"]

_WORLD = "hexathlon"
_SECONDS = 15.0
_PICTURE_TRIES = 3
_NO_FRAME = "Unable to capture screenshot"
"""Chromium's answer while no frame is ready, as on a busy machine; it can then be asked again."""
_EMPTY = Snapshot("", "about:blank", "", (), (), PageNode("body", {}, (), 0))


class ElementGone(PageChanged):
    """The page has replaced an element since it was last shown."""


class Left(PageChanged):
    """The document was left while a script ran in it."""


class ChromiumTab:
    """One tab. Created by `ChromiumTab.attach`; used on the driver's loop only."""

    def __init__(self, page: Any, session: Any, frame: str, served: Served) -> None:
        self.page = page
        self.history: list[HistoryEntry] = []
        self.place = -1
        self.snapshot = _EMPTY
        self.text: PageText = describe(_EMPTY.body, {})
        self._session = session
        self._frame = frame
        self._served = served
        self._script = self._added = ""
        self._world: int | None = None
        self._changed = asyncio.Event()
        self._gone = ""
        page.on("close", lambda _: self._on_gone("the tab was closed"))
        page.on("crash", lambda _: self._on_gone("the tab crashed"))
        session.on("Runtime.executionContextCreated", self._on_world)
        session.on("Runtime.executionContextsCleared", self._on_left)

    @classmethod
    async def attach(cls, context: Any, page: Any, script: str, served: Served) -> "ChromiumTab":
        """Adopt a page of the context."""
        return await within(
            _SECONDS, "attaching to a tab", cls._attach(context, page, script, served)
        )

    @classmethod
    async def _attach(cls, context: Any, page: Any, script: str, served: Served) -> "ChromiumTab":
        session = await context.new_cdp_session(page)
        _, tree = await asyncio.gather(
            session.send("Page.enable"), session.send("Page.getFrameTree")
        )
        tab = cls(page, session, tree["frameTree"]["frame"]["id"], served)
        await asyncio.gather(tab._add(script), session.send("Runtime.enable"))
        return tab

    async def renew(self, script: str, served: Served) -> None:
        """Begin another episode in the emptied tab."""
        self._served = served
        self.history, self.place = [], -1
        self.snapshot, self.text = _EMPTY, describe(_EMPTY.body, {})
        if script != self._script:
            old = {"identifier": self._added}
            await self._session.send("Page.removeScriptToEvaluateOnNewDocument", old)
            await self._add(script)

    async def clear_storage(self, host: str) -> None:
        """Remove what pages of a host have stored."""
        wanted = {"origin": f"http://{host}", "storageTypes": "all"}
        await self._session.send("Storage.clearDataForOrigin", wanted)

    @property
    def ids(self) -> Mapping[int, int]:
        """Numbers given so far on this page, by element key."""
        return self.text.ids

    async def run(self, function: str, *arguments: Any) -> Any:
        """Call a function of the page script.

        Raises:
            ElementGone: If its element has left the page.
        """
        written = ", ".join(json.dumps(each) for each in arguments)
        what = f"the page's {function}"
        try:
            return await within(_SECONDS, what, self._evaluate(f"hx.{function}({written})"))
        except Left:
            raise ElementGone from None

    async def observe(self) -> bool:
        """Wait until the page is quiet and read it; return whether it is another document."""
        deadline = time.monotonic() + _SECONDS
        expression = f"hx.observe({1_000 * _SECONDS:.0f})"
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise DeadlineExceeded(
                    f"chromium: {self.page.url} was not quiet after {_SECONDS:.0f} s"
                )
            try:
                text = await within(left, "reading the page", self._evaluate(expression))
            except Left:
                continue
            if text is not None:
                break
        snapshot = read_snapshot(text)
        new = snapshot.document != self.snapshot.document
        self.snapshot = snapshot
        self.text = describe(snapshot.body, {} if new else self.text.ids)
        return new

    def entered(self, place: int | None) -> None:
        """Add the page to the history, or record that the history moved to a position."""
        if place is not None:
            self.place = place
            return
        url = self.snapshot.url
        known = self._served.documents.get(url)
        step = HistoryEntry(url, known is None or known.method == "GET")
        self.history = [*self.history[: self.place + 1], step]
        self.place = len(self.history) - 1

    async def picture(self) -> bytes:
        """Return the window as PNG."""
        wanted = {"format": "png", "optimizeForSpeed": True}
        left = _PICTURE_TRIES
        while True:
            left -= 1
            taken = self._session.send("Page.captureScreenshot", wanted)
            try:
                return base64.b64decode((await within(_SECONDS, "a screenshot", taken))["data"])
            except BrowserCrashed as error:
                if not left or _NO_FRAME not in str(error):
                    raise

    def numbered(self, ids: Mapping[int, int]) -> None:
        """Adopt numbers given earlier, by the keys of this document."""
        self.text = describe(self.snapshot.body, ids)

    async def close(self) -> None:
        """Close the page."""
        await within(_SECONDS, "closing a tab", self.page.close())

    # Internals ---------------------------------------------------------------------------------

    async def _add(self, script: str) -> None:
        source = {"source": script, "worldName": _WORLD, "runImmediately": True}
        answer = await self._session.send("Page.addScriptToEvaluateOnNewDocument", source)
        self._script, self._added = script, answer["identifier"]

    async def _evaluate(self, expression: str) -> Any:
        while self._world is None:
            await self._next_change()
        world = self._world
        self._changed.clear()
        sent = asyncio.ensure_future(
            self._session.send(
                "Runtime.evaluate",
                {
                    "expression": expression,
                    "contextId": world,
                    "returnByValue": True,
                    "awaitPromise": True,
                    "userGesture": True,
                },
            )
        )
        changed = asyncio.ensure_future(self._changed.wait())
        try:
            await asyncio.wait({sent, changed}, return_when=asyncio.FIRST_COMPLETED)
            if not sent.done():
                self._require_open()
                raise Left
            try:
                answer = sent.result()
            except Exception as error:
                if self._world == world:
                    await self._moved(error)
                raise Left from None
        finally:
            changed.cancel()
            if not sent.done():
                sent.cancel()
                sent.add_done_callback(_ignore)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            message = str(details.get("exception", {}).get("description", details["text"]))
            if message.startswith("Error: gone"):
                raise ElementGone
            raise RuntimeError(message)
        return answer["result"].get("value")

    async def _moved(self, error: Exception) -> None:
        """Wait for the next document after a script was interrupted."""
        text = str(error)
        if not any(word in text for word in ("context", "navigated", "destroyed", "collected")):
            raise error
        if not self._changed.is_set():
            await self._next_change()

    async def _next_change(self) -> None:
        """Wait until the tab has another document; raise if it will never have one."""
        self._require_open()
        self._changed.clear()
        await self._changed.wait()
        self._require_open()

    def _require_open(self) -> None:
        if self._gone:
            raise BrowserCrashed(f"chromium: {self._gone}")

    def _on_gone(self, reason: str) -> None:
        self._gone, self._world = reason, None
        self._changed.set()

    def _on_world(self, event: Mapping[str, Any]) -> None:
        context = event["context"]
        if context["name"] == _WORLD and context["auxData"]["frameId"] == self._frame:
            self._world = context["id"]
            self._changed.set()

    def _on_left(self, _: Any) -> None:
        self._world = None
        self._changed.set()


def _ignore(future: "asyncio.Future[Any]") -> None:
    if not future.cancelled():
        future.exception()
