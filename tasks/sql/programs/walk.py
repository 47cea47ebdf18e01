"""Traversal of query programs: columns read by an expression, and rebuilding with replacements."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import Any, TypeVar

from hexathlon.tasks.sql.programs.expressions import Expression, Ref, Scalar
from hexathlon.tasks.sql.programs.relation import Relation
from hexathlon.tasks.sql.programs.relations import Filter, GroupBy, Join, Match, Scan, Window

__all__ = ["all_names", "names_read", "nodes", "pruned", "replacements", "scans", "transformed"]

Kind = TypeVar("Kind")


def names_read(expression: Expression) -> list[str]:
    """Return the names of the columns that an expression reads, in order, excluding sub-queries."""
    if isinstance(expression, Ref):
        return [expression.name]
    if isinstance(expression, Scalar):
        return []
    return list(dict.fromkeys(name for part in _parts(expression) for name in names_read(part)))


def nodes(node: Any, kind: type[Kind]) -> Iterator[Kind]:
    """Yield every node of a kind in a program, including sub-queries, parents first."""
    if isinstance(node, kind):
        yield node
    if isinstance(node, tuple):
        for item in node:
            yield from nodes(item, kind)
    else:
        for name in _fields(node):
            yield from nodes(getattr(node, name), kind)


def scans(node: Any) -> Iterator[Scan]:
    """Return every scan of a program in order, including sub-queries."""
    return nodes(node, Scan)


def pruned(
    program: Relation, keep: Collection[str], only: Callable[[Join], bool] = lambda join: True
) -> Relation:
    """Return the program without joins of stored tables that nothing else in it refers to.

    An unused inner join may still drop rows, so this is for programs under construction; it does
    not preserve the meaning.

    Args:
        program: The program to prune; no subtree may occur twice.
        keep: Aliases of tables to keep in any case.
        only: Whether a join may be removed.
    """
    while True:
        read = Counter(all_names(program))

        def without_idle(node: Any, read: Counter[str] = read) -> Any:
            if not isinstance(node, Join) or not only(node):
                return node
            base = _base(node.right)
            if not isinstance(base, Scan) or base.alias in keep:
                return node
            own = Counter([*all_names(node.right), *(name for _, name in node.on)])
            idle = all(read[name] == own[name] for name in node.right.columns)
            return node.left if idle else node

        smaller = transformed(program, without_idle)
        if smaller == program:
            return program
        program = smaller


def _base(node: Relation) -> Relation:
    while isinstance(node, Filter | Match):
        node = node.source if isinstance(node, Filter) else node.left
    return node


def all_names(node: Any) -> Iterator[str]:
    """Yield every column name in a program, except those that select the rows that count."""
    for ref in nodes(node, Ref):
        yield ref.name
    for pairs in (*(n.on for n in nodes(node, Join)), *(n.on for n in nodes(node, Match))):
        yield from (name for pair in pairs for name in pair)
    for group in nodes(node, GroupBy):
        yield from group.keys
    for window in nodes(node, Window):
        yield from (*window.partition, *(name for name, _ in window.order))
        yield window.argument or ""


def _parts(node: Any) -> Iterator[Expression]:
    for name in _fields(node):
        yield from _expressions(getattr(node, name))


def _expressions(value: Any) -> Iterator[Expression]:
    if isinstance(value, Expression):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _expressions(item)


def transformed(node: Any, change: Callable[[Any], Any]) -> Any:
    """Rebuild a program bottom-up; `change` maps each node after its parts."""
    if isinstance(node, tuple):
        return tuple(transformed(item, change) for item in node)
    names = _fields(node)
    if not names:
        return node
    return change(type(node)(*(transformed(getattr(node, name), change) for name in names)))


def replacements(
    node: Any, propose: Callable[[Any], Iterator[tuple[str, Any]]]
) -> Iterator[tuple[str, Any]]:
    """Yield (label, program) for every single replacement that `propose` offers at any node."""
    yield from propose(node)
    if isinstance(node, tuple):
        for place, item in enumerate(node):
            for label, new in replacements(item, propose):
                yield label, (*node[:place], new, *node[place + 1 :])
    else:
        for name in _fields(node):
            for label, new in replacements(getattr(node, name), propose):
                yield label, dataclasses.replace(node, **{name: new})


_FIELDS: dict[type, tuple[str, ...]] = {}


def _fields(node: Any) -> tuple[str, ...]:
    """Return the names of a node's fields in order; none for anything else."""
    kind = type(node)
    if kind not in _FIELDS:
        known = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
        _FIELDS[kind] = tuple(field.name for field in known)
    return _FIELDS[kind]
