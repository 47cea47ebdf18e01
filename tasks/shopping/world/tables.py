"""Records in named tables, with copy-on-write.

A `Base` is loaded once, shared by every episode of the process, and never modified. `Tables`
overlays it with a small dictionary of changed records. The cost of a fresh state, a snapshot or a
fork therefore depends on the changes, not on the data, and the difference from the start, which the
verifiers need, is available without a comparison. Records are never modified in place.
"""

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["Base", "Record", "TableChanges", "Tables", "canonical", "same"]

Record = Mapping[str, Any]
TableChanges = tuple[tuple[str, str, Record | None], ...]
"""(table, key, record) of each changed record; None if it was removed."""


class Base:
    """Immutable tables.

    Args:
        tables: Table name to key to record.
    """

    def __init__(self, tables: Mapping[str, Mapping[str, Record]]) -> None:
        self.tables = tables
        self._texts: dict[tuple[str, str], str] = {}
        self.indexes: dict[str, Any] = {}
        """Look-up indexes that readers may cache here; they cover only the base."""

    def text(self, table: str, key: str) -> str:
        """Return one record as JSON text, cached."""
        found = self._texts.get((table, key))
        if found is None:
            found = json.dumps(self.tables[table][key], ensure_ascii=False)
            self._texts[table, key] = found
        return found


class Tables:
    """One episode's view of a base.

    >>> tables = Tables(Base({"orders": {"1": {"status": "pending"}}}))
    >>> tables.put("orders", "1", {"status": "cancelled"})
    >>> tables.get("orders", "1"), tables.changes()
    ({'status': 'cancelled'}, (('orders', '1', {'status': 'cancelled'}),))
    """

    __slots__ = ("_changed", "base")

    def __init__(self, base: Base, changes: TableChanges = ()) -> None:
        self.base = base
        self._changed: dict[tuple[str, str], Record | None] = {
            (table, key): record for table, key, record in changes
        }

    def get(self, table: str, key: str) -> Record | None:
        """Return the current record, or None."""
        changed = self._changed
        if changed and (table, key) in changed:
            return changed[table, key]
        return self.base.tables.get(table, {}).get(key)

    def put(self, table: str, key: str, record: Record | None) -> None:
        """Replace, add or (None) remove a record."""
        self._changed[table, key] = record

    def text(self, table: str, key: str) -> str:
        """Return the record as JSON text."""
        if (table, key) in self._changed:
            return json.dumps(self._changed[table, key], ensure_ascii=False)
        return self.base.text(table, key)

    def keys(self, table: str) -> list[str]:
        """Return the keys of a table, the base's own first."""
        known = dict.fromkeys(self.base.tables.get(table, {}))
        for (name, key), record in self._changed.items():
            if name == table:
                if record is None:
                    known.pop(key, None)
                else:
                    known[key] = None
        return list(known)

    def touched(self, table: str) -> list[tuple[str, Record | None]]:
        """Return a table's written records with their keys."""
        return [(key, value) for (name, key), value in self._changed.items() if name == table]

    def changes(self) -> TableChanges:
        """Return the changes, in the order of first write."""
        return tuple((table, key, record) for (table, key), record in self._changed.items())

    def difference(self) -> dict[str, Record | None]:
        """Return the records that differ from the base, as `table/key`, sorted."""
        found = {}
        for (table, key), record in self._changed.items():
            if record != self.base.tables.get(table, {}).get(key):
                found[f"{table}/{key}"] = record
        return dict(sorted(found.items()))


def canonical(value: Any) -> Any:
    """Return a JSON value with integral floats as integers, so that 5 and 5.0 are equal."""
    if isinstance(value, Mapping):
        return {str(key): canonical(item) for key, item in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        return [canonical(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def same(first: Any, second: Any) -> bool:
    """Whether two JSON values are equivalent: 5 and 5.0 are, a tuple and a list are."""
    return bool(first == second) or canonical(first) == canonical(second)
