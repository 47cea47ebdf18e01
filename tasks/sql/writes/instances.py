"""Write tasks: changes to a database with expected tables, an alternative and near misses.

A template draws a plan from a populated world; the plan is kept only if the tables it expects
follow from its SQL and, independently, from rows changed in Python (`settle` in
`hexathlon.tasks.sql.writes.plan`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from hexathlon.tasks.errors import GenerationExhausted
from hexathlon.tasks.sql.supplement import AddedDocument, AddedTable
from hexathlon.tasks.sql.world.world import World
from hexathlon.tasks.sql.writes import (
    definitions,
    imports,
    inserts,
    repairs,
    tables,
    updates,
    versions,
)
from hexathlon.tasks.sql.writes.hidden import (
    LONGEST,
    HiddenChange,
    fails_somewhere,
    hidden_changes,
    repeated_rows,
)
from hexathlon.tasks.sql.writes.plan import (
    Plan,
    Settled,
    Staged,
    WriteScene,
    scene_for,
    settle,
    staged,
)
from hexathlon.tasks.task import LEVELS, Level

__all__ = ["WriteInstance", "WriteTemplate", "write_templates"]

SIZES: Mapping[Level, int] = {"tiny": 60, "easy": 240, "medium": 900, "hard": 2_400}
"""Event rows of a write task's database, by level."""

POPULATIONS, DRAWS = 3, 8
"""Maximum number of populations, and of draws from each."""


@dataclass(frozen=True)
class WriteInstance:
    """A write task before it becomes a `Task`."""

    template: str
    world: str
    population: int
    size: int
    instruction: str
    gold: tuple[str, ...]
    alternative: tuple[str, ...]
    mutants: Mapping[str, tuple[str, ...]]
    """Near misses, each of which leaves tables that differ from `digests`."""
    before: Mapping[str, str]
    """Digest of every table before the change."""
    digests: Mapping[str, str]
    """Digest of every table, by lower-case name, after exactly the requested change."""
    documents: tuple[str, ...] = ()
    """Documents that must be read."""
    writes: tuple[str, ...] = ("insert", "update", "delete")
    """Kinds of statement that the agent needs."""
    hidden: tuple[HiddenChange, ...] = ()
    """Hidden databases; a task that has them takes a script instead of the changed database."""
    tables: tuple[AddedTable, ...] = ()
    """Tables that the visible database gets beside those of its population."""
    papers: tuple[AddedDocument, ...] = ()
    """Documents of this task alone."""
    runs: int = 1
    """How often in a row a script is run."""


@dataclass(frozen=True)
class WriteTemplate:
    """A kind of write task."""

    name: str
    levels: tuple[Level, ...]
    draw: Callable[[WriteScene], Plan | None]
    """Draws a plan, or returns None if the draw is unsuitable."""
    writes: tuple[str, ...] = ("insert", "update", "delete")
    """Kinds of statement that the agent needs."""
    scripted: bool = False
    """Whether the change is handed in as a script, which is also run on hidden databases."""

    def instance(self, world: World, level: Level, rng: np.random.Generator) -> WriteInstance:
        """Draw until a plan is valid.

        Raises:
            GenerationExhausted: If the world offers no place for this kind of change.
        """
        size = SIZES[level]
        for _ in range(POPULATIONS):
            population = int(rng.integers(1 << 31))
            scene = scene_for(world, population, size, rng)
            fits = False
            for _ in range(DRAWS):
                plan = self.draw(scene)
                fits = fits or plan is not None
                if plan is None:
                    continue
                ready = staged(plan, scene, world.sqlite_bytes(population, size))
                settled = settle(plan, ready[0], ready[1]) if ready is not None else None
                if ready is None or settled is None:
                    continue
                made = _instance(self, population, size, settled, ready)
                scripted = _scripted(made, settled, ready[0], rng) if self.scripted else made
                if scripted is not None:
                    return scripted
            if not fits:
                break
        raise GenerationExhausted(f"{world.id} has no place for a task of kind {self.name!r}")


def _instance(
    template: WriteTemplate, population: int, size: int, settled: Settled, ready: Staged
) -> WriteInstance:
    plan, (scene, _, added) = settled.plan, ready
    return WriteInstance(
        template=template.name, world=scene.world.id, population=population, size=size,
        instruction=plan.instruction, gold=plan.gold, alternative=plan.alternative,
        mutants=settled.mutants, before=settled.before, digests=settled.digests,
        documents=(*plan.documents, *(paper.name for paper in plan.papers)),
        writes=template.writes, tables=added, papers=plan.papers, runs=plan.runs,
    )  # fmt: skip


_SCRIPT = (
    "Submit a script of SQL statements that does this. It will also be run on other databases with "
    "the same tables and different rows."
)
_AGAIN = " It may be run twice: a second run on the same rows must change nothing."


def _scripted(
    made: WriteInstance, settled: Settled, scene: WriteScene, rng: np.random.Generator
) -> WriteInstance | None:
    """Return the instance with hidden databases; None if a script of literal rows passes there."""
    hidden = hidden_changes(settled, scene.world, made.size, rng)
    if hidden is None:
        return None
    literal_rows = repeated_rows(settled.plan, scene, made.tables)
    if literal_rows and not fails_somewhere(literal_rows, scene.world, hidden):
        return None
    named = {*made.mutants, *(name for change in hidden for name in change.mutants)}
    mutants = {name: sql for name, sql in settled.plan.mutants.items() if name in named}
    if literal_rows and sum(map(len, literal_rows)) <= LONGEST:
        mutants["repeated_rows"] = literal_rows
    return replace(
        made,
        instruction=f"{made.instruction} {_SCRIPT}{_AGAIN if made.runs > 1 else ''}",
        mutants=mutants,
        hidden=hidden,
    )


_TINY: tuple[Level, ...] = ("tiny",)
_LARGER: tuple[Level, ...] = ("easy", "medium", "hard")
_DOCUMENTED: tuple[Level, ...] = ("medium", "hard")
_ROWS = ("insert", "update", "delete")
_HARD: tuple[Level, ...] = ("hard",)
_NEW_TABLE = ("insert", "delete", "create_table")
_NEW_COLUMN = ("update", "alter_table")

_TEMPLATES = (
    # `write_*` above level tiny: requests about rows that they name, which change the database
    # itself. Rules have this form only for policies that are too small to write scripts. The order
    # decides which worlds the tiny tasks get.
    WriteTemplate("write_insert_derived", LEVELS, inserts.insert_derived),
    WriteTemplate("write_update_join", _TINY, updates.update_join),
    WriteTemplate("write_upsert", LEVELS, inserts.upsert),
    WriteTemplate("write_transfer", LEVELS, updates.transfer),
    WriteTemplate("write_reassign", LEVELS, updates.reassign),
    WriteTemplate("write_rename_value", _TINY, updates.rename_value),
    WriteTemplate("write_delete_unreferenced", _TINY, tables.delete_unreferenced),
    WriteTemplate("write_archive", _TINY, tables.archive, _NEW_TABLE),
    WriteTemplate("write_add_count_column", _TINY, tables.add_count_column, _NEW_COLUMN),
    # Rules: a script, which is also run on hidden databases.
    *(
        WriteTemplate(f"script_{name}", levels, draw, writes, scripted=True)
        for name, levels, draw, writes in (
            ("update_join", _LARGER, updates.update_join, _ROWS),
            ("apply_definition", _DOCUMENTED, definitions.apply_definition, _ROWS),
            ("rename_value", _LARGER, updates.rename_value, _ROWS),
            ("delete_unreferenced", _LARGER, tables.delete_unreferenced, _ROWS),
            ("delete_family", _LARGER, tables.delete_family, _ROWS),
            ("archive", _LARGER, tables.archive, _NEW_TABLE),
            ("add_count_column", _LARGER, tables.add_count_column, _NEW_COLUMN),
            ("dedupe", _DOCUMENTED, repairs.dedupe, _ROWS),
            ("repair", _LARGER, repairs.repair, _ROWS),
            ("keep_versions", _HARD, versions.keep_versions, _ROWS),
            ("merge_imports", _HARD, imports.merge_imports, _ROWS),
        )
    ),
)


def write_templates() -> Mapping[str, WriteTemplate]:
    """Return all write templates by name; not every world suits every template."""
    return {template.name: template for template in _TEMPLATES}
