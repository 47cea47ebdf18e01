"""Hidden databases of scripted changes, and scripts that repeat the rows of the visible one."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hexathlon.tasks.sql.programs.phrases import literal
from hexathlon.tasks.sql.schema import Table
from hexathlon.tasks.sql.world.digest import differing
from hexathlon.tasks.sql.world.world import World
from hexathlon.tasks.sql.writes.plan import (
    NamedRow,
    Plan,
    TableContents,
    WriteScene,
    run_statements,
    scene_for,
    settle,
)

__all__ = ["HIDDEN", "HiddenChange", "hidden_changes", "repeated_rows"]

HIDDEN = 3
_TRIES = 9
_LONGEST = 15_000
"""Characters of a script that repeats rows."""


@dataclass(frozen=True)
class HiddenChange:
    """One hidden population, on which a plan is valid, too."""

    population: int
    size: int
    mutants: frozenset[str]
    """Near misses that it distinguishes."""


def hidden_changes(
    plan: Plan, world: World, size: int, rng: np.random.Generator
) -> tuple[HiddenChange, ...] | None:
    """Return hidden populations on which both derivations agree; None if there are too few."""
    found: list[HiddenChange] = []
    for number in range(_TRIES):
        population = int(rng.integers(1 << 31))
        rows = size if number % 2 else size // 2
        scene = scene_for(world, population, rows, rng)
        settled = settle(plan, scene, world.sqlite_bytes(population, rows))
        if settled is not None:
            found.append(HiddenChange(population, rows, frozenset(settled.mutants)))
        if len(found) == HIDDEN:
            return tuple(found)
    return None


def repeated_rows(
    plan: Plan, scene: WriteScene, hidden: tuple[HiddenChange, ...]
) -> Mapping[str, tuple[str, ...]]:
    """Return a script that makes the visible database's changes row by row, as a near miss.

    There is none if tables or columns are new, if it were too long, or if it is right elsewhere.
    """
    content: TableContents = {
        name: [dict(row) for row in rows] for name, rows in scene.content.items()
    }
    plan.change(content)
    statements: list[str] = []
    for name, rows in content.items():
        before = scene.content.get(name)
        if before is None or (rows and set(rows[0]) != set(before[0])):
            return {}
        if rows != before:
            statements += _changes(scene.schema.table(name), before, rows)
    if not statements or sum(map(len, statements)) > _LONGEST:
        return {}
    for change in hidden:
        image = scene.world.sqlite_bytes(change.population, change.size)
        right, got = run_statements(image, plan.gold), run_statements(image, statements)
        if right is not None and (got is None or differing(right, got)):
            return {"repeated_rows": tuple(statements)}
    return {}


def _changes(table: Table, before: list[NamedRow], after: list[NamedRow]) -> list[str]:
    kept = {row[table.key]: row for row in after}
    gone = [row[table.key] for row in before if row[table.key] not in kept]
    statements = []
    if gone:
        keys = ", ".join(map(literal, gone))
        statements.append(f"DELETE FROM {table.name} WHERE {table.key} IN ({keys})")
    groups: dict[str, list[str]] = {}
    for row in before:
        new = kept.get(row[table.key], row)
        changed = [name for name in row if row[name] != new[name]]
        if changed:
            setting = ", ".join(f"{name} = {literal(new[name])}" for name in changed)
            groups.setdefault(setting, []).append(literal(row[table.key]))
    statements += [
        f"UPDATE {table.name} SET {setting} WHERE {table.key} IN ({', '.join(keys)})"
        for setting, keys in groups.items()
    ]
    return statements
