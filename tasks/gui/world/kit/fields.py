"""Places the fields of forms: text, switches, choices, sliders, days and times."""

from collections.abc import Mapping
from typing import Any

from hexathlon.tasks.gui.world.kit.dates import day_text, time_text
from hexathlon.tasks.gui.world.kit.looks import Appearance
from hexathlon.tasks.gui.world.kit.metrics import ellipsize, wrap
from hexathlon.tasks.gui.world.kit.pen import Pen
from hexathlon.tasks.gui.world.kit.scene import UINode
from hexathlon.tasks.gui.world.kit.widgets import (
    Checkbox,
    DateField,
    Radio,
    Select,
    Slider,
    TextField,
    TimeField,
    Toggle,
)

__all__ = ["FieldPlacer"]


class FieldPlacer(Pen):
    """Places fields with the values that the screen keeps for them."""

    def __init__(self, appearance: Appearance, language: str) -> None:
        super().__init__(appearance)
        self.language = language
        self.values: Mapping[str, Any] = {}
        self.focus = ""
        palette = self.palette
        self.row_gap = self.pixels[6] if self.look.rows == "cards" else 0
        self.styles = {
            "body": (self.body, palette.text, False), "title": (self.title, palette.text, True),
            "big": (self.big, palette.text, True), "dim": (self.body, palette.dim, False),
            "small": (self.small, palette.dim, False), "error": (self.body, palette.danger, False),
        }  # fmt: skip

    def text_field(self, widget: TextField, left: int, top: int, width: int) -> int:
        """Place a field for text."""
        pixels, palette, size, small = self.pixels, self.palette, self.body, self.small
        pad, gap, step = pixels[16], pixels[5], self.body * 27 // 20
        value = str(self.values.get(widget.key, widget.value))
        focused = self.focus == widget.key
        x0, x1, y = left + pad, left + width - pad, top + gap
        if widget.label and widget.kind != "search":
            self.text(x0, y, ellipsize(widget.label, small, x1 - x0), small,
                      palette.accent if focused else palette.dim)  # fmt: skip
            y += small * 3 // 2
        inset = pixels[36 if widget.kind == "search" else 10]
        room = x1 - x0 - inset - pixels[10]
        shown = "•" * len(value) if widget.kind == "secret" else value
        lines: tuple[str, ...]
        if widget.multiline:
            lines = wrap(shown, size, room)
            tall = max(3, len(lines)) * step + pixels[16]
        else:
            lines = (_end_of(shown, size, room),)
            tall = max(pixels[42], step + pixels[16])
        bottom = y + tall
        edge = palette.accent if focused else palette.dim
        radius = min(pixels[self.look.corner], tall // 2)
        if self.look.fields == "outlined":
            self.frame(x0, y, x1, bottom, edge, radius, palette.surface)
        else:
            if self.look.fields == "filled":
                self.rect(x0, y, x1, bottom, palette.raised, radius)
            self.rect(x0 if self.look.fields == "line" else x0 + radius,
                      bottom - pixels[2 if focused else 1],
                      x1 if self.look.fields == "line" else x1 - radius, bottom, edge)  # fmt: skip
        if widget.kind == "search":
            self.icon("search", x0 + pixels[8], y + (tall - pixels[20]) // 2, pixels[20],
                      palette.dim)  # fmt: skip
        line = y + (pixels[8] if widget.multiline else (tall - step) // 2)
        if not value:
            hint = widget.hint or (widget.label if widget.kind == "search" else "")
            self.text(x0 + inset, line, ellipsize(hint, size, room), size, palette.dim)
        for part in lines if value else ():
            self.text(x0 + inset, line, part, size, palette.text)
            line += step
        node = self.node("textbox", "", x0, y, x1, bottom, widget.on)
        node.label, node.key, node.kind = widget.label, widget.key, "text"
        node.value, node.hint, node.focused = shown, widget.hint, focused
        node.data = widget
        return bottom + gap - top

    def toggle(self, widget: Toggle | Checkbox, left: int, top: int, width: int) -> int:
        """Place a switch or a checkbox, with its label."""
        pixels, palette, size, small = self.pixels, self.palette, self.body, self.small
        pad, wide, tall = pixels[16], pixels[44], pixels[36]
        role = "switch" if isinstance(widget, Toggle) else "checkbox"
        checked = self.is_checked(widget)
        enabled = not isinstance(widget, Toggle) or widget.enabled
        room = width - 2 * pad - wide - pixels[8]
        details = wrap(widget.detail, small, room) if widget.detail else ()
        lines = wrap(widget.label, size, room)
        block = len(lines) * (size * 27 // 20) + len(details) * (small * 27 // 20)
        height = max(pixels[46 + 6 * self.look.density], block + pixels[14])
        y, x = top + (height - block) // 2, left + pad
        if role == "checkbox":
            self.control(role, left + pad - pixels[6], top + (height - tall) // 2, wide, tall,
                         checked, enabled)  # fmt: skip
            x += wide
        else:
            self.control(role, left + width - pad - wide, top + (height - tall) // 2, wide, tall,
                         checked, enabled)  # fmt: skip
        for line in lines:
            self.text(x, y, line, size, palette.text if enabled else palette.dim)
            y += size * 27 // 20
        for line in details:
            self.text(x, y, line, small, palette.dim)
            y += small * 27 // 20
        text = f"{widget.label} | {widget.detail}" if widget.detail else widget.label
        node = self.node(role, text, left, top, left + width, top + height, widget.on)
        node.checkable, node.checked, node.enabled = True, checked, enabled
        if not enabled:
            node.on = None
        elif widget.key:
            node.kind, node.key = "flip", widget.key
        return height

    def is_checked(self, widget: Toggle | Checkbox) -> bool:
        """Whether a switch or a checkbox is on."""
        kept = self.values.get(widget.key, widget.checked) if widget.key else widget.checked
        return bool(kept)

    def control(
        self, role: str, left: int, top: int, width: int, height: int, checked: bool, enabled: bool
    ) -> None:
        """Paint a switch, a checkbox or a radio button."""
        pixels, palette = self.pixels, self.palette
        ink = palette.accent if checked and enabled else palette.dim
        middle = top + height // 2
        if role == "switch":
            half = pixels[11]
            x0, x1 = left + pixels[2], left + width - pixels[2]
            track = ink if checked else palette.line
            self.rect(x0, middle - half, x1, middle + half, track, half)
            knob = pixels[8]
            x = x1 - half if checked else x0 + half
            ground = palette.on_accent if checked else palette.dim
            self.rect(x - knob, middle - knob, x + knob, middle + knob, ground, knob)
            return
        side, x = pixels[18], left + pixels[8]
        radius = side // 2 if role == "radio" else pixels[3]
        self.frame(x, middle - side // 2, x + side, middle - side // 2 + side, ink, radius,
                   ink if checked and role == "checkbox" else palette.back)  # fmt: skip
        if checked and role == "checkbox":
            self.icon("check", x + pixels[2], middle - side // 2 + pixels[2], side - pixels[4],
                      palette.on_accent)  # fmt: skip
        elif checked:
            dot = pixels[5]
            self.rect(
                x + side // 2 - dot, middle - dot, x + side // 2 + dot, middle + dot, ink, dot
            )

    def radio(self, widget: Radio, left: int, top: int, width: int) -> int:
        """Place one of several options, all of which are shown."""
        pixels, size = self.pixels, self.body
        y, chosen = top, str(self.values.get(widget.key, widget.value))
        if widget.label:
            self.text(left + pixels[16], y + pixels[5], widget.label, self.small, self.palette.dim)
            self.node("text", widget.label, left + pixels[16], y, left + width - pixels[16],
                      y + pixels[22])  # fmt: skip
            y += pixels[8] + self.small * 27 // 20
        tall = max(pixels[42], size * 2)
        for value, text in widget.options:
            checked = value == chosen
            self.control("radio", left + pixels[10], y, pixels[36], tall, checked, True)
            self.text(
                left + pixels[54],
                y + (tall - size * 27 // 20) // 2,
                ellipsize(text, size, width - pixels[66]),
                size,
                self.palette.text,
            )
            node = self.node("radio", text, left, y, left + width, y + tall, widget.on)
            node.kind, node.key, node.data = "choose", widget.key, value
            node.checkable, node.checked = True, checked
            y += tall
        return y - top

    def select(self, widget: Select, left: int, top: int, width: int) -> int:
        """Place one of several options, shown when tapped."""
        chosen = str(self.values.get(widget.key, widget.value))
        text = next((text for value, text in widget.options if value == chosen), "")
        node, height = self._picked(widget.label, text, "down", left, top, width)
        node.key, node.data = widget.key, ("select", widget.label, tuple(widget.options), chosen)
        node.on = widget.on
        return height

    def day_field(self, widget: DateField, left: int, top: int, width: int) -> int:
        """Place a day."""
        chosen = str(self.values.get(widget.key, widget.value))
        text = day_text(chosen, self.look.dates, self.language) if chosen else ""
        node, height = self._picked(widget.label, text, "calendar", left, top, width)
        node.key, node.data, node.on = widget.key, ("date", widget.label, chosen), widget.on
        return height

    def hour_field(self, widget: TimeField, left: int, top: int, width: int) -> int:
        """Place a time of day."""
        chosen = str(self.values.get(widget.key, widget.value))
        text = time_text(chosen, self.look.hour12, self.language) if chosen else ""
        node, height = self._picked(widget.label, text, "clock", left, top, width)
        node.key, node.data, node.on = widget.key, ("time", widget.label, chosen), widget.on
        return height

    def _picked(
        self, title: str, text: str, icon: str, left: int, top: int, width: int
    ) -> tuple[UINode, int]:
        """Place a field whose value is picked in a separate window."""
        pixels, palette, size, small = self.pixels, self.palette, self.body, self.small
        pad, gap = pixels[16], pixels[5]
        y = top + gap
        self.text(left + pad, y, ellipsize(title, small, width - 2 * pad), small, palette.dim)
        y += small * 3 // 2
        tall = max(pixels[42], size * 27 // 20 + pixels[16])
        x0, x1, bottom = left + pad, left + width - pad, y + tall
        radius = min(pixels[self.look.corner], tall // 2)
        if self.look.fields == "outlined":
            self.frame(x0, y, x1, bottom, palette.dim, radius, palette.surface)
        elif self.look.fields == "filled":
            self.rect(x0, y, x1, bottom, palette.raised, radius)
        else:
            self.rect(x0, bottom - pixels[1], x1, bottom, palette.dim)
        inset, side = pixels[10], pixels[20]
        self.text(
            x0 + inset,
            y + (tall - size * 27 // 20) // 2,
            ellipsize(text, size, x1 - x0 - 2 * inset - side),
            size,
            palette.text,
        )
        self.icon(icon, x1 - inset - side, y + (tall - side) // 2, side, palette.dim)
        node = self.node("picker", "", x0, y, x1, bottom)
        node.label, node.value, node.kind = title, text, "pick"
        return node, bottom + gap - top

    def slider(self, widget: Slider, left: int, top: int, width: int) -> int:
        """Place a slider."""
        pixels, palette, small = self.pixels, self.palette, self.small
        value = int(self.values.get(widget.key, widget.value))
        pad = pixels[24]
        y = top + pixels[6]
        self.text(left + pixels[16], y, f"{widget.label}: {value}", small, palette.dim)
        y += small * 3 // 2
        tall = pixels[36]
        x0, x1, middle = left + pad, left + width - pad, y + tall // 2
        part = x0 + (x1 - x0) * (value - widget.low) // max(1, widget.high - widget.low)
        self.rect(x0, middle - pixels[2], x1, middle + pixels[2], palette.line, pixels[2])
        self.rect(x0, middle - pixels[2], part, middle + pixels[2], palette.accent, pixels[2])
        knob = pixels[9]
        self.rect(part - knob, middle - knob, part + knob, middle + knob, palette.accent, knob)
        node = self.node("slider", "", x0, y, x1, y + tall, widget.on)
        node.label, node.value, node.kind, node.key = widget.label, str(value), "slide", widget.key
        node.data = (widget.low, widget.high, widget.step, x0, x1)
        return y + tall - top


def _end_of(text: str, size: int, width: int) -> str:
    """Return the end of a text that fits, as fields show text that is being typed."""
    if "\n" in text:
        text = text.replace("\n", " ")
    shown = ellipsize(text, size, width)
    if shown == text:
        return text
    return ellipsize(text[::-1], size, width)[::-1]
