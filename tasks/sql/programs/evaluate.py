"""Evaluation of query programs over plain rows, without a SQL engine: the second derivation.

Written for independence and clarity, not speed: databases of up to about 10⁴ rows. It also reports
whether an answer depends on the last digits of real numbers, where two correct queries could
differ; such instances are rejected.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Any

from hexathlon.tasks.sql.programs.compute import Compiler, close, order_key
from hexathlon.tasks.sql.programs.expressions import Scalar, Value
from hexathlon.tasks.sql.programs.relation import Relation
from hexathlon.tasks.sql.programs.relations import (
    Aggregate,
    Combine,
    Distinct,
    Extend,
    Filter,
    GroupBy,
    Join,
    Limit,
    Match,
    OrderBy,
    Project,
    Scan,
    Window,
)

__all__ = ["Evaluation", "evaluate"]

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The answer of a program."""

    rows: Rows
    fragile: bool
    """Whether a comparison or an order depends on digits that rounding may change."""


def evaluate(
    program: Relation,
    tables: Mapping[str, Sequence[tuple[Value, ...]]],
    columns: Mapping[str, Sequence[str]],
) -> Evaluation:
    """Evaluate a program.

    Args:
        program: The program.
        tables: Rows by table name.
        columns: Column names by table name, in the order of the rows.
    """
    evaluator = _Evaluator(tables, columns)
    return Evaluation(evaluator.run(program), evaluator.fragile)


class _Evaluator:
    def __init__(
        self,
        tables: Mapping[str, Sequence[tuple[Value, ...]]],
        columns: Mapping[str, Sequence[str]],
    ) -> None:
        self._tables = tables
        self._columns = columns
        self._scalars: dict[int, Value] = {}
        self.fragile = False

    def run(self, node: Relation) -> Rows:
        match node:
            case Scan(table, _, names):
                pick = _picker([list(self._columns[table]).index(name) for name in names])
                return [pick(row) for row in self._tables[table]]
            case Filter(source, predicate):
                test = self._compiler(source).compile(predicate)
                return [row for row in self.run(source) if test(row)]
            case Join():
                return self._join(node)
            case Match():
                return self._match(node)
            case Extend(source, items):
                new = [self._compiler(source).compile(item) for _, item in items]
                return [(*row, *(value(row) for value in new)) for row in self.run(source)]
            case Project(source, items):
                new = [self._compiler(source).compile(item) for _, item in items]
                return [tuple(value(row) for value in new) for row in self.run(source)]
            case GroupBy():
                return self._group(node)
            case Window():
                return self._window(node)
            case Combine():
                return _combine(node.kind, self.run(node.left), self.run(node.right))
            case Distinct(source):
                return list(dict.fromkeys(self.run(source)))
            case OrderBy(source, keys):
                return self._sorted(self.run(source), _places(source), keys)
            case Limit(source, count, offset):
                return self.run(source)[offset : offset + count]
            case _:
                raise TypeError(f"no rule to compute {type(node).__name__}")

    def _compiler(self, source: Relation) -> Compiler:
        return Compiler(_places(source), self._scalar, self._near)

    def _near(self) -> None:
        self.fragile = True

    def _scalar(self, scalar: Scalar) -> Value:
        if id(scalar) not in self._scalars:
            rows = self.run(scalar.relation)
            self._scalars[id(scalar)] = rows[0][0] if rows else None
        return self._scalars[id(scalar)]

    def _join(self, node: Join) -> Rows:
        left_keys, index = self._paired(node.left, node.right, node.on)
        padding = (None,) * len(node.right.columns)
        joined = []
        for key, row in left_keys:
            partners = index.get(key, []) if key is not None else []
            joined += [row + partner for partner in partners]
            if not partners and node.kind == "left":
                joined.append(row + padding)
        return joined

    def _match(self, node: Match) -> Rows:
        left_keys, index = self._paired(node.left, node.right, node.on)
        return [row for key, row in left_keys if (key in index) != node.negated]

    def _paired(
        self, left: Relation, right: Relation, on: tuple[tuple[str, str], ...]
    ) -> tuple[list[tuple[Any, Any]], dict[Any, Rows]]:
        """Return left rows with their keys (None if a key is missing), and right rows by key."""
        here, there = _places(left), _places(right)
        left_key = _picker([here[name] for name, _ in on])
        right_key = _picker([there[name] for _, name in on])
        index: dict[Any, Rows] = {}
        for row in self.run(right):
            key = right_key(row)
            if None not in key:
                index.setdefault(key, []).append(row)
        keyed = ((left_key(row), row) for row in self.run(left))
        return [(None if None in key else key, row) for key, row in keyed], index

    def _group(self, node: GroupBy) -> Rows:
        places = _places(node.source)
        key = _picker([places[name] for name in node.keys])
        groups: dict[tuple[Any, ...], Rows] = {} if node.keys else {(): []}
        for row in self.run(node.source):
            groups.setdefault(key(row), []).append(row)
        compiler = self._compiler(node.source)
        columns = [_aggregate(item, compiler, groups.values()) for item in node.aggregates]
        return [(*group, *(column[n] for column in columns)) for n, group in enumerate(groups)]

    def _window(self, node: Window) -> Rows:
        places = _places(node.source)
        rows = self.run(node.source)
        partitions: dict[tuple[Any, ...], list[int]] = {}
        key = _picker([places[name] for name in node.partition])
        for number, row in enumerate(rows):
            partitions.setdefault(key(row), []).append(number)
        values: list[Any] = [None] * len(rows)
        for numbers in partitions.values():
            ordered = self._sorted([(*rows[n], n) for n in numbers], places, node.order)
            order_places = [places[name] for name, _ in node.order]
            results = _windowed(node, ordered, places, order_places)
            for row, value in zip(ordered, results, strict=True):
                values[row[-1]] = value
        return [(*row, value) for row, value in zip(rows, values, strict=True)]

    def _sorted(
        self, rows: Rows, places: Mapping[str, int], keys: Iterable[tuple[str, bool]]
    ) -> Rows:
        ordered = list(rows)
        for name, descending in reversed(list(keys)):
            place = places[name]
            ordered.sort(key=lambda row: order_key(row[place]), reverse=descending)
            near = sorted(row[place] for row in rows if isinstance(row[place], float))
            self.fragile |= any(close(a, b) for a, b in pairwise(near))
        return ordered


def _places(node: Relation) -> dict[str, int]:
    return {name: place for place, name in enumerate(node.columns)}


def _picker(places: Sequence[int]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """Return a function that picks the values at these positions of a row."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda row: tuple(row[place] for place in places)


def _aggregate(item: Aggregate, compiler: Compiler, groups: Iterable[Rows]) -> list[Any]:
    test = compiler.compile(item.where) if item.where is not None else None
    argument = compiler.compile(item.argument) if item.argument is not None else None
    results = []
    for rows in groups:
        kept = [row for row in rows if test(row)] if test else rows
        if argument is None:
            results.append(len(kept))
            continue
        values = [value for row in kept if (value := argument(row)) is not None]
        if item.distinct:
            values = list(dict.fromkeys(values))
        results.append(_total(item.function, values))
    return results


def _total(function: str, values: list[Any]) -> Any:
    if function == "count":
        return len(values)
    if not values:
        return None
    match function:
        case "sum":
            return math.fsum(values) if any(isinstance(v, float) for v in values) else sum(values)
        case "avg":
            return math.fsum(values) / len(values)
        case "min":
            return min(values)
        case "max":
            return max(values)
        case _:
            raise ValueError(f"there is no aggregate {function!r}")


def _windowed(
    node: Window, ordered: Rows, places: Mapping[str, int], order_places: list[int]
) -> list[Any]:
    """Return the window function's value for each row of one ordered partition."""
    if node.function in ("rank", "dense_rank", "row_number"):
        return _ranks(node.function, [[row[place] for place in order_places] for row in ordered])
    values = [row[places[node.argument]] if node.argument else 1 for row in ordered]
    if node.function == "lag":
        return [None, *values][: len(values)]
    results = []
    for number in range(len(values)):
        first = number - node.frame if isinstance(node.frame, int) else 0
        last = len(values) if node.frame == "partition" else number + 1
        frame = [value for value in values[max(first, 0) : last] if value is not None]
        results.append(_total(node.function, frame))
        if node.frame == "partition":
            return results * len(values)
    return results


def _ranks(function: str, keys: list[list[Any]]) -> list[int]:
    ranks: list[int] = []
    for number, key in enumerate(keys):
        if function != "row_number" and number and key == keys[number - 1]:
            ranks.append(ranks[-1])
        elif function == "dense_rank":
            ranks.append(ranks[-1] + 1 if ranks else 1)
        else:
            ranks.append(number + 1)
    return ranks


def _combine(kind: str, left: Rows, right: Rows) -> Rows:
    there = frozenset(right)
    match kind:
        case "union_all":
            return left + right
        case "union":
            return list(dict.fromkeys(left + right))
        case "intersect":
            return [row for row in dict.fromkeys(left) if row in there]
        case "except":
            return [row for row in dict.fromkeys(left) if row not in there]
        case _:
            raise ValueError(f"there is no set operation {kind!r}")
