"""Shared code of the engines reached through a SQLAlchemy URL.

The content comes from the same serialised SQLite database that every other engine gets. A read-only
database is loaded once and shared; a writable one belongs to its agent, and its snapshot is the
image plus the statements that have taken effect since: restoring replays them. Each statement takes
effect at once; multi-statement transactions are refused.
"""

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from hexathlon.tasks.sql.world.backends.base import (
    ColumnInfo,
    DatabaseSnapshot,
    QueryLimits,
    QueryResult,
    SqlError,
    StoredRow,
    TableCatalogue,
    TableInfo,
    first_word,
    plain_row,
)
from hexathlon.tasks.sql.world.backends.complexity import copies, tables_joined
from hexathlon.tasks.sql.world.backends.connection import read_catalogue
from hexathlon.tasks.sql.world.images import is_typed

__all__ = ["TOO_SLOW", "Loaded", "ServerDatabase", "fill"]


TOO_SLOW = (
    "time",
    "the statement went over its time limit and was stopped",
    "Filter earlier, join on keys, avoid cross joins, or bound the recursion.",
)
_MOST_JOINED, _MOST_COPIES = 24, 200
_READING = frozenset({"select", "with", "values"})
_WORDS: dict[str, tuple[str, ...]] = {
    "insert": ("insert",), "update": ("update",), "delete": ("delete",),
    "create_table": ("create",), "create_index": ("create", "drop"), "alter_table": ("alter",),
    "drop_table": ("drop",),
}  # fmt: skip
_TOKEN = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|[^\W\d]\w*", re.DOTALL)
_FORBIDDEN = re.compile(
    r"pg_.*|lo_.*|dblink.*|txid_.*|duckdb_.*|pragma_.*|set_config|current_setting|query|query_table"
    r"|.*_to_xml.*|random|setseed|gen_random_uuid|uuid|uuidv[47]|now|today|get_current_.*|current_(?:date"
    r"|time|timestamp|user|role|catalog|schema|schemas|query|database)|local(?:time|timestamp)"
    r"|(?:clock|statement|transaction)_timestamp|timeofday|age|version|session_user|user|getenv"
    r"|inet_.*|nextval|setval|currval|lastval|read_.*|glob|sleep|benchmark|load_file|sys_.*|connection_id"
    r"|last_insert_id|row_count|found_rows|sysdate|curdate|curtime|unix_timestamp|utc_.*|rand",
    re.IGNORECASE,
)
_CONFUSING = re.compile(r"\$\w*\$|\b[eu]&?'|\bu&\"|\\['\"]|/\*(?:(?!\*/).)*/\*", re.I | re.S)
"""Spellings that make engines disagree about where a string or comment ends."""

_BARE = frozenset((
    "current_date", "current_time", "current_timestamp", "localtime", "localtimestamp",
    "current_user", "current_role", "session_user", "current_catalog", "current_schema",
))  # fmt: skip


class _Source(NamedTuple):
    """A table of the image."""

    info: TableInfo
    create: str
    rows: list[StoredRow]


TableSources = Mapping[str, _Source]


class Loaded:
    """A loaded database, ready for statements; one subclass per engine."""

    dialect = ""

    def execute(
        self, sql: str, limits: QueryLimits, *, reading: bool
    ) -> tuple[Sequence[str], list[Sequence[Any]], int | None]:
        """Run a statement; return column names, at most `limits.rows` + 1 rows, and rows changed.

        Raises:
            SqlError: If the engine refuses or interrupts the statement.
        """
        raise NotImplementedError

    def fetch(self, sql: str) -> Sequence[Sequence[Any]]:
        """Run one of the harness's own statements as the owner, unchecked; return all its rows."""
        raise NotImplementedError

    def close(self) -> None:
        """Release all resources."""
        raise NotImplementedError


class Opener(Protocol):
    """An engine's way of loading images and spelling names."""

    dialect: str
    schema: str
    """The schema of the tables, as named in the standard's information schema."""

    def open(self, image: bytes, writes: frozenset[str]) -> Loaded:
        """Load an image: shared for reading, private for writing."""
        ...

    def fold(self, name: str) -> str:
        """Return a name as the engine reads it when unquoted."""
        ...

    def quote(self, name: str) -> str:
        """Quote a name."""
        ...


class ServerDatabase:
    """A database on an engine, as the agent or the grader sees it."""

    def __init__(self, opener: Opener, image: bytes, writes: frozenset[str]) -> None:
        self._opener = opener
        self._image = image
        self._writes = writes
        self._allowed = {word for kind in writes for word in _WORDS[kind]}
        self._log: list[str] = []
        self._pending: tuple[str, ...] = ()
        self._loaded: Loaded | None = None
        self._counts: dict[str, int] = {}
        self.dialect: str = opener.dialect

    def run(self, sql: str, limits: QueryLimits) -> QueryResult:
        """Run one statement under the limits."""
        word = self._admitted(sql)
        reading = word in _READING and not (word == "with" and self._writes)
        columns, rows, changed = self._open().execute(sql, limits, reading=reading)
        if not reading:
            self._log.append(sql)
            self._counts.clear()
        return _result(columns, rows, None if reading else changed, limits)

    def catalogue(self) -> TableCatalogue:
        """Return the current tables."""
        done = (*self._pending, *self._log)
        if any(first_word(sql) in {"create", "alter", "drop"} for sql in done):
            return self._inspected()
        folded = self._opener.fold
        return {
            folded(name): _folded(table, folded)
            for name, table in _image_catalogue(self._image).items()
        }

    def count(self, table: str) -> int:
        """Return the number of rows of a table."""
        if table not in self._counts:
            sql = f"SELECT COUNT(*) FROM {self._opener.quote(table)}"
            _, rows, _ = self._open().execute(sql, QueryLimits(seconds=60.0), reading=True)
            self._counts[table] = int(rows[0][0])
        return self._counts[table]

    def snapshot(self) -> DatabaseSnapshot:
        """Return the image and every statement that has taken effect since."""
        return DatabaseSnapshot(self._image, (*self._pending, *self._log))

    def restore(self, snapshot: DatabaseSnapshot) -> None:
        """Restore a captured state; the statements are replayed on next use."""
        self.close()
        assert isinstance(snapshot.image, bytes)
        self._image, self._pending = snapshot.image, snapshot.pending

    def sqlite_image(self) -> bytes:
        """Return the content as a serialised SQLite database."""
        if not self._writes:
            return self._image
        return sqlite_copy(self._open(), self._image, self._opener)

    def close(self) -> None:
        """Close the database; the state is kept."""
        if self._loaded is not None:
            self._pending = (*self._pending, *self._log)
            self._log = []
            self._counts = {}
            if self._writes:
                self._loaded.close()
            self._loaded = None

    def _open(self) -> Loaded:
        if self._loaded is None:
            self._loaded = self._opener.open(self._image, self._writes)
            self._log, pending, self._pending = [], self._pending, ()
            for statement in pending:
                self._loaded.execute(statement, QueryLimits(seconds=60.0), reading=False)
                self._log.append(statement)
        return self._loaded

    def _admitted(self, sql: str) -> str:
        """Return the first word of a statement, if the statement may run here."""
        if "\0" in sql or len(sql) > 20_000:
            raise SqlError("statement", "the statement is too long or contains a NUL character")
        try:
            sql.encode()
        except UnicodeEncodeError:
            raise SqlError("statement", "the statement is not valid text") from None
        word = first_word(sql)
        if word not in _READING and word not in self._allowed:
            allowed = ", ".join(sorted(w.upper() for w in (*_READING, *self._allowed)))
            raise SqlError("refused", f"{word.upper() or 'this'} is not allowed here",
                           f"A statement can begin with {allowed}.")  # fmt: skip
        _refuse_forbidden(sql)
        return word

    def _inspected(self) -> TableCatalogue:
        return described(self._open(), self._opener.schema)


def content_of(image: bytes) -> TableSources:
    """Return the tables of an image with their rows."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(image)
        connection.text_factory = lambda data: data.decode("utf-8", "replace").replace("\0", "")
        found = {}
        for name, info in read_catalogue(connection).items():
            if info.view:
                continue
            quoted = name.replace('"', '""')
            create = connection.execute(
                "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)
            ).fetchone()[0]
            rows = connection.execute(f'SELECT * FROM "{quoted}"').fetchall()
            found[name] = _Source(info, create, rows)
        return found


def fill(
    image: bytes,
    opener: Opener,
    types: Mapping[str, str],
    execute: Callable[[str], object],
    insert: Callable[[str, list[StoredRow]], object],
) -> None:
    """Create the image's tables, with primary keys and NOT NULL, and fill them.

    Args:
        image: The content.
        opener: Spells the names.
        types: The engine's type for `INTEGER`, `REAL` and `TEXT`, and in typed images for `DATE`,
            `TIMESTAMP` and `JSON`.
        execute: Runs a statement as the owner.
        insert: Inserts rows into a table, given its quoted name.
    """
    typed = is_typed(image)
    for name, source in content_of(image).items():
        columns = [
            f"{opener.quote(opener.fold(column.name))} "
            f"{_server_type(column.type, source.rows, place, types, typed)}"
            + ("" if column.nullable or column.key else " NOT NULL")
            for place, column in enumerate(source.info.columns)
        ]
        keys = [opener.quote(opener.fold(c.name)) for c in source.info.columns if c.key]
        columns += [f"PRIMARY KEY ({', '.join(keys)})"] if keys else []
        table = opener.quote(opener.fold(name))
        execute(f"CREATE TABLE {table} ({', '.join(columns)})")
        if source.rows:
            insert(table, source.rows)


def sqlite_copy(loaded: Loaded, image: bytes, opener: Opener) -> bytes:
    """Return the engine's tables as a SQLite image; original columns keep their declarations."""
    original = {name.lower(): source for name, source in content_of(image).items()}
    with closing(sqlite3.connect(":memory:")) as copy:
        for name, table in described(loaded, opener.schema).items():
            target = _create_again(copy, table, original.get(name.lower()))
            rows = loaded.fetch(f"SELECT * FROM {opener.quote(name)}")
            marks = ", ".join("?" * len(table.columns))
            copy.executemany(f'INSERT INTO "{target}" VALUES ({marks})', map(plain_row, rows))
        copy.commit()
        return copy.serialize()


def _create_again(copy: sqlite3.Connection, table: TableInfo, source: _Source | None) -> str:
    """Recreate a table in the copy, original columns as declared before; return its name there."""
    names = [column.name.lower() for column in table.columns]
    old = [column.name.lower() for column in source.info.columns] if source is not None else []
    if source is None or names[: len(old)] != old:
        copy.execute(_declared(table.name, table.columns))
        return table.name
    copy.execute(source.create)
    for column in table.columns[len(old) :]:
        copy.execute(f'ALTER TABLE "{source.info.name}" ADD COLUMN "{column.name}" {column.type}')
    return source.info.name


def _refuse_forbidden(sql: str) -> None:
    """Refuse access to the clock, the server or other sessions; names cannot be computed."""
    if tables_joined(sql) > _MOST_JOINED or copies(sql) > _MOST_COPIES:
        raise SqlError("steps", "the statement joins too many tables", "Join fewer at a time.")
    if _CONFUSING.search(sql):
        raise SqlError("refused", "this way of quoting or nesting comments is not allowed here",
                       "Use plain '...' strings and names without escapes.")  # fmt: skip
    tokens = [
        (match.group(), sql[match.end() : match.end() + 40].lstrip()[:1])
        for match in _TOKEN.finditer(sql)
    ]
    for token, following in tokens:
        if token[0] == "'" or token.startswith(("--", "/*")):
            continue
        name = token.strip('"').lower()
        called = following == "(" or following == "/"
        if (name in _BARE and token[0] != '"') or (called and _FORBIDDEN.fullmatch(name)):
            raise SqlError("refused", f"{name} is not allowed here", "Use the tables' own values.")
        if name.startswith(("pg_", "duckdb_")):
            raise SqlError("refused", f"{name} is not allowed here")


def _result(
    columns: Sequence[str], rows: list[Sequence[Any]], changed: int | None, limits: QueryLimits
) -> QueryResult:
    more = len(rows) > limits.rows
    plain = [plain_row(row) for row in rows[: limits.rows]]
    size = sum(len(cell) for row in plain for cell in row if isinstance(cell, (str, bytes)))
    if size > limits.result_bytes:
        raise SqlError("too_large", "the result is too large", "Select fewer values.")
    return QueryResult(tuple(columns), plain, more, changed)


def _folded(table: TableInfo, fold: Any) -> TableInfo:
    columns = tuple(replace(c, name=fold(c.name)) for c in table.columns)
    return replace(table, name=fold(table.name), columns=columns)


def _image_catalogue(image: bytes) -> dict[str, TableInfo]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(image)
        return {n: t for n, t in read_catalogue(connection).items() if not t.view}


def _server_type(
    declared: str, rows: list[StoredRow], place: int, types: Mapping[str, str], typed: bool
) -> str:
    """Return the engine's type for a column: as declared, unless a value does not fit it."""
    kind = declared.upper()
    if typed and kind in types:
        return types[kind]
    wanted = (
        "INTEGER" if "INT" in kind
        else "REAL" if any(word in kind for word in ("REAL", "FLOA", "DOUB", "NUM", "DEC"))
        else "TEXT"
    )  # fmt: skip
    found = {type(row[place]) for row in rows} - {type(None)}
    if wanted == "INTEGER" and found <= {int}:
        return types["INTEGER"]
    if wanted != "TEXT" and found <= {int, float}:
        return types["REAL"]
    return types["TEXT"]


def described(loaded: Loaded, schema: str) -> dict[str, TableInfo]:
    """Describe a schema's tables through the standard information schema."""
    keys = loaded.fetch(
        "SELECT k.table_name, k.column_name FROM information_schema.table_constraints c "
        "JOIN information_schema.key_column_usage k ON k.constraint_name = c.constraint_name "
        "AND k.table_schema = c.table_schema AND k.table_name = c.table_name "
        f"WHERE c.constraint_type = 'PRIMARY KEY' AND c.table_schema = '{schema}'"
    )
    primary = {(row[0], row[1]) for row in keys}
    found: dict[str, list[ColumnInfo]] = {}
    for table, name, kind, nullable in loaded.fetch(
        "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns "
        f"WHERE table_schema = '{schema}' ORDER BY table_name, ordinal_position"
    ):
        key = (table, name) in primary
        optional = nullable == "YES" and not key
        column = ColumnInfo(name, _sqlite_type(kind.upper()), optional, key, None)
        found.setdefault(table, []).append(column)
    return {table: TableInfo(table, tuple(columns)) for table, columns in found.items()}


def _sqlite_type(kind: str) -> str:
    if "INT" in kind or kind == "BOOLEAN":
        return "INTEGER"
    numeric = any(word in kind for word in ("DOUBLE", "FLOAT", "REAL", "NUMERIC", "DECIMAL"))
    return "REAL" if numeric else "TEXT"


def _declared(table: str, columns: Sequence[Any]) -> str:
    parts = [
        f'"{column.name}" {column.type}' + ("" if column.nullable or column.key else " NOT NULL")
        for column in columns
    ]
    keys = [f'"{column.name}"' for column in columns if column.key]
    parts += [f"PRIMARY KEY ({', '.join(keys)})"] if keys else []
    return f'CREATE TABLE "{table}" ({", ".join(parts)})'
