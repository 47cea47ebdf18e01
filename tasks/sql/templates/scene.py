"""A template's view of a schema: sources, join chains, conditions and measures with their wording.

A `QueryScene` draws from its own random generator, so that template functions contain no randomness
and read like sentences. All expressions that it returns are on canonical values: for a
dirty column, the expression cleans it and carries the uncleaned reading as its misreading.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hexathlon.tasks.sql.english import be, indefinite
from hexathlon.tasks.sql.programs.expressions import Expression, Ref
from hexathlon.tasks.sql.programs.relation import Relation
from hexathlon.tasks.sql.programs.relations import Filter, Join
from hexathlon.tasks.sql.programs.walk import pruned, scans
from hexathlon.tasks.sql.schema import Column, Edge, Role, Schema, Table
from hexathlon.tasks.sql.templates.conditions import PhrasedCondition, both_conditions, condition
from hexathlon.tasks.sql.templates.drawing import Drawing
from hexathlon.tasks.sql.templates.sources import Source
from hexathlon.tasks.sql.templates.wording import owned, plain
from hexathlon.tasks.task import Level

__all__ = ["Fact", "Label", "Measure", "QueryScene"]

_NEVER_SUMMED = re.compile(
    r"\b(?:elevation|height|length|percentage|position|price|range|rank|rate|width)$"
)
CONDITIONS = {"tiny": 1, "easy": 1, "medium": 2, "hard": 3}


@dataclass(frozen=True, slots=True)
class Label:
    """Columns that identify rows of a table in an answer."""

    name: str
    expression: Expression
    text: str
    noun: str
    """The name of the property: "name", "account number", "order id"."""
    keys: tuple[str, ...]
    """Columns to group by, so that each group is one row of the table."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A numeric value of each row."""

    expression: Expression
    column: Column

    @property
    def noun(self) -> str:
        """The name of the value."""
        return self.column.noun

    @property
    def text(self) -> str:
        """The name with its unit, except for money."""
        unit = self.column.unit
        return f"{self.noun} (in {unit})" if unit and unit != "USD" else self.noun

    @property
    def nullable(self) -> bool:
        """Whether rows may have no value."""
        return self.column.nullable

    @property
    def known(self) -> str:
        """The value of a row that has one: "a weight", "a known fine" where 0 is a value as well.

        "Loans without a fine" would be those with a fine of 0.
        """
        return indefinite(self.noun if self.column.law.low > 0 else f"known {self.noun}")

    def extreme(self, most: bool, counted: bool = True) -> str:
        """Return the adjective for the first or the last in order of the measure.

        Plurals such as "delay minutes" are `counted` where the adjective stands for a number.
        """
        if self.column.role == "rating" or self.column.unit == "USD":
            return ("lowest", "highest")[most]
        if be(self.noun) == "are":
            return ("fewest", "most")[most] if counted else ("lowest", "highest")[most]
        return ("smallest", "largest")[most]


@dataclass(slots=True)
class Fact:
    """Rows of a table joined with parents along a chain, with some conditions applied."""

    relation: Relation
    sources: list[Source]
    prefixes: list[str]
    """The name of each source from the first one's view: "", "customer", "customer's home branch".
    It is a noun alone if there is no other path to the table."""
    conditions: list[PhrasedCondition] = field(default_factory=list)

    @property
    def child(self) -> Source:
        """The table whose rows are counted."""
        return self.sources[0]

    @property
    def top(self) -> Source:
        """The last parent of the chain."""
        return self.sources[-1]

    def called(self, place: int, plural: bool = False) -> str:
        """Return a source's noun, with the path to it if the noun alone is ambiguous."""
        table = self.sources[place].table
        # An account's account type is an account type.
        path = re.sub(r"\b(\w+)'s (?:\1 )?", r"\1 ", self.prefixes[place])
        if not plural:
            return path
        bare = path.removesuffix(table.noun)
        return f"{path}s" if bare == path else bare + table.plural

    def lacks(self, measure: Measure) -> bool:
        """Whether some of the rows may have no value of a measure."""
        name = f"{self.child.alias}.{measure.column.name}"
        return measure.nullable and all(item.column != name for item in self.conditions)

    def without(self, measure: Measure) -> tuple[str, ...]:
        """Return the note that leaves out rows without a value, if there can be any."""
        plural = self.child.table.plural
        text = f"Leave out {plural} without {measure.known}."
        return (text,) if self.lacks(measure) else ()

    @property
    def phrase(self) -> str:
        """Describe the rows in words: plural noun and conditions."""
        return f"{self.child.table.plural}{both_conditions(self.conditions)}"


class QueryScene(Drawing):
    """Inputs of a template's draw.

    Args:
        schema: The database's schema.
        level: Determines the number of conditions and joins.
        rng: The task's random generator.
        sample: Rows of one small population by table name; the source of thresholds.
        side: For templates with a twin: 0 for the answerable question, 1 for the other.
    """

    def __init__(
        self,
        schema: Schema,
        level: Level,
        rng: np.random.Generator,
        sample: Mapping[str, Sequence[tuple[Any, ...]]],
        side: int = 0,
    ) -> None:
        super().__init__(schema, level, rng, sample)
        self.side = side
        self._aliases: set[str] = set()
        self._compared: set[str] = set()

    # -- tables ----------------------------------------------------------------------------

    def open(self, table: Table | str) -> Source:
        """Return a new use of a table under its own alias."""
        chosen = self.schema.table(table) if isinstance(table, str) else table
        letter = chosen.noun[0].lower()
        alias, number = letter, 2
        while alias in self._aliases:
            alias, number = f"{letter}{number}", number + 1
        self._aliases.add(alias)
        return Source(chosen, alias)

    def spare_alias(self) -> str:
        """Return an alias for an inner use of a table."""
        number = len(self._aliases) + 1
        self._aliases.add(f"x{number}")
        return f"x{number}"

    def rows_of(self, source: Source) -> Relation:
        """Return the rows of a source that count."""
        return source.rows(self.spare_alias())

    def edges(self, child: Table | None = None, parent: Table | None = None) -> list[Edge]:
        """Return foreign keys between different tables, optionally for one child or one parent."""
        return [
            edge
            for edge in self.schema.edges()
            if edge.child != edge.parent
            and (child is None or edge.child == child.name)
            and (parent is None or edge.parent == parent.name)
        ]

    def chains(self, hops: int) -> list[list[Edge]]:
        """Return all upward paths of this many foreign keys that visit no table twice."""
        paths = [[edge] for edge in self.edges()]
        for _ in range(hops - 1):
            paths = [
                [*path, edge]
                for path in paths
                for edge in self.edges()
                if edge.child == path[-1].parent
                and all(edge.parent not in (step.child, step.parent) for step in path)
            ]
        return [path for path in paths if self._countable(path[0].child)]

    def _countable(self, table: str) -> bool:
        return self.schema.table(table).scale != "lookup"

    # -- facts -----------------------------------------------------------------------------

    def climb(self, path: Sequence[Edge], kind: str = "inner") -> Fact:
        """Join a table with its parents along a path."""
        child = self.open(path[0].child)
        fact = Fact(self.rows_of(child), [child], [""])
        for edge in path:
            self.join(fact, edge, kind)
        return fact

    def join(self, fact: Fact, edge: Edge, kind: str = "inner") -> Source:
        """Add the parent of an edge to a fact that contains the edge's child."""
        place = max(n for n, s in enumerate(fact.sources) if s.table.name == edge.child)
        child, parent = fact.sources[place], self.open(edge.parent)
        link = child.table.column(edge.column).noun
        owner = fact.prefixes[place]
        alone = link == parent.table.noun and self._only_path(fact.child.table.name, edge.parent)
        prefix = link if alone or not owner else f"{owner}'s {link}"
        on = ((f"{child.alias}.{edge.column}", f"{parent.alias}.{edge.parent_column}"),)
        fact.relation = Join(fact.relation, self.rows_of(parent), on, kind)
        fact.sources.append(parent)
        fact.prefixes.append(prefix)
        return parent

    def _only_path(self, child: str, parent: str) -> bool:
        """Whether just one path of foreign keys leads from one table to the other."""

        def paths(table: str) -> int:
            return 1 if table == parent else sum(
                paths(edge.parent) for edge in self.edges() if edge.child == table
            )  # fmt: skip

        return paths(child) == 1

    def alone(self, table: Table | None = None) -> Fact:
        """Return a single table as a fact."""
        chosen = table or self.pick(
            item for item in self.schema.asked() if item.scale != "lookup" and len(item.columns) > 3
        )
        source = self.open(chosen)
        return Fact(self.rows_of(source), [source], [""])

    def fact(self, hops: int, conditions: int | None = None, widen: bool = True) -> Fact:
        """Return a join chain with conditions; `hard` adds side joins for use in conditions."""
        fact = self.climb(self.pick(self.chains(hops))) if hops else self.alone()
        path = {source.alias for source in fact.sources}
        if widen and self.hard:
            for _ in range(self.number(1, 2)):
                self.widen(fact)
        self.restrict(fact, CONDITIONS[self.level] if conditions is None else conditions)
        self.trim(fact, path)
        return fact

    def trim(self, fact: Fact, keep: Collection[str]) -> None:
        """Remove side joins from a fact that none of its conditions refers to."""
        fact.relation = pruned(fact.relation, keep)
        used = {scan.alias for scan in scans(fact.relation)}
        kept = [n for n, source in enumerate(fact.sources) if source.alias in used]
        fact.sources = [fact.sources[n] for n in kept]
        fact.prefixes = [fact.prefixes[n] for n in kept]

    def widen(self, fact: Fact) -> None:
        """Join one more parent of the child; placed before `top`, so that `top` is unchanged."""
        seen = {source.table.name for source in fact.sources}
        edges = [edge for edge in self.edges(fact.child.table) if edge.parent not in seen]
        if edges:
            self.join(fact, self.pick(edges))
            last, prefix = fact.sources.pop(), fact.prefixes.pop()
            fact.sources.insert(1, last)
            fact.prefixes.insert(1, prefix)

    def restrict(self, fact: Fact, count: int, kinds: Sequence[str] = ()) -> None:
        """Apply this many conditions, on different columns of the fact's tables."""
        used = {item.column for item in fact.conditions}
        for number in range(count):
            item = self._condition(fact, kinds, prefer=number == 0 and self.hard, used=used)
            if item is None:
                break
            used.add(item.column)
            self._compared.add(item.column)
            fact.conditions.append(item)
            fact.relation = Filter(fact.relation, item.expression)

    def _condition(
        self, fact: Fact, kinds: Sequence[str], prefer: bool, used: set[str]
    ) -> PhrasedCondition | None:
        places = self.shuffled(range(len(fact.sources)))
        if prefer:
            places.sort(key=lambda n: not self.metrics(fact.sources[n].table))
        for place in places:
            source = fact.sources[place]
            chosen = condition(self, source, fact.prefixes[place], kinds, prefer, used)
            if chosen is not None:
                return chosen
        return None

    # -- words and numbers -----------------------------------------------------------------

    def label(self, source: Source) -> Label:
        """Return the columns that identify rows of the source in an answer."""
        table = source.table
        key = f"{source.alias}.{table.key}"
        for column in table.with_role("name", "code"):
            unique = column.unique or (column.role == "name" and table.natural_key)
            if unique and not column.nullable:
                word = f"{table.noun} {column.noun}" if column.role == "name" else column.noun
                text = f"the {owned(table.noun, column.noun)}"
                keys = (key, f"{source.alias}.{column.name}")
                return Label(plain(word), source.value(column), text, column.noun, keys)
        noun = f"{table.noun} id"
        return Label(plain(noun), Ref(key), f"the {noun}", noun, (key,))

    def measure(self, source: Source, *roles: Role) -> Measure:
        """Return a numeric value of the source's rows, if possible one without a condition."""
        wanted = roles or ("amount", "quantity", "rating")
        return self._measure(source, source.table.with_role(*wanted))

    def summed(self, source: Source) -> Measure:
        """Return a numeric value of the source's rows of which totals make sense."""
        columns = source.table.with_role("amount", "quantity")
        fit = [column for column in columns if not _NEVER_SUMMED.search(column.noun)]
        return self._measure(source, fit)

    def _measure(self, source: Source, columns: Sequence[Column]) -> Measure:
        """Draw one of the columns, if possible one that is not in a condition."""
        free = [c for c in columns if f"{source.alias}.{c.name}" not in self._compared]
        column = self.pick(free or columns)
        return Measure(source.value(column), column)

    def group_column(self, source: Source, taken: Iterable[str] = ()) -> Column:
        """Return a column with few values to group by."""
        return self.pick(
            column
            for column in source.table.with_role("category", "status")
            if f"{source.alias}.{column.name}" not in set(taken)
        )

    def date(self, source: Source) -> Column:
        """Return a date column of the source."""
        return self.pick(source.table.with_role("date"))
