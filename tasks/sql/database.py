"""Databases as bytes: a world's population, a file, or tables given in a task's parameters.

The bytes are a serialised SQLite database, ready for `sqlite3.Connection.deserialize`. A cache with
a size limit in bytes keeps recent ones, because resets of an episode request the same databases.
"""

import os
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hexathlon.tasks.errors import MissingData, TaskError
from hexathlon.tasks.public_data import data_folder
from hexathlon.tasks.sql.schema import Row, Schema, Table
from hexathlon.tasks.sql.world import World, world_for

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

__all__ = [
    "ByteCache", "create_tables", "database_bytes", "hidden_bytes", "load_into",
    "world_bytes",
]  # fmt: skip


class ByteCache:
    """An LRU cache of byte strings, limited by total size; thread-safe."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0
        self._items: OrderedDict[Hashable, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """Return the bytes under the key, creating and storing them if absent."""
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


def database_bytes(params: Mapping[str, Any]) -> bytes:
    """Return a task's visible database, described by the task's parameters.

    Raises:
        MissingData: If the parameters name a file that does not exist.
        TaskError: If the parameters describe no database.
    """
    if "world" in params:
        world = world_for(params["world"])
        return world.sqlite_bytes(params["population"], params["size"])
    return _described(params.get("database"))


def hidden_bytes(params: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield the hidden databases of a task; none for loaded tasks."""
    for hidden in params.get("hidden", ()):
        if "population" in hidden:
            world = world_for(params["world"])
            yield world.sqlite_bytes(hidden["population"], hidden["size"])
        else:
            yield _described(hidden)


def _described(database: Any) -> bytes:
    if not isinstance(database, Mapping) or "kind" not in database:
        raise TaskError(f"no database is described by {database!r}: expected a kind and its fields")
    match database["kind"]:
        case "file":
            return _file_bytes(database["path"])
        case "shipped":
            return _shipped_bytes(database["name"], int(database.get("variant", 0)))
        case "tables":
            return _tables_bytes(database["tables"])
        case kind:
            raise TaskError(f"a database of kind {kind!r} is not known: file, shipped or tables")


def _shipped_bytes(name: str, variant: int) -> bytes:
    from hexathlon.tasks.sql.data import shipped_database

    return CACHE.get(("shipped", name, variant), lambda: shipped_database(name, variant))


def _file_bytes(path: str) -> bytes:
    """Read a file; relative paths start at the public-data directory, so tasks name no machine."""
    place = path if os.path.isabs(path) else os.path.join(data_folder("spider/"), path)
    try:
        status = os.stat(place)
    except OSError:
        raise MissingData(
            f"there is no database file {place}; HEXATHLON_DATA names the folder of public data"
        ) from None
    key = ("file", place, status.st_mtime_ns, status.st_size)
    return CACHE.get(key, lambda: _from_file(Path(place)))


def _from_file(file: Path) -> bytes:
    uri = f"{file.resolve().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        image = connection.serialize()
    # A database in WAL mode cannot be opened from memory; bytes 18 and 19 set the mode.
    return image[:18] + b"\x01\x01" + image[20:] if image[18:20] == b"\x02\x02" else image


def _tables_bytes(tables: Sequence[Mapping[str, Any]]) -> bytes:
    """Build tables from {"name", "columns": [[name, type], ...], "rows": [[...], ...]}."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for table in tables:
            columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in table["columns"])
            connection.execute(f"CREATE TABLE {quoted(table['name'])} ({columns})")
            marks = ", ".join("?" * len(table["columns"]))
            connection.executemany(
                f"INSERT INTO {quoted(table['name'])} VALUES ({marks})", table["rows"]
            )
        connection.commit()
        return connection.serialize()


def quoted(name: str) -> str:
    """Return a name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def world_bytes(world: World, population_seed: int, size: int) -> bytes:
    """Return a world's population as a serialised SQLite database."""
    key = (world.id, population_seed, size)
    return CACHE.get(key, lambda: _build(world, population_seed, size))


def _build(world: World, population_seed: int, size: int) -> bytes:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        fill(connection, world.schema, world.rows(population_seed, size))
        return connection.serialize()


def fill(connection: sqlite3.Connection, schema: Schema, rows: Mapping[str, Sequence[Row]]) -> None:
    """Create and fill a schema's tables on an SQLite connection, outside any transaction."""
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("BEGIN")
    for table in schema.tables:
        connection.execute(create_tables(table))
        marks = ", ".join("?" * len(table.columns))
        connection.executemany(f"INSERT INTO {table.name} VALUES ({marks})", rows[table.name])
    connection.execute("COMMIT")


def create_tables(table: Table, types: Mapping[str, str] | None = None) -> str:
    """Return the CREATE TABLE statement of a table; `types` translates column types.

    Foreign keys are declared only where every row satisfies them; columns with orphans have none.
    """
    lines = []
    for column in table.columns:
        kind = (types or {}).get(column.type, column.type)
        key = " PRIMARY KEY" if table.primary_key == (column.name,) else ""
        strict = "" if column.nullable or column.role == "soft_delete" or key else " NOT NULL"
        lines.append(f"  {column.name} {kind}{key}{strict}")
    if len(table.primary_key) > 1:
        lines.append(f"  PRIMARY KEY ({', '.join(table.primary_key)})")
    for column in table.columns:
        if column.references and not column.law.orphans:
            parent, key = column.references
            lines.append(f"  FOREIGN KEY ({column.name}) REFERENCES {parent} ({key})")
    return f"CREATE TABLE {table.name} (\n" + ",\n".join(lines) + "\n)"


SERVER_TYPES = {"INTEGER": "BIGINT", "REAL": "DOUBLE PRECISION", "TEXT": "TEXT"}


def load_into(connection: "Connection", schema: Schema, rows: Mapping[str, Sequence[Row]]) -> None:
    """Create the same tables with the same rows on any SQLAlchemy connection, and commit.

    Names are not quoted, so a database that folds their case also folds it in the agent's queries.
    """
    from sqlalchemy import text

    for table in schema.tables:
        connection.execute(text(create_tables(table, SERVER_TYPES)))
        places = ", ".join(f":p{index}" for index in range(len(table.columns)))
        statement = text(f"INSERT INTO {table.name} VALUES ({places})")
        chunk = rows[table.name]
        for start in range(0, len(chunk), 5_000):
            part = chunk[start : start + 5_000]
            connection.execute(statement, [{f"p{i}": v for i, v in enumerate(row)} for row in part])
    connection.commit()
