"""Near misses of a query program: the queries of a careless solver.

Each mutation changes one place. Whether a mutant is wrong, or merely an equivalent formulation, is
decided by running it: `screening` keeps those whose answers differ.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from hexathlon.tasks.sql.programs.expressions import (
    Binary,
    Compare,
    Expression,
    FunctionCall,
    InList,
    IsNull,
    Literal,
    Misreadable,
    Ref,
    both,
    conjuncts,
)
from hexathlon.tasks.sql.programs.relation import Relation
from hexathlon.tasks.sql.programs.relations import (
    Aggregate,
    Combine,
    Distinct,
    Filter,
    Join,
    Limit,
    Match,
    OrderBy,
    Project,
    Window,
)
from hexathlon.tasks.sql.programs.walk import replacements, scans

__all__ = ["ESSENTIAL", "mutants"]

ESSENTIAL = frozenset({"drop_filter", "outdated_document", "misreading", "skip_cleaning"})
"""Kinds whose mutants must all be distinguished; otherwise a part of the question has no effect."""

_NEAR = {">": ">=", ">=": ">", "<": "<=", "<=": "<"}
_OPPOSITE = {"=": "<>", "<>": "=", ">": "<", ">=": "<=", "<": ">", "<=": ">="}
_AGGREGATES = {"sum": "avg", "avg": "sum", "min": "max", "max": "min"}
_RANKS = {"rank": "row_number", "dense_rank": "rank", "row_number": "rank"}
_SETS = {
    "union": ("union_all", "intersect"),
    "union_all": ("union",),
    "intersect": ("union", "except"),
    "except": ("intersect", "union"),
}


def mutants(program: Relation) -> Iterator[tuple[str, Relation]]:
    """Yield (kind, program) for every single mistake, in a fixed order."""
    yield from replacements(program, _proposals)
    yield from _whole(program)


def _proposals(node: Any) -> Iterator[tuple[str, Any]]:
    match node:
        case Filter(source, predicate):
            yield from _weaker(source, predicate)
        case Compare(operator, left, right):
            yield from _compared(node, operator, left, right)
        case Misreadable(_, wrong, label):
            yield label, wrong
        case IsNull(operand, negated):
            yield "flip_missing", IsNull(operand, not negated)
        case InList(operand, values, negated):
            yield "shorter_list", InList(operand, values[:-1], negated)
            yield "flip_list", InList(operand, values, not negated)
        case Binary("*", Literal(100.0), right):
            yield "fraction_for_percentage", right
        case Binary("-", left, right):
            yield "swapped_difference", Binary("-", right, left)
        case FunctionCall("coalesce", (first, _)):
            yield "missing_for_zero", first
        case Aggregate():
            yield from _aggregated(node)
        case Join(_, _, _, kind):
            yield "wrong_join", replace(node, kind="left" if kind == "inner" else "inner")
        case Match():
            yield "flip_match", replace(node, negated=not node.negated)
            yield "drop_match", node.left
        case Window():
            yield from _windowed(node)
        case Distinct(source):
            yield "missing_distinct", source
        case Combine(kind, _, _):
            for other in _SETS[kind]:
                yield "wrong_set_operation", replace(node, kind=other)
            if kind == "except":
                yield "swapped_difference", replace(node, left=node.right, right=node.left)
        case OrderBy(source, keys):
            (name, down), *rest = keys
            yield "wrong_sort", OrderBy(source, ((name, not down), *rest))
        case Limit(source, count, offset):
            yield "wrong_limit", Limit(source, count + 1, offset)
            yield "wrong_offset", Limit(source, count, offset + 1)


def _weaker(source: Relation, predicate: Expression) -> Iterator[tuple[str, Any]]:
    terms = conjuncts(predicate)
    for place, term in enumerate(terms):
        if isinstance(term, Misreadable) and term.label == "count_deleted":
            continue
        rest = terms[:place] + terms[place + 1 :]
        label = "keep_missing" if isinstance(term, IsNull) and term.negated else "drop_filter"
        yield label, Filter(source, both(*rest)) if rest else source


def _compared(
    node: Compare, operator: str, left: Expression, right: Expression
) -> Iterator[tuple[str, Any]]:
    yield "flip_comparison", replace(node, operator=_OPPOSITE[operator])
    if operator in _NEAR:
        yield "off_by_one", replace(node, operator=_NEAR[operator])
    if isinstance(right, Literal) and isinstance(right.value, int | float):
        yield "off_by_one", replace(node, right=Literal(right.value + 1))
        yield "off_by_one", replace(node, right=Literal(right.value - 1))
    elif isinstance(right, Literal) and isinstance(right.value, str) and operator == "=":
        if right.value.isdigit():
            yield "off_by_one", replace(node, right=Literal(str(int(right.value) - 1)))
        else:
            yield "wrong_case", replace(node, right=Literal(right.value.upper()))


def _aggregated(node: Aggregate) -> Iterator[tuple[str, Any]]:
    if node.function in _AGGREGATES:
        yield "wrong_aggregate", replace(node, function=_AGGREGATES[node.function])
    if node.distinct:
        yield "missing_distinct", replace(node, distinct=False)
    elif node.argument is not None and node.function in ("sum", "avg"):
        yield "stray_distinct", replace(node, distinct=True)
    if node.where is not None:
        yield "drop_filter", replace(node, where=None)
    if node.function == "count" and node.argument is not None and not node.distinct:
        yield "count_missing", replace(node, argument=None)
    if node.function == "avg" and node.argument is not None:
        zero = FunctionCall("coalesce", (node.argument, Literal(0)))
        yield "missing_as_zero", replace(node, argument=zero)


def _windowed(node: Window) -> Iterator[tuple[str, Any]]:
    if node.function in _RANKS:
        yield "wrong_rank", replace(node, function=_RANKS[node.function])
    if node.function in _AGGREGATES:
        yield "wrong_aggregate", replace(node, function=_AGGREGATES[node.function])
    if node.partition:
        yield "drop_partition", replace(node, partition=())
    if node.order:
        (name, down), *rest = node.order
        yield "wrong_window_order", replace(node, order=((name, not down), *rest))
    if node.frame == "running":
        yield "wrong_frame", replace(node, frame="partition")
        yield "wrong_frame", replace(node, frame=1)
    elif isinstance(node.frame, int):
        yield "wrong_frame", replace(node, frame=node.frame + 1)
        yield "wrong_frame", replace(node, frame="running")


def _whole(program: Relation) -> Iterator[tuple[str, Relation]]:
    """Yield mistakes that concern the answer as a whole."""
    columns = program.columns
    first = columns[0]
    yield from replacements(program, partial(_columns, {s.alias: s.names for s in scans(program)}))

    def project(names: tuple[str, ...]) -> Relation:
        items = tuple((f"{name}_again" if name in names[:n] else name, Ref(name))
                      for n, name in enumerate(names))  # fmt: skip
        return Project(_unordered(program), items)

    if len(columns) > 1:
        yield "missing_column", project(columns[:-1])
        yield "swapped_columns", project((columns[1], columns[0], *columns[2:]))
    yield "extra_column", project((*columns, first))
    yield "repeated_rows", Combine("union_all", _unordered(program), _unordered(program))
    yield "merged_rows", Distinct(_unordered(program))
    yield "one_row_short", Limit(OrderBy(program, ((first, False),)), 1)


def _columns(names: Mapping[str, tuple[str, ...]], node: Any) -> Iterator[tuple[str, Any]]:
    """Yield answers with a neighbouring column in place of the right one."""
    if not isinstance(node, Project):
        return
    for place, (name, item) in enumerate(node.items):
        alias, _, column = item.name.partition(".") if isinstance(item, Ref) else ("", "", "")
        if column and alias in names:
            own = names[alias]
            other = own[(own.index(column) + 1) % len(own)]
            new = (name, Ref(f"{alias}.{other}"))
            yield (
                "wrong_column",
                Project(node.source, (*node.items[:place], new, *node.items[place + 1 :])),
            )


def _unordered(program: Relation) -> Relation:
    return program.source if isinstance(program, OrderBy) else program
