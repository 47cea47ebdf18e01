"""Shared shapes of templates: dimensions to group by, and the final steps of an answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from hexathlon.tasks.sql.programs.expressions import Expression, IsNull, Ref
from hexathlon.tasks.sql.programs.relation import Relation
from hexathlon.tasks.sql.programs.relations import (
    Aggregate,
    Extend,
    Filter,
    GroupBy,
    OrderBy,
    Project,
)
from hexathlon.tasks.sql.schema import Column
from hexathlon.tasks.sql.templates.conditions import PhrasedCondition
from hexathlon.tasks.sql.templates.drawing import Unbindable
from hexathlon.tasks.sql.templates.scene import Fact, QueryScene
from hexathlon.tasks.sql.templates.sources import Source
from hexathlon.tasks.sql.templates.wording import owned, plain

__all__ = [
    "Dimension",
    "answer",
    "at_least",
    "by_category",
    "by_parent",
    "dimension",
    "grouped",
    "kind",
    "known",
    "left_out",
    "varies",
]


@dataclass(frozen=True, slots=True)
class Dimension:
    """A dimension to group by."""

    name: str
    text: str
    """Description of the output column: "the customer's segment"."""
    each: str
    """Name of one group, after "for each": "customer", "customer segment"."""
    rows: str
    """Plural of the rows that are grouped."""
    extend: tuple[tuple[str, Expression], ...]
    keys: tuple[str, ...]
    shown: Expression
    source: Source
    column: Column | None = None

    @property
    def unless_empty(self) -> str:
        """The sentence about groups that no row belongs to."""
        return f"Leave out any {self.each} with no such {self.rows}."

    @property
    def output(self) -> tuple[str, Expression]:
        """The dimension's column in the answer."""
        return self.name, self.shown


def by_parent(scene: QueryScene, fact: Fact) -> Dimension:
    """Group by the rows of the fact's top table."""
    if len(fact.sources) < 2:
        raise Unbindable
    label, source, path = scene.label(fact.top), fact.top, fact.prefixes[-1]
    each, text = fact.called(-1), f"the {owned(path, label.noun)}"
    return Dimension(
        label.name, text, each, fact.child.table.plural, (), label.keys, label.expression, source
    )


def by_category(scene: QueryScene, fact: Fact) -> Dimension:
    """Group by a column with few values; rows without a value are removed from the fact."""
    used = {item.column for item in fact.conditions}
    places = [
        (place, column)
        for place, source in enumerate(fact.sources)
        for column in source.table.with_role("category", "status")
        if f"{source.alias}.{column.name}" not in used
    ]
    place, column = scene.pick(places)
    source, prefix = fact.sources[place], fact.prefixes[place]
    name = plain(column.noun if not prefix else f"{prefix.split(' ')[-1]} {column.noun}")
    value = source.value(column)
    known(fact, value, column)
    return Dimension(
        name, f"the {owned(prefix, column.noun)}", kind(prefix, column.noun),
        fact.child.table.plural, ((name, value),), (name,), Ref(name), source, column,
    )  # fmt: skip


def kind(prefix: str, noun: str) -> str:
    """Name a property as a kind of group: "customer segment"."""
    name = owned(prefix, noun)
    if prefix and noun.startswith(prefix):
        return noun
    return f"{prefix} {noun}" if name == f"{prefix}'s {noun}" else name


def varies(scene: QueryScene, dim: Dimension, inner: PhrasedCondition) -> None:
    """Require that a condition can differ among the rows of one group.

    Raises:
        Unbindable: If it is about what the rows are grouped by.
    """
    alias = dim.source.alias
    if dim.column is None:
        metrics = [metric.name for metric, _ in scene.metrics(dim.source.table)]
        same = inner.column.startswith(f"{alias}.") or inner.column in metrics
    else:
        same = inner.column == f"{alias}.{dim.column.name}"
    if same:
        raise Unbindable


def known(fact: Fact, value: Expression, column: Column) -> None:
    """Remove the fact's rows in which a nullable column has no value."""
    if column.nullable:
        fact.relation = Filter(fact.relation, IsNull(value, negated=True))


def dimension(scene: QueryScene, fact: Fact) -> Dimension:
    """Group by the top table's rows or by a category, whichever the fact offers."""
    if len(fact.sources) > 1 and scene.chance(0.6):
        return by_parent(scene, fact)
    return by_category(scene, fact)


def at_least(number: int) -> str:
    """Return the sentence about groups that are too small, with a leading space."""
    return f" List only counts of {number} or more." if number > 1 else ""


def left_out(dim: Dimension) -> tuple[str, ...]:
    """Return the note about rows that belong to no group."""
    if dim.column is not None and dim.column.nullable:
        return (f"Leave out {dim.rows} for which {dim.text} is missing.",)
    return ()


def grouped(
    relation: Relation, dims: Sequence[Dimension], aggregates: Sequence[Aggregate]
) -> Relation:
    """Group a relation by dimensions."""
    extend = tuple(item for dim in dims for item in dim.extend)
    source = Extend(relation, extend) if extend else relation
    return GroupBy(source, tuple(key for dim in dims for key in dim.keys), tuple(aggregates))


def answer(
    relation: Relation,
    outputs: Sequence[tuple[str, Expression]],
    order: Sequence[tuple[str, bool]] = (),
) -> Relation:
    """Name the columns of the answer, and order it if requested."""
    program: Relation = Project(relation, tuple(outputs))
    return OrderBy(program, tuple(order)) if order else program
