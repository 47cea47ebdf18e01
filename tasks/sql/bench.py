"""Open databases of one world, shared by all of its tasks for screening.

All tasks of a world have the same visible and hidden populations, so these are created once. The
connections belong to the generator; environments and verifiers open their own.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.sql.populate_bounds import Bounds
from hexathlon.tasks.sql.schema import Schema
from hexathlon.tasks.sql.world.images import fill
from hexathlon.tasks.sql.world.world import World, world_for
from hexathlon.tasks.task import Level

__all__ = ["HIDDEN", "Bench", "Population", "bench_for"]

HIDDEN = 5
_HIDDEN_SIZES: dict[Level, int] = {"tiny": 120, "easy": 300, "medium": 500, "hard": 800}
_SIZES: dict[Level, tuple[int, ...]] = {
    "tiny": (20, 35, 50),
    "easy": (300, 500, 800),
    "medium": (4_000, 10_000),
    "hard": (20_000, 20_000, 50_000, 50_000, 100_000),
}
_FEW = 40
_HUGE = 1_000_000
_HUGE_EVERY = 100
"""One in this many hard train worlds has a million rows; creating one takes many seconds."""
EVALUATED = 10_000
"""Largest visible database for which answers are also computed without SQL."""


class Population:
    """One population: its rows, and a connection to a database that holds them."""

    def __init__(self, world: World, seed: int, size: int, bounds: Bounds = ()) -> None:
        self._world = world
        self.seed = seed
        self.size = size
        self.bounds = bounds

    @cached_property
    def rows(self) -> dict[str, list[tuple[Any, ...]]]:
        """Rows of the tables that questions are about."""
        every = self._world.rows(self.seed, self.size, self.bounds)
        return {table.name: every[table.name] for table in self._world.schema.asked()}

    @cached_property
    def connection(self) -> sqlite3.Connection:
        """A connection to only these tables."""
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        schema = Schema("", "", self._world.schema.asked())
        rows = self.rows
        fill(connection, schema, rows)
        if self.size > EVALUATED:
            del self.rows
        return connection

    def __del__(self) -> None:
        connection = self.__dict__.get("connection")
        if connection is not None:
            connection.close()

    def answer(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        return self.connection.execute(sql).fetchall()

    def address(self) -> dict[str, Any]:
        """Return the population's address for a task's parameters."""
        address: dict[str, Any] = {"population": self.seed, "size": self.size}
        if self.bounds:
            address["bounds"] = [[*place, list(values)] for *place, values in self.bounds]
        return address


class Bench:
    """A world with its populations."""

    def __init__(self, world: World, level: Level) -> None:
        self.world = world
        self.schema = world.schema
        draw = derive_seed("sql-bench", world.id)
        sizes = _SIZES[level]
        size = sizes[draw % len(sizes)]
        if level == "hard" and world.split == "train" and (draw // 64) % _HUGE_EVERY == 0:
            size = _HUGE
        self.visible = Population(world, derive_seed("sql-visible", world.id), size)
        self.hidden = [
            Population(world, derive_seed("sql-hidden", world.id, number), _HIDDEN_SIZES[level])
            for number in range(HIDDEN)
        ]

    def at_bounds(self, bounds: Bounds, number: int) -> Population:
        """Return a hidden population with rows at bounds; sizes alternate.

        In a small population, groups of a single row are frequent, and their totals or averages are
        at bounds. In a large one, some rows at a bound meet all other conditions.
        """
        seed = derive_seed("sql-bounds", self.world.id, number)
        size = (self.hidden[0].size, 4 * self.hidden[0].size, _FEW)[number % 3]
        return Population(self.world, seed, size, bounds)

    @cached_property
    def columns(self) -> Mapping[str, Sequence[str]]:
        """Column names by table."""
        return {t.name: [column.name for column in t.columns] for t in self.schema.tables}


@lru_cache(maxsize=5)
def bench_for(world_id: str) -> Bench:
    """Return the bench of a world; recent ones are cached."""
    world = world_for(world_id)
    return Bench(world, world.level)
