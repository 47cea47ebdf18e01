"""Pages as the browser's script reports them, and the script itself."""

import json
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urldefrag, urlsplit

from hexathlon.envs.web.page.node import PageNode
from hexathlon.tasks.web.world.exchange import decoded_path, readable, url_of

__all__ = ["Snapshot", "foreign_script", "page_script", "plain_url", "read_snapshot"]


class Snapshot(NamedTuple):
    """A page at one moment."""

    document: str
    """Identity of the document; changes with every navigation."""

    url: str
    title: str
    refused: tuple[str, ...]
    """Addresses outside the episode that the page tried to go to."""

    violations: tuple[str, ...]
    """Addresses that the page's security policy refused."""

    body: PageNode


def page_script(hosts: Iterable[str], *, foreign: bool = False) -> str:
    """Return the script for every document of an episode.

    Args:
        hosts: Hosts that the pages may go to.
        foreign: Whether the pages are not the event's own; clickable elements are then detected by
            behaviour instead of markup.
    """
    parts = [_source("page.js").replace("__HOSTS__", json.dumps(sorted(hosts)))]
    if foreign:
        parts.insert(0, _source("clickable.js"))
    return "\n".join(parts)


def foreign_script() -> str:
    """Return the script that records the event listeners of foreign pages, in their own world."""
    return _source("listeners.js")


def read_snapshot(text: str) -> Snapshot:
    """Read what the script's `observe` returned."""
    # Scripts can put control characters into a page, which the texts of sites never contain; one of
    # them serves as a placeholder while a page is written as text.
    document, url, title, refused, violations, body = json.loads(text.replace("\\u0002", ""))
    node = _node(body)
    return Snapshot(document, plain_url(url), title, tuple(refused), tuple(violations), node)


def plain_url(url: str) -> str:
    """Return a URL without its fragment, written as the sites write it."""
    parts = urlsplit(urldefrag(url).url)
    if parts.scheme != "http":
        return url
    asked = parse_qsl(parts.query, keep_blank_values=True)
    query = [(readable(name), readable(value.replace("\r\n", "\n"))) for name, value in asked]
    return url_of(parts.netloc, readable(decoded_path(parts.path)), query)


def _node(item: list[Any]) -> PageNode:
    key, tag, attrs, *children = item
    return PageNode(
        tag, attrs, [each if each.__class__ is str else _node(each) for each in children], key
    )


@cache
def _source(name: str) -> str:
    return resources.files("hexathlon.envs.web.chromium").joinpath(name).read_text("utf-8")
