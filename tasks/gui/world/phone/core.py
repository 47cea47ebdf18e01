"""The state of a phone: tables of immutable rows, the back stack, and the clock.

Everything is plain data. Rows and tables are never changed in place: writing copies the table, so
that a copy of the phone costs a few dictionaries.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.gui.world.kit.events import PhoneEvent

__all__ = ["SECONDS_PER_ACTION", "PhoneCore", "PhoneRow", "PhoneTable", "ScreenState"]

SECONDS_PER_ACTION = 10

PhoneRow = Mapping[str, Any]
PhoneTable = Mapping[Any, PhoneRow]
"""Rows by their key, the value of their column `id`."""


class ScreenState(NamedTuple):
    """One screen of the back stack."""

    app: str
    name: str
    params: Mapping[str, Any] = {}
    values: Mapping[str, Any] = {}
    """Values entered into its fields, and other state of the screen."""

    offset: int = 0
    """Pixels scrolled."""


class PhoneCore:
    """State of a phone.

    Args:
        start: Date and time at which it starts.
        language: Language of apps and content.
        seed_tables: Returns the initial tables of an app, by full name such as `notes.notes`.
        dispatch: Carries out an event of an app; called by windows of the phone.
        is_sent: Whether a row, by its full table name, has left the phone, as a sent message has.
        taken: Highest key, by table, of rows that others will add later.
    """

    def __init__(
        self,
        start: datetime,
        language: Language,
        seed_tables: Callable[[str], Mapping[str, PhoneTable]],
        dispatch: Callable[[str, PhoneEvent], None],
        is_sent: Callable[[str, PhoneRow], bool],
        taken: Mapping[str, int],
    ) -> None:
        self.start = start
        self.language: Language = language
        self._seed_tables = seed_tables
        self.dispatch = dispatch
        self._is_sent = is_sent
        self._taken = taken
        self.first: dict[str, PhoneTable] = {}
        """Tables as they were at the start; apps are seeded when first used."""

        self.tables: dict[str, PhoneTable] = {}
        self.sent: dict[tuple[str, Any], PhoneRow] = {}
        """Rows that left the phone since the start, by table and key; deleting them here does not
        recall them."""

        self.stack: tuple[ScreenState, ...] = ()
        """The screens of the foreground, from its first to the visible one."""

        self.kept: dict[str, tuple[ScreenState, ...]] = {}
        """Screens of other apps in use, by app, the latest last."""

        self.focus = ""
        """Key of the focused field."""

        self.toast = ""
        """Short message, shown until the next action."""

        self.shift = False
        """Whether the next letter typed is a capital."""

        self.symbols = False
        """Whether the keyboard shows digits and signs."""

        self.seconds = 0
        """Simulated time since the start."""

        self.memory: Mapping[int, Any] = {}
        """What the faults of apps have seen so far; see `quirks`."""

    # Time --------------------------------------------------------------------------------------

    @property
    def now(self) -> datetime:
        """The current time."""
        return self.start + timedelta(seconds=self.seconds)

    # Tables ------------------------------------------------------------------------------------

    def table(self, name: str) -> PhoneTable:
        """Return a table by its full name, such as `contacts.contacts`.

        Raises:
            KeyError: If there is no such table.
        """
        found = self.tables.get(name)
        if found is None:
            seeded = self._seed_tables(name.partition(".")[0])
            for each, rows in seeded.items():
                self.first[each] = rows
                self.tables.setdefault(each, rows)
            found = self.tables[name]
        return found

    def write(self, name: str, row: PhoneRow) -> None:
        """Add or replace a row."""
        copy = dict(self.table(name))
        if self._is_sent(name, row) and not self._is_sent(name, copy.get(row["id"], {})):
            self.sent[name, row["id"]] = row
        copy[row["id"]] = row
        self.tables[name] = copy

    def erase(self, name: str, key: Any) -> None:
        """Remove a row.

        Raises:
            KeyError: If there is none with this key.
        """
        copy = dict(self.table(name))
        del copy[key]
        self.tables[name] = copy

    def next_key(self, name: str) -> int:
        """Return the number of the next new row; numbers of removed rows are not reused.

        Numbers reserved for rows that others will add are skipped.
        """
        table = self.table(name)
        sent = (key for where, key in self.sent if where == name)
        keys = (key for key in (*table, *self.first[name], *sent) if isinstance(key, int))
        return max(self._taken.get(name, 0), *keys, 0) + 1

    # Screens -----------------------------------------------------------------------------------

    @property
    def top(self) -> ScreenState:
        """The visible screen."""
        return self.stack[-1]

    def push(self, screen: ScreenState) -> None:
        """Show a screen above the others."""
        self.stack = (*self.stack, screen)
        self.focus = ""

    def pop(self) -> ScreenState:
        """Leave the visible screen, but never the last one; return it."""
        screen = self.stack[-1]
        if len(self.stack) > 1:
            self.stack = self.stack[:-1]
        self.focus = ""
        return screen

    def set_top(self, screen: ScreenState) -> None:
        """Replace the visible screen."""
        self.stack = (*self.stack[:-1], screen)

    def set_value(self, key: str, value: Any) -> None:
        """Set a value of the visible screen."""
        screen = self.stack[-1]
        self.set_top(screen._replace(values={**screen.values, key: value}))

    # Copies ------------------------------------------------------------------------------------

    def dump(self) -> tuple[Any, ...]:
        """Return the state, detached from this phone."""
        return (dict(self.first), dict(self.tables), self.stack, dict(self.kept), self.focus,
                self.toast, self.shift, self.symbols, self.seconds, dict(self.sent),
                dict(self.memory))  # fmt: skip

    def restore(self, state: tuple[Any, ...]) -> None:
        """Continue from a state that `dump` returned."""
        first, tables, self.stack, kept, self.focus, self.toast = state[:6]
        self.shift, self.symbols, self.seconds = state[6:9]
        self.first, self.tables, self.kept = dict(first), dict(tables), dict(kept)
        self.sent, self.memory = dict(state[9]), dict(state[10])
