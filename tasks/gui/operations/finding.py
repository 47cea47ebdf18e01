"""Reading: opening entries, tabs and screens of apps."""

from hexathlon.tasks.gui.operations.operation import Operation, OperationScript
from hexathlon.tasks.gui.pilot import PhonePilot
from hexathlon.tasks.source import Script

__all__ = ["found", "opened", "read", "read_tab", "read_thread", "tab"]


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


def read(app: str, text: str, title: str = "") -> Operation:
    """Read an entry that a search finds."""
    return Operation(found(app, text, title))


def read_tab(app: str, key: str) -> Operation:
    """Read a tab of an app."""
    return Operation(tab(app, key))


def read_thread(name: str) -> Operation:
    """Read a conversation."""

    def run(pilot: PhonePilot) -> Script:
        yield from pilot.open("messages")
        yield from pilot.tap_entry(name)

    return Operation(run)
