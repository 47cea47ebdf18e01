"""Typing: text, the erase and Enter keys, and the field that has the keyboard."""

from hexathlon.tasks.gui.printable import printable
from hexathlon.tasks.gui.world.kit.scene import UINode
from hexathlon.tasks.gui.world.system.keyboard import KEYBOARD_UNITS
from hexathlon.tasks.gui.world.system.screen import PhoneScreen

__all__ = ["PhoneRefusal", "TextEntry"]


class PhoneRefusal(Exception):
    """The phone cannot do what was asked for; the message says why and what can be done."""


class TextEntry(PhoneScreen):
    """A phone on which text can be typed."""

    def type_text(self, text: str, *, clear: bool = False) -> str:
        """Type into the focused field.

        Raises:
            PhoneRefusal: If no field is focused.
        """
        node, text = self._focused(), printable(text)
        field = node.data
        value = "" if clear else str(self.core.top.values.get(node.key, field.value))
        if field.kind in ("number", "phone"):
            allowed = "0123456789.,-+*# ()" if field.kind == "phone" else "0123456789.,-"
            refused = [char for char in text if char not in allowed]
            if refused:
                return f"The field takes only digits and signs, not {refused[0]!r}."
        if not field.multiline:
            text = text.replace("\n", " ")
        self.core.set_value(node.key, (value + text)[:4000])
        self.core.shift = False
        return self._done()

    def erase(self) -> str:
        """Remove the last character of the focused field."""
        node = self._focused()
        value = str(self.core.top.values.get(node.key, node.data.value))
        self.core.set_value(node.key, value[:-1])
        return self._done()

    def enter(self) -> str:
        """Press the Enter key of the keyboard."""
        if not self.core.focus:
            return "No field has the keyboard."
        node = self._focused()
        if node.data.multiline:
            return self.type_text("\n")
        self.core.focus = ""
        if node.on is not None:
            self._dispatch(self.core.top.app, node.on)
        return self._done()

    def _focused(self) -> UINode:
        key = self.core.focus
        for node in self.scene.nodes[self.scene.first :] if key else ():
            if node.kind == "text" and node.key == key:
                return node
        if key:  # scrolled away: look at the whole screen
            self.core.set_top(self.core.top._replace(offset=0))
            self._scene = None
            for node in self.scene.nodes:
                if node.kind == "text" and node.key == key:
                    return node
        raise PhoneRefusal(
            "No text field has the keyboard; tap one first, or name it by its index."
        )

    def _show_focus(self, node: UINode) -> None:
        """Scroll a field into view that the keyboard would cover."""
        layout = self._current_layout()
        floor = layout.height - layout.pixels[KEYBOARD_UNITS]
        for area in self.scene.areas:
            if (
                area.key == "body"
                and node.bottom > floor
                and any(each.bounds.top <= node.top for each in self.scene.areas)
            ):
                found = [n for n in self.scene.nodes if n.kind == "text" and n.key == node.key]
                if found and found[0].bottom - found[0].top >= node.bottom - node.top:
                    return
                offset = min(area.offset + node.bottom - area.bounds.bottom + layout.pixels[8],
                             area.most)  # fmt: skip
                self.core.set_top(self.core.top._replace(offset=max(0, offset)))
                self._scene = None
                return
