"""Databases of tasks as bytes, from a world's population, a file, or tables in the parameters.

The bytes are a serialised SQLite database; see `hexathlon.tasks.sql.world.images`.
"""

import importlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from hexathlon.tasks.errors import MissingData, TaskError
from hexathlon.tasks.public_data import data_folder
from hexathlon.tasks.sql.populate_bounds import ColumnBounds
from hexathlon.tasks.sql.world.images import CACHE, quoted
from hexathlon.tasks.sql.world.world import world_for

__all__ = ["database_bytes", "hidden_bytes", "with_tables"]


def database_bytes(params: Mapping[str, Any]) -> bytes:
    """Return the visible database that a task's parameters describe.

    Raises:
        MissingData: If the parameters name a file that does not exist.
        TaskError: If the parameters do not describe a database.
    """
    if "shift" in params:
        return _shift_bytes(params)
    if "estate" in params:
        return _estate_bytes(params, params["estate"]["population"])
    if "engine" in params:
        return _engine_bytes(params, params["engine"]["number"])
    if "world" in params:
        return _population_bytes(params, params)
    return _described(params.get("database"))


def hidden_bytes(params: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield the hidden databases of a task; loaded tasks have none."""
    for hidden in params.get("hidden", ()):
        if "estate" in hidden:
            yield _estate_bytes(params, hidden["estate"])
        elif "engine" in hidden:
            yield _engine_bytes(params, hidden["engine"])
        elif "population" in hidden:
            yield _population_bytes(params, hidden)
        else:
            yield _described(hidden)


def _shift_bytes(params: Mapping[str, Any]) -> bytes:
    """Return the database of a day in the morning, which is drawn together with its tickets."""
    shift = params["shift"]
    day = importlib.import_module("hexathlon.tasks.sql.shifts.day")
    image: bytes = day.image_of_day(
        shift["template"], params["world"], shift["seed"], params["attempt"]
    )
    return image


def _estate_bytes(params: Mapping[str, Any], number: int) -> bytes:
    """Return a database of an estate task; number 0 is the visible one."""
    own = params["estate"]
    estate = importlib.import_module("hexathlon.tasks.sql.estates.estate")
    image: bytes = estate.estate_image(
        own["metric"], params["world"], own["seed"], params["attempt"], number
    )
    return image


def _engine_bytes(params: Mapping[str, Any], number: int) -> bytes:
    """Return a database of a question about an engine; number 0 is the visible one."""
    own = params["engine"]
    finding = importlib.import_module("hexathlon.tasks.sql.engines.finding")
    drawn = finding.EngineDraw(
        own["template"], own["level"], own["split"], own["seed"], own["attempt"]
    )
    image: bytes = finding.engine_image(drawn, number)
    return image


def _population_bytes(params: Mapping[str, Any], address: Mapping[str, Any]) -> bytes:
    """Return a population of the task's world, with the tables of the task and of this address."""
    bounds = tuple(
        ColumnBounds(table, column, tuple(values))
        for table, column, values in address.get("bounds", ())
    )
    world = world_for(params["world"])
    image = world.sqlite_bytes(address["population"], address["size"], bounds)
    shared = (params.get("supplement") or {}).get("tables", ())
    tables = [*shared, *address.get("tables", ())]
    if not tables:
        return image
    key = (world.id, address["population"], address["size"], bounds, json.dumps(tables))
    return CACHE.get(key, lambda: with_tables(image, tables))


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
    """Read a file; a relative path starts at HEXATHLON_DATA, so that tasks are portable."""
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
    # A database in write-ahead mode cannot be opened from memory; bytes 18 and 19 give the mode.
    return image[:18] + b"\x01\x01" + image[20:] if image[18:20] == b"\x02\x02" else image


def _tables_bytes(tables: Sequence[Mapping[str, Any]]) -> bytes:
    """Build a database from tables as `with_tables` takes them."""
    return with_tables(b"", tables)


def with_tables(image: bytes, tables: Sequence[Mapping[str, Any]]) -> bytes:
    """Return a database with further tables.

    Args:
        image: The database, or nothing for an empty one.
        tables: {"name", "columns": [[name, type], ...], "rows": [[...], ...]}, and optionally
            "key", the columns of the primary key.
    """
    with closing(sqlite3.connect(":memory:")) as connection:
        if image:
            connection.deserialize(image)
        for table in tables:
            lines = [f"{quoted(name)} {kind}" for name, kind in table["columns"]]
            if table.get("key"):
                lines.append(f"PRIMARY KEY ({', '.join(map(quoted, table['key']))})")
            connection.execute(f"CREATE TABLE {quoted(table['name'])} ({', '.join(lines)})")
            marks = ", ".join("?" * len(table["columns"]))
            connection.executemany(
                f"INSERT INTO {quoted(table['name'])} VALUES ({marks})", table["rows"]
            )
        connection.commit()
        return connection.serialize()
