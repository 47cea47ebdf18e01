"""The expected state of a phone: its initial tables with the effects of operations."""

from collections.abc import Iterable, Mapping
from typing import Any

from hexathlon.tasks.gui.world.apps.table import app_named
from hexathlon.tasks.gui.world.phone.core import PhoneRow, PhoneTable
from hexathlon.tasks.gui.world.system.plan import PhoneEdit, PhonePlan

__all__ = ["ExpectedPhone", "RowKey"]

RowKey = tuple[str, Any]
"""Full name of a table, and the key of a row."""


class ExpectedPhone:
    """Tables that operations change, and the difference from the start.

    Args:
        plan: The phone.
    """

    def __init__(self, plan: PhonePlan) -> None:
        self.plan = plan
        self._taken = plan.taken_keys()
        self._first: dict[str, PhoneTable] = {}
        self._tables: dict[str, dict[Any, PhoneRow]] = {}
        self.touched: set[RowKey] = set()
        """Rows changed since the last call of `mark`."""

        self._ever: dict[str, set[Any]] = {}
        """Keys of all rows that were ever changed, by table."""

        self._known: dict[str, int] = {}
        """Results of `_highest`, by table."""

    def table(self, name: str) -> dict[Any, PhoneRow]:
        """Return a table by its full name, such as `notes.notes`."""
        if name not in self._tables:
            self._first[name] = self.plan.table(name)
            self._tables[name] = dict(self._first[name])
        return self._tables[name]

    def rows(self, name: str) -> list[PhoneRow]:
        """Return the rows of a table."""
        return list(self.table(name).values())

    def find(self, name: str, /, **columns: Any) -> PhoneRow | None:
        """Return the first row with these values; None if there is none."""
        wanted = tuple(columns.items())
        for row in self.table(name).values():
            for column, value in wanted:
                if row[column] != value:
                    break
            else:
                return row
        return None

    def the(self, name: str, /, **columns: Any) -> PhoneRow:
        """Return the first row with these values.

        Raises:
            KeyError: If there is none.
        """
        row = self.find(name, **columns)
        if row is None:
            app, _, rows = name.partition(".")
            raise KeyError(f"{app} has no {rows.removesuffix('s')} with {columns}")
        return row

    def add(self, name: str, /, **columns: Any) -> Any:
        """Add a row; return its key. Columns that verifiers do not compare are left out."""
        table = self.table(name)
        # Keys of added rows are all in `_ever`.
        later = (key for key in self._ever.get(name, ()) if isinstance(key, int) and key in table)
        key = max(self._highest(name), *later, 0) + 1
        table[key] = {"id": key, **columns}
        self._touch(name, key)
        return key

    def _highest(self, name: str) -> int:
        """Return the highest number among the first keys and those that others will need."""
        if name not in self._known:
            keys = (key for key in self._first[name] if isinstance(key, int))
            self._known[name] = max(self._taken.get(name, 0), *keys, 0)
        return self._known[name]

    def change(self, name: str, key: Any, /, **columns: Any) -> None:
        """Change columns of a row.

        Raises:
            KeyError: If there is no such row.
        """
        table = self.table(name)
        table[key] = {**table[key], **columns}
        self._touch(name, key)

    def remove(self, name: str, key: Any) -> None:
        """Remove a row.

        Raises:
            KeyError: If there is no such row.
        """
        del self.table(name)[key]
        self._touch(name, key)

    def _touch(self, name: str, key: Any) -> None:
        self.touched.add((name, key))
        self._ever.setdefault(name, set()).add(key)

    def edit(self, edits: Iterable[PhoneEdit]) -> None:
        """Apply other people's changes, which are not counted as touched."""
        for name, kind, value in edits:
            table = self.table(name)
            self._ever.setdefault(name, set()).add(value if kind == "drop" else value["id"])
            if kind == "drop":
                table.pop(value, None)
            else:
                table[value["id"]] = {**table.get(value["id"], {}), **_compared(name, value)}

    def mark(self) -> set[RowKey]:
        """Return the rows changed since the last call."""
        touched, self.touched = self.touched, set()
        return touched

    def changes(self, only: Iterable[RowKey] | None = None) -> dict[str, Any]:
        """Return the difference from the start, as checks declare it.

        Keys of new rows in columns of other rows are given as `{"row": {...}}`.

        Args:
            only: The rows to compare; all by default.
        """
        chosen = None if only is None else set(only)
        changes: dict[str, Any] = {}
        for name, keys in sorted(self._ever.items()):
            table, first = self._tables[name], self._first[name]
            for key in sorted(keys, key=str):
                if chosen is None or (name, key) in chosen:
                    _compare(changes.setdefault(name, {}), key, first.get(key),
                             self._referring(name, table.get(key)))  # fmt: skip
        return {name: kinds for name, kinds in changes.items() if kinds}

    def _referring(self, name: str, row: PhoneRow | None) -> PhoneRow | None:
        """Return a row in which keys of other new rows are replaced by what these contain."""
        app, _, rows = name.partition(".")
        for column, other in app_named(app).references.get(rows, {}).items():
            table = self.table(other)
            if row is not None and row[column] in table and row[column] not in self._first[other]:
                content = {key: value for key, value in table[row[column]].items() if key != "id"}
                row = {**row, column: {"row": content}}
        return row


def _compare(
    kinds: dict[str, list[Any]], key: Any, before: PhoneRow | None, after: PhoneRow | None
) -> None:
    """Note how a row differs from the start."""
    if after is None:
        if before is not None:
            kinds.setdefault("removed", []).append(key)
    elif before is None:
        row = {column: value for column, value in after.items() if column != "id"}
        kinds.setdefault("added", []).append(row)
    else:
        columns = {name: value for name, value in after.items() if before.get(name) != value}
        if columns:
            kinds.setdefault("changed", []).append([key, columns])


def _compared(table: str, row: Mapping[str, Any]) -> dict[str, Any]:
    app, _, name = table.partition(".")
    volatile = app_named(app).tables.get(name, ())
    return {column: value for column, value in row.items() if column not in volatile}
