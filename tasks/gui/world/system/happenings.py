"""What happens by itself: scheduled events, other people's changes, notifications and calls."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from hexathlon.tasks.gui.world.kit.events import PhoneEvent
from hexathlon.tasks.gui.world.kit.words import label
from hexathlon.tasks.gui.world.phone.core import SECONDS_PER_ACTION, ScreenState
from hexathlon.tasks.gui.world.system.gestures import PhoneGestures
from hexathlon.tasks.gui.world.system.plan import TimedEvent

__all__ = ["PhoneHappenings"]


class PhoneHappenings(PhoneGestures):
    """A phone on which time passes."""

    actions = 0
    """Actions so far."""

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
        self.intervene(event.edits, *([] if event.notice is None else [event.notice]))
        if event.call is not None:
            self.core.push(ScreenState("system", "call", dict(event.call)))

    def intervene(self, edits: Iterable[Sequence[Any]], *notices: Mapping[str, Any]) -> None:
        """Apply other people's changes and post notifications; `NOW` stands for the time."""
        core = self.core
        for table, kind, value in edits:
            if kind == "put":
                known = core.table(table).get(value["id"])
                if known is None and value["id"] in core.first[table]:
                    continue  # it was removed here, so nobody else can change it any more
                core.write(table, _timed({**(known or {}), **value}, core.now))
            elif value in core.table(table):
                core.erase(table, value)
        for notice in notices:
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


def _timed(row: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """Return a row in which `NOW` is replaced by the time."""
    stamp = now.isoformat(" ", "minutes")
    return {name: stamp if value == "NOW" else value for name, value in row.items()}


def _rings(screen: ScreenState) -> bool:
    return screen.app == "system" and screen.name == "call" and not screen.values.get("answered")
