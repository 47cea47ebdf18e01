"""A laid-out screen: UI nodes with bounds, scroll areas, and paint operations."""

from typing import Any

from hexathlon.tasks.gui.elements import ElementBounds, UIElement
from hexathlon.tasks.gui.world.kit.events import PhoneEvent

__all__ = ["PaintOp", "ScreenScene", "ScrollArea", "UINode"]

PaintOp = tuple[Any, ...]
"""Kind, arguments and clip; see `hexathlon.tasks.gui.world.kit.paint`."""


class UINode:
    """An element of a screen.

    Attributes:
        role: Kind of element.
        text: Visible text.
        label: Spoken label of an element that shows no text.
        left, top, right, bottom: Visible bounds in pixels.
        on: What a tap does.
        long: What a long press does.
        key: Name of the value that it edits.
        value: Content of a field.
        kind: How a touch changes the value: `text`, `flip`, `slide`, `pick`, or empty.
        data: Arguments of `kind`, such as the ends of a slider.
        swipes: What swipes to the left and to the right do.
    """

    long: PhoneEvent | None = None
    label = ""
    key = ""
    value = ""
    hint = ""
    kind = ""
    data: Any = None
    swipes: tuple[PhoneEvent | None, PhoneEvent | None] | None = None
    checkable = False
    checked = False
    focused = False
    selected = False
    enabled = True
    # Most nodes keep these, so they are values of the class: layout makes thousands of nodes.

    def __init__(
        self, role: str, text: str, left: int, top: int, right: int, bottom: int,
        on: PhoneEvent | None = None,
    ) -> None:  # fmt: skip
        self.role = role
        self.text = text
        self.left, self.top, self.right, self.bottom = left, top, right, bottom
        self.on = on

    def element(self, index: int) -> UIElement:
        """Return the node as an accessibility service reports it."""
        return UIElement(
            index, self.role, self.text, self.label,
            ElementBounds(self.left, self.top, self.right, self.bottom), self.value, self.hint,
            self.on is not None or self.kind != "", self.long is not None, self.kind == "text",
            self.focused, False, self.checkable, self.checked, self.selected, self.enabled,
        )  # fmt: skip


class ScrollArea:
    """A part of the screen that scrolls up and down.

    Attributes:
        key: Key under which the screen stores the offset.
        bounds: Visible part, in pixels.
        offset: Pixels scrolled off at the top.
        most: Maximum offset.
    """

    __slots__ = ("bounds", "key", "most", "offset")

    def __init__(self, key: str, bounds: ElementBounds, offset: int, most: int) -> None:
        self.key, self.bounds, self.offset, self.most = key, bounds, offset, most


class ScreenScene:
    """Nodes in reading order, scroll areas, and paint operations from back to front."""

    __slots__ = ("areas", "blocks", "first", "nodes", "ops", "title")

    def __init__(self) -> None:
        self.title = ""
        self.nodes: list[UINode] = []
        self.areas: list[ScrollArea] = []
        self.ops: list[PaintOp] = []
        self.first = 0
        """Index of the first reachable node; earlier ones are under a dialog."""

        self.blocks: list[tuple[int, ElementBounds]] = []
        """Surfaces that block touches: number of nodes below, and bounds."""
