"""MySQL through a SQLAlchemy URL. Untested for lack of a MySQL server.

The URL names its own driver, such as `mysql+pymysql://user:password@host/`, and a user who may
create databases. Each image gets its own database, and each writing episode a new one; reading
statements run in read-only transactions and stop at `max_execution_time`.
"""

import contextlib
import hashlib
import threading
from collections.abc import Sequence
from functools import partial
from itertools import count
from os import getpid
from typing import TYPE_CHECKING, Any

from hexathlon.tasks.sql.world.backends.base import QueryLimits, SqlError, StoredRow
from hexathlon.tasks.sql.world.backends.server import Loaded, ServerDatabase, fill

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

__all__ = ["open_server_database"]

_TYPES = {"INTEGER": "BIGINT", "REAL": "DOUBLE", "TEXT": "TEXT"}
_counter = count(1)


class _MySQL(Loaded):
    """A database on the server."""

    dialect = "mysql"

    def __init__(self, url: str, name: str, *, temporary: bool) -> None:
        from sqlalchemy import create_engine, make_url
        from sqlalchemy.pool import NullPool

        engine = create_engine(make_url(url).set(database=name), poolclass=NullPool)
        self._engine = engine.execution_options(no_parameters=True)
        self._name, self._temporary = name, temporary
        self._lock = threading.Lock()

    def execute(
        self, sql: str, limits: QueryLimits, *, reading: bool
    ) -> tuple[Sequence[str], list[Sequence[Any]], int | None]:
        """Run a statement in its own transaction."""
        from sqlalchemy.exc import DBAPIError

        with self._lock, self._engine.connect() as connection:
            milliseconds = max(int(limits.seconds * 1000), 1)
            connection.exec_driver_sql(f"SET SESSION max_execution_time = {milliseconds}")
            connection.commit()
            access = "READ ONLY" if reading else "READ WRITE"
            connection.exec_driver_sql(f"SET TRANSACTION {access}")
            try:
                streamed = connection.execution_options(stream_results=True)
                result = streamed.exec_driver_sql(sql)
                if not result.returns_rows:
                    connection.commit()
                    return (), [], result.rowcount
                rows: list[Sequence[Any]] = list(result.fetchmany(limits.rows + 1))
                result.close()
                return list(result.keys()), rows, None
            except DBAPIError as error:
                raise SqlError("syntax", str(error.orig).partition("\n")[0][:500]) from None

    def fetch(self, sql: str) -> Sequence[Sequence[Any]]:
        """Run one of the harness's own statements; return all its rows."""
        with self.connect() as connection:
            return connection.exec_driver_sql(sql).fetchall()

    def connect(self) -> "Connection":
        """Return a connection for filling the tables."""
        return self._engine.connect()

    def close(self) -> None:
        """Drop a temporary database."""
        if self._temporary:
            with contextlib.suppress(Exception), self._engine.connect() as connection:
                connection.exec_driver_sql(f"DROP DATABASE `{self._name}`")
        self._engine.dispose()


class _Opener:
    """Loads images into databases of one server."""

    dialect = "mysql"

    def __init__(self, url: str, schema: str, *, temporary: bool) -> None:
        self.schema = schema
        self._url = url
        self._temporary = temporary

    def open(self, image: bytes, writes: frozenset[str]) -> _MySQL:
        from sqlalchemy import create_engine
        from sqlalchemy.pool import NullPool

        engine = create_engine(self._url, poolclass=NullPool)
        engine = engine.execution_options(no_parameters=True)
        loaded = _MySQL(self._url, self.schema, temporary=self._temporary)
        with engine.connect() as connection:
            found = connection.exec_driver_sql(f"SHOW DATABASES LIKE '{self.schema}'").first()
            if found is None:
                connection.exec_driver_sql(f"CREATE DATABASE `{self.schema}` CHARACTER SET utf8mb4")
                with loaded.connect() as filling:
                    insert = partial(_insert_rows, filling)
                    fill(image, self, _TYPES, filling.exec_driver_sql, insert)
                    filling.commit()
        engine.dispose()
        return loaded

    def fold(self, name: str) -> str:
        return name

    def quote(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"


def _insert_rows(connection: "Connection", table: str, rows: list[StoredRow]) -> None:
    raw: Any = connection.connection.dbapi_connection
    marks = ", ".join(["%s"] * len(rows[0]))
    cursor = raw.cursor()
    cursor.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
    cursor.close()


def open_server_database(url: str, image: bytes, writes: frozenset[str]) -> ServerDatabase:
    """Open an image on the server at the URL."""
    name = f"hexathlon_{hashlib.sha256(image).hexdigest()[:20]}"
    if writes:
        name = f"hexathlon_w_{getpid()}_{next(_counter)}"
    return ServerDatabase(_Opener(url, name, temporary=bool(writes)), image, writes)
