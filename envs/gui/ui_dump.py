"""`uiautomator dump`: the XML of an Android screen as UI elements."""

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from hexathlon.envs.gui.errors import DeviceRefusal
from hexathlon.tasks.gui.elements import ElementBounds, UIElement

__all__ = ["elements_of_dump"]

_BOUNDS = re.compile(r"\[(-?\d+),(-?\d+)\]\[(-?\d+),(-?\d+)\]")
_ROLES = {
    "EditText": "textbox", "AutoCompleteTextView": "textbox", "Button": "button",
    "ImageButton": "button", "FloatingActionButton": "button", "Switch": "switch",
    "ToggleButton": "switch", "CheckBox": "checkbox", "RadioButton": "radio",
    "SeekBar": "slider", "ImageView": "image", "TextView": "text", "CheckedTextView": "checkbox",
    "RecyclerView": "list", "ListView": "list", "ScrollView": "list", "Spinner": "combobox",
}  # fmt: skip
"""Role by the last part of a widget's class; other widgets use that part as their role."""


def elements_of_dump(dump: str, size: tuple[int, int]) -> list[UIElement]:
    """Return the elements that a user can see or act on, in the order of the dump.

    Layout nodes without text, label or action are left out.

    Args:
        dump: Output of `uiautomator dump`; text around the XML is ignored.
        size: Width and height of the screen in pixels, to which bounds are clipped.

    Raises:
        DeviceRefusal: If there is no screen in the output, for example during an animation.
    """
    start, end = dump.find("<hierarchy"), dump.rfind("</hierarchy>")
    if start < 0 or end < 0:
        said = " ".join(dump.split())[:120].rstrip(".") or "nothing"
        raise DeviceRefusal(f"the screen cannot be read now; uiautomator said: {said}. Try wait.")
    try:
        root = ElementTree.fromstring(dump[start : end + len("</hierarchy>")])
    except ElementTree.ParseError as error:
        raise DeviceRefusal(f"the screen cannot be read now: {error}. Try wait.") from None
    found = _elements(root, ElementBounds(0, 0, *size))
    return [element._replace(index=number) for number, element in enumerate(found)]


def _elements(node: ElementTree.Element, screen: ElementBounds) -> Iterator[UIElement]:
    for child in node.iter("node"):
        bounds = _bounds(child.get("bounds", ""), screen)
        if bounds is None:
            continue
        element = _element(child, bounds)
        acts = element.clickable or element.long_clickable or element.editable
        if element.name or element.hint or acts or element.scrollable or element.checkable:
            yield element


def _element(node: ElementTree.Element, bounds: ElementBounds) -> UIElement:
    kind = node.get("class", "").rpartition(".")[2]
    editable = kind in ("EditText", "AutoCompleteTextView")
    text = node.get("text", "")
    return UIElement(
        index=0,
        role=_ROLES.get(kind, kind.lower() or "element"),
        text="" if editable else text,
        content_description=node.get("content-desc", ""),
        bounds=bounds,
        value=text if editable else "",
        hint=node.get("hint", ""),
        clickable=_flag(node, "clickable"),
        long_clickable=_flag(node, "long-clickable"),
        editable=editable,
        focused=_flag(node, "focused"),
        scrollable=_flag(node, "scrollable"),
        checkable=_flag(node, "checkable"),
        checked=_flag(node, "checked"),
        selected=_flag(node, "selected"),
        enabled=node.get("enabled", "true") == "true",
    )


def _flag(node: ElementTree.Element, name: str) -> bool:
    return node.get(name) == "true"


def _bounds(text: str, screen: ElementBounds) -> ElementBounds | None:
    """Return the visible part of a node; None if there is none."""
    match = _BOUNDS.fullmatch(text)
    if match is None:
        return None
    left, top, right, bottom = map(int, match.groups())
    left, top = max(left, screen.left), max(top, screen.top)
    right, bottom = min(right, screen.right), min(bottom, screen.bottom)
    return ElementBounds(left, top, right, bottom) if left < right and top < bottom else None
