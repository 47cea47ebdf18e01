"""Selection of a task's engine, and opening of its database there."""

import importlib
import importlib.util
import os
from collections.abc import Mapping
from typing import Any, cast

from hexathlon.tasks.sql.world.backends.base import DEFAULT_TODAY, WRITE_KINDS, Database
from hexathlon.tasks.sql.world.backends.connection import CELL_BYTES
from hexathlon.tasks.sql.world.backends.sqlite import open_sqlite
from hexathlon.tasks.sql.world.database import database_bytes
from hexathlon.tasks.sql.world.world import world_for

__all__ = [
    "MissingBackend",
    "dialect_of",
    "open_database",
    "open_image",
    "today_of",
    "writes_of",
]

_MODULES = {
    "duckdb": ("duckdb", "duckdb", "hexathlon.tasks.sql.world.backends.duckdb"),
    "postgresql": ("psycopg", "postgres", "hexathlon.tasks.sql.world.backends.postgres"),
    "mysql": ("sqlalchemy", "", "hexathlon.tasks.sql.world.backends.mysql"),
}
URL_VARIABLES = {"postgresql": "HEXATHLON_POSTGRES_URL", "mysql": "HEXATHLON_MYSQL_URL"}
"""Environment variables with the server's URL, for callers that only know a dialect."""

_given_urls: dict[str, str] = {}


class MissingBackend(Exception):
    """The requested engine is not installed or not configured."""


def writes_of(params: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the kinds of change a task permits; empty for read-only tasks."""
    if params.get("mode") != "write":
        return ()
    writes = tuple(params.get("writes") or ("insert", "update", "delete"))
    unknown = [kind for kind in writes if kind not in WRITE_KINDS]
    if unknown:
        raise ValueError(f"unknown kinds of writing {unknown}; known: {WRITE_KINDS}")
    return writes


def today_of(params: Mapping[str, Any]) -> str:
    """Return the date that 'now' denotes in the task's world."""
    if "today" in params:
        return str(params["today"])
    return world_for(params["world"]).schema.today if "world" in params else DEFAULT_TODAY


def dialect_of(backend: str) -> str:
    """Return the dialect of a backend or SQLAlchemy URL: sqlite, duckdb, postgresql or mysql."""
    name = backend.partition(":")[0].partition("+")[0]
    return {"postgres": "postgresql", "mariadb": "mysql"}.get(name, name)


def open_database(params: Mapping[str, Any], backend: str | None = None) -> Database:
    """Open a task's visible database for its agent."""
    chosen = backend or str(params.get("backend", "sqlite"))
    return open_image(database_bytes(params), params, chosen, purpose="agent")


def open_image(image: bytes, params: Mapping[str, Any], backend: str, *, purpose: str) -> Database:
    """Open a serialised SQLite database on an engine.

    Args:
        image: The content.
        params: The task's parameters, for the date, the cell size and the permitted writes.
        backend: A dialect or a SQLAlchemy URL.
        purpose: `agent` or `grader`; only the agent of a write task may write.

    Raises:
        MissingBackend: If a package or the server's URL is missing; the message names it.
    """
    dialect = dialect_of(backend)
    writes = writes_of(params) if purpose == "agent" else ()
    if dialect == "sqlite":
        cells = int(params.get("cell_bytes", CELL_BYTES))
        return open_sqlite(
            image,
            writes=writes,
            today=today_of(params),
            cell_bytes=cells,
            purpose=purpose,
            counted="steps" in params,
        )
    if dialect not in _MODULES:
        raise MissingBackend(f"no backend {backend!r}; known: sqlite, {', '.join(_MODULES)}")
    module = importlib.import_module(_requirement_met(dialect))
    if ":" in backend:
        # The grader knows only the dialect, because stored records contain it but not the URL.
        _given_urls[dialect] = backend
    url = backend if ":" in backend else _configured_url(dialect)
    return cast("Database", module.open_server_database(url, image, frozenset(writes)))


def _requirement_met(dialect: str) -> str:
    package, extra, module = _MODULES[dialect]
    if importlib.util.find_spec(package) is None:
        raise MissingBackend(
            f"the backend {dialect} needs the package {package}: pip install 'hexathlon[{extra}]'"
        )
    return module


def _configured_url(dialect: str) -> str:
    if dialect == "duckdb":
        return "duckdb:///:memory:"
    variable = URL_VARIABLES[dialect]
    if dialect in _given_urls:
        return _given_urls[dialect]
    if variable not in os.environ:
        raise MissingBackend(
            f"the backend {dialect} needs a server: set {variable} to its SQLAlchemy URL"
        )
    return os.environ[variable]
