"""Relations: the nodes of a query program, plain immutable data with named output columns.

The rows of a relation are an unordered bag, except after `OrderBy`. Columns of a scan are named
`alias.column`; later names are plain words and become the answer's column names.
"""

from __future__ import annotations

from dataclasses import dataclass

from hexathlon.tasks.sql.programs.expressions import Expression
from hexathlon.tasks.sql.programs.relation import Relation

__all__ = [
    "Aggregate",
    "Combine",
    "Distinct",
    "Extend",
    "Filter",
    "GroupBy",
    "Join",
    "Limit",
    "Match",
    "OrderBy",
    "Project",
    "Scan",
    "Window",
    "is_ordered",
]


@dataclass(frozen=True, slots=True)
class Scan(Relation):
    """All rows of a stored table."""

    table: str
    alias: str
    names: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the output columns, in order."""
        return tuple(f"{self.alias}.{name}" for name in self.names)


@dataclass(frozen=True, slots=True)
class Filter(Relation):
    """The rows that satisfy the predicate."""

    source: Relation
    predicate: Expression

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the output columns, in order."""
        return self.source.columns


@dataclass(frozen=True, slots=True)
class Join(Relation):
    """Pairs of rows with equal columns; `left` keeps unpaired left rows, with missing values."""

    left: Relation
    right: Relation
    on: tuple[tuple[str, str], ...]
    kind: str = "inner"

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the output columns, in order."""
        return self.left.columns + self.right.columns


@dataclass(frozen=True, slots=True)
class Match(Relation):
    """Left rows with a match on the right (semi-join) or, if negated, without one (anti-join)."""

    left: Relation
    right: Relation
    on: tuple[tuple[str, str], ...]
    negated: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the output columns, in order."""
        return self.left.columns


@dataclass(frozen=True, slots=True)
class Extend(Relation):
    """The source with additional computed columns."""

    source: Relation
    items: tuple[tuple[str, Expression], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the output columns, in order."""
        return self.source.columns + tuple(name for name, _ in self.items)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregated column: `count`, `sum`, `avg`, `min` or `max`.

    `argument` None counts rows. `where` restricts the aggregate, not the group, so that a group
    without such rows still appears.
    """

    name: str
    function: str
    argument: Expression | None = None
    distinct: bool = False
    where: Expression | None = None


@dataclass(frozen=True, slots=True)
class GroupBy(Relation):
    """One row per combination of the key columns; exactly one row without keys."""

    source: Relation
    keys: tuple[str, ...]
    aggregates: tuple[Aggregate, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the output columns, in order."""
        return self.keys + tuple(item.name for item in self.aggregates)


@dataclass(frozen=True, slots=True)
class Window(Relation):
    """The source with one window column.

    Functions: `rank`, `dense_rank`, `row_number`, `count`, `sum`, `avg`, `max`, `min`, `lag`.
    `frame` is `partition` (all rows), `running` (from the first row to this one, by row) or a
    number n (this row and the n before it). Orders of running frames and lags must be total.
    """

    source: Relation
    name: str
    function: str
    argument: str | None
    partition: tuple[str, ...]
    order: tuple[tuple[str, bool], ...] = ()
    """Column, and whether it sorts in descending order."""
    frame: str | int = "partition"

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the output columns, in order."""
        return (*self.source.columns, self.name)


@dataclass(frozen=True, slots=True)
class Combine(Relation):
    """A set operation: `union`, `union_all`, `intersect` or `except`; columns by position."""

    kind: str
    left: Relation
    right: Relation

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the output columns, in order."""
        return self.left.columns


@dataclass(frozen=True, slots=True)
class Project(Relation):
    """The source restricted to exactly these columns."""

    source: Relation
    items: tuple[tuple[str, Expression], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the output columns, in order."""
        return tuple(name for name, _ in self.items)


@dataclass(frozen=True, slots=True)
class Distinct(Relation):
    """Each distinct row once."""

    source: Relation

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the output columns, in order."""
        return self.source.columns


@dataclass(frozen=True, slots=True)
class OrderBy(Relation):
    """The source's rows in order, by (column, descending) pairs."""

    source: Relation
    keys: tuple[tuple[str, bool], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the output columns, in order."""
        return self.source.columns


@dataclass(frozen=True, slots=True)
class Limit(Relation):
    """The first rows of an ordered source, after skipping `offset`."""

    source: Relation
    count: int
    offset: int = 0

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the output columns, in order."""
        return self.source.columns


def is_ordered(relation: Relation) -> bool:
    """Whether the program's rows have a declared order."""
    if isinstance(relation, Limit | Project):
        return is_ordered(relation.source)
    return isinstance(relation, OrderBy)
