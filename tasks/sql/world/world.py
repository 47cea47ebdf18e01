"""Worlds: one schema each, with the distributions that populate any number of databases.

A world's id fully determines it: `retail-hard-test-3` is domain, level, split and number. In the
held-out split the number is a hash of the round's salt. Splits share no worlds, and draw the names
of people and things from disjoint parts of the pools.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

import numpy as np

from hexathlon.tasks.cache.values import stored
from hexathlon.tasks.errors import TaskError
from hexathlon.tasks.seeding import derive_seed, generator_for
from hexathlon.tasks.sql.documents import write_documents
from hexathlon.tasks.sql.domains import DOMAINS
from hexathlon.tasks.sql.growth import Growth, grow
from hexathlon.tasks.sql.naming import namer_for
from hexathlon.tasks.sql.populate import populate, size_of, stale
from hexathlon.tasks.sql.populate_bounds import Bounds
from hexathlon.tasks.sql.schema import Row, Schema, Table
from hexathlon.tasks.sql.soiling import soil
from hexathlon.tasks.sql.sprawl import TABLES, decoys, departments
from hexathlon.tasks.sql.world.images import CACHE, image_of
from hexathlon.tasks.task import LEVELS, SPLITS, Level, Split

__all__ = ["World", "world_for", "world_id", "world_ids"]

WORLDS = {"train": 400, "dev": 60, "test": 120, "heldout": 120}
"""Number of worlds per level that `world_ids` lists; `world_id` takes any number in train."""

UNSEEN: Mapping[str, frozenset[str]] = {
    "train": frozenset({"farm", "games"}),
    "dev": frozenset({"games"}),
}
"""Domains excluded from a split, so that test and held-out cover industries unseen in train."""

_TODAYS = ("2023-12-31", "2024-03-31", "2024-06-30", "2024-09-30", "2024-12-31", "2025-03-31")

_KEPT_ROWS = 50_000
"""Rows of event tables up to which a population is kept."""
_last: list[tuple[Any, dict[str, list[Row]]]] = [(None, {})]
"""Arguments and rows of the latest call of `World.rows`: rows are usually needed twice, by whoever
looks at them and for an image."""


class World:
    """One family of databases: a schema and the distributions that populate it."""

    def __init__(self, world_id: str) -> None:
        self.id = world_id
        self.domain, self.level, self.split, _ = _parse(world_id)
        self.schema = _schema(world_id, self.domain, self.level)
        self._fixed: dict[str, list[Row]] | None = None

    def rows(
        self, population_seed: int, size: str | int, bounds: Bounds = ()
    ) -> dict[str, list[Row]]:
        """Return every table's rows, in schema order; equal arguments give equal rows everywhere.

        The lists are shared between calls; callers must not modify them.

        Args:
            population_seed: A different seed gives other rows from the same distributions.
            size: Rows of all event tables together, 10 to 1,000,000, or a name of `SIZES`.
            bounds: Values that a share of some columns' rows gets.
        """
        number = size_of(size)
        key = (self.id, population_seed, number, bounds)
        known, rows = _last[0]
        if known != key:
            rows = self._drawn(population_seed, number, bounds)
            if number <= _KEPT_ROWS:
                _last[0] = (key, rows)
        return dict(rows)

    def _drawn(self, population_seed: int, number: int, bounds: Bounds) -> dict[str, list[Row]]:
        own = tuple(table for table in self.schema.tables if table.core)
        rows = populate(self.schema, own, self.split, population_seed, number, bounds)
        if self._fixed is None:
            others = tuple(table for table in self.schema.tables if not table.core)
            self._fixed = populate(self.schema, others, self.split, 0, 10)
        rows.update(self._fixed)
        for table in self.schema.tables:
            if table.copy_of is not None:
                base = self.schema.table(table.copy_of)
                rows[table.name] = stale(table, base, rows, self.id)
        return {table.name: rows[table.name] for table in self.schema.tables}

    def sqlite_bytes(self, population_seed: int, size: str | int, bounds: Bounds = ()) -> bytes:
        """Return the same rows as a serialised SQLite database; recent ones are cached."""
        number = size_of(size)
        key = (self.id, population_seed, number, bounds)
        return CACHE.get(key, lambda: self._stored(population_seed, number, bounds))

    def _stored(self, population_seed: int, number: int, bounds: Bounds) -> bytes:
        """Return an image from the cache on disk, which has those of dev and test."""

        def image() -> bytes:
            return image_of(self.schema, self.rows(population_seed, number, bounds))

        if self.split not in ("dev", "test"):
            return image()
        place = (self.id, str(population_seed), str(number), repr(bounds))
        return stored("sql image", "sql", place, image)


@lru_cache(maxsize=64)
def world_for(world_id: str) -> World:
    """Return the world with this id.

    Raises:
        TaskError: If the id does not have the form domain-level-split-number.
    """
    return World(world_id)


def world_id(split: Split, index: int, level: Level, salt: str | None = None) -> str:
    """Return the id of a split's world of one level.

    Args:
        split: `heldout` requires `salt`.
        index: Position, from 0; domains alternate.
        level: Determines the size, naming and dirt of the schema.
        salt: The secret of a held-out round.

    Raises:
        TaskError: If the held-out split is requested without its salt.
    """
    domains = split_domains(split)
    domain = domains[index % len(domains)]
    if split != "heldout":
        return f"{domain}-{level}-{split}-{index}"
    if salt is None:
        raise TaskError("worlds of the held-out split need the salt of their round")
    return f"{domain}-{level}-heldout-{derive_seed('sql-heldout', salt, level, index)}"


def world_ids(split: Split, level: Level | None = None, salt: str | None = None) -> list[str]:
    """Return the ids of a split's worlds, level by level; for train, only the first ones."""
    levels: Sequence[Level] = LEVELS if level is None else (level,)
    return [world_id(split, i, each, salt) for each in levels for i in range(WORLDS[split])]


def split_domains(split: Split) -> list[str]:
    """Return the domains of a split's worlds, in round-robin order."""
    return [name for name in sorted(DOMAINS) if name not in UNSEEN.get(split, frozenset())]


def _parse(world_id: str) -> tuple[str, Level, Split, int]:
    parts = world_id.split("-")
    known = len(parts) == 4 and parts[0] in DOMAINS and parts[1] in LEVELS and parts[2] in SPLITS
    if not known or not (parts[3].isascii() and parts[3].isdigit()):
        raise TaskError(
            f"there is no world {world_id!r}: expected domain-level-split-number, "
            "for example 'retail-hard-test-3'"
        )
    return parts[0], cast("Level", parts[1]), cast("Split", parts[2]), int(parts[3])


def _schema(world_id: str, domain: str, level: Level) -> Schema:
    rng = generator_for("sql-world", 1, world_id)
    namer = namer_for(level, rng)
    tables = grow(DOMAINS[domain], Growth(namer, level, rng))
    tables = soil(tables, level, namer, rng)
    copies = decoys(tables, level, namer, rng)
    others: list[Table] = []
    if level == "hard":
        wanted = TABLES[int(rng.integers(len(TABLES)))] - len(tables) - len(copies)
        others = departments(domain, wanted, namer, rng)
    today = _TODAYS[int(rng.integers(len(_TODAYS)))]
    spread = _mixed(len(others), len(copies), rng)
    rest = [others[i] if kind else copies[i] for kind, i in spread]
    every = (*tables, *rest)
    documents = write_documents(every, level, today, namer.cryptic, rng)
    return Schema(domain, world_id, every, documents, today)


def _mixed(others: int, copies: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Interleave the positions of other departments' tables and of decoys, each kind in order."""
    kinds = rng.permutation(np.array([1] * others + [0] * copies, dtype=np.int64)).tolist()
    counts = [0, 0]
    order = []
    for kind in kinds:
        order.append((kind, counts[kind]))
        counts[kind] += 1
    return order
