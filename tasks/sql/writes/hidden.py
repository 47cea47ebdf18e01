"""Hidden databases of scripted changes, and scripts that repeat the rows of the visible one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hexathlon.tasks.sql.programs.phrases import literal
from hexathlon.tasks.sql.schema import Table
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
"""Characters up to which a script that repeats rows is played as a near miss."""
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
        settled = settle(plan, scene, world.sqlite_bytes(population, rows), least=0)
        if settled is not None:
            found.append(
                HiddenChange(population, rows, frozenset(settled.mutants), settled.digests)
            )
        if len(found) == HIDDEN:
            return tuple(found)
    return None


def fails_somewhere(
    statements: Sequence[str], world: World, hidden: Sequence[HiddenChange]
) -> bool:
    """Whether a script fails, or leaves other tables than expected, on a hidden population."""
    for change in hidden:
        left = run_statements(world.sqlite_bytes(change.population, change.size), statements)
        if left is None or differing(change.digests, left):
            return True
    return False


def repeated_rows(plan: Plan, scene: WriteScene) -> tuple[str, ...]:
    """Return a script that makes the visible database's changes row by row, of any length."""
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
            statements += _changes(scene.schema.table(name), before, rows)
    return tuple(statements)


def _changes(table: Table, before: list[NamedRow], after: list[NamedRow]) -> list[str]:
    """Return statements that turn one table's rows into others, row by row."""
    known = {row[table.key] for row in before}
    kept = {row[table.key]: row for row in after}
    added = [name for name in after[0] if name not in before[0]] if after and before else []
    statements = [f"ALTER TABLE {table.name} ADD COLUMN {name}" for name in added]
    gone = [row[table.key] for row in before if row[table.key] not in kept]
    if gone:
        keys = ", ".join(map(literal, gone))
        statements.append(f"DELETE FROM {table.name} WHERE {table.key} IN ({keys})")
    groups: dict[str, list[str]] = {}
    for row in before:
        new = kept.get(row[table.key], row)
        changed = [name for name in new if name not in row or row[name] != new[name]]
        if changed:
            setting = ", ".join(f"{name} = {literal(new[name])}" for name in changed)
            groups.setdefault(setting, []).append(literal(row[table.key]))
    statements += [
        f"UPDATE {table.name} SET {setting} WHERE {table.key} IN ({', '.join(keys)})"
        for setting, keys in groups.items()
    ]
    return statements + _inserts(table.name, [r for r in after if r[table.key] not in known])


def _inserts(name: str, rows: Sequence[NamedRow]) -> list[str]:
    if not rows:
        return []
    values = ", ".join(f"({', '.join(map(literal, row.values()))})" for row in rows)
    return [f"INSERT INTO {name} ({', '.join(rows[0])}) VALUES {values}"]
