"""SQLite's date functions with 'now' pinned to a fixed moment.

The task determines every byte that an agent sees, so no statement may read the clock or the time
zone. On the agent's connection, the date functions are replaced by versions that substitute the
pinned moment for the clock, treat local time as UTC, and delegate the rest to SQLite.
"""

import sqlite3
from collections.abc import Callable
from functools import partial

from hexathlon.tasks.sql.world.backends.base import StoredValue

__all__ = ["CLOCK_FUNCTIONS", "PinnedClock"]

CLOCK_FUNCTIONS = ("date", "time", "datetime", "julianday", "strftime", "unixepoch")
_KEYWORDS = {"current_date": "date", "current_time": "time", "current_timestamp": "datetime"}
_ZONES = ("localtime", "utc")
_NOW = ("now", "subsec", "subsecond")
_REMEMBERED = 30_000


class _Memory(dict[object, StoredValue]):
    """Values by argument or tuple of arguments, computed on first access.

    Equal numbers share an entry, which is correct because SQLite reads all of them as floats.
    """

    def __init__(self, compute: Callable[[object], StoredValue]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, key: object) -> StoredValue:
        value = self._compute(key)
        if len(self) >= _REMEMBERED:
            self.clear()
        self[key] = value
        return value


def _of_several(memory: _Memory) -> Callable[..., StoredValue]:
    return lambda *arguments: memory[arguments]


class PinnedClock:
    """The date functions of one connection."""

    def __init__(self, today: str) -> None:
        self.today = today
        self._sqlite: sqlite3.Connection | None = None

    def install(self, connection: sqlite3.Connection) -> None:
        """Replace a connection's date functions."""
        for name in CLOCK_FUNCTIONS:
            memory = _Memory(partial(self._computed, name))
            # A cached one-argument call runs no Python code.
            connection.create_function(name, 1, memory.__getitem__, deterministic=True)
            several = _of_several(memory)
            connection.create_function(name, -1, several, deterministic=True)
        for keyword, name in _KEYWORDS.items():
            fixed = partial(str, self._evaluate(name, (self.today,)))
            connection.create_function(keyword, 0, fixed, deterministic=True)

    def close(self) -> None:
        """Close the connection that computes the values."""
        if self._sqlite is not None:
            self._sqlite.close()
            self._sqlite = None

    def _computed(self, name: str, key: object) -> StoredValue:
        arguments = key if isinstance(key, tuple) else (key,)
        return self._evaluate(name, self._pinned(arguments, 1 if name == "strftime" else 0))

    def _pinned(self, arguments: tuple[StoredValue, ...], place: int) -> tuple[StoredValue, ...]:
        cleaned = [_cut(argument) for argument in arguments]
        if place < len(cleaned):
            moment = cleaned[place]
            if isinstance(moment, str) and moment.lower() in _NOW:
                cleaned[place] = self.today
        elif place == len(cleaned):
            cleaned.append(self.today)
        return tuple(
            argument
            for position, argument in enumerate(cleaned)
            if position <= place or not _is_zone(argument)
        )

    def _evaluate(self, name: str, arguments: tuple[StoredValue, ...]) -> StoredValue:
        if self._sqlite is None:
            self._sqlite = sqlite3.connect(":memory:", check_same_thread=False)
        marks = ",".join("?" * len(arguments))
        row = self._sqlite.execute(f"SELECT {name}({marks})", arguments).fetchone()
        return row[0]  # type: ignore[no-any-return]


def _cut(value: StoredValue) -> StoredValue:
    """Return a text as SQLite's C code reads it: up to the first NUL, blobs as their bytes."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return value.partition("\0")[0] if isinstance(value, str) else value


def _is_zone(value: StoredValue) -> bool:
    return isinstance(value, str) and value.strip().lower() in _ZONES
