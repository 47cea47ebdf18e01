"""The screen as text: one element per line, with its number.

    [3] item "Ada Moss | 555-012-3456"
    [4] textbox "Name" value "Ada" focused
    [5] switch "Wi-Fi" on
    [6] button at 435,1095-516,1176

An element without a label is listed with its bounds, since only its position and its image identify
it.
"""

from collections.abc import Sequence

from hexathlon.tasks.gui.elements import UIElement

__all__ = ["screen_text"]


def screen_text(
    elements: Sequence[UIElement], caption: str, *, bounds: bool = False, brief: bool = False
) -> str:
    """Return the screen as text.

    Args:
        elements: The elements.
        caption: Description of the screen in addition to them.
        bounds: Whether all elements are listed with their bounds in pixels.
        brief: Whether to leave out headings and the status bar, and put numbers after names.
    """
    if brief:
        caption = caption.partition(" · ")[2]
    lines = [caption] if caption else []
    for element in elements:
        if brief and element.role in ("status", "heading"):
            continue
        lines.append(_line(element, bounds, brief))
    return "\n".join(lines)


def _line(element: UIElement, bounds: bool, brief: bool) -> str:
    (index, role, text, described, box, value, hint, _, _, editable, focused, _, checkable, checked,
     selected, enabled) = element  # fmt: skip
    name = text or described
    parts = [role] if brief else [f"[{index}] {role}"]
    if name:
        parts.append(f'"{_quoted(name)}"')
    if brief:
        parts.append(f"[{index}]")
    if text and described:
        parts.append(f'label "{_quoted(described)}"' if role == "tile" else described)
    if value:
        parts.append(f'value "{_quoted(value)}"')
    elif editable and hint:
        parts.append(f'hint "{_quoted(hint)}"')
    if checkable:
        parts.append("on" if checked else "off")
    if selected:
        parts.append("selected")
    if focused:
        parts.append("focused")
    if not enabled:
        parts.append("disabled")
    if bounds or not name:
        parts.append(f"at {box[0]},{box[1]}-{box[2]},{box[3]}")
    return " ".join(parts)


def _quoted(text: str) -> str:
    if '"' in text or "\\" in text or "\n" in text:
        return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return text
