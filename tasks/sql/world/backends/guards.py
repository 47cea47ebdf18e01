"""Permissions of an agent's SQLite connection: the authorizer, functions and size limits."""

import sqlite3
from collections.abc import Iterable

__all__ = ["FUNCTIONS", "Authorizer", "set_limits"]

FUNCTIONS = frozenset(
    """
    -> ->> abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce concat
    concat_ws cos cosh count cume_dist current_date current_time current_timestamp date datetime
    degrees dense_rank exp first_value floor format glob group_concat hex ifnull if iif instr
    json json_array json_array_length json_extract json_group_array json_group_object
    json_insert json_object json_quote json_remove json_replace json_set json_type json_valid
    julianday lag last_value lead length like likelihood likely ln log log10 log2 lower ltrim
    max median min mod nth_value ntile nullif octet_length percent_rank percentile pi pow power
    printf quote radians rank replace round row_number rtrim sign sin sinh soundex sqrt strftime
    string_agg substr substring sum tan tanh time timediff total trim trunc typeof unhex unicode
    unixepoch unlikely upper
""".split()
)
"""Functions that depend only on their arguments and take time linear in their length.

Omitted on purpose: `random`, `changes`, `sqlite_version` and the like (not determined by the task),
`load_extension`, `fts3_tokenizer` (unsafe), `zeroblob`, `randomblob`, `json_patch` (costly).
"""

_HINT = "Only the tables of this database and ordinary SQL functions can be used."
_ALWAYS_READABLE = ("sqlite_master", "sqlite_schema", "json_each", "json_tree")
_SCHEMA_TABLES = ("sqlite_master", "sqlite_schema", "sqlite_temp_master", "sqlite_temp_schema")
_RENAMING = frozenset(
    """
    sqlite_rename_column sqlite_rename_table sqlite_rename_test sqlite_rename_quotefix
    sqlite_drop_column sqlite_fail printf substr length like
""".split()
)

_DDL = {
    sqlite3.SQLITE_CREATE_TABLE: "create_table",
    sqlite3.SQLITE_CREATE_INDEX: "create_index",
    sqlite3.SQLITE_DROP_TABLE: "drop_table",
    sqlite3.SQLITE_DROP_INDEX: "create_index",
    sqlite3.SQLITE_ALTER_TABLE: "alter_table",
    sqlite3.SQLITE_REINDEX: "create_index",
}
_DML = {
    sqlite3.SQLITE_INSERT: "insert",
    sqlite3.SQLITE_UPDATE: "update",
    sqlite3.SQLITE_DELETE: "delete",
}
_SCHEMA_WRITES = frozenset(_DDL.values())
_REFUSED = {
    sqlite3.SQLITE_PRAGMA: "PRAGMA",
    sqlite3.SQLITE_ATTACH: "ATTACH",
    sqlite3.SQLITE_DETACH: "DETACH",
    sqlite3.SQLITE_TRANSACTION: "a transaction",
    sqlite3.SQLITE_SAVEPOINT: "a savepoint",
    sqlite3.SQLITE_ANALYZE: "ANALYZE",
    sqlite3.SQLITE_CREATE_VIEW: "CREATE VIEW",
    sqlite3.SQLITE_CREATE_TRIGGER: "CREATE TRIGGER",
    sqlite3.SQLITE_CREATE_VTABLE: "CREATE VIRTUAL TABLE",
    sqlite3.SQLITE_DROP_VIEW: "DROP VIEW",
    sqlite3.SQLITE_DROP_TRIGGER: "DROP TRIGGER",
    sqlite3.SQLITE_DROP_VTABLE: "DROP TABLE on a virtual table",
    sqlite3.SQLITE_CREATE_TEMP_TABLE: "a temporary table",
    sqlite3.SQLITE_CREATE_TEMP_VIEW: "a temporary view",
    sqlite3.SQLITE_CREATE_TEMP_INDEX: "a temporary index",
    sqlite3.SQLITE_CREATE_TEMP_TRIGGER: "a temporary trigger",
}

_TINY = (
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 20_000),
    (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 200),
    (sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 50),
    (sqlite3.SQLITE_LIMIT_VDBE_OP, 100_000),
    (sqlite3.SQLITE_LIMIT_FUNCTION_ARG, 100),
    (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
    (sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 500),
    (sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 50),
    (sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 20),
    (sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0),
)


def set_limits(connection: sqlite3.Connection, *, cell_bytes: int, widest_table: int) -> None:
    """Bound the size of the statement and of every value in it.

    Cells and rows larger than `cell_bytes` can be neither created nor read. This also bounds the
    cost of one instruction, between two calls of the progress handler.
    """
    for limit, value in _TINY:
        connection.setlimit(limit, value)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, cell_bytes)
    connection.setlimit(sqlite3.SQLITE_LIMIT_COLUMN, max(100, widest_table + 20))


class Authorizer:
    """Allows or denies each action of a statement at compile time.

    A read-only connection may select from the existing tables and call the functions above. A
    read-write connection may also perform the kinds of change that its task declares. `refused`
    records what was denied first, and `hint` what to do instead.
    """

    def __init__(
        self, tables: Iterable[str], modules: Iterable[str], writes: frozenset[str]
    ) -> None:
        self.readable = {name.lower() for name in tables} | set(_ALWAYS_READABLE)
        self._modules = frozenset(name.lower() for name in modules)
        self.writes = writes
        self.refused = self.hint = ""
        self._schema_writes = bool(writes & _SCHEMA_WRITES)
        if self._schema_writes:
            self.readable.update(_SCHEMA_TABLES)

    def __call__(
        self, action: int, first: str | None, second: str | None, _base: str | None, _in: str | None
    ) -> int:
        """Return SQLite's code for allow or deny."""
        if action == sqlite3.SQLITE_READ:
            name = (first or "").lower()
            allowed = name in self.readable or (second == "" and self._is_expression(name))
            return self._answer(allowed, "the table {}", first)
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION:
            name = (second or "").lower()
            allowed = name in FUNCTIONS or (self._schema_writes and name in _RENAMING)
            return self._answer(allowed, "the function {}()", second)
        return self._writing(action, first, second)

    def _is_expression(self, name: str) -> bool:
        """Whether a name read without a column can only be a common table expression.

        SQLite makes this request for `WITH r AS (...) SELECT count(*) FROM r`, but also for its
        built-in virtual tables, which expose data outside the task.
        """
        return name not in self._modules and not name.startswith(("pragma_", "sqlite_"))

    def _writing(self, action: int, first: str | None, second: str | None) -> int:
        if not self.writes:
            return self._answer(False, _REFUSED.get(action, "a statement that writes"), None)
        if action in (sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_SAVEPOINT):
            return sqlite3.SQLITE_OK
        name = (first or "").lower()
        if action in _DML:
            if name in _SCHEMA_TABLES:
                # SQLite makes this request itself during schema changes; a statement that names
                # the schema table is refused by SQLite, because no PRAGMA can make it writable.
                return self._answer(self._schema_writes, "writing to {}", first)
            plain = name in self.readable and not name.startswith("sqlite_")
            kind = _DML[action]
            allowed = plain and (kind in self.writes or self._schema_writes)
            return self._answer(allowed, f"{kind.upper()} on {{}}", first)
        if action in _DDL:
            kind = _DDL[action]
            target = (second or "").lower() if kind == "alter_table" else name
            allowed = kind in self.writes and not target.startswith("sqlite_temp")
            if allowed and action == sqlite3.SQLITE_CREATE_TABLE:
                self.readable.add(name)
            if kind == "create_index" and name.startswith("sqlite_autoindex_"):
                what = "a PRIMARY KEY or UNIQUE constraint (it needs an index)"
                return self._answer(allowed, what, None, "Create the table without it.")
            return self._answer(allowed, kind.replace("_", " ").upper(), None)
        return self._answer(False, _REFUSED.get(action, "this kind of statement"), None)

    def _answer(self, allowed: bool, what: str, name: str | None, hint: str = _HINT) -> int:
        if allowed:
            return sqlite3.SQLITE_OK
        if not self.refused:
            self.refused, self.hint = what.format((name or "?")[:80]), hint
        return sqlite3.SQLITE_DENY
