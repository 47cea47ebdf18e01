"""Rows as databases: table definitions, serialised SQLite images, and a bounded cache of them.

The bytes are a serialised SQLite database, ready for `sqlite3.Connection.deserialize`. The cache
is bounded by its size in bytes and keeps the most recently used images, because resets of an
episode request the same ones again. Independent of the rows of a particular task.
"""

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import closing

from hexathlon.tasks.sql.schema import Row, Schema, Table

__all__ = ["ByteCache", "create_tables", "fill", "image_of", "is_typed", "mark_typed", "quoted"]


class ByteCache:
    """A thread-safe LRU cache of byte strings, bounded by their total size."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0
        self._items: OrderedDict[Hashable, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """Return the bytes of a key, creating and caching them if absent."""
        with self._lock:
            if key in self._items:
                self._items.move_to_end(key)
                return self._items[key]
        value = make()
        with self._lock:
            self._keep(key, value)
        return value

    def _keep(self, key: Hashable, value: bytes) -> None:
        if len(value) > self.limit:
            return
        self.held += len(value) - len(self._items.pop(key, b""))
        self._items[key] = value
        while self.held > self.limit:
            _, oldest = self._items.popitem(last=False)
            self.held -= len(oldest)


CACHE = ByteCache(16 * 1024 * 1024)

_TYPED = 0x48585459
_APPLICATION = slice(68, 72)
"""Bytes of an image's header that hold its application id."""


def mark_typed(connection: sqlite3.Connection) -> None:
    """Mark a database whose columns of DATE, TIMESTAMP and JSON have these types on all engines.

    Without the mark, other engines store them as text, since SQLite lets any value stand in them.
    """
    connection.execute(f"PRAGMA application_id = {_TYPED}")


def is_typed(image: bytes) -> bool:
    """Return whether the database of an image is marked."""
    return int.from_bytes(image[_APPLICATION], "big") == _TYPED


def quoted(name: str) -> str:
    """Return a name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def image_of(schema: Schema, rows: Mapping[str, Sequence[Row]]) -> bytes:
    """Return a schema's tables with these rows as a serialised SQLite database."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        fill(connection, schema, rows)
        return connection.serialize()


def fill(connection: sqlite3.Connection, schema: Schema, rows: Mapping[str, Sequence[Row]]) -> None:
    """Create and fill a schema's tables in a SQLite connection without a transaction."""
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("BEGIN")
    for table in schema.tables:
        connection.execute(create_tables(table))
        marks = ", ".join("?" * len(table.columns))
        connection.executemany(f"INSERT INTO {table.name} VALUES ({marks})", rows[table.name])
    connection.execute("COMMIT")


def create_tables(table: Table) -> str:
    """Return the CREATE TABLE statement of a table.

    Foreign keys are declared, except on columns that have orphans.
    """
    lines = []
    for column in table.columns:
        key = " PRIMARY KEY" if table.primary_key == (column.name,) else ""
        strict = "" if column.nullable or column.role == "soft_delete" or key else " NOT NULL"
        lines.append(f"  {column.name} {column.type}{key}{strict}")
    if len(table.primary_key) > 1:
        lines.append(f"  PRIMARY KEY ({', '.join(table.primary_key)})")
    for column in table.columns:
        if column.references and not column.law.orphans:
            parent, key = column.references
            lines.append(f"  FOREIGN KEY ({column.name}) REFERENCES {parent} ({key})")
    return f"CREATE TABLE {table.name} (\n" + ",\n".join(lines) + "\n)"
