"""What templates with scripts share: the decorator, scripts that are no operations, expectations.

The scripts of everyday operations are those of `hexathlon.tasks.gui.operations`.
"""

from collections.abc import Callable, Sequence
from typing import Any

from hexathlon.tasks.gui.operations.finding import tab
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
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.system.plan import PhonePlan
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level

__all__ = ["CONTACT_TEXTS", "MAIL_TEXTS", "answered", "change_alarm", "only_in", "press",
           "refused", "sent_mail", "template", "text_to"]  # fmt: skip


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


def answered(*values: object) -> PhoneScript:
    """Answer and report the work as complete."""
    return lambda pilot: pilot.answer(*values)


def refused(record: str, reason: str = "conflict") -> PhoneScript:
    """Report the work as infeasible."""
    return lambda pilot: pilot.refuse(record, reason)


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


MAIL_TEXTS = ("name", "address", "to", "subject", "body", "file")
"""Columns searched by the mail app."""


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


def change_alarm(time: str, to: str) -> PhoneScript:
    """Move an alarm to another time; both are `HH:MM`."""

    def run(pilot: PhonePilot) -> Script:
        yield from tab("clock", "alarms")(pilot)
        yield from pilot.tap_entry((time, time_text(time, True, pilot.language)))
        yield from pilot.pick_time(pilot.words("clock", "time"), to)
        yield from pilot.press("clock", "save")

    return run
