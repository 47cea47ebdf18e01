"""DuckDB in memory.

Locked by DuckDB's own mechanisms: no external access, locked configuration, one thread, a memory
limit, read-only transactions for reading statements, and an interrupt at the deadline.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from hexathlon.tasks.sql.world.backends.base import QueryLimits, SqlError, StoredRow
from hexathlon.tasks.sql.world.backends.server import (
    TOO_SLOW,
    Loaded,
    ServerDatabase,
    fill,
)

__all__ = ["open_server_database"]

_TYPES = {
    "INTEGER": "BIGINT", "REAL": "DOUBLE", "TEXT": "VARCHAR", "DATE": "DATE",
    "TIMESTAMP": "TIMESTAMP", "JSON": "JSON",
}  # fmt: skip
_CONFIG: dict[str, str | int | float | list[str]] = {
    "threads": 1,
    "max_temp_directory_size": "0GB",
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
_MEMORY = 256 << 20
"""Bytes that statements may use beside the tables."""

_KEPT = 4
_ROWS = 1000
"""Rows per statement that fills a table."""

_SIGNALLED = "Query interrupted"
"""DuckDB's message when a signal handler raised an exception, which it drops."""


class _DuckDB(Loaded):
    """An in-memory database on one connection."""

    dialect = "duckdb"

    def __init__(self, image: bytes, opener: "_Opener") -> None:
        import duckdb

        self.lock = threading.Lock()
        self.image = image
        self._raw = duckdb.connect(":memory:", config=dict(_CONFIG))
        fill(image, opener, _TYPES, self._raw.execute, self._insert)
        # Tables of few rows take far more than their content: a block for each column.
        used = self._raw.execute("SELECT sum(memory_usage_bytes) FROM duckdb_memory()").fetchall()
        self._raw.execute(f"SET memory_limit = '{int(used[0][0]) + _MEMORY} bytes'")
        self._raw.execute("SET lock_configuration = true")

    def execute(
        self, sql: str, limits: QueryLimits, *, reading: bool
    ) -> tuple[Sequence[str], list[Sequence[Any]], int | None]:
        """Run a statement; a timer interrupts it at the deadline."""
        import duckdb

        with self.lock:
            try:
                self._check(sql, reading=reading)
                return self._run(sql, limits, reading=reading)
            except duckdb.InterruptException:
                raise SqlError(*TOO_SLOW) from None
            except duckdb.OutOfMemoryException:
                raise SqlError("too_large", "the statement needed too much memory") from None
            except (duckdb.Error, RuntimeError, UnicodeError, OverflowError) as error:
                if str(error) == _SIGNALLED:
                    raise KeyboardInterrupt from None
                raise SqlError("syntax", _first_line(error)) from None

    def _check(self, sql: str, *, reading: bool) -> None:
        statements = self._raw.extract_statements(sql)
        if len(statements) != 1:
            raise SqlError("statement", "only one statement at a time")
        kind = statements[0].type.name
        if reading and kind != "SELECT":
            raise SqlError("refused", f"{kind} is not allowed here", "Only SELECT is.")

    def _run(
        self, sql: str, limits: QueryLimits, *, reading: bool
    ) -> tuple[Sequence[str], list[Sequence[Any]], int | None]:
        self._raw.execute("BEGIN TRANSACTION READ ONLY" if reading else "BEGIN TRANSACTION")
        timer = threading.Timer(limits.seconds, self._raw.interrupt)
        timer.daemon = True
        timer.start()
        done = False
        try:
            cursor = self._raw.execute(sql)
            columns = [item[0] for item in cursor.description or ()]
            rows: list[Sequence[Any]] = list(cursor.fetchmany(limits.rows + 1))
            done = True
        finally:
            timer.cancel()
            timer.join()
            self._raw.execute("COMMIT" if done and not reading else "ROLLBACK")
        if not reading and columns == ["Count"] and len(rows) == 1:
            return (), [], int(rows[0][0])
        return columns, rows, None

    def fetch(self, sql: str) -> Sequence[Sequence[Any]]:
        """Run one of the harness's own statements; return all its rows."""
        with self.lock:
            return self._raw.execute(sql).fetchall()

    def close(self) -> None:
        """Drop the database."""
        self._raw.close()

    def _insert(self, table: str, rows: list[StoredRow]) -> None:
        # One list per column: a statement per row would take a millisecond each.
        marks = ", ".join(["unnest(?)"] * len(rows[0]))
        for start in range(0, len(rows), _ROWS):
            columns = [list(column) for column in zip(*rows[start : start + _ROWS], strict=True)]
            self._raw.execute(f"INSERT INTO {table} SELECT {marks}", columns)


class _Opener:
    """Loads images; read-only databases are cached and shared."""

    dialect = "duckdb"
    schema = "main"

    def open(self, image: bytes, writes: frozenset[str]) -> _DuckDB:
        if writes:
            return _DuckDB(image, self)
        key = id(image)  # unique while the database that holds the image is alive
        if key not in _shared:
            _shared[key] = _DuckDB(image, self)
            if len(_shared) > _KEPT:
                # Not closed: readers may still use it, and it lives as long as they do.
                _shared.popitem(last=False)
        _shared.move_to_end(key)
        return _shared[key]

    def fold(self, name: str) -> str:
        return name

    def quote(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'


_shared: OrderedDict[int, _DuckDB] = OrderedDict()


def open_server_database(url: str, image: bytes, writes: frozenset[str]) -> ServerDatabase:
    """Open an image on DuckDB; the URL must name an in-memory database."""
    if url.rstrip("/") not in {"duckdb:", "duckdb:///:memory:"}:
        raise ValueError(f"expected duckdb:///:memory:, got {url!r}: agents get no file")
    return ServerDatabase(_Opener(), image, writes)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:500]
