"""The state of one site: an SQLite database in memory, saved and restored as one blob."""

import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

__all__ = ["StoreRow", "SiteStore"]

StoreRow = dict[str, Any]


_WRITING = re.compile(
    r"\s*(?:(?:INSERT|REPLACE)(?:\s+OR\s+\w+)?\s+INTO|UPDATE(?:\s+OR\s+\w+)?|DELETE\s+FROM)"
    r'\s+"?(\w+)"?',
    re.IGNORECASE,
)
_MAX_KEYS = 500
_UPKEEP = frozenset(("_sessions", "_notices", "_jobs"))
"""Tables that nothing in `SiteStore.memo` depends on."""


class SiteStore:
    """An SQLite database in memory.

    Args:
        blob: A saved state to start from; an empty database without it.

    Attributes:
        memo: Cache of values that a site derived from its content, by key; cleared by every write
            except to sessions, notices and jobs. Not part of the state.
    """

    def __init__(self, blob: bytes | None = None) -> None:
        self._blob = blob
        self._origin = blob
        self._changed: set[str] | None = set()
        self._connection: sqlite3.Connection | None = None
        self._written = False
        self.memo: dict[Any, Any] = {}
        self._kept: dict[str, dict[str, Any]] = {}

    def rows(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[StoreRow]:
        """Return the rows of a query as dictionaries."""
        cursor = self._open().execute(sql, values)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def row(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> StoreRow | None:
        """Return the first row of a query, or None."""
        cursor = self._open().execute(sql, values)
        first = cursor.fetchone()
        if first is None:
            return None
        return {column[0]: cell for column, cell in zip(cursor.description, first, strict=True)}

    def value(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Any:
        """Return the first column of the first row of a query, or None."""
        first = self._open().execute(sql, values).fetchone()
        return None if first is None else first[0]

    def kept(self, table: str, key: str, make: Callable[[], Any]) -> Any:
        """Return what `make` returned for a key since the table was last written.

        For queries that every request repeats; `make` reads no other table.
        """
        known = self._kept.setdefault(table, {})
        if key not in known:
            known[key] = make()
        return known[key]

    def execute(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> int:
        """Run a writing statement; return the id of the row that an INSERT added."""
        self._note(sql)
        return int(self._open().execute(sql, values).lastrowid or 0)

    def insert(self, table: str, **values: Any) -> int:
        """Insert one row; return its id."""
        columns, marks = ", ".join(values), ", ".join("?" * len(values))
        sql = f"INSERT INTO {table} ({columns}) VALUES ({marks})"
        return self.execute(sql, tuple(values.values()))

    def insert_many(
        self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
    ) -> None:
        """Insert many rows."""
        marks = ", ".join("?" * len(columns))
        sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"
        self._note(sql)
        self._open().executemany(sql, rows)

    def script(self, sql: str) -> None:
        """Run several statements, such as a schema."""
        self._note("")
        self._open().executescript(sql)

    def touched(self, blob: bytes) -> dict[str, tuple[list[StoreRow], list[StoreRow]]]:
        """Return rows of business tables that may differ from a saved state of the same schema.

        SQLite compares them, and only tables that were written if this store began with `blob`.
        Tables need row ids.

        Returns:
            By table: the rows of the saved state and the rows of this one that share their first
            column with a row that differs between the two; tables without such rows are left out.
        """
        tables = [name for name in self._suspects(blob) if not name.startswith("_")]
        if not tables:
            return {}
        connection = self._open()
        connection.execute("ATTACH ':memory:' AS saved")
        try:
            connection.deserialize(blob, name="saved")
            found = {table: self._touched(table) for table in tables}
        finally:
            connection.execute("DETACH saved")
        return {table: rows for table, rows in found.items() if rows != ([], [])}

    def _suspects(self, blob: bytes) -> list[str]:
        """Return the tables that may differ from a saved state, sorted."""
        known = blob is self._origin and self._changed is not None
        changed = {name for name in self._changed or () if not name.startswith("_")}
        if known and not changed:
            return []
        names = {name.lower(): name for name in self.tables()}
        if not known or not changed <= names.keys():
            return list(names.values())
        if self.value("SELECT 1 FROM sqlite_master WHERE type = 'trigger'"):
            return list(names.values())
        return [names[name] for name in sorted(changed)]

    def _note(self, sql: str) -> None:
        """Record the tables that a writing statement changes; all tables if it cannot be parsed."""
        self._written = True
        found = _WRITING.match(sql)
        if found is None:
            self._changed = None
            self._kept.clear()
            self.memo.clear()
            return
        table = found[1].lower()
        if self._changed is not None:
            self._changed.add(table)
        self._kept.pop(table, None)
        if self.memo and table not in _UPKEEP:
            self.memo.clear()

    def _touched(self, table: str) -> tuple[list[StoreRow], list[StoreRow]]:
        connection = self._open()
        head = connection.execute(f"SELECT * FROM {table} LIMIT 0").description
        columns = [f'"{column[0]}"' for column in head]
        first = columns[0]
        differs = " OR ".join(f"a.{name} COLLATE BINARY IS NOT b.{name}" for name in columns)
        pairs = connection.execute(
            f"SELECT a.{first}, b.rowid, b.{first} FROM main.{table} a LEFT JOIN saved.{table} b "
            f"ON b.rowid = a.rowid WHERE b.rowid IS NULL OR {differs}"
        )
        keys = {
            key for new, place, old in pairs for key in ((new,) if place is None else (new, old))
        }
        gone = connection.execute(
            f"SELECT {first} FROM saved.{table} WHERE rowid NOT IN (SELECT rowid FROM main.{table})"
        )
        keys.update(key for (key,) in gone)
        if not keys:
            return [], []
        marks = ", ".join("?" * len(keys))
        sql = f"SELECT * FROM {{}}.{table} WHERE {first} IN ({marks}) ORDER BY rowid"
        if len(keys) > _MAX_KEYS or None in keys:
            sql, keys = f"SELECT * FROM {{}}.{table} ORDER BY rowid", set()
        return (
            self.rows(sql.format("saved"), tuple(keys)),
            self.rows(sql.format("main"), tuple(keys)),
        )

    def tables(self) -> list[str]:
        """Return the names of all tables, sorted."""
        found = self.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        return [row["name"] for row in found if not row["name"].startswith("sqlite_")]

    def save(self) -> bytes:
        """Return the state as a blob; the same object as long as nothing was written."""
        if self._blob is None or self._written:
            self._blob = self._open().serialize()
            self._written = False
        return self._blob

    def close(self) -> None:
        """Release the connection; the store must not be used afterwards."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            # Handlers run in the environment's thread or in the server's, never in both at once.
            self._connection = sqlite3.connect(
                ":memory:", isolation_level=None, check_same_thread=False
            )
            if self._blob is not None:
                self._connection.deserialize(self._blob)
        return self._connection
