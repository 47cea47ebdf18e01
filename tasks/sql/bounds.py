"""The constant bounds of a query program, their columns, and programs that are off by one.

A program is off by one if one bound is moved by one unit, or if `<` replaces `<=`. The databases on
which a question is judged should distinguish each such program from the right one.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from hexathlon.tasks.sql.populate_bounds import BOUNDED_LAWS, Bounds, ColumnBounds, Constant
from hexathlon.tasks.sql.programs.compute import order_key
from hexathlon.tasks.sql.programs.expressions import (
    Compare,
    Expression,
    InList,
    Literal,
    Misreadable,
    Ref,
)
from hexathlon.tasks.sql.programs.relation import Relation
from hexathlon.tasks.sql.programs.relations import Aggregate, Extend, Project, Window
from hexathlon.tasks.sql.programs.walk import names_read, nodes, replacements, scans
from hexathlon.tasks.sql.schema import Column, Row, Schema

__all__ = ["bound_values", "off_by_one"]

_NEAR = {">": ">=", ">=": ">", "<": "<=", "<=": "<"}
_CONSTANT = "constant"
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_YEAR = re.compile(r"(19|20)\d\d")


def off_by_one(program: Relation, schema: Schema) -> Iterator[tuple[Relation, bool]]:
    """Yield programs with one bound moved by a unit, or excluded instead of included.

    A category that must be equal is written in capitals, so that no row has it. The second value
    says whether the bound is a number or a date that is compared with a column.
    """
    origins = _Origins(program)

    def proposals(node: Any) -> Iterator[tuple[str, Any]]:
        match node:
            case Compare(operator, left, right) if operator in _NEAR:
                values = _moved(right.value) if isinstance(right, Literal) else []
                label = _CONSTANT if values else "computed"
                yield label, Compare(_NEAR[operator], left, right)
                for value in values:
                    yield label, Compare(operator, left, Literal(value))
            case Compare("=", left, Literal(str(year))) if _YEAR.fullmatch(year):
                for step in (-1, 1):
                    yield "year", Compare("=", left, Literal(str(int(year) + step)))
            case Compare("=" | "<>", Ref() | Misreadable(), Literal(str(value))):
                columns = [schema.column(*place) for place in origins.columns(node.left)]
                if any(value in column.values for column in columns):
                    yield "category", replace(node, right=Literal(value.upper()))

    for label, changed in replacements(program, proposals):
        yield changed, label == _CONSTANT


def _moved(value: Any) -> list[Constant]:
    """Return the constants one unit below and above; amounts also move by a quarter."""
    if isinstance(value, float):
        return [value - 1, value - 0.25, value + 0.25, value + 1]
    if isinstance(value, int):
        return [value - 1, value + 1]
    if isinstance(value, str) and _DATE.fullmatch(value):
        day = date.fromisoformat(value)
        return [(day + timedelta(days=step)).isoformat() for step in (-1, 1)]
    return []


def bound_values(program: Relation, schema: Schema, sample: Mapping[str, Sequence[Row]]) -> Bounds:
    """Return values at and next to the program's bounds, by table and column.

    A column that is compared with another, or with an aggregate, gets its median, so that both
    sides of the comparison can be equal.

    Args:
        program: The program.
        schema: The schema of its tables.
        sample: Rows by table name; medians are taken from them.
    """
    found: dict[tuple[str, str], set[Constant]] = defaultdict(set)
    origins = _Origins(program)
    for listed in nodes(program, InList):
        for place in origins.columns(listed.operand):
            found[place].update(_categories(schema.column(*place), listed.values))
    for node in nodes(program, Compare):
        constant = node.right.value if isinstance(node.right, Literal) else None
        for table, name in origins.columns(node.left) + origins.columns(node.right):
            column = schema.column(table, name)
            if column.law.kind not in BOUNDED_LAWS:
                continue
            if column.law.kind in ("category", "status"):
                found[table, name].update(_categories(column, (constant,)))
            elif isinstance(node.right, Literal):
                found[table, name].update(_around(constant, column.law.kind == "date"))
            else:
                names = [each.name for each in schema.table(table).columns]
                rows = (dict(zip(names, row, strict=True)) for row in sample[table])
                values: list[Any] = [v for row in rows if (v := column.canonical(row)) is not None]
                found[table, name].update(sorted(values)[len(values) // 2 :][:1])
    return tuple(
        ColumnBounds(table, name, tuple(sorted(values, key=order_key)))
        for (table, name), values in sorted(found.items())
        if values
    )


def _categories(column: Column, constants: Sequence[Any]) -> list[Constant]:
    """Return those constants that the column may have, and one other value."""
    own: list[Constant] = [value for value in column.values if value in constants]
    return own + [value for value in column.values if value not in own][: len(own[:1])]


def _around(constant: Any, dated: bool) -> list[Constant]:
    if isinstance(constant, str) and dated and _YEAR.fullmatch(constant):
        first, last = date(int(constant), 1, 1), date(int(constant), 12, 31)
        return [
            (day + timedelta(days=step)).isoformat()
            for day, step in ((first, -1), (first, 0), (last, 0), (last, 1))
        ]
    fits = isinstance(constant, str) == dated
    moved = _moved(constant) if fits else []
    return [constant, *moved] if moved else []


class _Origins:
    """The stored columns that the named columns of a program are computed from."""

    def __init__(self, program: Relation) -> None:
        self._tables = {scan.alias: scan.table for scan in scans(program)}
        self._sources: dict[str, set[str]] = defaultdict(set)
        named = [pair for node in nodes(program, Extend) for pair in node.items]
        named += [pair for node in nodes(program, Project) for pair in node.items]
        named += [(a.name, a.argument) for a in nodes(program, Aggregate) if a.argument is not None]
        for name, expression in named:
            self._sources[name].update(names_read(expression))
        for window in nodes(program, Window):
            if window.argument is not None:
                self._sources[window.name].add(window.argument)

    def columns(self, expression: Expression) -> list[tuple[str, str]]:
        """Return the stored columns that an expression is computed from, as (table, column)."""
        pending, seen = names_read(expression), set[str]()
        found = []
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            alias, _, column = name.partition(".")
            if column and alias in self._tables:
                found.append((self._tables[alias], column))
            pending += sorted(self._sources[name])
        return sorted(set(found))
