"""Moves the clock and the time zone of a fresh Python process, before anything else is imported.

Loaded from its file by the second process of the kit's clock check, so it imports only the standard
library. Only Python's own clocks are shifted.
"""

import datetime
import os
import time
from collections.abc import Callable
from typing import Any

__all__ = ["shift_clock"]


def shift_clock(seconds: int, zone: str) -> None:
    """Shift all clocks by some seconds, and the local time to another zone.

    Args:
        seconds: Added to every reading of the clock.
        zone: A POSIX time zone, such as `XST-05:45`.
    """
    os.environ["TZ"] = zone
    time.tzset()
    real, real_ns = time.time, time.time_ns
    time.time = lambda: real() + seconds
    time.time_ns = lambda: real_ns() + seconds * 1_000_000_000
    for name in ("monotonic", "perf_counter"):
        setattr(time, name, _later(getattr(time, name), seconds))
        setattr(time, f"{name}_ns", _later(getattr(time, f"{name}_ns"), seconds * 1_000_000_000))
    for name in ("localtime", "gmtime", "ctime"):
        setattr(time, name, _of_moment(getattr(time, name)))
    for name, place in (("strftime", 1), ("asctime", 0)):
        setattr(time, name, _of_fields(getattr(time, name), place))
    datetime.datetime = _datetime()  # type: ignore[misc]
    datetime.date = _date()  # type: ignore[misc]


def _later(real: Callable[[], Any], shift: int) -> Callable[[], Any]:
    return lambda: real() + shift


def _of_moment(real: Callable[..., Any]) -> Callable[..., Any]:
    return lambda moment=None: real(time.time() if moment is None else moment)


def _of_fields(real: Callable[..., Any], place: int) -> Callable[..., Any]:
    def shifted(*given: Any) -> Any:
        return real(*given) if len(given) > place else real(*given, time.localtime())

    return shifted


class _Like(type):
    """Makes instances of the real class pass as instances of the shifted one."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.__mro__[1])


def _datetime() -> Any:
    class Moved(datetime.datetime, metaclass=_Like):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Any:
            return cls.fromtimestamp(time.time(), tz)

        @classmethod
        def utcnow(cls) -> Any:
            return cls.fromtimestamp(time.time(), datetime.UTC).replace(tzinfo=None)

        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(time.time())

    return Moved


def _date() -> Any:
    class Moved(datetime.date, metaclass=_Like):
        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(time.time())

    return Moved
