"""Finds the screens of apps by tapping everything, for contact sheets and tests."""

from typing import Any, NamedTuple

from hexathlon.tasks.gui.world.system.phone import Phone

__all__ = ["FoundScreen", "reachable_screens"]


class FoundScreen(NamedTuple):
    """A screen, and the state that returns to it."""

    app: str
    name: str
    state: Any
    """A saved state of the phone that shows it."""

    taps: int
    """Number of taps from the app's first screen."""


def reachable_screens(phone: Phone, app: str, most: int = 400) -> list[FoundScreen]:
    """Return the screens that taps reach from an app's first screen, each kind once.

    Args:
        phone: The phone; its state is restored afterwards.
        app: Name of the app.
        most: Maximum number of taps.
    """
    before = phone.save()
    phone.open_app(app)
    first = FoundScreen(app, "home", phone.save(), 0)
    found, waiting, taps = {_kind(phone): first}, [first], 0
    while waiting and taps < most:
        here = waiting.pop(0)
        phone.load(here.state)
        for place in range(len(phone.nodes())):
            phone.load(here.state)
            node = phone.nodes()[place]
            if node.on is None and node.kind not in ("pick", "text"):
                continue
            taps += 1
            phone.begin_action()
            phone.tap(node)
            phone.end_action()
            kind = _kind(phone)
            if kind not in found and phone.app_name != "launcher":
                top = phone.core.top
                screen = FoundScreen(top.app, top.name, phone.save(), here.taps + 1)
                found[kind] = screen
                if phone.app_name == app:
                    waiting.append(screen)
    phone.load(before)
    return list(found.values())


def _kind(phone: Phone) -> tuple[str, ...]:
    top = phone.core.top
    return top.app, top.name, str(top.values.get("tab", "")), str(bool(phone.core.focus))
