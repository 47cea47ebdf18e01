"""Events: what a tap does, as data, so that screens can be cached and shared by forks."""

from typing import Any, NamedTuple

__all__ = ["BACK", "PhoneEvent", "do", "go", "open_app", "put"]


class PhoneEvent(NamedTuple):
    """The effect of using a widget."""

    kind: str
    """`go`: open a screen; `do`: call a handler; `open`: a screen of another app; `put`: set a
    value of the screen; `back`."""

    name: str = ""
    """Name of the screen, the handler or the value."""

    params: dict[str, Any] = {}
    app: str = ""
    """The app, if it is not the screen's own."""


BACK = PhoneEvent("back")


def go(screen: str, **params: Any) -> PhoneEvent:
    """Open a screen of the same app."""
    return PhoneEvent("go", screen, params)


def do(handler: str, **params: Any) -> PhoneEvent:
    """Call the app's method `do_HANDLER`."""
    return PhoneEvent("do", handler, params)


def open_app(app: str, screen: str = "home", **params: Any) -> PhoneEvent:
    """Open a screen of another app on top of this one."""
    return PhoneEvent("open", screen, params, app)


def put(key: str, value: Any) -> PhoneEvent:
    """Set a value of the current screen, such as the chosen tab."""
    return PhoneEvent("put", key, {"value": value})
