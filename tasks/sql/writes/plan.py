"""Shared parts of write templates: the scene to draw from and the plan to produce.

A plan holds the same change twice: as SQL, and as a function from rows to rows that uses no SQL.
`settle` runs both and rejects the plan unless they agree, the alternative solution agrees too, and
at least three near misses differ.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from hexathlon.tasks.sql.schema import Column, Edge, Schema, Table, Value
from hexathlon.tasks.sql.supplement import AddedDocument, AddedTable
from hexathlon.tasks.sql.world.database import with_tables
from hexathlon.tasks.sql.world.digest import differing, digest_rows, table_digests
from hexathlon.tasks.sql.world.world import World

NamedRow = dict[str, Value]
TableContents = dict[str, list[NamedRow]]
Item = TypeVar("Item")

LEAST_MUTANTS = 3


@dataclass(frozen=True)
class Plan:
    """A change to a database, in English, in SQL and in Python."""

    instruction: str
    gold: tuple[str, ...]
    alternative: tuple[str, ...]
    """Alternative SQL with the same result."""
    mutants: Mapping[str, tuple[str, ...]]
    """Near misses by name."""
    change: Callable[[TableContents], None]
    """Applies the change in place; new tables and columns are simply new keys."""
    documents: tuple[str, ...] = ()
    """Documents that must be read."""
    stage: Callable[["WriteScene"], tuple[AddedTable, ...] | None] | None = None
    """Draws the tables that a population gets beside its own; None if it does not suit."""
    papers: tuple[AddedDocument, ...] = ()
    """Documents of this task alone."""
    runs: int = 1
    """How often in a row the statements are run; only the first run may change anything."""


@dataclass(frozen=True)
class Settled:
    """A validated plan: the expected tables and the accepted near misses."""

    plan: Plan
    digests: dict[str, str]
    before: dict[str, str]
    mutants: dict[str, tuple[str, ...]]


@dataclass
class WriteScene:
    """A populated world from which templates draw their parts."""

    world: World
    content: TableContents
    rng: np.random.Generator
    columns: dict[str, list[str]] = field(default_factory=dict)

    @property
    def schema(self) -> Schema:
        """The world's schema."""
        return self.world.schema

    def plain(self, *scales: str) -> list[Table]:
        """Return tables for tasks in which every row counts and the key is one column."""
        return [
            table for table in self.schema.asked()
            if not table.soft_delete and not table.natural_key and len(table.primary_key) == 1
            and (not scales or table.scale in scales)
        ]  # fmt: skip

    def edges(self) -> list[Edge]:
        """Return foreign keys between two different plain tables, without orphans."""
        names = {table.name for table in self.plain()}
        return [
            edge for edge in self.schema.edges()
            if edge.child != edge.parent and edge.child in names and edge.parent in names
            and not self.schema.column(edge.child, edge.column).law.orphans
        ]  # fmt: skip

    def pick(self, items: Sequence[Item]) -> Item | None:
        """Return one of the items, or None if there are none."""
        return items[int(self.rng.integers(len(items)))] if items else None

    def values(self, table: Table, column: Column) -> list[Any]:
        """Return the canonical values in use, sorted, without NULL."""
        found = {column.canonical(row) for row in self.content[table.name]}
        return sorted(value for value in found if value is not None)


def sound(table: Table, *roles: str) -> list[Column]:
    """Return the table's clean columns with these roles."""
    return [c for c in table.columns if c.role in roles and c.dirt is None]


def label(table: Table) -> Column | None:
    """Return the column by which people identify a row: clean, unique and never NULL."""
    fit = [c for c in sound(table, "name", "code") if c.unique and not c.nullable]
    return fit[0] if fit else None


def spelt(value: Value) -> str:
    """Return a value as it is written in an English sentence."""
    if isinstance(value, float):
        return f"{value:.2f}" if round(value, 2) == value else repr(value)
    return f"'{value}'" if isinstance(value, str) and not value[:1].isdigit() else str(value)


def scene_for(world: World, population: int, size: int, rng: np.random.Generator) -> WriteScene:
    """Return the scene of one population."""
    content: TableContents = {}
    columns: dict[str, list[str]] = {}
    rows = world.rows(population, size)
    for table in world.schema.tables:
        names = [column.name for column in table.columns]
        columns[table.name] = names
        content[table.name] = [dict(zip(names, row, strict=True)) for row in rows[table.name]]
    return WriteScene(world, content, rng, columns)


def settle(
    plan: Plan, scene: WriteScene, database: bytes, least: int = LEAST_MUTANTS
) -> Settled | None:
    """Derive the expected tables twice and try every near miss; None if the plan is invalid.

    `least` near misses must differ from the expected tables, after one run or several.
    """
    before = run_statements(database, ())
    expected = run_statements(database, plan.gold, before)
    if before is None or expected is None or not differing(before, expected):
        return None
    if differing(expected, _by_rows(plan, scene, before)):
        return None

    def differs(statements: Sequence[str], runs: int) -> bool | None:
        found = run_statements(database, tuple(statements) * runs, before)
        return None if found is None else bool(differing(expected, found))

    right = [plan.gold * runs for runs in range(2, plan.runs + 1)]
    right += [plan.alternative * runs for runs in range(1, plan.runs + 1)]
    if any(differs(statements, 1) is not False for statements in right):
        return None
    mutants = {}
    for name, statements in plan.mutants.items():
        outcome = differs(statements, 1)
        if outcome is False and plan.runs > 1:
            outcome = differs(statements, plan.runs) is not False
        if outcome:
            mutants[name] = statements
    return Settled(plan, expected, before, mutants) if len(mutants) >= least else None


Staged = tuple[WriteScene, bytes, tuple[AddedTable, ...]]
"""A population's scene, its database, and the tables that it got beside its own."""


def staged(plan: Plan, scene: WriteScene, database: bytes) -> Staged | None:
    """Return a population with the plan's own tables, and these; None if it does not suit."""
    if plan.stage is None:
        return scene, database, ()
    tables = plan.stage(scene)
    if tables is None:
        return None
    columns = {table.name: [name for name, _ in table.columns] for table in tables}
    content = {
        table.name: [dict(zip(columns[table.name], row, strict=True)) for row in table.rows]
        for table in tables
    }
    full = replace(scene, content=scene.content | content, columns=scene.columns | columns)
    return full, with_tables(database, [table.params() for table in tables]), tables


def run_statements(
    database: bytes, statements: Sequence[str], before: Mapping[str, str] | None = None
) -> dict[str, str] | None:
    """Return digests after running the statements on a fresh copy; None if one of them fails.

    If `before`, the digests of the fresh copy, is given, only tables that a statement names are
    hashed again.
    """
    named: set[str] = set()
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.deserialize(database)
        connection.set_authorizer(lambda action, *names: _noted(action, names[:2], named))
        try:
            for statement in statements:
                connection.execute(statement).fetchall()
        except sqlite3.Error:
            return None
        connection.set_authorizer(None)
        if before is None:
            return table_digests(connection)
        kept = {name: digest for name, digest in before.items() if name not in named}
        return dict(sorted({**kept, **table_digests(connection, named)}.items()))


_CHANGES = (
    sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE,
    sqlite3.SQLITE_CREATE_TABLE, sqlite3.SQLITE_DROP_TABLE, sqlite3.SQLITE_ALTER_TABLE,
)  # fmt: skip


def _noted(action: int, names: Sequence[str | None], named: set[str]) -> int:
    if action in _CHANGES:
        named.update(name.lower() for name in names if name)
    return sqlite3.SQLITE_OK


def _by_rows(plan: Plan, scene: WriteScene, before: Mapping[str, str]) -> dict[str, str]:
    """Return digests after the Python change; unchanged tables are not hashed again."""
    content = {name: [dict(row) for row in rows] for name, rows in scene.content.items()}
    plan.change(content)
    digests = {}
    for name, rows in content.items():
        if name in scene.content and rows == scene.content[name]:
            digests[name.lower()] = before[name.lower()]
            continue
        columns = list(rows[0]) if rows else scene.columns[name]
        digests[name.lower()] = digest_rows(columns, [tuple(row.values()) for row in rows])
    return digests
