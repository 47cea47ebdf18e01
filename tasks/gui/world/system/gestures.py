"""Taps, long presses, swipes and scrolling, by element or by position."""

from typing import Any, Literal

from hexathlon.tasks.gui.world.kit.scene import UINode
from hexathlon.tasks.gui.world.kit.widgets import AppPage, Dialog
from hexathlon.tasks.gui.world.phone.core import ScreenState
from hexathlon.tasks.gui.world.system.entry import TextEntry

__all__ = ["Direction", "PhoneGestures"]

Direction = Literal["up", "down", "left", "right"]


class PhoneGestures(TextEntry):
    """A phone that can be touched."""

    def home(self) -> str:
        """Press the home button."""
        raise NotImplementedError

    def open_shade(self) -> str:
        """Show notifications and quick settings."""
        raise NotImplementedError

    def tap_at(self, x: int, y: int) -> str:
        """Tap a pixel; return a remark, empty if something was touched."""
        node = self.node_at(x, y)
        if node is not None:
            return self.tap(node, x)
        top = self._widget(self.core.top)
        if not isinstance(top, AppPage) and not isinstance(top, Dialog) and not self._inside(x, y):
            self.core.pop()
            return self._done()
        return "Nothing there reacts to a tap."

    def tap(self, node: UINode, x: int | None = None) -> str:
        """Tap an element; return a remark, empty if it reacted."""
        if not node.enabled:
            return "It is disabled."
        core, kind, on = self.core, node.kind, node.on
        if kind == "text":
            core.focus, core.shift, core.symbols = node.key, False, node.data.kind in (
                "number", "phone")  # fmt: skip
            self._scene = None
            self._show_focus(node)
            return ""
        if kind == "pick":
            name, title, *rest = node.data
            params = {"key": node.key, "title": title, "owner": core.top.app, "value": rest[-1],
                      "on": on}  # fmt: skip
            if name == "select":
                params["options"] = rest[0]
            core.push(ScreenState("system", name, params))
            return self._done()
        if kind in ("flip", "choose", "slide"):
            value: Any = node.data if kind == "choose" else not node.checked
            if kind == "slide":
                if x is None:
                    x = (node.left + node.right) // 2
                value = _slid(node, x)
            core.set_value(node.key, value)
            if on is not None:
                self._dispatch(core.top.app, on._replace(params={**on.params, "value": value}))
            return self._done()
        if on is None:
            return "It does not react to a tap."
        self._dispatch(core.top.app, on)
        return self._done()

    def long_press_at(self, x: int, y: int) -> str:
        """Long-press a pixel."""
        scene = self.scene
        for node in reversed(scene.nodes[scene.first :]):
            if (
                node.left <= x < node.right
                and node.top <= y < node.bottom
                and (node.on is not None or node.kind or node.long is not None)
            ):
                return self.long_press(node)
        return "Nothing there reacts to a long press."

    def long_press(self, node: UINode) -> str:
        """Long-press an element."""
        if node.long is None:
            return "It does not react to a long press."
        self._dispatch(self.core.top.app, node.long)
        return self._done()

    def swipe(self, x0: int, y0: int, x1: int, y1: int) -> str:
        """Move a finger from one pixel to another; it stops at the edges of the screen."""
        scene, layout = self.scene, self._current_layout()
        x1, y1 = min(max(x1, 0), layout.width - 1), min(max(y1, 0), layout.height - 1)
        dx, dy = x1 - x0, y1 - y0
        if abs(dx) > abs(dy):
            for node in reversed(scene.nodes[scene.first :]):
                if node.top <= y0 < node.bottom and node.left <= x0 < node.right:
                    if node.kind == "slide":
                        return self.tap(node, x1)
                    if node.kind == "pan":
                        return self._pan(node, dx, dy)
                    if node.swipes is not None:
                        event = node.swipes[0 if dx < 0 else 1]
                        if event is not None and abs(dx) >= layout.width // 4:
                            self._dispatch(self.core.top.app, event)
                            return self._done()
            return "Nothing there reacts to a swipe to the side."
        if y0 < layout.status_height and dy > 0:
            return self.open_shade()
        if y0 >= layout.height - layout.pixels[12] and dy < 0:
            return self.home()
        for node in reversed(scene.nodes[scene.first :]):
            if node.kind == "pan" and node.top <= y0 < node.bottom:
                return self._pan(node, dx, dy)
        return self.scroll_by(-dy, x0, y0)

    def _pan(self, node: UINode, dx: int, dy: int) -> str:
        assert node.swipes is not None and node.swipes[0] is not None
        event = node.swipes[0]
        params = {**event.params, "dx": dx / node.data, "dy": dy / node.data}
        self._dispatch(self.core.top.app, event._replace(params=params))
        return self._done()

    def scroll_by(self, pixels: int, x: int | None = None, y: int | None = None) -> str:
        """Scroll the content by this many pixels, towards its end if positive."""
        for area in reversed(self.scene.areas):
            if x is not None and y is not None and not area.bounds.contains(x, y):
                continue
            offset = min(max(area.offset + pixels, 0), area.most)
            if offset == area.offset:
                return "It does not scroll further." if area.most else "Nothing here scrolls."
            kept = area.most - offset if area.key == "end" else offset
            self.core.set_top(self.core.top._replace(offset=kept))
            return self._done()
        return "Nothing here scrolls."

    def scroll(self, direction: Direction, node: UINode | None = None) -> str:
        """Scroll by most of the visible height; sideways, swipe over an element."""
        if direction in ("left", "right"):
            if node is None:
                return "Nothing scrolls to the side; name an element to swipe over it."
            y = (node.top + node.bottom) // 2
            x0, x1 = node.left + 2, node.right - 3
            return self.swipe(x1, y, x0, y) if direction == "right" else self.swipe(x0, y, x1, y)
        areas = self.scene.areas
        visible = areas[-1].bounds.bottom - areas[-1].bounds.top if areas else 0
        return self.scroll_by(visible * 4 // 5 * (1 if direction == "down" else -1))


def _slid(node: UINode, x: int) -> int:
    low, high, step, left, right = node.data
    share = min(max((x - left) / max(1, right - left), 0.0), 1.0)
    return int(low + round(share * (high - low) / step) * step)
