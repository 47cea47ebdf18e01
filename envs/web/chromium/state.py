"""States of the browser for forks: their content, and how they are restored.

A state has cookies, the storage of open pages, tabs with their histories, documents in their
current form (loaded fragments, open dialogs and details, hidden parts), frames, values of fields,
chosen files, scroll positions and element numbers. A browser cannot restore variables and timers of
a page's own scripts, so foreign pages cannot be forked; focus and selected text are not restored
either. Sites see no request when a state is restored.
"""

import base64
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from hexathlon.envs.errors import EnvFault
from hexathlon.envs.web.chromium.driver import within
from hexathlon.envs.web.chromium.server import Served
from hexathlon.envs.web.chromium.tab import ChromiumTab
from hexathlon.envs.web.twin.tab import HistoryEntry

__all__ = ["ChromiumState", "TabState", "restore_tab", "saved_tab"]

_SECONDS = 15.0


class TabState(NamedTuple):
    """One tab."""

    history: tuple[HistoryEntry, ...]
    place: int
    page: str
    """JSON of the page script's `save`; empty for an empty tab."""

    numbers: tuple[tuple[int, int], ...]
    """Element numbers given so far, by position of the element in the document; removed elements
    have negative positions."""


class ChromiumState(NamedTuple):
    """The state of the browser; immutable."""

    tabs: tuple[TabState, ...]
    current: int
    cookies: tuple[tuple[str, str, str], ...]
    """Host, name and value of each."""

    blocked: tuple[str, ...]


async def saved_tab(tab: ChromiumTab) -> TabState:
    """Return the state of a tab."""
    history = tuple(tab.history)
    if not tab.snapshot.url.startswith("http"):
        return TabState(history, tab.place, "", ())
    page: str = await tab.run("save")
    keys: list[int] = json.loads(page)["keys"]
    places = {key: position for position, key in enumerate(keys)}
    numbers = tuple((places.get(key, -number), number) for key, number in tab.ids.items())
    return TabState(history, tab.place, page, numbers)


async def restore_tab(
    tab: ChromiumTab, state: TabState, served: Served, files: Mapping[str, bytes]
) -> None:
    """Restore a tab in a fresh page.

    Raises:
        EnvFault: If the restored page differs from the saved one.
    """
    tab.history, tab.place = list(state.history), state.place
    if not state.page:
        if tab.page.url != "about:blank":
            await within(_SECONDS, "emptying a tab", tab.page.goto("about:blank"))
        return
    saved = json.loads(state.page)
    served.replay = {}
    for url, text in saved["documents"]:
        served.replay.setdefault(url.partition("#")[0], []).append(text)
    try:
        url = saved["documents"][0][0]
        await within(_SECONDS, "restoring a page", tab.page.goto(url, wait_until="load"))
        await tab.observe()
        frames = [url for url, _ in saved["documents"][1:]]
        if frames:
            await tab.run("frameTo", frames)
            await tab.observe()
    finally:
        served.replay = None
    keys = await _fill(tab, saved, files)
    await tab.observe()
    tab.numbered({keys[place] if place >= 0 else place: number for place, number in state.numbers})


async def _fill(
    tab: ChromiumTab, saved: Mapping[str, Any], files: Mapping[str, bytes]
) -> list[int]:
    wanted = {change["file"] for _, change in saved["changes"] if "file" in change}
    sent = {
        name: base64.b64encode(content).decode()
        for name, content in files.items()
        if name in wanted
    }
    needed = {name: saved[name] for name in ("tags", "changes", "stored", "scroll")}
    keys = await tab.run("restore", needed, sent)
    if keys is None:
        raise EnvFault(f"chromium: {tab.snapshot.url} was not restored as it was", cause="restore")
    found: list[int] = json.loads(keys)
    return found
