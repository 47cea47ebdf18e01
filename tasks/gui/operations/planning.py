"""Operations of the calendar, the clock, the tasks app, the maps and the settings."""

from collections.abc import Mapping
from typing import Any

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.gui.operations.expected import ExpectedPhone
from hexathlon.tasks.gui.operations.finding import found, tab
from hexathlon.tasks.gui.operations.operation import PhoneOperation
from hexathlon.tasks.gui.pilot import PhonePilot
from hexathlon.tasks.gui.world.kit.dates import time_text
from hexathlon.tasks.gui.world.kit.words import wordings
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.source import Script

__all__ = ["add_event", "add_step", "add_task", "change_event", "change_task", "delete_event",
           "delete_task", "finish_task", "flag_task", "reminder_words", "save_place", "set_alarm",
           "switch_alarm", "switch_setting"]  # fmt: skip


# Calendar --------------------------------------------------------------------------------------


def reminder_words(language: Language, minutes: str) -> tuple[str, ...]:
    """Return the calendar's wordings of a reminder, given in minutes before the event."""
    key = {"": "no_alarm", "0": "at_start", "60": "hour_before", "1440": "day_ahead"}.get(minutes)
    if key is not None:
        return wordings("calendar", key, language)
    number = int(minutes)
    key, count = ("minutes_before", number) if number < 60 else ("hours_before", number // 60)
    return tuple(text.format(n=count) for text in wordings("calendar", key, language))


def _fill_event(pilot: PhonePilot, facts: Mapping[str, str]) -> Script:
    for field, value in facts.items():
        words = pilot.words("calendar", field)
        if field == "day":
            yield from pilot.pick_day(words, value)
        elif field in ("start", "end"):
            yield from pilot.pick_time(words, value)
        elif field == "alarm":
            yield from pilot.choose(words, reminder_words(pilot.language, value))
        elif field == "guests":
            yield from _fill_guests(pilot, value)
        elif field in ("calendar", "repeat"):
            yield from pilot.choose(words, pilot.words("calendar", value))
        else:
            yield from pilot.fill(words, value)
    yield from pilot.press("calendar", "save")
    anyway = pilot.words("calendar", "save_anyway")
    if pilot.has("button", anyway):
        yield from pilot.tap("button", anyway)


def _fill_guests(pilot: PhonePilot, guests: str) -> Script:
    yield from pilot.tap_entry(pilot.words("calendar", "guests"))
    for name in guests.split(", "):
        yield from pilot.fill(pilot.words("calendar", "search"), name)
        yield from pilot.tap("checkbox", name)
    yield from pilot.press("calendar", "take_over")


def add_event(**facts: str) -> PhoneOperation:
    """Create an event.

    Args:
        facts: `title`, `day`, `start`, `end`, `place`, `guests`, `calendar`, `alarm`, `repeat` and
            `note`; `end` after `start`, because a new start moves it.
    """

    def run(pilot: PhonePilot) -> Script:
        yield from pilot.open("calendar")
        yield from pilot.create("calendar", "new_event")
        yield from _fill_event(pilot, facts)

    def effect(phone: ExpectedPhone) -> None:
        usual = {"all_day": False, "place": "", "guests": "", "calendar": "personal",
                 "alarm": phone.table("calendar.prefs")["alarm"]["value"], "repeat": "",
                 "note": ""}  # fmt: skip
        names = ", ".join(sorted(facts["guests"].split(", "))) if facts.get("guests") else ""
        phone.add("calendar.events", **usual | facts | {"guests": names})

    return PhoneOperation(run, effect, actions=20)


def change_event(title: str, **facts: str) -> PhoneOperation:
    """Change the event with a unique title; `guests` names those to add or take off."""

    def run(pilot: PhonePilot) -> Script:
        yield from found("calendar", title)(pilot)
        yield from pilot.press("calendar", "edit")
        yield from _fill_event(pilot, facts)

    def effect(phone: ExpectedPhone) -> None:
        row = phone.the("calendar.events", title=title)
        given = set(facts.get("guests", "").split(", ")) - {""}
        names = {name for name in row["guests"].split(", ") if name} ^ given
        phone.change(
            "calendar.events",
            row["id"],
            **{**facts, "guests": ", ".join(sorted(names)) if given else row["guests"]},
        )

    return PhoneOperation(run, effect, actions=11)


def delete_event(title: str) -> PhoneOperation:
    """Delete the event with a unique title."""

    def run(pilot: PhonePilot) -> Script:
        yield from found("calendar", title)(pilot)
        yield from pilot.press("calendar", "delete")
        yield from pilot.tap("button", pilot.words("calendar", "delete"))

    return PhoneOperation(
        run,
        lambda phone: phone.remove(
            "calendar.events", phone.the("calendar.events", title=title)["id"]
        ),
    )


# Clock -----------------------------------------------------------------------------------------


def set_alarm(time: str, days: str = "", label: str = "") -> PhoneOperation:
    """Create an alarm; days are digits, 1 for Monday."""

    def run(pilot: PhonePilot) -> Script:
        yield from tab("clock", "alarms")(pilot)
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

    def effect(phone: ExpectedPhone) -> None:
        prefs = phone.table("clock.prefs")
        phone.add("clock.alarms", time=time, days=days, label=label, on=True,
                  snooze=prefs["snooze"]["value"], sound=prefs["sound"]["value"],
                  vibrate=True)  # fmt: skip

    return PhoneOperation(run, effect)


def switch_alarm(alarm: PhoneRow) -> PhoneOperation:
    """Turn the alarm at a unique time on or off."""

    def run(pilot: PhonePilot) -> Script:
        yield from tab("clock", "alarms")(pilot)
        shown = {time_text(alarm["time"], twelve, pilot.language) for twelve in (True, False)}
        names = [word.format(time=time) for word in pilot.words("clock", "alarm_at")
                 for time in sorted(shown)]  # fmt: skip
        yield from pilot.tap_entry(names, "switch")

    return PhoneOperation(
        run, lambda phone: phone.change("clock.alarms", alarm["id"], on=not alarm["on"])
    )


# Tasks -----------------------------------------------------------------------------------------


def add_task(**facts: str) -> PhoneOperation:
    """Create a task: `title`, `list` by name, `due`, `time`, `priority`, `note`."""

    def run(pilot: PhonePilot) -> Script:
        yield from pilot.open("tasks")
        yield from pilot.create("tasks", "new_task")
        yield from _fill_task(pilot, facts)

    def effect(phone: ExpectedPhone) -> None:
        lists = phone.rows("tasks.lists")
        first = min(lists, key=lambda row: row["place"])["id"]
        chosen = next((row["id"] for row in lists if row["name"] == facts.get("list")), first)
        usual: dict[str, Any] = {"due": "", "time": "", "priority": "", "note": "",
                                 "flagged": False, "done": False}  # fmt: skip
        phone.add("tasks.tasks", **usual | facts | {"list": chosen})

    return PhoneOperation(run, effect)


def _fill_task(pilot: PhonePilot, facts: Mapping[str, str]) -> Script:
    for field, value in facts.items():
        words = pilot.words("tasks", field)
        if field == "due":
            yield from pilot.pick_day(words, value)
        elif field == "time":
            yield from pilot.pick_time(words, value)
        elif field == "list":
            yield from pilot.choose(words, value)
        elif field == "priority":
            yield from pilot.choose(words, pilot.words("tasks", value or "none"))
        else:
            yield from pilot.fill(words, value)
    yield from pilot.press("tasks", "save")


def change_task(title: str, **facts: str) -> PhoneOperation:
    """Change the task with a unique title."""

    def run(pilot: PhonePilot) -> Script:
        yield from found("tasks", title)(pilot)
        yield from pilot.press("tasks", "edit")
        yield from _fill_task(pilot, facts)

    return PhoneOperation(
        run,
        lambda phone: phone.change(
            "tasks.tasks", phone.the("tasks.tasks", title=title)["id"], **facts
        ),
    )


def finish_task(title: str) -> PhoneOperation:
    """Mark the task with a unique title as done."""

    def run(pilot: PhonePilot) -> Script:
        yield from found("tasks", title)(pilot)
        yield from pilot.tap("checkbox", title)

    return PhoneOperation(
        run,
        lambda phone: phone.change(
            "tasks.tasks", phone.the("tasks.tasks", title=title)["id"], done=True
        ),
        actions=5,
    )


def flag_task(title: str) -> PhoneOperation:
    """Flag the task with a unique title."""

    def run(pilot: PhonePilot) -> Script:
        yield from found("tasks", title)(pilot)
        yield from pilot.press("tasks", "flag")

    return PhoneOperation(
        run,
        lambda phone: phone.change(
            "tasks.tasks", phone.the("tasks.tasks", title=title)["id"], flagged=True
        ),
    )


def delete_task(title: str) -> PhoneOperation:
    """Delete the task with a unique title, and its steps."""

    def run(pilot: PhonePilot) -> Script:
        yield from found("tasks", title)(pilot)
        yield from pilot.press("tasks", "delete")
        yield from pilot.tap("button", pilot.words("tasks", "delete"))

    def effect(phone: ExpectedPhone) -> None:
        key = phone.the("tasks.tasks", title=title)["id"]
        for row in phone.rows("tasks.steps"):
            if row["task"] == key:
                phone.remove("tasks.steps", row["id"])
        phone.remove("tasks.tasks", key)

    return PhoneOperation(run, effect)


def add_step(title: str, step: str) -> PhoneOperation:
    """Add a step to the task with a unique title."""

    def run(pilot: PhonePilot) -> Script:
        yield from found("tasks", title)(pilot)
        yield from pilot.reveal("textbox")
        boxes = [each for each in pilot.elements() if each.role == "textbox"]
        yield from pilot.act("input_text", text=step, index=boxes[0].index, clear_text=True)
        yield from pilot.act("keyboard_enter")

    def effect(phone: ExpectedPhone) -> None:
        phone.add(
            "tasks.steps", task=phone.the("tasks.tasks", title=title)["id"], title=step, done=False
        )

    return PhoneOperation(run, effect)


# Maps and settings -----------------------------------------------------------------------------


def save_place(place: PhoneRow, into: str, note: str = "") -> PhoneOperation:
    """Save a place in the list `favourites`, `want` or `recommended`."""

    def run(pilot: PhonePilot) -> Script:
        yield from found("maps", place["name"])(pilot)
        yield from pilot.press("maps", "save_place")
        yield from pilot.tap_entry(pilot.words("maps", into))
        if note:
            yield from pilot.tap_entry(pilot.words("maps", "add_note"))
            yield from pilot.fill(pilot.words("maps", "note"), note)
            yield from pilot.tap("button", pilot.words("maps", "save"))

    def effect(phone: ExpectedPhone) -> None:
        phone.add("maps.saved", place=place["id"], list=into, note=note)

    return PhoneOperation(run, effect)


def switch_setting(section: str, name: str) -> PhoneOperation:
    """Flip a switch of a page of the settings."""

    def run(pilot: PhonePilot) -> Script:
        yield from pilot.open("settings")
        yield from pilot.tap_entry(pilot.words("settings", section))
        yield from pilot.tap_entry(pilot.words("settings", name), "switch")

    def effect(phone: ExpectedPhone) -> None:
        row = phone.table("settings.values")[name]
        phone.change("settings.values", name, value=not row["value"])

    return PhoneOperation(run, effect)
