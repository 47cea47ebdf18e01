"""PostgreSQL through `psycopg` and a superuser's SQLAlchemy URL.

Each distinct content has one template database, created once. Readers share a copy of it through a
role that may only SELECT; each writing episode gets a temporary copy. Statements stop at
`statement_timeout`, temporary files at `temp_file_limit`, and rows come through a server-side
cursor, so that a huge result is never sent whole. Functions that sleep, signal other sessions,
change settings or access files are revoked in the template.
"""

import atexit
import contextlib
import hashlib
import threading
import weakref
from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count
from os import getpid
from typing import TYPE_CHECKING, Any

from hexathlon.tasks.sql.world.backends.base import QueryLimits, SqlError, StoredRow
from hexathlon.tasks.sql.world.backends.server import (
    TOO_SLOW,
    Loaded,
    ServerDatabase,
    fill,
)

if TYPE_CHECKING:
    from sqlalchemy.engine import URL, Connection, Engine

__all__ = ["open_server_database"]

_TYPES = {
    "INTEGER": "BIGINT", "REAL": "DOUBLE PRECISION", "TEXT": "TEXT", "DATE": "DATE",
    "TIMESTAMP": "TIMESTAMP", "JSON": "JSONB",
}  # fmt: skip
_READER, _EDITOR, _WRITER = "hexathlon_reader", "hexathlon_editor", "hexathlon_writer"
"""May SELECT; may also use an episode's grants; owns the tables of its copy."""

_LOCK = 0x48455841
_KEPT = 8
_SETTINGS = (
    "temp_file_limit = '256MB'",
    "timezone = 'UTC'",
    "max_parallel_workers_per_gather = 0",
    # JIT compilation takes seconds, during which the deadline is not checked.
    "jit = off",
)
_DDL = frozenset({"create_table", "alter_table", "create_index", "drop_table"})
_DML = {"insert": "INSERT", "update": "UPDATE", "delete": "DELETE"}
_REVOKED = (
    "^(set_config|pg_sleep.*|pg_terminate_backend|pg_cancel_backend|pg_advisory_.*|pg_try_advisory_.*"
    "|pg_notify|lo_.*|lowrite|loread|query_to_xml.*|table_to_xml.*|schema_to_xml.*|database_to_xml.*"
    "|cursor_to_xml.*|pg_export_snapshot|pg_logical_.*|pg_read_.*|pg_ls_.*|pg_stat_file)$"
)


class _Link:
    """The connections of one open database, which must be closed when it is no longer used."""

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine
        self._connection: Connection | None = None
        self._process = getpid()

    def connected(self) -> Any:
        """Return the agent's connection, opening it on first use."""
        if self._connection is None:
            self._connection = self._engine.connect()
        return self._connection.connection.driver_connection

    def disconnect(self) -> None:
        """Close the agent's connection; a forked process leaves its parent's connection open."""
        connection, self._connection = self._connection, None
        if connection is not None and getpid() == self._process:
            connection.invalidate()
            connection.close()

    def give_up(self, server: "_Server", name: str | None) -> None:
        """Close, and leave a temporary database for the server's next sweep."""
        self.disconnect()
        if name is not None and getpid() == self._process:
            server.abandoned.append(name)


class _Postgres(Loaded):
    """A database accessed through the agent's role.

    Readers of one image share an instance. A caller who forgets to close it leaks no connection:
    the link is closed when its last user is gone.
    """

    dialect = "postgresql"

    def __init__(self, server: "_Server", name: str, role: str, *, temporary: bool) -> None:
        self._server, self._name, self._temporary = server, name, temporary
        self._link = _Link(server.engine(name, role))
        self._owner: Engine | None = None
        self._lock = threading.Lock()
        abandoned = name if temporary else None
        weakref.finalize(self, self._link.give_up, server, abandoned).atexit = False

    def execute(
        self, sql: str, limits: QueryLimits, *, reading: bool
    ) -> tuple[Sequence[str], list[Sequence[Any]], int | None]:
        """Run a statement in its own transaction; the server stops it at the deadline."""
        import psycopg

        with self._lock:
            raw = self._link.connected()
            try:
                return self._run(raw, _single(sql), limits, reading=reading)
            except psycopg.errors.QueryCanceled:
                raise SqlError(*TOO_SLOW) from None
            except psycopg.errors.ConfigurationLimitExceeded:
                raise SqlError("too_large", "the statement needed too much space") from None
            except (psycopg.Error, ValueError, UnicodeError) as error:
                if raw.closed:
                    self._link.disconnect()
                raise SqlError("syntax", _message(error)) from None
            finally:
                if not raw.closed:
                    raw.rollback()

    def _run(
        self, raw: Any, sql: str, limits: QueryLimits, *, reading: bool
    ) -> tuple[Sequence[str], list[Sequence[Any]], int | None]:
        milliseconds = max(int(limits.seconds * 1000), 1)
        raw.execute(f"SET LOCAL statement_timeout = {milliseconds}")
        if not reading:
            with raw.cursor() as cursor:
                # The extended protocol takes a single statement, so none can be appended to it.
                cursor.execute(sql, prepare=True)
                columns = [item.name for item in cursor.description or ()]
                rows = cursor.fetchmany(limits.rows + 1) if columns else []
                changed = cursor.rowcount if cursor.rowcount >= 0 else None
            raw.commit()
            return columns, rows, changed
        with raw.cursor(name="hexathlon") as cursor:
            cursor.execute(sql)
            columns = [item.name for item in cursor.description or ()]
            return columns, cursor.fetchmany(limits.rows + 1), None

    def fetch(self, sql: str) -> Sequence[Sequence[Any]]:
        """Run one of the harness's own statements as the superuser; return all its rows."""
        if self._owner is None:
            self._owner = self._server.engine(self._name, None)
        with self._owner.connect() as connection:
            return connection.exec_driver_sql(sql).fetchall()

    def close(self) -> None:
        """Disconnect, and drop a temporary database."""
        self._link.disconnect()
        if self._temporary:
            self._server.drop(self._name)


class _Server:
    """A PostgreSQL server: roles, templates, and engines for its databases."""

    def __init__(self, url: str) -> None:
        from sqlalchemy import make_url

        self._url = make_url(url).set(drivername="postgresql+psycopg")
        self._password = hashlib.sha256(f"hexathlon {url}".encode()).hexdigest()
        self._admin = self.engine(self._url.database or "postgres", None, autocommit=True)
        self._ready = False
        self._counter = count(1)
        self._made: set[str] = set()
        self.abandoned: deque[str] = deque()
        """Temporary databases that were never closed; dropped when the next one is created."""

    def engine(self, database: str, role: str | None, *, autocommit: bool = False) -> "Engine":
        """Return an engine for one database, as a role or as the URL's own user."""
        from sqlalchemy import create_engine
        from sqlalchemy.pool import NullPool

        url: URL = self._url.set(database=database)
        if role is not None:
            url = url.set(username=role, password=self._password)
        options: dict[str, Any] = {"isolation_level": "AUTOCOMMIT"} if autocommit else {}
        engine = create_engine(url, poolclass=NullPool, **options)
        return engine.execution_options(no_parameters=True)

    @contextlib.contextmanager
    def admin(self) -> "Iterator[Connection]":
        """Open a superuser's connection outside transactions, locked to one process at a time."""
        with self._admin.connect() as connection:
            connection.exec_driver_sql(f"SELECT pg_advisory_lock({_LOCK})")
            yield connection

    def writable(self, image: bytes, writes: frozenset[str]) -> tuple[str, str]:
        """Return a temporary copy of the image's template and the role that may write to it."""
        self.sweep()
        template = self.template(image)
        name = f"hexathlon_w_{getpid()}_{next(self._counter)}"
        with self.admin() as connection:
            connection.exec_driver_sql(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        self._made.add(name)
        grants = [_DML[kind] for kind in _DML if kind in writes]
        if grants and not writes & _DDL:
            self._grant(name, ", ".join(grants))
        return name, _WRITER if writes & _DDL else _EDITOR

    def drop(self, *names: str) -> None:
        """Drop those of this process's temporary databases that still exist."""
        left = [name for name in names if name in self._made]
        self._made.difference_update(left)
        if left:
            with self.admin() as connection:
                for name in left:
                    connection.exec_driver_sql(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def sweep(self, *, everything: bool = False) -> None:
        """Drop the temporary databases that were never closed, or all of this process."""
        names = sorted(self._made) if everything else []
        while self.abandoned:
            names.append(self.abandoned.popleft())
        self.drop(*names)

    def readable(self, image: bytes) -> str:
        """Return the copy of the image's template that all readers share."""
        template = self.template(image)
        name = f"{template}_r"
        with self.admin() as connection:
            if not _exists(connection, name):
                connection.exec_driver_sql(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return name

    def template(self, image: bytes) -> str:
        """Return the database with the image's content; created once, never connected to again."""
        name = f"hexathlon_{hashlib.sha256(image).hexdigest()[:20]}"
        with self.admin() as connection:
            if not self._ready:
                self._make_roles(connection)
                self._ready = True
            if not _exists(connection, name):
                self._build(connection, name, image)
        return name

    def _make_roles(self, connection: "Connection") -> None:
        for role in (_READER, _EDITOR, _WRITER):
            found = connection.exec_driver_sql(
                f"SELECT 1 FROM pg_roles WHERE rolname = '{role}'"
            ).first()
            verb = "ALTER" if found else "CREATE"
            connection.exec_driver_sql(
                f"{verb} ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT "
                f"PASSWORD '{self._password}'"
            )
            for setting in _SETTINGS:
                connection.exec_driver_sql(f"ALTER ROLE {role} SET {setting}")

    def _build(self, admin: "Connection", name: str, image: bytes) -> None:
        """Fill a database under a provisional name, so that a partial one is never used."""
        half = f"{name}_half"
        admin.exec_driver_sql(f'DROP DATABASE IF EXISTS "{half}" WITH (FORCE)')
        # The order of texts must not depend on the server.
        admin.exec_driver_sql(
            f"CREATE DATABASE \"{half}\" TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"
        )
        engine = self.engine(half, None)
        with engine.connect() as connection:
            insert = partial(_copy_rows, connection)
            fill(image, _Opener(self), _TYPES, connection.exec_driver_sql, insert)
            for statement in _lockdown(connection, half):
                connection.exec_driver_sql(statement)
            connection.commit()
        engine.dispose()
        admin.exec_driver_sql(f'ALTER DATABASE "{half}" RENAME TO "{name}"')

    def _grant(self, database: str, rights: str) -> None:
        engine = self.engine(database, None)
        with engine.connect() as connection:
            connection.exec_driver_sql(
                f"GRANT {rights} ON ALL TABLES IN SCHEMA public TO {_EDITOR}"
            )
            connection.commit()
        engine.dispose()


class _Opener:
    """Opens images on one server; read-only databases are cached and shared."""

    dialect = "postgresql"
    schema = "public"

    def __init__(self, server: _Server) -> None:
        self.server = server
        self._shared: OrderedDict[bytes, _Postgres] = OrderedDict()

    def open(self, image: bytes, writes: frozenset[str]) -> _Postgres:
        if writes:
            name, role = self.server.writable(image, writes)
            return _Postgres(self.server, name, role, temporary=True)
        if image not in self._shared:
            name = self.server.readable(image)
            self._shared[image] = _Postgres(self.server, name, _READER, temporary=False)
            if len(self._shared) > _KEPT:
                # Not closed: readers may still use it, and it lives as long as they do.
                self._shared.popitem(last=False)
        self._shared.move_to_end(image)
        return self._shared[image]

    def close(self) -> None:
        """Disconnect the readers."""
        while self._shared:
            self._shared.popitem()[1].close()

    def fold(self, name: str) -> str:
        return name.lower()

    def quote(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'


def _copy_rows(connection: "Connection", table: str, rows: list[StoredRow]) -> None:
    raw: Any = connection.connection.driver_connection
    with raw.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


_openers: dict[str, _Opener] = {}


def open_server_database(url: str, image: bytes, writes: frozenset[str]) -> ServerDatabase:
    """Open an image on the server at the URL."""
    if url not in _openers:
        _openers[url] = _Opener(_Server(url))
        atexit.register(_leave, _openers[url], getpid())
    return ServerDatabase(_openers[url], image, writes)


def _leave(opener: _Opener, process: int) -> None:
    """Disconnect and drop this process's temporary databases at exit."""
    from sqlalchemy.exc import OperationalError

    if getpid() == process:
        opener.close()
        with contextlib.suppress(OperationalError):  # the server may already be gone
            opener.server.sweep(everything=True)


def _exists(connection: "Connection", name: str) -> bool:
    query = f"SELECT 1 FROM pg_database WHERE datname = '{name}'"
    return connection.exec_driver_sql(query).first() is not None


def _lockdown(connection: "Connection", database: str) -> Iterator[str]:
    """Yield the statements that set the permissions of a new database."""
    yield f'REVOKE ALL ON DATABASE "{database}" FROM PUBLIC'
    yield f'GRANT CONNECT ON DATABASE "{database}" TO {_READER}, {_EDITOR}, {_WRITER}'
    yield "REVOKE ALL ON SCHEMA public FROM PUBLIC"
    yield f"GRANT USAGE ON SCHEMA public TO {_READER}, {_EDITOR}, {_WRITER}"
    yield f"GRANT CREATE ON SCHEMA public TO {_WRITER}"
    yield f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {_READER}, {_EDITOR}"
    tables = connection.exec_driver_sql(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    ).fetchall()
    for (table,) in tables:
        yield f'ALTER TABLE public."{table}" OWNER TO {_WRITER}'
    functions = connection.exec_driver_sql(
        "SELECT p.oid::regprocedure::text FROM pg_proc p JOIN pg_namespace n "
        "ON n.oid = p.pronamespace WHERE n.nspname = 'pg_catalog' "
        f"AND p.proname ~ '{_REVOKED}'"
    ).fetchall()
    for (function,) in functions:
        yield f"REVOKE EXECUTE ON FUNCTION pg_catalog.{function} FROM PUBLIC"


def _single(sql: str) -> str:
    """Return the statement without a trailing semicolon, which a cursor's query must not have."""
    return sql.strip().rstrip(";").strip()


def _message(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:500] or type(error).__name__
