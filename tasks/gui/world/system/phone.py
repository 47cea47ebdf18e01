"""The phone: its keys, its apps in use, and the events of their widgets.

All ways to act (by element, by position, by raw touches) go through the methods of `Phone`.
"""

from typing import Any

from hexathlon.tasks.gui.world.apps.names import APP_NAMES
from hexathlon.tasks.gui.world.kit.events import PhoneEvent
from hexathlon.tasks.gui.world.kit.looks import Appearance
from hexathlon.tasks.gui.world.kit.widgets import AppPage
from hexathlon.tasks.gui.world.phone.context import AppActs
from hexathlon.tasks.gui.world.phone.core import PhoneRow, PhoneTable, ScreenState
from hexathlon.tasks.gui.world.phone.quirks import disturbed
from hexathlon.tasks.gui.world.system.changes import phone_changes
from hexathlon.tasks.gui.world.system.entry import PhoneRefusal
from hexathlon.tasks.gui.world.system.gestures import Direction
from hexathlon.tasks.gui.world.system.happenings import PhoneHappenings
from hexathlon.tasks.gui.world.system.plan import PhonePlan

__all__ = ["Direction", "Phone", "PhoneRefusal"]

_LAUNCHER = ScreenState("system", "home")


class Phone(PhoneHappenings):
    """One phone.

    Args:
        plan: Its content.
        appearance: Its look, theme and sizes.
    """

    def __init__(self, plan: PhonePlan, appearance: Appearance) -> None:
        super().__init__(plan, appearance)
        self.core.push(_LAUNCHER)
        if plan.front is not None:
            app, screen, params = plan.front
            self._start(app)
            if screen != "home":
                self.core.push(ScreenState(app, screen, params))

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
            tables, sent = dict(core.tables), dict(core.sent)
            getattr(self._app(app), f"do_{event.name}")(acts, **event.params)
            if self.plan.quirks:
                self._disturb(app, tables, sent)
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

    def _disturb(
        self, app: str, tables: dict[str, PhoneTable], sent: dict[tuple[str, Any], PhoneRow]
    ) -> None:
        """Let the faults of an app act on what a handler has changed.

        Args:
            app: The app.
            tables: The tables before the handler ran.
            sent: The rows that had left the phone by then.
        """
        core = self.core
        after = {name: table for name, table in core.tables.items()
                 if name.partition(".")[0] == app}  # fmt: skip
        for quirk in self.plan.quirks:
            if quirk.into and quirk.table in after:
                after[quirk.into] = core.table(quirk.into)
        before = {name: tables.get(name, core.first[name]) for name in after}
        changed, core.memory = disturbed(
            self.plan.quirks, core.memory, before, after, core.next_key
        )
        if changed is None:
            core.tables |= before
            core.sent = sent
        else:
            core.tables |= changed

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
        """Return all rows that differ from the start; see `phone_changes`."""
        return phone_changes(self.core)
