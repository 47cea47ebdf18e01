"""UI elements: what an accessibility service reports about a screen, in AndroidWorld's terms."""

from typing import Any, NamedTuple

__all__ = ["ElementBounds", "UIElement"]


class ElementBounds(NamedTuple):
    """A rectangle in pixels; right and bottom edges are outside."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def center(self) -> tuple[int, int]:
        """The pixel in the middle."""
        return (self.left + self.right) // 2, (self.top + self.bottom) // 2

    def contains(self, x: int, y: int) -> bool:
        """Whether a pixel lies inside."""
        return self.left <= x < self.right and self.top <= y < self.bottom


class UIElement(NamedTuple):
    """One element of the screen."""

    index: int  # type: ignore[assignment]
    """Number by which tools refer to the element on this screen."""

    role: str
    """Kind of element, such as `button` or `textbox`."""

    text: str
    """Visible text; the lines of an entry are joined by ` | `."""

    content_description: str
    """Label of an element that shows no text; empty if it has none."""

    bounds: ElementBounds
    """Visible part of the element."""

    value: str = ""
    """Content of a field, or position of a slider."""

    hint: str = ""
    """Shown in an empty field."""

    clickable: bool = False
    long_clickable: bool = False
    editable: bool = False
    focused: bool = False
    scrollable: bool = False
    checkable: bool = False
    checked: bool = False
    selected: bool = False
    enabled: bool = True

    @property
    def name(self) -> str:
        """The text, or else the label."""
        return self.text or self.content_description

    def to_json(self) -> dict[str, Any]:
        """Return the element with AndroidWorld's field names."""
        left, top, right, bottom = self.bounds
        fields = self._asdict()
        fields["bbox_pixels"] = {"x_min": left, "y_min": top, "x_max": right, "y_max": bottom}
        fields["class_name"] = fields.pop("role")
        fields["hint_text"] = fields.pop("hint")
        for name in ("clickable", "long_clickable", "editable", "focused", "scrollable",
                     "checkable", "checked", "selected", "enabled"):  # fmt: skip
            fields[f"is_{name}"] = fields.pop(name)
        del fields["bounds"]
        return fields
