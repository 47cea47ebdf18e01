"""Hidden databases of scripted changes, and scripts that repeat the rows of the visible one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hexathlon.tasks.sql.programs.phrases import literal
from hexathlon.tasks.sql.supplement import AddedTable
from hexathlon.tasks.sql.world.database import with_tables
from hexathlon.tasks.sql.world.digest import differing
from hexathlon.tasks.sql.world.world import World
from hexathlon.tasks.sql.writes.plan import (
    NamedRow,
    Plan,
    Settled,
    TableContents,
    WriteScene,
    run_statements,
    scene_for,
    settle,
    staged,
)

__all__ = [
    "HIDDEN",
    "LONGEST",
    "HiddenChange",
    "fails_somewhere",
    "hidden_changes",
    "repeated_rows",
]

HIDDEN = 3
LONGEST = 15_000
"""Length in characters up to which a script that repeats rows is kept as a near miss."""
_TRIES = 9


@dataclass(frozen=True)
class HiddenChange:
    """One hidden population, on which a plan is valid, too."""

    population: int
    size: int
    mutants: frozenset[str]
    """Near misses that it distinguishes and the visible database does not."""
    digests: Mapping[str, str]
    """Digest of every table after exactly the requested change."""
    tables: tuple[AddedTable, ...] = ()
    """Tables beside the population's own."""

    def image(self, world: World) -> bytes:
        """Return the database before the change."""
        own = world.sqlite_bytes(self.population, self.size)
        return with_tables(own, [table.params() for table in self.tables]) if self.tables else own


def hidden_changes(
    visible: Settled, world: World, size: int, rng: np.random.Generator
) -> tuple[HiddenChange, ...] | None:
    """Return hidden populations on which both derivations agree; None if there are too few.

    Near misses that the visible database distinguishes are not tried again.
    """
    rest = {k: sql for k, sql in visible.plan.mutants.items() if k not in visible.mutants}
    plan = replace(visible.plan, mutants=rest)
    found: list[HiddenChange] = []
    for number in range(_TRIES):
        population = int(rng.integers(1 << 31))
        rows = size if number % 2 else size // 2
        scene = scene_for(world, population, rows, rng)
        ready = staged(plan, scene, world.sqlite_bytes(population, rows))
        settled = settle(plan, ready[0], ready[1], least=0) if ready is not None else None
        if ready is not None and settled is not None:
            mutants = frozenset(settled.mutants)
            found.append(HiddenChange(population, rows, mutants, settled.digests, ready[2]))
        if len(found) == HIDDEN:
            return tuple(found)
    return None


def fails_somewhere(
    statements: Sequence[str], world: World, hidden: Sequence[HiddenChange]
) -> bool:
    """Whether a script fails, or leaves other tables than expected, on a hidden population."""
    for change in hidden:
        left = run_statements(change.image(world), statements)
        if left is None or differing(change.digests, left):
            return True
    return False


def repeated_rows(
    plan: Plan, scene: WriteScene, tables: Sequence[AddedTable] = ()
) -> tuple[str, ...]:
    """Return a script that makes the visible database's changes row by row, of any length.

    `tables` are those that the plan adds; `scene` contains their rows, too.
    """
    own = {table.name: table.key for table in tables}
    content: TableContents = {
        name: [dict(row) for row in rows] for name, rows in scene.content.items()
    }
    plan.change(content)
    statements: list[str] = []
    for name, rows in content.items():
        before = scene.content.get(name)
        if before is None:
            names = list(rows[0])
            statements += [f"CREATE TABLE {name} ({', '.join(names)})", *_inserts(name, rows)]
        elif rows != before:
            key = own.get(name) or scene.schema.table(name).primary_key
            statements += _changes(name, key, before, rows)
    return tuple(statements)


def _changes(
    table: str, key: Sequence[str], before: list[NamedRow], after: list[NamedRow]
) -> list[str]:
    """Return statements that turn one table's rows into others, row by row."""
    names = key[0] if len(key) == 1 else f"({', '.join(key)})"

    def place(row: NamedRow) -> str:
        values = ", ".join(literal(row[name]) for name in key)
        return values if len(key) == 1 else f"({values})"

    def among(places: Sequence[str]) -> str:
        listed = ", ".join(places)
        return f"{names} IN ({listed})" if len(key) == 1 else f"{names} IN (VALUES {listed})"

    known = {place(row) for row in before}
    kept = {place(row): row for row in after}
    added = [name for name in after[0] if name not in before[0]] if after and before else []
    statements = [f"ALTER TABLE {table} ADD COLUMN {name}" for name in added]
    gone = [place(row) for row in before if place(row) not in kept]
    if gone:
        statements.append(f"DELETE FROM {table} WHERE {among(gone)}")
    groups: dict[str, list[str]] = {}
    for row in before:
        new = kept.get(place(row), row)
        changed = [name for name in new if name not in row or row[name] != new[name]]
        if changed:
            setting = ", ".join(f"{name} = {literal(new[name])}" for name in changed)
            groups.setdefault(setting, []).append(place(row))
    statements += [
        f"UPDATE {table} SET {setting} WHERE {among(places)}" for setting, places in groups.items()
    ]
    return statements + _inserts(table, [row for row in after if place(row) not in known])


def _inserts(name: str, rows: Sequence[NamedRow]) -> list[str]:
    if not rows:
        return []
    values = ", ".join(f"({', '.join(map(literal, row.values()))})" for row in rows)
    return [f"INSERT INTO {name} ({', '.join(rows[0])}) VALUES {values}"]
