"""SQLite databases for agents and graders, on top of locked connections.

Statements cannot leave state behind on a read-only connection, so all readers of one image share a
connection, and their snapshots and forks are free. Each writer has its own connection.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from hexathlon.tasks.sql.world.backends.base import (
    DEFAULT_TODAY,
    DatabaseSnapshot,
    QueryLimits,
    QueryResult,
    SqlError,
    TableCatalogue,
    first_word,
)
from hexathlon.tasks.sql.world.backends.connection import CELL_BYTES, SqliteConnection

__all__ = ["SharedReader", "SqliteWriter", "open_sqlite"]

_TRANSACTION_WORDS = frozenset({"begin", "commit", "end", "rollback", "savepoint", "release"})
_WITHOUT_EFFECT = frozenset({"select", "values"})


class SharedReader:
    """A read-only database; many instances share the connections of one image."""

    dialect = "sqlite"

    def __init__(
        self, image: bytes, today: str, cell_bytes: int, purpose: str, counted: bool = False
    ) -> None:
        self._image = image
        self._rest = (today, cell_bytes, purpose, counted)

    def run(self, sql: str, limits: QueryLimits) -> QueryResult:
        """Run one read-only statement."""
        connection = _pool.get(self._image, *self._rest)
        with connection.lock:
            return connection.run_lenient(sql, limits)

    def catalogue(self) -> TableCatalogue:
        """Return the tables."""
        return _pool.get(self._image, *self._rest).catalogue()

    def count(self, table: str) -> int:
        """Return the number of rows of a table."""
        connection = _pool.get(self._image, *self._rest)
        with connection.lock:
            return connection.count(table)

    def snapshot(self) -> DatabaseSnapshot:
        """Return the image; no statement can have changed it."""
        return DatabaseSnapshot(self._image)

    def restore(self, snapshot: DatabaseSnapshot) -> None:
        """Use the snapshot's image."""
        assert isinstance(snapshot.image, bytes)
        self._image = snapshot.image

    def sqlite_image(self) -> bytes:
        """Return the image."""
        return self._image

    def close(self) -> None:
        """Do nothing: the connection belongs to all readers of the image."""


class SqliteWriter:
    """A temporary database of one episode."""

    dialect = "sqlite"

    def __init__(self, image: bytes, writes: frozenset[str], today: str, cell_bytes: int) -> None:
        self._snapshot = DatabaseSnapshot(image)
        self._rest = (writes, today, cell_bytes)
        self._connection: SqliteConnection | None = None
        self._clean = True
        self._before = image
        self._pending: list[str] = []

    def run(self, sql: str, limits: QueryLimits) -> QueryResult:
        """Run one statement; outside a transaction it takes effect at once."""
        connection = self._open()
        word = first_word(sql)
        if word in _TRANSACTION_WORDS and not connection.in_transaction:
            self._before = self._image()
        changes = connection.total_changes
        failed = True
        try:
            result = connection.run_lenient(sql, limits)
            failed = False
        finally:
            self._note(sql, word, connection, changes, failed)
        changed = connection.total_changes - changes
        if not result.columns and changed == 0 and word not in {"insert", "update", "delete"}:
            return result
        if not result.columns or changed:
            return replace(result, changed=changed)
        return result

    def catalogue(self) -> TableCatalogue:
        """Return the current tables."""
        return self._open().catalogue()

    def count(self, table: str) -> int:
        """Return the current number of rows of a table."""
        return self._open().count(table)

    def snapshot(self) -> DatabaseSnapshot:
        """Return the committed content and the statements of an open transaction."""
        if self._connection is None:
            return self._snapshot
        if self._connection.in_transaction:
            return DatabaseSnapshot(self._before, tuple(self._pending))
        return DatabaseSnapshot(self._image())

    def restore(self, snapshot: DatabaseSnapshot) -> None:
        """Restore a captured state; the connection is opened at the next statement."""
        self.close()
        assert isinstance(snapshot.image, bytes)
        self._snapshot = snapshot

    def sqlite_image(self) -> bytes:
        """Return the committed content; an open transaction does not count."""
        snapshot = self.snapshot()
        assert isinstance(snapshot.image, bytes)
        return snapshot.image

    def close(self) -> None:
        """Close the connection; the state is kept."""
        if self._connection is not None:
            self._snapshot = self.snapshot()
            self._connection.close()
            self._connection = None

    def _open(self) -> SqliteConnection:
        if self._connection is None:
            snapshot = self._snapshot
            assert isinstance(snapshot.image, bytes)
            writes, today, cell_bytes = self._rest
            self._before = snapshot.image
            self._pending = []
            self._clean = True
            self._connection = SqliteConnection(
                snapshot.image, writes=writes, today=today, cell_bytes=cell_bytes
            )
            for statement in snapshot.pending:
                with suppress(SqlError):
                    self.run(statement, QueryLimits(seconds=60.0))
        return self._connection

    def _image(self) -> bytes:
        """Return the content outside a transaction, serialised only after a change."""
        assert self._connection is not None
        if not self._clean:
            self._connection.image = self._connection.serialize()
            self._clean = True
        return self._connection.image

    def _note(
        self, sql: str, word: str, connection: SqliteConnection, changes: int, failed: bool
    ) -> None:
        if connection.in_transaction:
            self._pending.append(sql)
        else:
            self._pending.clear()
        touched = connection.total_changes != changes
        if touched or (word not in _WITHOUT_EFFECT and not failed):
            self._clean = False
            schema = word in {"create", "drop", "alter", "rollback", "commit", "end", "release"}
            connection.refresh(schema=schema)


def open_sqlite(
    image: bytes,
    *,
    writes: Iterable[str] = (),
    today: str = DEFAULT_TODAY,
    cell_bytes: int = CELL_BYTES,
    purpose: str = "agent",
    counted: bool = False,
) -> SharedReader | SqliteWriter:
    """Open an image for reading (shared) or, if writes are permitted, for writing.

    Readers with different purposes never share a connection. `counted` makes the steps of a
    result a function of database and statement.
    """
    permitted = frozenset(writes)
    if permitted:
        return SqliteWriter(image, permitted, today, cell_bytes)
    return SharedReader(image, today, cell_bytes, purpose, counted)


class _Pool:
    """A pool of read-only connections by image; the least recently used is closed first."""

    def __init__(self, entries: int, size: int) -> None:
        self._entries = entries
        self._size = size
        self._guard = threading.Lock()
        self._held: OrderedDict[tuple[int, str, int, str, bool], SqliteConnection] = OrderedDict()

    def get(
        self, image: bytes, today: str, cell_bytes: int, purpose: str, counted: bool
    ) -> SqliteConnection:
        # The connection keeps the image alive, so its identity cannot be reused.
        key = (id(image), today, cell_bytes, purpose, counted)
        with self._guard:
            connection = self._held.get(key)
            if connection is None:
                connection = SqliteConnection(
                    image, today=today, cell_bytes=cell_bytes, counted=counted
                )
                self._held[key] = connection
                self._trim()
            else:
                self._held.move_to_end(key)
            return connection

    def clear(self) -> None:
        self._held.clear()
        self._guard = threading.Lock()

    def _trim(self) -> None:
        held = sum(len(connection.image) for connection in self._held.values())
        while len(self._held) > 1 and (len(self._held) > self._entries or held > self._size):
            _, oldest = self._held.popitem(last=False)
            held -= len(oldest.image)


_pool = _Pool(entries=32, size=12_000_000)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.clear)
