"""Steps of scripts, from which templates compose their solutions."""

from collections.abc import Callable, Sequence
from typing import Any

from hexathlon.tasks.gui.pilot import PhonePilot
from hexathlon.tasks.gui.templates.draft import PhoneScript
from hexathlon.tasks.source import Script

__all__ = ["choosing", "created", "filled", "in_turn", "opened",
           "pressed", "sought", "tapped", "to_entry",
           "to_tab", "told", "turned_down"]  # fmt: skip


def in_turn(*parts: PhoneScript | None, end: bool = True) -> PhoneScript:
    """Run scripts in sequence; then report the request as complete.

    Args:
        parts: The scripts; None is skipped.
        end: Whether to report.
    """

    def solve(pilot: PhonePilot) -> Script:
        for part in parts:
            if part is not None:
                yield from part(pilot)
        if end:
            yield from pilot.done()

    return solve


def opened(app: str) -> PhoneScript:
    """Open an app at its first screen."""
    return lambda pilot: pilot.open(app)


def pressed(app: str, key: str) -> PhoneScript:
    """Use an action of the screen's bar or menu."""
    return lambda pilot: pilot.press(app, key)


def created(app: str, key: str) -> PhoneScript:
    """Use the main action of the screen."""
    return lambda pilot: pilot.create(app, key)


def filled(app: str, key: str, text: str) -> PhoneScript:
    """Replace the text of a field."""
    return lambda pilot: pilot.fill(pilot.words(app, key), text)


def choosing(app: str, key: str, option: str, *, named: bool = False) -> PhoneScript:
    """Choose an option, by the key of its label, or by its text if `named`."""

    def solve(pilot: PhonePilot) -> Script:
        wanted: str | Sequence[str] = option if named else pilot.words(app, option)
        yield from pilot.choose(pilot.words(app, key), wanted)

    return solve


def to_entry(title: str | Sequence[str], role: str = "item", **where: Any) -> PhoneScript:
    """Scroll to an entry and tap it."""
    return lambda pilot: pilot.tap_entry(title, role, **where)


def tapped(app: str, key: str, role: str = "button") -> PhoneScript:
    """Scroll to an element by its label and tap it."""
    return lambda pilot: pilot.tap_entry(pilot.words(app, key), role)


def to_tab(app: str, key: str) -> PhoneScript:
    """Open an app on one of its tabs."""

    def solve(pilot: PhonePilot) -> Script:
        yield from pilot.tap("tab", pilot.words(app, key))

    return solve


def sought(app: str, text: str, title: str) -> Callable[[PhonePilot], Script]:
    """Open one of an app's entries by searching."""
    return in_turn(opened(app), pressed(app, "search"), filled(app, "search", text),
                   to_entry(title), end=False)  # fmt: skip


def told(*values: object) -> PhoneScript:
    """Answer a question and report the request as complete."""
    return lambda pilot: pilot.answer(*values)


def turned_down(record: str) -> PhoneScript:
    """Report the request as infeasible."""
    return lambda pilot: pilot.refuse(record)
