"""The phone: what taps, swipes, keys and typed text do, and what the screen shows.

A screen is laid out on demand, and again only after a change. All ways to act (by element, by
position, by raw touches) go through the methods of `Phone`.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from hexathlon.tasks.gui.elements import UIElement
from hexathlon.tasks.gui.printable import printable
from hexathlon.tasks.gui.world.apps.names import APP_NAMES
from hexathlon.tasks.gui.world.apps.table import app_named
from hexathlon.tasks.gui.world.kit.dates import time_text
from hexathlon.tasks.gui.world.kit.events import PhoneEvent
from hexathlon.tasks.gui.world.kit.layout import ScreenLayout
from hexathlon.tasks.gui.world.kit.looks import Appearance
from hexathlon.tasks.gui.world.kit.metrics import text_width
from hexathlon.tasks.gui.world.kit.scene import ScreenScene, UINode
from hexathlon.tasks.gui.world.kit.widgets import AppPage, Dialog, ScreenWidget
from hexathlon.tasks.gui.world.kit.words import label
from hexathlon.tasks.gui.world.phone.app import PhoneApp
from hexathlon.tasks.gui.world.phone.context import AppActs, AppView
from hexathlon.tasks.gui.world.phone.core import (
    SECONDS_PER_ACTION,
    PhoneCore,
    PhoneRow,
    PhoneTable,
    ScreenState,
)
from hexathlon.tasks.gui.world.system.keyboard import KEYBOARD_UNITS, add_keyboard
from hexathlon.tasks.gui.world.system.plan import PhonePlan, TimedEvent
from hexathlon.tasks.gui.world.system.screens import SystemApp

__all__ = ["Direction", "Phone", "PhoneRefusal"]

Direction = Literal["up", "down", "left", "right"]

_SYSTEM = SystemApp()
_LAUNCHER = ScreenState("system", "home")


class PhoneRefusal(Exception):
    """The phone cannot do what was asked for; the message says why and what can be done."""


class Phone:
    """One phone.

    Args:
        plan: Its content.
        appearance: Its look, theme and sizes.
    """

    def __init__(self, plan: PhonePlan, appearance: Appearance) -> None:
        self.plan = plan
        self.appearance = appearance
        self.core = PhoneCore(
            datetime.fromisoformat(plan.start), plan.language, self._first_tables, self._dispatch,
            _is_sent, plan.taken_keys(),
        )  # fmt: skip
        self.core.push(_LAUNCHER)
        self.actions = 0
        """Actions so far."""

        self._scene: ScreenScene | None = None
        self._layout: ScreenLayout | None = None
        if plan.front is not None:
            app, screen, params = plan.front
            self._start(app)
            if screen != "home":
                self.core.push(ScreenState(app, screen, params))

    def _first_tables(self, app: str) -> Mapping[str, PhoneTable]:
        tables = self.plan.first_tables(app)
        if app == "settings":
            values = dict(tables["settings.values"])
            for name, value in (("dark_theme", self.appearance.dark),
                                ("large_text", self.appearance.font_scale > 1)):  # fmt: skip
                values[name] = {**values[name], "value": value}
            tables["settings.values"] = values
        return tables

    # What it shows -----------------------------------------------------------------------------

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

    # Actions -----------------------------------------------------------------------------------

    def begin_action(self) -> None:
        """Clear the toast and advance the time; every action of the agent begins with this."""
        self.core.toast = ""
        self.core.seconds += SECONDS_PER_ACTION
        self.actions += 1
        self._scene = None

    def end_action(self) -> None:
        """Trigger the events that are due; every action of the agent ends with this.

        A call therefore comes in after the action, which still finds the screen it was aimed at.
        """
        for event in self.plan.events:
            if event.after == self.actions:
                self._happen(event)

    @property
    def ringing(self) -> bool:
        """Whether an incoming call is waiting to be answered."""
        return any(map(_rings, self.core.stack))

    def _happen(self, event: TimedEvent) -> None:
        self.intervene(event.edits, event.notice)
        if event.call is not None:
            self.core.push(ScreenState("system", "call", dict(event.call)))

    def intervene(
        self, edits: Iterable[Sequence[Any]], notice: Mapping[str, Any] | None = None
    ) -> None:
        """Apply other people's changes and post a notification; `NOW` stands for the time."""
        core = self.core
        for table, kind, value in edits:
            if kind == "put":
                known = core.table(table).get(value["id"])
                if known is None and value["id"] in core.first[table]:
                    continue  # it was removed here, so nobody else can change it any more
                core.write(table, _timed({**(known or {}), **value}, core.now))
            elif value in core.table(table):
                core.erase(table, value)
        if notice is not None:
            self.post_notice(notice)
        self._scene = None

    def post_notice(self, notice: Mapping[str, Any]) -> None:
        """Post a notification: `app`, `title`, `text`, and optionally `screen` and `params`."""
        event = None
        if notice.get("screen"):
            event = PhoneEvent("go", notice["screen"], dict(notice.get("params") or {}))
        core = self.core
        core.write("system.notices", {
            "id": core.next_key("system.notices"), "app": notice["app"], "title": notice["title"],
            "text": notice["text"], "time": core.now.isoformat(" ", "minutes"), "event": event,
        })  # fmt: skip

    def refresh(self) -> None:
        """Lay the screen out again after tables were changed from outside."""
        self._scene = None

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

    # Keys of the phone -------------------------------------------------------------------------

    def back(self) -> str:
        """Press the back button."""
        core = self.core
        self._miss_call()
        if core.focus:
            core.focus = ""
        elif len(core.stack) > 1:
            widget = self._widget(core.top)
            if isinstance(widget, AppPage) and widget.back is not None:
                self._dispatch(core.top.app, widget.back)
            else:
                core.pop()
        return self._done()

    def home(self) -> str:
        """Press the home button."""
        self._miss_call()
        self._keep()
        self.core.stack = (_LAUNCHER,)
        self.core.focus = ""
        return self._done()

    def recents(self) -> str:
        """Show the apps in use."""
        self.home()
        self.core.push(ScreenState("system", "recents"))
        return self._done()

    def open_shade(self) -> str:
        """Show notifications and quick settings."""
        if self.core.top.name != "shade":
            self.core.push(ScreenState("system", "shade"))
        return self._done()

    def open_app(self, name: str) -> str:
        """Open an app at its first screen.

        Raises:
            PhoneRefusal: If there is no such app.
        """
        if name not in APP_NAMES:
            raise PhoneRefusal(
                f"There is no app {name[:40]!r}; the apps are: {', '.join(APP_NAMES)}."
            )
        self._start(name)
        return self._done()

    def _start(self, name: str) -> None:
        self._miss_call()
        self._keep()
        self.core.kept.pop(name, None)
        self.core.stack = (_LAUNCHER, ScreenState(name, "home"))
        self.core.focus = ""

    def _miss_call(self) -> None:
        """If a call was left unanswered, list it as missed and notify the user."""
        core = self.core
        for screen in filter(_rings, core.stack):
            name, number = screen.params["name"], screen.params["number"]
            key = f"call {len(core.table('phone.incoming')) + 1}"
            core.write("phone.incoming", {
                "id": key, "name": name, "number": number, "kind": "missed", "seconds": 0,
                "time": core.now.isoformat(" ", "minutes"),
            })  # fmt: skip
            text = label("system", "missed_call", self.plan.language, self.appearance.look.wording)
            self.post_notice({"app": "phone", "title": name or number, "text": text})

    def _keep(self) -> None:
        """Save the foreground app's screens for the list of recent apps."""
        stack = tuple(screen for screen in self.core.stack if screen.name != "shade")
        while len(stack) > 1 and stack[-1].app == "system":
            stack = stack[:-1]
        if len(stack) > 1:
            name = stack[1].app
            if name != "system":
                self.core.kept.pop(name, None)
                self.core.kept[name] = stack

    # Events ------------------------------------------------------------------------------------

    def _dispatch(self, app: str, event: PhoneEvent) -> None:
        """Carry out an event of an app."""
        core, kind = self.core, event.kind
        if kind == "go":
            core.push(ScreenState(app, event.name, event.params))
        elif kind == "do":
            acts = AppActs(core, self.appearance.look, core.top, app)
            getattr(self._app(app), f"do_{event.name}")(acts, **event.params)
        elif kind == "put":
            core.set_value(event.name, event.params["value"])
        elif kind == "back":
            core.pop()
        elif kind == "open":
            core.push(ScreenState(event.app, event.name, event.params))
        elif kind == "menu":
            core.push(ScreenState("system", "menu", {**event.params, "owner": app}))
        elif kind == "key":
            self._press(event.name)
        elif kind == "start":
            self._start(event.name)
        elif kind == "resume":
            core.stack = core.kept.pop(event.name, (_LAUNCHER,))
            core.focus = ""
        else:
            raise ValueError(f"unknown kind of event {kind!r}")

    def _press(self, key: str) -> None:
        core = self.core
        if key == "shift":
            core.shift = not core.shift
        elif key == "symbols":
            core.symbols = not core.symbols
        elif key == "erase":
            self.erase()
        elif key == "enter":
            self.enter()
        else:
            self.type_text(key)

    def _done(self) -> str:
        self._scene = None
        return ""

    # Copies ------------------------------------------------------------------------------------

    def save(self) -> tuple[Any, ...]:
        """Return the state, detached from this phone."""
        return (self.actions, *self.core.dump())

    def load(self, state: tuple[Any, ...]) -> None:
        """Continue from a saved state of a phone with the same plan and appearance."""
        self.actions = state[0]
        self.core.restore(state[1:])
        self._scene = None

    def changes(self) -> dict[str, Any]:
        """Return all rows that differ from the start, by table, as JSON.

        Columns that only reading changes are left out: reading an email is not a change. Rows that
        were sent and then deleted are listed as added to `system.recalled`.
        """
        changes = {}
        core = self.core
        for name in sorted(core.tables):
            if core.tables[name] is not core.first[name] and not _is_ephemeral(name):
                difference = _difference(name, core.first[name], core.tables[name])
                if difference:
                    changes[name] = difference
        recalled = [
            {**_compared(table, row), "table": table}
            for (table, key), row in core.sent.items()
            if key not in core.tables[table]
        ]
        if recalled:
            changes["system.recalled"] = {"added": recalled}
        return changes


def _is_ephemeral(table: str) -> bool:
    app, _, name = table.partition(".")
    return name in (_SYSTEM if app == "system" else app_named(app)).ephemeral


def _is_sent(table: str, row: Mapping[str, Any]) -> bool:
    app, _, name = table.partition(".")
    if app == "system":
        return False
    marks = app_named(app).sends.get(name)
    return marks is not None and all(row.get(key) == value for key, value in marks.items())


def _compared(table: str, row: PhoneRow) -> dict[str, Any]:
    """Return a row without the columns that verifiers do not compare."""
    app, _, name = table.partition(".")
    volatile = () if app == "system" else app_named(app).tables.get(name, ())
    return {column: value for column, value in row.items() if column not in volatile}


def _difference(name: str, before: PhoneTable, after: PhoneTable) -> dict[str, Any]:
    added = [_compared(name, row) for key, row in after.items() if key not in before]
    removed = [_compared(name, row) for key, row in before.items() if key not in after]
    pairs = [
        [_compared(name, before[key]), _compared(name, row)]
        for key, row in after.items()
        if key in before and row is not before[key] and row != before[key]
    ]
    changed = [[old, new] for old, new in pairs if old != new]
    parts = {"added": added, "removed": removed, "changed": changed}
    return {name: rows for name, rows in parts.items() if rows}


def _timed(row: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Return a row in which `NOW` is replaced by the time."""
    stamp = now.isoformat(" ", "minutes")
    return {name: stamp if value == "NOW" else value for name, value in row.items()}


def _slid(node: UINode, x: int) -> int:
    low, high, step, left, right = node.data
    share = min(max((x - left) / max(1, right - left), 0.0), 1.0)
    return int(low + round(share * (high - low) / step) * step)


def _rings(screen: ScreenState) -> bool:
    return screen.app == "system" and screen.name == "call" and not screen.values.get("answered")
