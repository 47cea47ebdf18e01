"""The `[tasks]` table of a recipe: where episodes come from, one event or a mixture of several."""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from hexathlon.baselines.pipeline.tables import RecipeTable
from hexathlon.tasks.errors import TaskError
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import parse_address
from hexathlon.tasks.task import Split

__all__ = ["TasksTable", "check_mixture", "largest_share", "shares", "table_of"]

_LOOKED_AT = 1_000
"""Tasks among which every template of a source is found."""


class TasksTable(RecipeTable):
    """Tasks of one event, source and level."""

    env: str = "hexathlon/SQL-v0"
    source: str = "sql"
    level: Literal["tiny", "easy", "medium", "hard"] | None = "tiny"
    templates: tuple[str, ...] = ()
    """Only these; all of the level where empty."""

    turns: int = Field(default=8, ge=1)
    weight: float = Field(default=1.0, gt=0)
    """Share of a step's tasks, relative to the other tables of a mixture."""

    pool: int = Field(default=0, ge=0)
    """Train tasks that steps draw from, the split's first ones; 0 draws from the whole split."""

    name: str = Field(default="", pattern=r"^[A-Za-z0-9._-]*$")
    """Names its metrics and evaluations in a mixture; source and level by default."""

    @model_validator(mode="after")
    def _exist(self) -> "TasksTable":
        try:
            source = get_source(self.source)
            size = source.size("train", self.level)
        except TaskError as error:
            raise ValueError(str(error)) from None
        if size == 0:
            raise ValueError(f"{self.source} has no train tasks at level {self.level or 'any'}")
        if self.templates:
            looked_at = range(_LOOKED_AT if size is None else min(size, _LOOKED_AT))
            first = (source.address("train", number, self.level) for number in looked_at)
            known = sorted({parse_address(address).template for address in first})
            unknown = [name for name in self.templates if name not in known]
            if unknown:
                raise ValueError(
                    f"{self.source} has no template {unknown[0]!r} at level {self.level}; there "
                    f"are {', '.join(known)}"
                )
        if len(self.addresses("train", self.pool)) < self.pool:
            raise ValueError(
                f"{self.source} has only {len(self.addresses('train', self.pool))} train tasks of "
                f"this kind, fewer than the pool of {self.pool}"
            )
        return self

    @property
    def label(self) -> str:
        """Name of the table among those of a mixture."""
        return self.name or "-".join(filter(None, [self.source, self.level]))

    def addresses(
        self, split: Split, count: int, numbers: Iterable[int] | None = None
    ) -> list[str]:
        """Return tasks of a split that are of this kind; fewer where it has no more.

        Args:
            split: Of the source.
            count: How many are wanted.
            numbers: In which order the split is gone through; from its beginning by default.
        """
        source = get_source(self.source)
        size = source.size(split, self.level)
        tried = itertools.count() if numbers is None else numbers
        inside = itertools.takewhile(lambda number: size is None or number < size, tried)
        every = (source.address(split, number, self.level) for number in inside)
        kept = (one for one in every if self._wants(parse_address(one).template))
        return list(itertools.islice(kept, count))

    def holds(self, task_id: str) -> bool:
        """Return whether a task is of this kind."""
        address = parse_address(task_id)
        same = address.source == self.source and self.level in (None, address.level)
        return same and self._wants(address.template)

    def overlaps(self, other: "TasksTable") -> bool:
        """Return whether a task can be of both kinds."""
        levels = self.level is None or other.level in (None, self.level)
        templates = set(self.templates) & set(other.templates)
        whole = not self.templates or not other.templates
        return self.source == other.source and levels and (whole or bool(templates))

    def drawn(self, count: int, draw: np.random.Generator) -> list[str]:
        """Return train tasks at random; on unbounded splits, draws practically never repeat."""
        size = get_source(self.source).size("train", self.level)
        if self.pool:
            first = self.addresses("train", self.pool)
            return [first[place] for place in itertools.islice(_cycle(len(first), draw), count)]
        return self.addresses("train", count, _numbers(size, draw))

    def _wants(self, template: str) -> bool:
        return not self.templates or template in self.templates


def _numbers(size: int | None, draw: np.random.Generator) -> Iterator[int]:
    if size is not None:
        yield from map(int, draw.permutation(size))
    while True:
        yield int(draw.integers(1 << 30, 1 << 40))


def _cycle(size: int, draw: np.random.Generator) -> Iterator[int]:
    while True:
        yield from map(int, draw.permutation(size))


def shares(tables: Sequence[TasksTable], count: int, *place: str | int) -> list[int]:
    """Divide a number of tasks among the tables of a mixture by their weights.

    What does not divide evenly is drawn by the remainders, at most one task more for each table.

    Args:
        tables: The mixture.
        count: Tasks in all.
        *place: Address of the draw, such as seed and step.
    """
    weights = np.array([table.weight for table in tables])
    wanted = count * weights / weights.sum()
    given = np.floor(wanted + 1e-9).astype(int)
    rest, left = wanted - given, count - int(given.sum())
    if left:
        draw = generator_for("mixture", *place)
        # Points at unit distance on the remainders laid end to end: each table is hit with exactly
        # the chance of its remainder, so shares are right on average.
        edges = np.concatenate([[0.0], np.cumsum(rest)])
        points = draw.random() + np.arange(left)
        given += np.histogram(points, edges * (left / edges[-1]))[0]
    return [int(number) for number in given]


def largest_share(tables: Sequence[TasksTable], number: int, count: int) -> int:
    """Return the most tasks that `shares` may give to one table of a mixture."""
    weights = [table.weight for table in tables]
    return math.ceil(count * weights[number] / math.fsum(weights) - 1e-9)


def check_mixture(tables: Sequence[TasksTable]) -> None:
    """Check that tables have names of their own and no task in common.

    Raises:
        ValueError: Two tables share a name or tasks.
    """
    for one, other in itertools.combinations(tables, 2):
        if one.label == other.label:
            raise ValueError(f"two tables are called {one.label!r}; give each its own `name`")
        if one.overlaps(other):
            raise ValueError(
                f"the tables {one.label!r} and {other.label!r} share tasks; separate them by "
                "level or templates"
            )


def table_of(tables: Sequence[TasksTable], task_id: str) -> TasksTable:
    """Return the table that a task belongs to.

    Raises:
        ValueError: It belongs to none.
    """
    for table in tables:
        if table.holds(task_id):
            return table
    raise ValueError(f"{task_id} belongs to none of {', '.join(table.label for table in tables)}")
