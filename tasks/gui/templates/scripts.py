"""Scripts of everyday phone operations, from which templates compose their solutions.

Each function returns a script; `steps` runs several in sequence.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.gui.pilot import PhonePilot
from hexathlon.tasks.gui.templates.draft import (
    GuiDraft,
    GuiScene,
    GuiTemplate,
    PhoneScript,
    row_added,
)
from hexathlon.tasks.gui.templates.people import write_message
from hexathlon.tasks.gui.world.kit.dates import time_text
from hexathlon.tasks.gui.world.kit.words import wordings
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.system.plan import PhonePlan
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level

__all__ = [
    "CONTACT_TEXTS", "DONE",
    "MAIL_TEXTS", "alarm_words", "answered", "change_alarm", "change_event",
    "fill_event", "fill_task",
    "find_entry", "keep_event", "only_in", "open_event", "press", "refused", "save_event",
    "send_mail", "sent_mail", "set_alarm",
    "steps", "template", "text_to", "to_tab",
]  # fmt: skip


def template(
    name: str, *levels: Level, apps: Sequence[str], twins: bool = False
) -> Callable[[Callable[[GuiScene], GuiDraft | None]], GuiTemplate]:
    """Return a decorator that turns a function that draws a task into a template."""

    def made(draw: Callable[[GuiScene], GuiDraft | None]) -> GuiTemplate:
        members = {"name": name, "levels": levels, "apps": tuple(apps), "twins": twins,
                   "draw": lambda self, scene: draw(scene), "__doc__": draw.__doc__}  # fmt: skip
        built: GuiTemplate = type(draw.__name__, (GuiTemplate,), members)()
        return built

    return made


def steps(*parts: PhoneScript) -> PhoneScript:
    """Run scripts in sequence."""

    def run(pilot: PhonePilot) -> Script:
        for part in parts:
            yield from part(pilot)

    return run


def DONE(pilot: PhonePilot) -> Script:  # noqa: N802 - a constant script
    """Report the work as complete."""
    yield from pilot.done()


def answered(*values: object) -> PhoneScript:
    """Answer and report the work as complete."""
    return lambda pilot: pilot.answer(*values)


def refused(record: str, reason: str = "conflict") -> PhoneScript:
    """Report the work as infeasible."""
    return lambda pilot: pilot.refuse(record, reason)


def to_tab(app: str, key: str) -> PhoneScript:
    """Open an app on one of its tabs."""

    def run(pilot: PhonePilot) -> Script:
        yield from pilot.open(app)
        yield from pilot.tap("tab", pilot.words(app, key))

    return run


def find_entry(app: str, text: str, title: str = "") -> PhoneScript:
    """Open an entry of an app by searching for a text."""

    def run(pilot: PhonePilot) -> Script:
        yield from pilot.open(app)
        yield from pilot.press(app, "search")
        yield from pilot.fill(pilot.words(app, "search"), text)
        yield from pilot.tap_entry(title or text)

    return run


def press(app: str, *keys: str) -> PhoneScript:
    """Use actions of screens, in sequence."""

    def run(pilot: PhonePilot) -> Script:
        for key in keys:
            yield from pilot.press(app, key)

    return run


def text_to(name: str, text: str) -> PhoneScript:
    """Send a message to a contact."""
    return lambda pilot: write_message(pilot, name, text)


def only_in(rows: Sequence[PhoneRow], text: str, columns: Sequence[str]) -> bool:
    """Whether exactly one row contains a text in any of the given columns, as a search finds it."""
    wanted = text.casefold()
    return sum(any(wanted in str(row[name]).casefold() for name in columns) for row in rows) == 1


CONTACT_TEXTS = ("name", "phone", "email", "company", "address", "birthday", "group", "note")
"""Columns searched by the contacts app."""


# Mail ------------------------------------------------------------------------------------------

MAIL_TEXTS = ("name", "address", "to", "subject", "body", "file")
"""Columns searched by the mail app."""


def send_mail(to: str, subject: str, body: str, *, send: str = "send") -> PhoneScript:
    """Write an email; `send` names the final action."""

    def run(pilot: PhonePilot) -> Script:
        yield from pilot.open("mail")
        yield from pilot.create("mail", "compose")
        for field, value in (("to", to), ("subject", subject), ("text", body)):
            yield from pilot.fill(pilot.words("mail", field), value)
        yield from pilot.press("mail", send)

    return run


def sent_mail(
    scene: GuiScene, plan: PhonePlan, to: str, subject: str, body: str, *, file: str = "",
    folder: str = "sent",
) -> dict[str, Any]:  # fmt: skip
    """Expect an email, with the signature if the settings add one."""
    prefs = plan.table("mail.prefs")
    if folder == "sent" and prefs["sign"]["value"]:
        body = f"{body}\n{prefs['signature']['value']}"
    return row_added("mail.mails", {
        "folder": folder, "name": "", "address": "", "to": to, "cc": "", "subject": subject,
        "body": body, "file": file, "starred": False,
    })  # fmt: skip


# Calendar --------------------------------------------------------------------------------------


def alarm_words(language: Language, minutes: str) -> str:
    """Return the calendar's wording of a reminder, given in minutes before the event."""
    key = {"": "no_alarm", "0": "at_start", "60": "hour_before", "1440": "day_ahead"}.get(minutes)
    if key is not None:
        return wordings("calendar", key, language)[0]
    number = int(minutes)
    key, count = ("minutes_before", number) if number < 60 else ("hours_before", number // 60)
    return wordings("calendar", key, language)[0].format(n=count)


def fill_event(pilot: PhonePilot, facts: Mapping[str, str]) -> Script:
    """Fill in the open event form."""
    for field, value in facts.items():
        words = pilot.words("calendar", field)
        if field == "day":
            yield from pilot.pick_day(words, value)
        elif field in ("start", "end"):
            yield from pilot.pick_time(words, value)
        elif field == "alarm":
            yield from pilot.choose(words, alarm_words(pilot.language, value))
        elif field == "guests":
            yield from pilot.tap_entry(words)
            for name in value.split(", "):
                yield from pilot.fill(pilot.words("calendar", "search"), name)
                yield from pilot.tap("checkbox", name)
            yield from pilot.press("calendar", "take_over")
        elif field in ("calendar", "repeat"):
            yield from pilot.choose(words, pilot.words("calendar", value))
        else:
            yield from pilot.fill(words, value)


def keep_event(pilot: PhonePilot) -> Script:
    """Save the open event form, even if its time is taken."""
    yield from pilot.press("calendar", "save")
    anyway = pilot.words("calendar", "save_anyway")
    if pilot.has("button", anyway):
        yield from pilot.tap("button", anyway)


def save_event(facts: Mapping[str, str]) -> PhoneScript:
    """Create an event."""

    def run(pilot: PhonePilot) -> Script:
        yield from pilot.open("calendar")
        yield from pilot.create("calendar", "new_event")
        yield from fill_event(pilot, facts)
        yield from keep_event(pilot)

    return run


def open_event(title: str) -> PhoneScript:
    """Open an event by searching for its title."""
    return find_entry("calendar", title)


def change_event(title: str, facts: Mapping[str, str]) -> PhoneScript:
    """Change an event."""

    def run(pilot: PhonePilot) -> Script:
        yield from open_event(title)(pilot)
        yield from pilot.press("calendar", "edit")
        yield from fill_event(pilot, facts)
        yield from keep_event(pilot)

    return run


# Clock and tasks -------------------------------------------------------------------------------


def set_alarm(time: str, days: str = "", label: str = "") -> PhoneScript:
    """Create an alarm; days are digits, 1 for Monday."""

    def run(pilot: PhonePilot) -> Script:
        yield from to_tab("clock", "alarms")(pilot)
        yield from pilot.create("clock", "new_alarm")
        yield from pilot.pick_time(pilot.words("clock", "time"), time)
        names = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
        for day in days:
            name = names[int(day) - 1]
            if pilot.language == "zh":
                name = f"周{'一二三四五六日'[int(day) - 1]}"
            yield from pilot.tap("checkbox", name)
        if label:
            yield from pilot.fill(pilot.words("clock", "label"), label)
        yield from pilot.press("clock", "save")

    return run


def change_alarm(time: str, to: str) -> PhoneScript:
    """Move an alarm to another time; both are `HH:MM`."""

    def run(pilot: PhonePilot) -> Script:
        yield from to_tab("clock", "alarms")(pilot)
        yield from pilot.tap_entry((time, time_text(time, True, pilot.language)))
        yield from pilot.pick_time(pilot.words("clock", "time"), to)
        yield from pilot.press("clock", "save")

    return run


def fill_task(facts: Mapping[str, str]) -> PhoneScript:
    """Create a task."""

    def run(pilot: PhonePilot) -> Script:
        yield from pilot.open("tasks")
        yield from pilot.create("tasks", "new_task")
        for field, value in facts.items():
            words = pilot.words("tasks", field)
            if field == "due":
                yield from pilot.pick_day(words, value)
            elif field == "time":
                yield from pilot.pick_time(words, value)
            elif field == "list":
                yield from pilot.choose(words, value)
            elif field == "priority":
                yield from pilot.choose(words, pilot.words("tasks", value))
            else:
                yield from pilot.fill(words, value)
        yield from pilot.press("tasks", "save")

    return run
