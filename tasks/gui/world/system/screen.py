"""The phone's screen: the scene laid out from the back stack, and what lies at a position.

A screen is laid out on demand, and again only after a change.
"""

from collections.abc import Mapping
from datetime import datetime

from hexathlon.tasks.gui.elements import UIElement
from hexathlon.tasks.gui.world.apps.table import app_named
from hexathlon.tasks.gui.world.kit.dates import time_text
from hexathlon.tasks.gui.world.kit.events import PhoneEvent
from hexathlon.tasks.gui.world.kit.layout import ScreenLayout
from hexathlon.tasks.gui.world.kit.looks import Appearance
from hexathlon.tasks.gui.world.kit.metrics import text_width
from hexathlon.tasks.gui.world.kit.scene import ScreenScene, UINode
from hexathlon.tasks.gui.world.kit.widgets import AppPage, ScreenWidget
from hexathlon.tasks.gui.world.phone.app import PhoneApp
from hexathlon.tasks.gui.world.phone.context import AppView
from hexathlon.tasks.gui.world.phone.core import PhoneCore, PhoneTable, ScreenState
from hexathlon.tasks.gui.world.system.changes import is_sent
from hexathlon.tasks.gui.world.system.keyboard import KEYBOARD_UNITS, add_keyboard
from hexathlon.tasks.gui.world.system.plan import PhonePlan
from hexathlon.tasks.gui.world.system.screens import SystemApp

__all__ = ["PhoneScreen"]

_SYSTEM = SystemApp()


class PhoneScreen:
    """State and screen of a phone.

    Args:
        plan: Its content.
        appearance: Its look, theme and sizes.
    """

    def __init__(self, plan: PhonePlan, appearance: Appearance) -> None:
        self.plan = plan
        self.appearance = appearance
        self.core = PhoneCore(
            datetime.fromisoformat(plan.start), plan.language, self._first_tables, self._dispatch,
            is_sent, plan.taken_keys(),
        )  # fmt: skip
        self._scene: ScreenScene | None = None
        self._layout: ScreenLayout | None = None

    def _dispatch(self, app: str, event: PhoneEvent) -> None:
        """Carry out an event of an app."""
        raise NotImplementedError

    def _first_tables(self, app: str) -> Mapping[str, PhoneTable]:
        tables = self.plan.first_tables(app)
        if app == "settings":
            values = dict(tables["settings.values"])
            for name, value in (("dark_theme", self.appearance.dark),
                                ("large_text", self.appearance.font_scale > 1)):  # fmt: skip
                values[name] = {**values[name], "value": value}
            tables["settings.values"] = values
        return tables

    @property
    def scene(self) -> ScreenScene:
        """The laid-out screen."""
        if self._scene is None:
            self._scene = self._lay_out()
        return self._scene

    def elements(self) -> list[UIElement]:
        """Return what an accessibility service reports about the screen, keyboard excluded."""
        return [node.element(index) for index, node in enumerate(self.nodes())]

    def nodes(self) -> list[UINode]:
        """Return the nodes behind the elements, in the same order."""
        scene = self.scene
        return [node for node in scene.nodes[scene.first :] if node.role != "key"]

    @property
    def app_name(self) -> str:
        """Name of the app in the foreground; `launcher` if there is none."""
        for screen in reversed(self.core.stack):
            name: str = screen.app
            if name != "system":
                return name
            if screen.name in ("shade", "recents", "call"):
                return "system"
        return "launcher"

    def _lay_out(self) -> ScreenScene:
        layout = self._current_layout()
        layout.begin()
        core = self.core
        base = len(core.stack) - 1
        widgets = [self._widget(core.stack[base])]
        while base > 0 and not isinstance(widgets[0], AppPage):
            base -= 1
            widgets.insert(0, self._widget(core.stack[base]))
        floor = layout.height - (layout.pixels[KEYBOARD_UNITS] if core.focus else 0)
        for place, widget in enumerate(widgets):
            screen = core.stack[base + place]
            last = place == len(widgets) - 1
            layout.screen(widget, screen.values, core.focus if last else "", screen.offset,
                          floor if last else layout.height)  # fmt: skip
        if core.focus:
            add_keyboard(layout, core.shift, core.symbols)
        self._add_status(layout)
        if core.toast:
            self._add_toast(layout)
        return layout.scene

    def _current_layout(self) -> ScreenLayout:
        values = self.core.tables.get("settings.values") or self.core.table("settings.values")
        dark = bool(values["dark_theme"]["value"])
        scale = 1.3 if values["large_text"]["value"] else 1.0
        layout = self._layout
        if layout is None or layout.appearance.dark != dark or layout.font_scale != scale:
            appearance = self.appearance._replace(dark=dark, font_scale=scale)
            layout = self._layout = ScreenLayout(appearance, self.plan.language)
        return layout

    def _widget(self, screen: ScreenState) -> ScreenWidget:
        app = self._app(screen.app)
        view = AppView(self.core, self.appearance.look, screen, screen.app)
        widget: ScreenWidget = getattr(app, f"screen_{screen.name}")(view)
        return widget

    def _app(self, name: str) -> PhoneApp:
        return _SYSTEM if name == "system" else app_named(name)

    def _add_status(self, layout: ScreenLayout) -> None:
        pixels, palette = layout.pixels, layout.palette
        tall, size = layout.status_height, pixels[12]
        ink = palette.on_bar if self.core.top.app != "system" else palette.text
        y = (tall - size * 27 // 20) // 2
        clock = time_text(f"{self.core.now:%H:%M}", self.appearance.look.hour12,
                          self.plan.language)  # fmt: skip
        layout.text(pixels[14], y, clock, size, ink)
        count = len(self.core.table("system.notices"))
        parts = [clock]
        if count:
            x = pixels[14] + text_width(clock, size) + pixels[6]
            layout.icon("bell", x, pixels[6], pixels[14], ink)
            layout.text(x + pixels[16], y, str(count), size, ink)
            word = "notification" if count == 1 else "notifications"
            parts.append(f"{count}条通知" if self.plan.language == "zh" else f"{count} {word}")
        values = self.core.table("settings.values")
        x = layout.width - pixels[16]
        for icon, name in (("battery", ""), ("wifi", "wifi"), ("airplane", "airplane"),
                           ("bluetooth", "bluetooth")):  # fmt: skip
            if not name or values[name]["value"]:
                x -= pixels[18]
                layout.icon(icon, x, pixels[6], pixels[14], ink)
        layout.node("status", " | ".join(parts), 0, 0, layout.width, tall)

    def _add_toast(self, layout: ScreenLayout) -> None:
        pixels = layout.pixels
        bottom = layout.height - pixels[80]
        top = bottom - layout.small * 27 // 20 - pixels[16]
        left, right = pixels[30], layout.width - pixels[30]
        layout.rect(left, top, right, bottom, (50, 50, 56), pixels[14])
        layout.text_centred(left, right, top + pixels[8], self.core.toast, layout.small,
                            (255, 255, 255))  # fmt: skip
        layout.node("toast", self.core.toast, left, top, right, bottom)

    def _inside(self, x: int, y: int) -> bool:
        scene = self.scene
        shown = [
            node for node in scene.nodes[scene.first :] if node.role not in ("status", "toast")
        ]
        return any(n.left <= x < n.right and n.top <= y < n.bottom for n in shown)

    def node_at(self, x: int, y: int) -> UINode | None:
        """Return what a tap at a pixel would touch."""
        scene = self.scene
        for node in reversed(scene.nodes[scene.first :]):
            if (
                node.left <= x < node.right
                and node.top <= y < node.bottom
                and (node.on is not None or node.kind or node.long is not None or not node.enabled)
            ):
                return node
        return None

    def refresh(self) -> None:
        """Lay the screen out again after tables were changed from outside."""
        self._scene = None

    def _done(self) -> str:
        self._scene = None
        return ""
