"""Walking query programs: the columns an expression reads, and rebuilding with a part replaced."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from hexathlon.tasks.sql.programs.expressions import Expression, Ref, Scalar
from hexathlon.tasks.sql.programs.relations import Relation, Scan

__all__ = ["names_read", "replacements", "scans", "transformed"]

Node = Expression | Relation


def names_read(expression: Expression) -> list[str]:
    """Names of the columns an expression reads, in order, sub-queries left out."""
    if isinstance(expression, Ref):
        return [expression.name]
    if isinstance(expression, Scalar):
        return []
    return list(dict.fromkeys(name for part in _parts(expression) for name in names_read(part)))


def scans(node: Any) -> Iterator[Scan]:
    """Every scan of a program, sub-queries included, in order."""
    if isinstance(node, Scan):
        yield node
    elif isinstance(node, tuple):
        for item in node:
            yield from scans(item)
    elif dataclasses.is_dataclass(node):
        for field in dataclasses.fields(node):
            yield from scans(getattr(node, field.name))


def _parts(node: Any) -> Iterator[Expression]:
    for field in dataclasses.fields(node):
        yield from _expressions(getattr(node, field.name))


def _expressions(value: Any) -> Iterator[Expression]:
    if isinstance(value, Expression):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _expressions(item)


def transformed(node: Any, change: Callable[[Any], Any]) -> Any:
    """Rebuild a program bottom-up; `change` maps each node, whose parts are rebuilt already."""
    if isinstance(node, tuple):
        return tuple(transformed(item, change) for item in node)
    if not dataclasses.is_dataclass(node) or isinstance(node, type):
        return node
    fields = {f.name: transformed(getattr(node, f.name), change) for f in dataclasses.fields(node)}
    return change(type(node)(**fields))


def replacements(
    node: Any, propose: Callable[[Any], Iterator[tuple[str, Any]]]
) -> Iterator[tuple[str, Any]]:
    """Yield (label, program) for every single replacement that `propose` offers anywhere."""
    yield from propose(node)
    if isinstance(node, tuple):
        for place, item in enumerate(node):
            for label, new in replacements(item, propose):
                yield label, (*node[:place], new, *node[place + 1 :])
    elif dataclasses.is_dataclass(node) and not isinstance(node, type):
        for field in dataclasses.fields(node):
            for label, new in replacements(getattr(node, field.name), propose):
                yield label, dataclasses.replace(node, **{field.name: new})
