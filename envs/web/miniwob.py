"""MiniWoB++ pages as the sites of an episode: files, the script that starts a page, its verdict.

The pages run in a real browser only. Their clock is stopped: an episode ends when the page ends it
or the turns are used up.
"""

import json
import mimetypes
from collections.abc import Mapping
from typing import Any, NamedTuple

from hexathlon.envs.errors import ForkUnsupported
from hexathlon.tasks.task import Task
from hexathlon.tasks.web.loaders.miniwob import miniwob_folder
from hexathlon.tasks.web.world.exchange import WebRequest, WebResponse
from hexathlon.tasks.web.world.network import Network, NetworkState
from hexathlon.tasks.web.world.sites.table import DOMAIN

__all__ = ["MiniwobPages", "PageFile", "is_miniwob"]

HOST = f"miniwob.{DOMAIN}"

_OPENING = """async ([seed]) => {
  core.EPISODE_MAX_TIME = 1e9;
  if (window.jQuery) jQuery.fx.off = true;
  const end = core.endEpisode;
  core.endEpisode = (reward, timed, reason) => {
    if (core.EP_TIMER !== null) window.hexathlonTimed = Boolean(timed);
    return end(reward, timed, reason);
  };
  Math.seedrandom(seed);
  core.startEpisodeReal();
  const start = performance.now();
  while (!WOB_TASK_READY && performance.now() - start < 10000)
    await new Promise((ready) => setTimeout(ready, 5));
  for (const id of ["reward-display", "click-canvas"]) {
    const found = document.getElementById(id);
    if (found) found.style.display = "none";
  }
  return WOB_TASK_READY ? JSON.stringify(core.getUtterance()) : null;
}"""
_READING = """() => JSON.stringify({
  done: WOB_DONE_GLOBAL, raw: WOB_RAW_REWARD_GLOBAL, timed: Boolean(window.hexathlonTimed),
  reason: String(WOB_REWARD_REASON || "")
})"""


class PageFile(NamedTuple):
    """A file of a site outside the package's own."""

    content: bytes
    media_type: str


class MiniwobPages(Network):
    """One MiniWoB++ page, in place of simulated sites.

    Args:
        task: A task of the source `miniwob`.
    """

    opening: str = _OPENING
    """Function for the page, run when it has loaded; returns the utterance as JSON."""

    reading: str = _READING
    """Function for the page, run after every action; returns the argument of `note`."""

    def __init__(self, task: Task) -> None:
        settings: Mapping[str, Any] = task.params["miniwob"]
        self._folder = miniwob_folder().resolve()
        self._page: str = settings["page"]
        self.opening_arguments: list[Any] = [settings["seed"]]
        self.instruction = ""
        self.files: dict[str, bytes] = {}
        self._state: dict[str, Any] = {"done": False, "raw": 0.0, "timed": False, "reason": ""}
        self._actions = 0

    @property
    def start_url(self) -> str:
        """The URL of the page."""
        group, _, name = self._page.rpartition(".")
        path = f"{group}/{name}/wrapper" if group else f"miniwob/{name}"
        return f"http://{HOST}/{path}.html"

    @property
    def hosts(self) -> dict[str, str]:
        """The one host."""
        return {"miniwob": HOST}

    @property
    def done(self) -> bool:
        """Whether the page has ended the episode."""
        return bool(self._state["done"])

    def start_cookies(self) -> dict[str, dict[str, str]]:
        """Return no cookies."""
        return {}

    def knows(self, host: str) -> bool:
        """Whether a host is the page's."""
        return host == HOST

    def file(self, path: str) -> PageFile | None:
        """Return a file of the package's pages; None if there is none."""
        place = (self._folder / path.lstrip("/")).resolve()
        if not place.is_relative_to(self._folder) or not place.is_file():
            return None
        kind = mimetypes.guess_type(place.name)[0] or "application/octet-stream"
        return PageFile(place.read_bytes(), kind)

    def handle(self, request: WebRequest) -> WebResponse:
        """Answer 404; files are served by `file`."""
        return WebResponse(404, "There is no such page.", media_type="text/plain")

    def begun(self, utterance: str | None) -> None:
        """Store the page's utterance, the return value of `opening`."""
        self.instruction = "" if utterance is None else _readable(json.loads(utterance))

    def note(self, state: str) -> None:
        """Store the page's state, the return value of `reading`."""
        if not self.done:
            self._state = json.loads(state)

    def after_action(self) -> None:
        """Count an action."""
        self._actions += 1

    def final_state(self) -> dict[str, Any]:
        """Return what the page reported, as JSON."""
        return {"miniwob": {**self._state, "actions": self._actions, "page": self._page}}

    def save(self) -> NetworkState:
        """Not supported: the state is in the page's own scripts.

        Raises:
            ForkUnsupported: Always.
        """
        raise ForkUnsupported("a MiniWoB++ page holds its state in scripts, which are not copied")

    def load(self, state: NetworkState) -> None:
        """Not supported; see `save`."""
        self.save()

    def close(self) -> None:
        """Nothing to release."""


def _readable(utterance: Any) -> str:
    """Return an utterance as text; some pages give a record with fields."""
    if isinstance(utterance, Mapping):
        return str(utterance.get("utterance", ""))
    return str(utterance)


def is_miniwob(task: Task) -> bool:
    """Whether a task is a MiniWoB++ page."""
    return "miniwob" in task.params
