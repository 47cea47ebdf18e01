"""Schemas of generated databases: columns, tables, documents and the distributions of values.

A `Schema` is the complete vocabulary of questions. It holds no rows: `World` populates it from
seeds, any number of times, with the same distributions. Nouns are English and singular, so that
questions can be realised from query programs; names are identifiers in the database.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from hexathlon.tasks.sql.dirt import Dirt, clean

Value = int | float | str | None
Row = tuple[Value, ...]
ColumnType = Literal["INTEGER", "REAL", "TEXT"]
Role = Literal[
    "key", "foreign_key", "name", "category", "flag", "status", "amount", "quantity", "rating",
    "date", "year", "code", "text", "soft_delete",
]  # fmt: skip
Scale = Literal["lookup", "entity", "event", "side"]
"""A table's row count: fixed, growing with the square root of the size or the size, or small."""


@dataclass(frozen=True, slots=True)
class Law:
    """The distribution of one column's values; only `populate` reads it."""

    kind: str
    """Name of a drawing function in `populate_columns`."""
    low: float = 0.0
    high: float = 0.0
    skew: float = 1.0
    """Exponent of the values' Zipf weights: 0 (uniform), 0.5, 1 or 1.5."""
    null_rate: float = 0.0
    barren: float = 0.0
    """Share of parents that no row references."""
    orphans: float = 0.0
    """Share of rows whose reference has no parent."""
    driver: str | None = None
    """Column of the same table that this column is correlated with."""
    after: tuple[str, str] | None = None
    """(column, parent column): the date is never before that of the row referenced by `column` or,
    if the parent column is empty, that of `column` in the same row."""
    pool: str = ""
    """Name of the name pool, or the code's prefix."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its place in the database, its meaning and its distribution."""

    name: str
    type: ColumnType
    role: Role
    noun: str
    nullable: bool = False
    references: tuple[str, str] | None = None
    values: tuple[str | int, ...] = ()
    """The canonical values of a category, status or flag; every one may occur."""
    unit: str | None = None
    """Unit of the canonical value."""
    unique: bool = False
    """Whether values are unique, so that ordering by this column has no ties."""
    dirt: Dirt | None = None
    law: Law = Law("none")

    def canonical_sql(self, alias: str) -> str:
        """Return SQL for the canonical value; `alias` is the table's name in the query."""
        reference = f"{alias}.{self.name}"
        return self.dirt.sql(alias, reference) if self.dirt else reference

    def canonical(self, row: Mapping[str, Value]) -> Value:
        """Compute the same value as `canonical_sql` from a row, without SQL."""
        value = row[self.name]
        if self.dirt is None:
            return value
        return clean(self.dirt, value, row.get(self.dirt.partner or ""))


@dataclass(frozen=True, slots=True)
class Table:
    """A table. A decoy is an outdated near-copy that no question is about."""

    name: str
    noun: str
    plural: str
    columns: tuple[Column, ...]
    decoy: bool = False
    primary_key: tuple[str, ...] = ()
    scale: Scale = "entity"
    copy_of: str | None = None
    """The table that a decoy copies."""
    soft_delete: str | None = None
    """Column whose value 1 marks a deleted row."""
    natural_key: str | None = None
    """Code column that identifies duplicates; the row with the lowest key counts."""
    core: bool = True
    """False for tables of other departments, which only enlarge the schema."""
    weight: float = 1.0
    """Relative size among tables of the same scale."""

    @property
    def key(self) -> str:
        """Name of the first column of the primary key."""
        return self.primary_key[0]

    @property
    def person(self) -> bool:
        """Whether the rows are people."""
        return any(column.role == "name" and column.law.pool == "person" for column in self.columns)

    def column(self, name: str) -> Column:
        """Return the column of that name.

        Raises:
            KeyError: If there is no such column.
        """
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"{self.name} has no column {name}")

    def with_role(self, *roles: Role) -> tuple[Column, ...]:
        """Return the columns with one of the roles, in table order."""
        return tuple(column for column in self.columns if column.role in roles)

    def live_sql(self, alias: str) -> str | None:
        """Return the condition for rows that count, or None if every row counts."""
        parts = []
        if self.soft_delete:
            parts.append(f"{alias}.{self.soft_delete} = 0")
        if self.natural_key:
            parts.append(
                f"{alias}.{self.key} IN (SELECT MIN({self.key}) FROM {self.name} "
                f"GROUP BY {self.natural_key})"
            )
        return " AND ".join(parts) or None

    def live_rows(self, rows: Sequence[Row]) -> list[Row]:
        """Return the rows for which `live_sql` holds, computed without SQL."""
        names = [column.name for column in self.columns]
        kept = list(rows)
        if self.natural_key:
            code, key = names.index(self.natural_key), names.index(self.key)
            first: dict[Value, Value] = {}
            for row in sorted(rows, key=lambda row: row[key]):  # type: ignore[arg-type,return-value]
                first.setdefault(row[code], row[key])
            kept = [row for row in kept if first[row[code]] == row[key]]
        if self.soft_delete:
            mark = names.index(self.soft_delete)
            kept = [row for row in kept if row[mark] == 0]
        return kept


@dataclass(frozen=True, slots=True)
class Condition:
    """`column operator value` on canonical values: the atom of a metric's definition."""

    column: str
    operator: Literal["=", "<>", ">=", "<=", ">", "<", "IN"]
    value: Value | tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Metric:
    """A named class of rows, such as "key account": rows of `table` that meet all conditions."""

    name: str
    table: str
    conditions: tuple[Condition, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """A text that accompanies the database; `metric` is the metric it defines, if any."""

    name: str
    title: str
    kind: Literal["dictionary", "metric", "memo", "rules"]
    text: str
    dated: str
    metric: Metric | None = None
    superseded_by: str | None = None
    """Name of the document that overrides this one; the texts also say so."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A foreign key: `child.column` references `parent.parent_column`."""

    child: str
    column: str
    parent: str
    parent_column: str


@dataclass(frozen=True, slots=True)
class Schema:
    """A database's tables and documents."""

    domain: str
    name: str
    tables: tuple[Table, ...]
    documents: tuple[Document, ...] = ()
    today: str = "2024-06-30"
    """The date of every population of the schema; no event is later."""

    def table(self, name: str) -> Table:
        """Return the table of that name.

        Raises:
            KeyError: If there is no such table.
        """
        for table in self.tables:
            if table.name == name:
                return table
        raise KeyError(f"{self.name} has no table {name}")

    def column(self, table: str, column: str) -> Column:
        """Return the column of that name in that table.

        Raises:
            KeyError: If there is no such column.
        """
        return self.table(table).column(column)

    def document(self, name: str) -> Document:
        """Return the document of that name.

        Raises:
            KeyError: If there is no such document.
        """
        for document in self.documents:
            if document.name == name:
                return document
        raise KeyError(f"{self.name} has no document {name}")

    def asked(self) -> tuple[Table, ...]:
        """Return the tables that questions are about: neither decoys nor other departments'."""
        return tuple(table for table in self.tables if table.core and not table.decoy)

    def edges(self) -> tuple[Edge, ...]:
        """Return all foreign keys among the tables that questions are about, in schema order."""
        return tuple(self._edges())

    def _edges(self) -> Iterator[Edge]:
        asked = {table.name for table in self.asked()}
        for table in self.asked():
            for column in table.columns:
                if column.references and column.references[0] in asked:
                    yield Edge(table.name, column.name, *column.references)
