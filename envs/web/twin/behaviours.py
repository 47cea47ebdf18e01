"""Page behaviours that `data-` attributes declare, as the sites' `site.js` implements them.

Each function takes the page and the path of the element that was clicked or changed; fetching is
left to the caller.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from urllib.parse import urlencode

from hexathlon.envs.web.errors import ActionError
from hexathlon.envs.web.page.node import PageNode, Path, at, find, replaced
from hexathlon.envs.web.page.parse import parse_fragment
from hexathlon.envs.web.twin.forms import form_around, submission
from hexathlon.envs.web.twin.tab import Page

__all__ = ["CLICKED", "clicked", "dependent", "nearest"]

Fetch = Callable[[str, str], str]
"""Sends a request by method and URL; returns the body of the answer."""

CLICKED = ("data-open", "data-close", "data-toggle", "data-load", "data-set", "data-optimistic")
"""Attributes of elements that do something on a click, in order of precedence."""


def nearest(body: PageNode, path: Path, names: Sequence[str]) -> Path | None:
    """Return the path of the nearest element, outwards, with one of the attributes."""
    for depth in range(len(path), -1, -1):
        if any(at(body, path[:depth]).has(name) for name in names):
            return path[:depth]
    return None


def clicked(page: Page, path: Path, fetch: Fetch) -> Page:
    """Return the page after a click on an element with a declared behaviour."""
    where = nearest(page.body, path, CLICKED)
    if where is None:
        return page
    node = at(page.body, where)
    if node.has("data-open"):
        return _with(page, _target(page.body, node, "data-open"), open="")
    if node.has("data-close"):
        dialog = _around(page.body, where, "dialog")
        return page if dialog is None else _with(page, dialog, open=None)
    if node.has("data-toggle"):
        target = _target(page.body, node, "data-toggle")
        return _with(page, target, hidden=None if at(page.body, target).has("hidden") else "")
    if node.has("data-load"):
        return _loaded(page, node, node.get("data-load"), fetch)
    if node.has("data-set"):
        page = _with(page, _target(page.body, node, "data-set"), value=node.get("data-value"))
        if node.has("data-empty"):
            target = _target(page.body, node, "data-empty")
            emptied = at(page.body, target).with_children(())
            page = page.with_body(replaced(page.body, target, emptied))
        return page
    relabelled = node.with_children((node.get("data-optimistic"),))
    fetch("POST", node.get("data-post"))
    return page.with_body(replaced(page.body, where, relabelled))


def dependent(page: Page, path: Path, fetch: Fetch) -> Page:
    """Return the page after a change of a field with a declared behaviour."""
    where = nearest(page.body, path, ("data-depends",))
    if where is None:
        return page
    node = at(page.body, where)
    form = form_around(page.body, where)
    fields = submission(page.body, form, None).fields if form is not None else ()
    return _loaded(page, node, f"{node.get('data-depends')}?{urlencode(fields)}", fetch)


def _loaded(page: Page, node: PageNode, url: str, fetch: Fetch) -> Page:
    target = _target(page.body, node, "data-into")
    keys = count(page.next_key)
    content = parse_fragment(fetch("GET", url), keys)
    filled = at(page.body, target).with_children(content)
    changed = page.with_body(replaced(page.body, target, filled))
    return replace(changed, next_key=next(keys))


def _with(page: Page, path: Path, **attrs: str | None) -> Page:
    return page.with_body(replaced(page.body, path, at(page.body, path).with_attrs(**attrs)))


def _target(body: PageNode, node: PageNode, name: str) -> Path:
    path = find(body, "id", node.get(name))
    if path is None:
        raise ActionError(f"the page has no element {node.get(name)!r}, which a click here changes")
    return path


def _around(body: PageNode, path: Path, tag: str) -> Path | None:
    for depth in range(len(path), -1, -1):
        if at(body, path[:depth]).tag == tag:
            return path[:depth]
    return None
