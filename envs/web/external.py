"""Sites outside this process: the user's own copies of a public benchmark's sites.

They are reached by a real browser only, cannot be forked, and are not reset here. What a verifier
needs is stored: the answer, the last URL, texts that were read from pages at the end, and the
network events.
"""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable
from urllib.parse import urlsplit

from hexathlon.envs.errors import ForkUnsupported
from hexathlon.tasks.task import Task
from hexathlon.tasks.web.loaders.probes import post_url
from hexathlon.tasks.web.loaders.sites import resolved, site_urls
from hexathlon.tasks.web.world.exchange import WebRequest, WebResponse
from hexathlon.tasks.web.world.network import Network, NetworkState

__all__ = ["ExternalReader", "ExternalSites", "is_external"]

MAX_EVENTS = 5_000
"""Network events kept for the verifier."""


@runtime_checkable
class ExternalReader(Protocol):
    """Additional methods of a browser for external sites.

    Its `open` creates a tab for each start URL, with the first one in front; it loads only what the
    sites allow and passes every network event to their `record`.
    """

    def current_url(self) -> str:
        """Return the URL of the current tab."""
        ...

    def read(self, url: str, expression: str, prepare: tuple[str, ...]) -> str:
        """Read a text from a page, after the episode has ended.

        Args:
            url: Page to open; the current one if empty.
            expression: JavaScript whose value is returned as text; the page's HTML if empty.
            prepare: Expressions to run first; their errors are ignored.

        Returns:
            The text; empty if the expression raised or found nothing.
        """
        ...


class ExternalSites(Network):
    """The sites of one episode, in place of simulated ones.

    Args:
        task: A task of a public set.
        sites: URLs by site, which take precedence over the environment variables.

    Raises:
        SiteUrlMissing: If the task needs a site whose URL is not known.
    """

    def __init__(self, task: Task, sites: Mapping[str, str] | None = None) -> None:
        self.settings: Mapping[str, Any] = task.params["external"]
        self.urls = site_urls(sites)
        self.start_urls: list[str] = resolved(self.settings["start_urls"], self.urls)
        self.instruction: str = resolved(task.instruction, self.urls)
        self.probes: list[dict[str, Any]] = resolved(self.settings["probes"], self.urls)
        needed = [f"__{name.upper()}__" for name in self.settings["sites"]]
        resolved([needed, *(check.params for check in task.checks)], self.urls)
        self._names = tuple(
            name for name in (*self.settings["sites"], "homepage") if name in self.urls
        )
        self._origins = frozenset(_origin(self.urls[name]) for name in self._names)
        self._events: list[Mapping[str, Any]] = []
        self._read: dict[str, Any] | None = None
        self.files: dict[str, bytes] = {}

    @property
    def start_url(self) -> str:
        """The URL of the first tab."""
        return self.start_urls[0]

    @property
    def hosts(self) -> dict[str, str]:
        """Host and port of every site of the task, by name."""
        return {name: urlsplit(self.urls[name]).netloc for name in self._names}

    def start_cookies(self) -> dict[str, dict[str, str]]:
        """Return no cookies: to start signed in, supply a stored state."""
        return {}

    def knows(self, host: str) -> bool:
        """Whether a host and port belong to a site of the task."""
        return host in self.hosts.values()

    def allows(self, url: str) -> bool:
        """Whether a URL has the origin of a site of the task."""
        return urlsplit(url).scheme in ("http", "https") and _origin(url) in self._origins

    def handle(self, request: WebRequest) -> WebResponse:
        """Answer nothing: the sites are elsewhere."""
        return WebResponse(421, "The sites of this task are elsewhere.", media_type="text/plain")

    def record(self, entry: Mapping[str, Any]) -> None:
        """Keep a network event, in the form of a HAR entry."""
        if len(self._events) < MAX_EVENTS:
            self._events.append(entry)

    def after_action(self) -> None:
        """Do nothing: the sites have their own clock."""

    def read_pages(self, browser: ExternalReader) -> None:
        """Read the texts that the task's checks need from pages, once."""
        if self._read is not None:
            return
        last = browser.current_url()
        events = list(self._events)
        texts = [_text(probe, last, browser) for probe in self.probes]
        self._events = events  # without the requests made for the verifier
        self._read = {"url": last, "probes": texts}

    def final_state(self) -> dict[str, Any]:
        """Return what the verifier needs, as JSON."""
        return {
            **(self._read or {"url": "", "probes": []}),
            "network": list(self._events),
            "sites": dict(self.urls),
        }

    def save(self) -> NetworkState:
        """Not supported: the sites' state is not in this process.

        Raises:
            ForkUnsupported: Always.
        """
        raise ForkUnsupported("the sites of this task run elsewhere and cannot be copied")

    def load(self, state: NetworkState) -> None:
        """Not supported; see `save`."""
        self.save()

    def close(self) -> None:
        """Nothing to release."""


def _text(probe: Mapping[str, Any], last: str, browser: ExternalReader) -> str | None:
    if probe["kind"] == "unsupported":
        return None
    url = {"last": "", "post of last": post_url(last)}.get(probe["url"], probe["url"])
    return browser.read(url, probe["expression"], tuple(probe["prepare"]))


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def is_external(task: Task) -> bool:
    """Whether a task's sites are outside this process."""
    return "external" in task.params
