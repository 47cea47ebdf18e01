"""Conversion of accessibility trees to the element list that an agent sees.

Containers without a name, empty cells and elements covered by another window are left out.
Formatting the list is left to others.
"""

from collections.abc import Iterator, Sequence

from hexathlon.envs.gui.desktop.accessibility import AccessibleNode
from hexathlon.tasks.gui.elements import ElementBounds, UIElement

__all__ = ["Placed", "listed"]

Placed = tuple[UIElement, AccessibleNode]
"""An element, and the accessible object that it represents."""

_CONTAINERS = {
    "application", "autocomplete", "canvas", "desktop frame", "directory pane", "filler", "form",
    "glass pane", "grouping", "icon", "image", "info bar", "internal frame", "layered pane",
    "list", "list box", "menu bar", "option pane", "page tab list", "panel", "redundant object",
    "root pane", "scroll bar", "section", "separator", "split pane", "statusbar", "table",
    "table row", "tear off menu item", "tool bar", "tree", "tree table", "unknown", "viewport",
    "window",
}  # fmt: skip
"""Roles that are listed only if they have a name."""

_WINDOWS = {"frame", "dialog", "alert", "file chooser", "color chooser", "font chooser"}
_NAMELESS = {
    "check box", "check menu item", "combo box", "entry", "password text", "push button",
    "radio button", "radio menu item", "scroll pane", "slider", "spin button", "text",
    "toggle button", "drawing area", "tree item", "list item",
}  # fmt: skip
"""Roles that are listed even without a name."""

_CLICKABLE = {
    "check box", "check menu item", "combo box", "entry", "icon", "link", "list item", "menu",
    "menu item", "page tab", "password text", "push button", "radio button", "radio menu item",
    "slider", "spin button", "table cell", "table column header", "text", "toggle button",
    "tree item",
}  # fmt: skip
_CHECKABLE = {"check box", "check menu item", "radio button", "radio menu item", "toggle button"}
_EDITABLE = {"entry", "text", "password text", "spin button"}
_LEAST_PIXELS = 3


def listed(windows: Sequence[AccessibleNode], size: tuple[int, int]) -> list[Placed]:
    """Return the elements of the visible windows, in reading order.

    Args:
        windows: Windows with their content, the active one first.
        size: Width and height of the screen.
    """
    visible: list[AccessibleNode] = []
    for place, top in enumerate(windows):
        popups = [ElementBounds(*node.bounds) for node in top.walk() if _is_popup(node)]
        covers = [ElementBounds(*windows[0].bounds)] if place and top.role in _WINDOWS else []
        visible += _inside(top, ElementBounds(0, 0, *size), covers, popups)
    visible.sort(key=lambda node: (_row(node), node.bounds[0]))
    return [(_element(index, node), node) for index, node in enumerate(visible)]


def _inside(
    node: AccessibleNode,
    clip: ElementBounds,
    covers: Sequence[ElementBounds],
    popups: Sequence[ElementBounds],
) -> Iterator[AccessibleNode]:
    """Yield the nodes worth listing, clipped to their visible part."""
    bounds = _cut(node.bounds, clip)
    shows = bounds.right - bounds.left >= _LEAST_PIXELS and (
        bounds.bottom - bounds.top >= _LEAST_PIXELS
    )
    opened = _is_popup(node)
    if opened:
        popups = [each for each in popups if each != ElementBounds(*node.bounds)]
    hidden = any(each.contains(*bounds.center) for each in (*covers, *popups))
    if shows and not hidden and _wanted(node):
        node.bounds = bounds
        yield node
    inner = clip
    if node.role in ("scroll pane", "viewport") and shows:
        inner = bounds
    for child in node.children:
        yield from _inside(child, inner, covers, popups)


def _is_popup(node: AccessibleNode) -> bool:
    """Whether a node is the frame of an open menu, which covers the elements behind it."""
    return node.role == "window" and bool(node.children)


def _wanted(node: AccessibleNode) -> bool:
    named = bool(node.name or node.description or node.text)
    if node.role in _WINDOWS:
        return True
    if node.role in _CONTAINERS:
        leaf = not node.children
        return leaf and named and node.role in ("icon", "image", "statusbar", "table", "canvas")
    if node.role == "scroll pane":
        return node.bounds[3] - node.bounds[1] > 60
    return named or node.role in _NAMELESS


def _element(index: int, node: AccessibleNode) -> UIElement:
    editable = node.role in _EDITABLE and "editable" in node.states
    return UIElement(
        index=index,
        role=node.role,
        text=node.name,
        content_description="" if node.name else node.description,
        bounds=ElementBounds(*node.bounds),
        value=node.text,
        clickable=node.role in _CLICKABLE,
        long_clickable=False,
        editable=editable,
        focused="focused" in node.states,
        scrollable=node.role == "scroll pane",
        checkable="checkable" in node.states or node.role in _CHECKABLE,
        checked="checked" in node.states,
        selected="selected" in node.states,
        enabled="sensitive" in node.states or "enabled" in node.states,
    )


def _row(node: AccessibleNode) -> int:
    return node.bounds[1] // 6


def _cut(bounds: tuple[int, int, int, int], clip: ElementBounds) -> ElementBounds:
    left, top, right, bottom = bounds
    return ElementBounds(max(left, clip.left), max(top, clip.top),
                  min(right, clip.right), min(bottom, clip.bottom))  # fmt: skip
