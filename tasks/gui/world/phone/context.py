"""The interface between apps and the phone: what screens read, and what handlers may do."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.gui.world.kit.dates import (
    day_text,
    full_day_text,
    short_day_text,
    time_text,
)
from hexathlon.tasks.gui.world.kit.events import PhoneEvent
from hexathlon.tasks.gui.world.kit.looks import PhoneLook
from hexathlon.tasks.gui.world.kit.words import label
from hexathlon.tasks.gui.world.phone.core import PhoneCore, PhoneRow, ScreenState

__all__ = ["AppActs", "AppView"]


class AppView:
    """The data that a screen reads: tables, its parameters and values, labels and the clock.

    Args:
        core: State of the phone.
        look: Its look.
        screen: The screen.
        app: Name of the app, whose tables and labels need no prefix.
    """

    def __init__(self, core: PhoneCore, look: PhoneLook, screen: ScreenState, app: str) -> None:
        self.core, self.look, self.screen, self.app = core, look, screen, app
        self.language: Language = core.language
        self.params: Mapping[str, Any] = screen.params

    def __call__(self, key: str, **values: object) -> str:
        """Return a label in the look's wording, with `{name}` replaced by `values`."""
        text = label(self.app, key, self.language, self.look.wording)
        return text.format(**values) if values else text

    def say(self, en: str, zh: str) -> str:
        """Return the text in the phone's language; for texts with one wording only."""
        return zh if self.language == "zh" else en

    # Tables ------------------------------------------------------------------------------------

    def rows(self, table: str) -> list[PhoneRow]:
        """Return all rows of a table: `notes`, or `contacts.contacts` of another app."""
        return list(self.core.table(self._full(table)).values())

    def row(self, table: str, key: Any) -> PhoneRow | None:
        """Return a row, or None if there is none."""
        return self.core.table(self._full(table)).get(key)

    def setting(self, name: str) -> Any:
        """Return a setting of the phone, such as `wifi`."""
        return self.core.table("settings.values")[name]["value"]

    def _full(self, table: str) -> str:
        return table if "." in table else f"{self.app}.{table}"

    # The screen --------------------------------------------------------------------------------

    def value(self, key: str, default: Any = "") -> Any:
        """Return the value entered or chosen, or a default."""
        return self.screen.values.get(key, default)

    @property
    def focused(self) -> str:
        """Key of the focused field; empty if there is none."""
        return self.core.focus

    # Time --------------------------------------------------------------------------------------

    @property
    def now(self) -> datetime:
        """The current time."""
        return self.core.now

    @property
    def today(self) -> date:
        """The current date."""
        return self.core.now.date()

    @property
    def stamp(self) -> str:
        """The current time as rows hold it, `YYYY-MM-DD HH:MM`."""
        return self.core.now.isoformat(" ", "minutes")

    def day(self, day: str) -> str:
        """Return a day, `YYYY-MM-DD`, as the look shows it."""
        return day_text(day, self.look.dates, self.language)

    def full_day(self, day: str) -> str:
        """Return a day with its weekday."""
        return full_day_text(day, self.look.dates, self.language)

    def short_day(self, day: str) -> str:
        """Return a day without its year."""
        return short_day_text(day, self.look.dates, self.language)

    def time(self, time: str) -> str:
        """Return a time, `HH:MM`, as the look shows it."""
        return time_text(time, self.look.hour12, self.language)

    def moment(self, stamp: str) -> str:
        """Return the time of a stamp if it is today's, else its day."""
        day, _, time = stamp.partition(" ")
        return self.time(time) if day == self.today.isoformat() else self.short_day(day)


class AppActs(AppView):
    """The actions of a handler, in addition to reading."""

    # Tables ------------------------------------------------------------------------------------

    def add(self, table: str, **columns: Any) -> Any:
        """Add a row and return its key, `columns["id"]` or the next number."""
        name = self._full(table)
        key = columns.pop("id", None)
        if key is None:
            key = self.core.next_key(name)
        self.core.write(name, {"id": key, **columns})
        return key

    def change(self, table: str, key: Any, **columns: Any) -> None:
        """Change columns of a row; does nothing if there is no such row."""
        name = self._full(table)
        row = self.core.table(name).get(key)
        if row is not None:
            self.core.write(name, {**row, **columns})

    def remove(self, table: str, key: Any) -> None:
        """Remove a row, if it exists."""
        name = self._full(table)
        if key in self.core.table(name):
            self.core.erase(name, key)

    # Screens -----------------------------------------------------------------------------------

    def go(self, screen: str, **params: Any) -> None:
        """Open a screen of the app."""
        self.core.push(ScreenState(self.app, screen, params))

    def replace(self, screen: str, **params: Any) -> None:
        """Replace the current screen with another screen of the app."""
        self.core.pop()
        self.core.push(ScreenState(self.app, screen, params))

    def back(self, screens: int = 1) -> None:
        """Leave screens."""
        for _ in range(screens):
            self.core.pop()

    def back_to(self, *names: str) -> None:
        """Leave screens until one of these is visible, or the app's first one."""
        while len(self.core.stack) > 1 and (
            self.core.top.name not in names and self.core.stack[-2].app == self.app
        ):
            self.core.pop()

    def open(self, app: str, screen: str = "home", **params: Any) -> None:
        """Open a screen of another app above this one."""
        self.core.push(ScreenState(app, screen, params))

    def put(self, key: str, value: Any) -> None:
        """Set a value of the visible screen."""
        self.core.set_value(key, value)

    def toast(self, text: str) -> None:
        """Show a short message until the next action."""
        self.core.toast = text

    # Windows of the phone ----------------------------------------------------------------------

    def confirm(self, question: str, event: PhoneEvent, yes: str, detail: str = "") -> None:
        """Ask for confirmation.

        Args:
            question: The question.
            event: Event of this app that follows if confirmed.
            yes: Text of the confirming button.
            detail: More text.
        """
        self._window("confirm", question=question, event=event, yes=yes, detail=detail)

    def share(self, title: str = "", text: str = "", file: str = "") -> None:
        """Let the user choose an app that receives a text or a file."""
        kind = "file" if file else "text"
        self._window("share", kind=kind, item={"title": title, "text": text, "file": file})

    def permitted(self, permission: str, then: PhoneEvent) -> bool:
        """Whether the app may use something; if undecided, the user is asked.

        Args:
            permission: Such as `contacts`, `location`, `camera` or `files`.
            then: Event of this app that follows once allowed.
        """
        key = f"{self.app}:{permission}"
        row = self.core.table("settings.permissions").get(key)
        if row is not None and row["state"] == "allowed":
            return True
        if row is not None and row["state"] == "denied":
            self.toast(label("system", "not_permitted", self.language, self.look.wording))
        else:
            self._window("permission", permission=permission, event=then)
        return False

    def notify(self, title: str, text: str, event: PhoneEvent | None = None) -> None:
        """Post a notification of the app."""
        self.core.write(
            "system.notices",
            {"id": self.core.next_key("system.notices"), "app": self.app, "title": title,
             "text": text, "time": self.stamp, "event": event},
        )  # fmt: skip

    def choose(self, title: str, options: Sequence[tuple[str, PhoneEvent]]) -> None:
        """Show several actions from which the user chooses one."""
        self._window("menu", choices=list(options), title=title)

    def _window(self, name: str, **params: Any) -> None:
        self.core.push(ScreenState("system", name, {**params, "owner": self.app}))
