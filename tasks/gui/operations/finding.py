"""Reading: opening entries, tabs and screens of apps."""

from collections.abc import Sequence

from hexathlon.tasks.gui.operations.operation import OperationScript, PhoneOperation
from hexathlon.tasks.gui.pilot import PhonePilot
from hexathlon.tasks.source import Script

__all__ = ["found", "look_up", "opened", "read", "read_each",
           "read_path", "read_tab", "read_thread", "tab"]  # fmt: skip


def opened(app: str) -> OperationScript:
    """Open an app at its first screen."""
    return lambda pilot: pilot.open(app)


def tab(app: str, key: str) -> OperationScript:
    """Open an app on one of its tabs."""

    def run(pilot: PhonePilot) -> Script:
        yield from pilot.open(app)
        yield from pilot.tap("tab", pilot.words(app, key))

    return run


def found(app: str, text: str, title: str = "") -> OperationScript:
    """Open an entry by searching for a text; `title` is its first line, if that differs."""

    def run(pilot: PhonePilot) -> Script:
        yield from pilot.open(app)
        yield from pilot.press(app, "search")
        yield from pilot.fill(pilot.words(app, "search"), text)
        yield from pilot.tap_entry(title or text)

    return run


def read(app: str, text: str, title: str = "") -> PhoneOperation:
    """Read an entry that a search finds."""
    return PhoneOperation(found(app, text, title), actions=5)


def read_tab(app: str, key: str) -> PhoneOperation:
    """Read a tab of an app."""
    return PhoneOperation(tab(app, key), actions=2)


def look_up(app: str, text: str) -> PhoneOperation:
    """Read what a search for a text lists."""

    def run(pilot: PhonePilot) -> Script:
        yield from pilot.open(app)
        yield from pilot.press(app, "search")
        yield from pilot.fill(pilot.words(app, "search"), text)

    return PhoneOperation(run, actions=4)


def read_path(app: str, key: str, *entries: str | tuple[str, ...]) -> PhoneOperation:
    """Read a screen that taps reach from a tab; without a key, from the first screen."""

    def run(pilot: PhonePilot) -> Script:
        yield from pilot.open(app)
        if key:
            yield from pilot.tap("tab", pilot.words(app, key))
        for entry in entries:
            yield from pilot.tap_entry(entry, "item|image")
        if "scroll down" in pilot.screen:
            yield from pilot.act("scroll", direction="down")

    return PhoneOperation(run, actions=2 + len(entries) + bool(key))


def read_each(app: str, path: Sequence[str], titles: Sequence[str]) -> PhoneOperation:
    """Read a list that taps reach from an app's first screen, then some of its entries in turn."""

    def run(pilot: PhonePilot) -> Script:
        yield from pilot.open(app)
        for entry in path:
            yield from pilot.tap_entry(entry)
        for title in titles:
            yield from pilot.tap_entry(title)
            yield from pilot.act("navigate_back")

    return PhoneOperation(run, actions=1 + len(path) + 2 * len(titles))


def read_thread(name: str) -> PhoneOperation:
    """Read a conversation."""

    def run(pilot: PhonePilot) -> Script:
        yield from pilot.open("messages")
        yield from pilot.tap_entry(name)

    return PhoneOperation(run, actions=2)
