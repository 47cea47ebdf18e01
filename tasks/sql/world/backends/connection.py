"""One locked connection to an in-memory SQLite database.

The connection is opened from a serialised image, its catalogue is read, and then an authorizer,
size limits and a progress handler are installed. From then on, no statement can access anything
outside the image, read the clock or exceed its limits.
"""

import hashlib
import os
import re
import sqlite3
import threading
from functools import lru_cache
from time import perf_counter, thread_time
from typing import NamedTuple

from hexathlon.tasks.sql.world.backends.base import (
    DEFAULT_TODAY,
    READ_ONLY,
    ColumnInfo,
    QueryLimits,
    QueryResult,
    SqlError,
    StoredValue,
    TableCatalogue,
    TableInfo,
    first_word,
)
from hexathlon.tasks.sql.world.backends.clock import CLOCK_FUNCTIONS, PinnedClock
from hexathlon.tasks.sql.world.backends.complexity import copies
from hexathlon.tasks.sql.world.backends.costly import REPLACED, install_bounded
from hexathlon.tasks.sql.world.backends.guards import Authorizer, set_limits

__all__ = ["CELL_BYTES", "SqliteConnection", "read_catalogue"]

CELL_BYTES = 65_536
_MOST_COPIES = 2_000
_STEP = 500
_FINE_STEP = 20
"""Instructions between clock checks; the second value applies where one instruction can be slow."""
_FINE_WEIGHT = 3
"""Weight of an instruction of the second kind, unless limits are exact."""
_PATIENCE = 6.0
"""Factor by which a statement's wall-clock time may exceed its seconds on a busy machine."""
_CHUNK = 64
_REMEMBERED_CHARS = 2_000
"""Length of the statements whose checks are remembered."""
_ONLY_SELECT = "Only SELECT statements are allowed."
_NOT_READING = frozenset(
    """
    alter analyze attach begin commit create delete detach drop end insert pragma reindex release
    replace rollback savepoint update vacuum
""".split()
)
_WITH = re.compile(r"\bwith\b", re.IGNORECASE)
_SLOW = ("replace", "instr", "json", "like", "glob", "match")


class _Watch:
    """Stops a statement that exceeds a limit; SQLite calls it every few instructions.

    It holds no reference to the connection, so that no reference cycle keeps the connection alive.
    """

    def __init__(self) -> None:
        self.step = _STEP
        self.stopped = ""
        self._ticks = self._most_ticks = self._spill_limit = 0
        self._deadline = self._last_deadline = 0.0
        self._seconds = self._work_until = 0.0
        self._spilled_before = -1

    def start(self, limits: QueryLimits) -> None:
        """Start counting for one statement."""
        self.stopped = ""
        self._ticks = 0
        self._most_ticks = limits.steps // self.step
        if self.step == _FINE_STEP and not limits.exact:
            self._most_ticks //= _FINE_WEIGHT
        self._spill_limit = limits.spill_bytes
        self._spilled_before = -1
        now = perf_counter()
        self._deadline, self._last_deadline = now + limits.seconds, now + _PATIENCE * limits.seconds
        self._seconds = limits.seconds

    @property
    def steps(self) -> int:
        """Instructions counted since the statement began."""
        return self._ticks * self.step

    def __call__(self) -> int:
        """Return 1 to interrupt the statement, 0 to continue."""
        self._ticks = ticks = self._ticks + 1
        if ticks == 1:  # not on the first call: short statements finish before the clock is needed
            self._work_until = thread_time() + self._seconds
        if ticks > self._most_ticks:
            self.stopped = "steps"
        elif perf_counter() > self._deadline and self._overdue():
            pass
        elif not ticks & 63 and self._spilled() > self._spill_limit:
            self.stopped = "spill"
        else:
            return 0
        return 1

    def _overdue(self) -> bool:
        """Whether the statement itself used up the time, rather than other load on the machine."""
        now, left = perf_counter(), self._work_until - thread_time()
        if left <= 0.0:
            self.stopped = "time"
        elif now > self._last_deadline:
            self.stopped = "stalled"
        else:
            self._deadline = now + left
        return bool(self.stopped)

    def _spilled(self) -> int:
        """Return the bytes that this thread has written since the statement began."""
        written = _thread_bytes_written()
        if self._spilled_before < 0:
            self._spilled_before = written
        return written - self._spilled_before


class SqliteConnection:
    """One locked connection."""

    def __init__(
        self,
        image: bytes,
        *,
        writes: frozenset[str] = READ_ONLY,
        today: str = DEFAULT_TODAY,
        cell_bytes: int = CELL_BYTES,
        counted: bool = False,
    ) -> None:
        self.image = image
        self.lock = threading.Lock()
        # A statement from the cache would go on counting instructions where its last run ended.
        self._connection = sqlite3.connect(
            ":memory:",
            isolation_level=None,
            check_same_thread=False,
            cached_statements=0 if counted else 64,
        )
        self._connection.deserialize(image)
        self._clock = PinnedClock(today)
        self._counts: dict[str, int] = {}
        self._watch = _Watch()
        schema = _schema_of(self._connection)
        self._catalogue: TableCatalogue = schema.catalogue
        modules = [row[0] for row in self._connection.execute("PRAGMA module_list")]
        self._authorizer = Authorizer(self._catalogue, modules, writes)
        self._lock_down(cell_bytes, trusted=schema.calls_replaced)

    def run(self, sql: str, limits: QueryLimits) -> QueryResult:
        """Run one statement under the limits."""
        self._arm(_checked(sql, bool(self._authorizer.writes)), limits)
        try:
            cursor = self._connection.execute(sql)
            try:
                result = _fetch(cursor, limits)
                result.steps = self._watch.steps
                return result
            finally:
                cursor.close()
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError) as error:
            if self._dropped_interrupt(str(error)):
                raise KeyboardInterrupt from None
            raise self._explained(error) from None

    def run_lenient(self, sql: str, limits: QueryLimits) -> QueryResult:
        """Run one statement; text that is not UTF-8 is decoded with replacement characters."""
        try:
            return self.run(sql, limits)
        except SqlError as error:
            if "UTF-8" not in error.message or first_word(sql) not in {"select", "with", "values"}:
                raise
        self._connection.text_factory = _lenient_text
        try:
            return self.run(sql, limits)
        finally:
            self._connection.text_factory = str

    def catalogue(self) -> TableCatalogue:
        """Return the tables as of the last refresh."""
        return self._catalogue

    def count(self, table: str) -> int:
        """Return the number of rows of a table; cached until `refresh`."""
        if table not in self._counts:
            limits = QueryLimits(seconds=60.0, steps=10_000_000_000)
            name = self._catalogue[table].name.replace('"', '""')
            value = self.run(f'SELECT count(*) FROM "{name}"', limits).rows[0][0]
            self._counts[table] = int(value or 0)
        return self._counts[table]

    def refresh(self, *, schema: bool) -> None:
        """Discard cached content, and the cached schema if it changed."""
        self._counts.clear()
        if schema:
            self._connection.set_authorizer(None)
            self._connection.set_progress_handler(None, 0)
            self._catalogue = read_catalogue(self._connection)
            self._authorizer.readable.update(name.lower() for name in self._catalogue)
            self._connection.set_authorizer(self._authorizer)
            self._connection.set_progress_handler(self._watch, self._watch.step)

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._connection.in_transaction

    @property
    def total_changes(self) -> int:
        """Number of rows changed since the connection was opened."""
        return self._connection.total_changes

    def serialize(self) -> bytes:
        """Return the content as an image."""
        return self._connection.serialize()

    def close(self) -> None:
        """Close the connection; idempotent."""
        self._connection.close()
        self._clock.close()
        self._printer.close()

    def __del__(self) -> None:
        if hasattr(self, "_printer"):
            self.close()

    def _lock_down(self, cell_bytes: int, *, trusted: bool) -> None:
        connection = self._connection
        self._clock.install(connection)
        self._printer = install_bounded(connection, cell_bytes)
        connection.execute("PRAGMA temp_store=FILE")
        # Creates the two virtual tables, which the authorizer would not let a statement do.
        connection.execute("SELECT 1 FROM json_each('[]'), json_tree('[]')").fetchall()
        if not self._authorizer.writes and not trusted:
            connection.execute("PRAGMA trusted_schema=OFF")
        if self._authorizer.writes:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count={2 * pages + 2_000}")
        else:
            connection.execute("PRAGMA query_only=ON")
        if hasattr(connection, "enable_load_extension"):  # some interpreters are built without it
            connection.enable_load_extension(False)
        widest = max((len(table.columns) for table in self._catalogue.values()), default=0)
        set_limits(connection, cell_bytes=cell_bytes, widest_table=widest)
        connection.set_authorizer(self._authorizer)
        connection.set_progress_handler(self._watch, self._watch.step)

    def _arm(self, step: int, limits: QueryLimits) -> None:
        if step != self._watch.step:
            self._watch.step = step
            self._connection.set_progress_handler(self._watch, step)
        self._authorizer.refused = ""
        self._watch.start(limits)

    def _dropped_interrupt(self, text: str) -> bool:
        """Whether a signal raised an exception inside a callback, which SQLite drops."""
        if text == "interrupted":
            return not self._watch.stopped
        denied = "not authorized" in text or "prohibited" in text
        return denied and not self._authorizer.refused

    def _explained(self, error: Exception) -> SqlError:
        if self._watch.stopped:
            return _STOPPED[self._watch.stopped]
        text = str(error).strip() or type(error).__name__
        if self._authorizer.refused:
            hint = self._authorizer.hint
            if not self._authorizer.writes:
                hint += " " + _ONLY_SELECT
            return SqlError("refused", f"{self._authorizer.refused} is not allowed here", hint)
        return _explain(text, error, self._catalogue)


_STOPPED = {
    "steps": SqlError(
        "steps", "the statement did too much work and was stopped",
        "Filter earlier, join on keys, avoid cross joins, or bound the recursion.",
    ),
    "time": SqlError(
        "time", "the statement went over its time limit and was stopped",
        "Filter earlier, join on keys, avoid cross joins, or bound the recursion.",
    ),
    "stalled": SqlError("stalled", "the machine was too busy to finish the statement"),
    "spill": SqlError(
        "too_large", "the statement needed too much temporary space and was stopped",
        "Sort, group or deduplicate fewer or narrower rows.",
    ),
}  # fmt: skip


def _checked(sql: str, writes: bool) -> int:
    """Return the number of instructions between clock checks of a statement.

    Raises:
        SqlError: If the statement can be refused without running it.
    """
    # Graders run a statement on several databases. Long ones are not kept, to bound memory.
    if isinstance(sql, str) and len(sql) <= _REMEMBERED_CHARS:
        return _remembered(sql, writes)
    return _check(sql, writes)


def _check(sql: str, writes: bool) -> int:
    _refuse_at_sight(sql, writes=writes)
    lower = sql.lower()
    return _FINE_STEP if any([word in lower for word in _SLOW]) else _STEP


_remembered = lru_cache(maxsize=256)(_check)


def _refuse_at_sight(sql: str, *, writes: bool) -> None:
    if not isinstance(sql, str):
        raise SqlError("statement", f"expected a text, got {type(sql).__name__}")
    if "\0" in sql:
        raise SqlError("statement", "the statement contains a NUL character")
    if len(sql) > 20_000:
        raise SqlError("too_large", "the statement has more than 20,000 characters")
    word = first_word(sql)
    if not word:
        if sql.strip().strip(";"):
            raise SqlError("syntax", "this does not begin like an SQL statement")
        raise SqlError("statement", "the statement is empty")
    if word == "explain":
        raise SqlError("refused", "EXPLAIN is not allowed here", "Run the statement itself.")
    if not writes and word in _NOT_READING:
        raise SqlError("refused", f"{word.upper()} is not allowed here", _ONLY_SELECT)
    if "with" in sql.lower() and _WITH.search(sql) and copies(sql) > _MOST_COPIES:
        raise SqlError(
            "steps", "the common table expressions name each other too often",
            "Use each one fewer times.",
        )  # fmt: skip


def _fetch(cursor: sqlite3.Cursor, limits: QueryLimits) -> QueryResult:
    """Fetch in chunks, so that an oversized result is detected before it exhausts memory."""
    if cursor.description is None:
        return QueryResult((), [])
    columns = tuple([column[0] for column in cursor.description])
    rows: list[tuple[StoredValue, ...]] = []
    left = limits.result_bytes
    while len(rows) <= limits.rows:
        wanted = limits.rows + 1 - len(rows)
        chunk = cursor.fetchmany(_CHUNK if wanted > _CHUNK else wanted)
        for row in chunk:
            for cell in row:
                if cell.__class__ is str or cell.__class__ is bytes:
                    left -= len(cell)
        rows += chunk
        if left < 0:
            raise SqlError("too_large", "the result is too large", "Select fewer values.")
        if len(chunk) < _CHUNK:
            break
    more = len(rows) > limits.rows
    return QueryResult(columns, rows[: limits.rows] if more else rows, more)


def _explain(text: str, error: Exception, catalogue: TableCatalogue) -> SqlError:
    """Extend SQLite's message with advice."""
    if isinstance(error, MemoryError):
        return SqlError("too_large", "the statement is too complex", "Split it into smaller ones.")
    if isinstance(error, UnicodeEncodeError):
        return SqlError("statement", "the statement contains characters that are not valid text")
    if "one statement at a time" in text:
        return SqlError("statement", "only one statement at a time", "Send the first one alone.")
    if "bindings" in text:
        return SqlError("statement", "parameters such as ? are not supported", "Write values out.")
    if "user-defined function" in text:
        return SqlError("too_large", "a function was given a value that is too large or malformed")
    if "too big" in text or "too large" in text or "too many" in text or "too long" in text:
        return SqlError("too_large", text)
    if text.startswith("no such table"):
        return SqlError("syntax", text, "The tables are: " + _names(catalogue) + ".")
    if text.startswith("no such column"):
        return SqlError("syntax", text, "Use describe_table to see a table's columns.")
    kind = "database" if isinstance(error, sqlite3.IntegrityError) else "syntax"
    return SqlError(kind, text)


def _names(catalogue: TableCatalogue, most: int = 30) -> str:
    names = list(catalogue)
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _lenient_text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


class _IoCounters:
    """The I/O counters of the thread that creates this object, open as long as it lives.

    A timer may interrupt Python between any two instructions. A file opened for each reading
    would stay open where that happens before its `with` block begins.
    """

    def __init__(self) -> None:
        self.process = os.getpid()
        self._descriptor = os.open("/proc/thread-self/io", os.O_RDONLY | os.O_CLOEXEC)

    def __del__(self) -> None:
        if hasattr(self, "_descriptor"):
            os.close(self._descriptor)

    def bytes_written(self) -> int:
        """Return the bytes that the thread has written to files; 0 if there is no such counter."""
        for line in os.pread(self._descriptor, 1_024, 0).splitlines():
            if line.startswith(b"wchar:"):
                return int(line[6:])
        return 0


_local = threading.local()


def _thread_bytes_written() -> int:
    """Return the bytes that this thread has written to files; 0 if the system does not say."""
    try:
        counters: _IoCounters | None = getattr(_local, "counters", None)
        if counters is None or counters.process != os.getpid():  # a fork would read its parent's
            counters = _local.counters = _IoCounters()
        return counters.bytes_written()
    except OSError:
        return 0


class _Schema(NamedTuple):
    """What opening a connection reads from the schema."""

    catalogue: TableCatalogue
    calls_replaced: bool
    """Whether a view, default or index calls a function that the lock replaces."""


_MOST_SCHEMAS = 64
_schemas: dict[bytes, _Schema] = {}
"""Schemas by a digest of their statements. Databases that differ only in their rows, as the hidden
ones of a task do, share an entry; reading a schema of 300 tables takes as long as most queries."""


def _schema_of(connection: sqlite3.Connection) -> _Schema:
    """Return the schema of an unlocked connection, from the cache if it was read before."""
    rows = connection.execute(
        "SELECT rowid, type, name, tbl_name, CAST(sql AS BLOB) FROM sqlite_master ORDER BY rowid"
    ).fetchall()
    key = hashlib.blake2b(repr(rows).encode("utf-8", "surrogatepass"), digest_size=16).digest()
    schema = _schemas.get(key)
    if schema is None:
        schema = _Schema(read_catalogue(connection), _calls_replaced_functions(connection))
        while len(_schemas) >= _MOST_SCHEMAS:
            _schemas.pop(next(iter(_schemas), b""), None)  # the oldest; another thread may, too
        _schemas[key] = schema
    return schema


def _calls_replaced_functions(connection: sqlite3.Connection) -> bool:
    names = (*CLOCK_FUNCTIONS, *REPLACED)
    pattern = re.compile(rf"\b(?:(?:{'|'.join(names)})\s*\(|current_(?:date|time))", re.IGNORECASE)
    texts = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
    return any(pattern.search(text) for (text,) in texts)


def read_catalogue(connection: sqlite3.Connection) -> dict[str, TableInfo]:
    """Return the tables and views of an unlocked connection."""
    listing = connection.execute(
        "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
    ).fetchall()
    tables = {}
    for name, kind in listing:
        quoted = name.replace('"', '""')
        references = {
            row[3].lower(): (row[2], row[4] or "")
            for row in connection.execute(f'PRAGMA foreign_key_list("{quoted}")')
        }
        columns = tuple(
            ColumnInfo(row[1], row[2], not row[3] and not row[5], bool(row[5]),
                       references.get(row[1].lower()))
            for row in connection.execute(f'PRAGMA table_info("{quoted}")')
        )  # fmt: skip
        tables[name] = TableInfo(name, columns, kind == "view")
    return tables
