"""The `[tasks]` tables of a recipe: the source of episodes, one event or a mixture of several."""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from hexathlon.baselines.harness.environments import find_environment
from hexathlon.baselines.harness.errors import CommandError
from hexathlon.baselines.pipeline.tables import RecipeTable
from hexathlon.tasks.errors import TaskError
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import parse_address
from hexathlon.tasks.task import Split

__all__ = ["TasksTable", "check_mixture", "largest_share", "shares", "table_of"]

_SCANNED = 1_000
"""Number of tasks scanned for the names of a source's templates."""


class TasksTable(RecipeTable):
    """Tasks of one event, source and level."""

    env: str = "hexathlon/SQL-v1"
    source: str = "sql"
    level: Literal["tiny", "easy", "medium", "hard"] | None = "tiny"
    templates: tuple[str, ...] = ()
    """Templates to draw from; empty takes all of the level."""

    turns: int = Field(default=8, ge=1)
    weight: float = Field(default=1.0, gt=0)
    """Share of a step's tasks, relative to the other tables of a mixture."""

    pool: int = Field(default=0, ge=0)
    """Number of train tasks to draw from, the first of the split; 0 draws from the whole split."""

    name: str = Field(default="", pattern=r"^[A-Za-z0-9._-]*$")
    """Name of its metrics and evaluations in a mixture; source and level by default."""

    @model_validator(mode="after")
    def _exist(self) -> "TasksTable":
        try:
            info = find_environment(self.env)
        except CommandError as error:
            raise ValueError(str(error)) from None
        if info.id != self.env:
            raise ValueError(f"env must be an id, {info.id!r}, got {self.env!r}")
        try:
            source = get_source(self.source)
            size = source.size("train", self.level)
        except TaskError as error:
            raise ValueError(str(error)) from None
        if size == 0:
            raise ValueError(f"{self.source} has no train tasks at level {self.level or 'any'}")
        if self.templates:
            scanned = range(_SCANNED if size is None else min(size, _SCANNED))
            addresses = (source.address("train", number, self.level) for number in scanned)
            known = sorted({parse_address(address).template for address in addresses})
            unknown = [name for name in self.templates if name not in known]
            if unknown:
                raise ValueError(
                    f"{self.source} has no template {unknown[0]!r} at level {self.level}; there "
                    f"are {', '.join(known)}"
                )
        if len(self.addresses("train", self.pool)) < self.pool:
            raise ValueError(
                f"{self.source} has only {len(self.addresses('train', self.pool))} train tasks of "
                f"this kind, expected a pool of {self.pool}"
            )
        return self

    @property
    def label(self) -> str:
        """Name of the table within a mixture."""
        return self.name or "-".join(filter(None, [self.source, self.level]))

    def addresses(
        self, split: Split, count: int, numbers: Iterable[int] | None = None
    ) -> list[str]:
        """Return the first tasks of a split that are of this kind.

        Args:
            split: A split of the source.
            count: Maximum number of tasks; a split may have fewer.
            numbers: Indices in the order in which they are tried; ascending by default.
        """
        source = get_source(self.source)
        size = source.size(split, self.level)
        indices = itertools.count() if numbers is None else numbers
        existing = itertools.takewhile(lambda number: size is None or number < size, indices)
        addresses = (source.address(split, number, self.level) for number in existing)
        chosen = (address for address in addresses if self._includes(address))
        return list(itertools.islice(chosen, count))

    def holds(self, task_id: str) -> bool:
        """Return whether a task is of this table's kind."""
        address = parse_address(task_id)
        same = address.source == self.source and self.level in (None, address.level)
        return same and self._includes(task_id)

    def overlaps(self, other: "TasksTable") -> bool:
        """Return whether both tables can contain the same task."""
        levels = self.level is None or other.level in (None, self.level)
        templates = set(self.templates) & set(other.templates)
        whole = not self.templates or not other.templates
        return self.source == other.source and levels and (whole or bool(templates))

    def drawn(self, count: int, draw: np.random.Generator) -> list[str]:
        """Return train tasks at random; on unbounded splits, draws practically never repeat."""
        size = get_source(self.source).size("train", self.level)
        if self.pool:
            pool = self.addresses("train", self.pool)
            return [pool[place] for place in itertools.islice(_cycle(len(pool), draw), count)]
        return self.addresses("train", count, _numbers(size, draw))

    def _includes(self, address: str) -> bool:
        return not self.templates or parse_address(address).template in self.templates


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

    Remainders are drawn at random: at most one more task per table.

    Args:
        tables: The mixture.
        count: Total number of tasks.
        *place: Seed of the draw, such as seed and step.
    """
    weights = np.array([table.weight for table in tables])
    exact = count * weights / weights.sum()
    counts = np.floor(exact + 1e-9).astype(int)
    remainders, rest = exact - counts, count - int(counts.sum())
    if rest:
        draw = generator_for("mixture", *place)
        # Systematic sampling: each table gets one more with the probability of its remainder, so
        # the expected counts are exact.
        edges = np.concatenate([[0.0], np.cumsum(remainders)])
        points = draw.random() + np.arange(rest)
        counts += np.histogram(points, edges * (rest / edges[-1]))[0]
    return [int(number) for number in counts]


def largest_share(tables: Sequence[TasksTable], number: int, count: int) -> int:
    """Return the largest number of tasks that `shares` may give to one table of a mixture."""
    weights = [table.weight for table in tables]
    return math.ceil(count * weights[number] / math.fsum(weights) - 1e-9)


def check_mixture(tables: Sequence[TasksTable]) -> None:
    """Check that tables have different names and no task in common.

    Raises:
        ValueError: If two tables share a name or tasks.
    """
    for table, other in itertools.combinations(tables, 2):
        if table.label == other.label:
            raise ValueError(f"two tables are named {table.label!r}; give each its own `name`")
        if table.overlaps(other):
            raise ValueError(
                f"the tables {table.label!r} and {other.label!r} share tasks; separate them by "
                "level or templates"
            )


def table_of(tables: Sequence[TasksTable], task_id: str) -> TasksTable:
    """Return the table of a task.

    Raises:
        ValueError: If no table contains the task.
    """
    for table in tables:
        if table.holds(task_id):
            return table
    labels = ", ".join(table.label for table in tables)
    raise ValueError(f"{task_id} belongs to none of {labels}")
