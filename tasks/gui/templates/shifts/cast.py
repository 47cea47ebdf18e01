"""The people of a day, and conversations with them."""

from collections.abc import Sequence
from dataclasses import dataclass

from hexathlon.tasks.gui.templates.errand import Errand
from hexathlon.tasks.gui.world.phone.core import PhoneRow

__all__ = ["DayCast", "conversation", "draw_cast", "note"]


@dataclass(frozen=True)
class DayCast:
    """People of a day; all have unique names."""

    keeper: PhoneRow
    """May change the rules."""

    pretender: PhoneRow
    """Changes them without authority."""

    others: Sequence[PhoneRow]
    """Half of them belong to the group Work."""


def draw_cast(e: Errand, count: int = 9) -> DayCast:
    """Draw the people of a day."""
    keeper, pretender, *others = e.people(2 + count)
    for place, row in enumerate(others):
        group = "work" if place % 2 else e.pick(("family", "friends"))
        others[place] = e.put("contacts.contacts", row, group=group)
    return DayCast(keeper, pretender, tuple(others))


def conversation(e: Errand, person: PhoneRow) -> PhoneRow:
    """Return the conversation with a person, started if there is none."""
    known = next((row for row in e.rows("messages.threads")
                  if row["number"] == person["phone"]), None)  # fmt: skip
    if known is not None:
        return known
    thread = e.put("messages.threads", None, name=person["name"], number=person["phone"],
                   muted=False, blocked=False, unread=False)  # fmt: skip
    e.tell(thread, e.say("Hello, it is me.", "你好，是我。"))
    return thread


def note(e: Errand, title: str, text: str, *, pinned: bool = False) -> None:
    """Add a note."""
    e.put("notes.notes", None, title=title, text=text, label="", pinned=pinned, archived=False,
          changed=f"{e.day(-e.number(1, 9))} {e.number(10, 19)}:{e.number(10, 59)}")  # fmt: skip
