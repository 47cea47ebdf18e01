"""Formulas of a workbook: the four operations and a few functions over numbers and ranges.

This covers the tasks; any other formula raises a fault and matches no expected value.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

__all__ = ["CellFormulaFault", "evaluate"]

_RANGE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,6})(?::\$?([A-Z]{1,3})\$?(\d{1,6}))?")
_FUNCTIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "sum": sum, "max": max, "min": min, "count": len,
    "average": lambda values: sum(values) / len(values),
    "round": lambda values: round(values[0], int(values[1]) if len(values) > 1 else 0),
}  # fmt: skip
_OPERATIONS: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}  # fmt: skip
_LONGEST = 200
_MOST_CELLS = 20_000
"""Cells in all ranges of a formula, at most."""


class CellFormulaFault(Exception):
    """A formula is unsupported or has no value."""


def evaluate(formula: str, cells: Mapping[str, Any]) -> float:
    """Return the value of a formula.

    Args:
        formula: The formula, with its equals sign.
        cells: Values of the cells that have no formula, by address.

    Raises:
        CellFormulaFault: If it cannot be evaluated.

    >>> evaluate("=SUM(A1:A2)*2", {"A1": 1.0, "A2": 2.0})
    6.0
    """
    if len(formula) > _LONGEST:
        raise CellFormulaFault("the formula is too long")
    names: dict[str, list[float]] = {}
    room = _MOST_CELLS

    def named(match: re.Match[str]) -> str:
        nonlocal room
        columns, rows = _extent(match)
        room -= len(columns) * len(rows)
        if room < 0:
            raise CellFormulaFault("the ranges are too large")
        name = f"cells_{len(names)}"
        names[name] = list(_numbers(columns, rows, cells))
        return name

    text = _RANGE.sub(named, formula.removeprefix("=").upper()).replace(";", ",")
    try:
        value = _value(ast.parse(text.strip(), mode="eval").body, names)
    except (SyntaxError, ZeroDivisionError, ValueError, IndexError, RecursionError) as error:
        raise CellFormulaFault(str(error)) from error
    if isinstance(value, list):
        return _single(value)
    return float(value)


def _extent(match: re.Match[str]) -> tuple[range, range]:
    """Return the columns and the rows of a reference."""
    left, top, right, bottom = match[1], match[2], match[3] or match[1], match[4] or match[2]
    return range(_column(left), _column(right) + 1), range(int(top), int(bottom) + 1)


def _numbers(columns: range, rows: range, cells: Mapping[str, Any]) -> Iterator[float]:
    letters = [_letters(column) for column in columns]
    for row in rows:
        for column in letters:
            value = cells.get(f"{column}{row}")
            if isinstance(value, int | float):
                yield float(value)


def _value(node: ast.expr, names: Mapping[str, list[float]]) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.Name) and node.id in names:
        return names[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _single(_value(node.operand, names))
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        left, right = (_single(_value(side, names)) for side in (node.left, node.right))
        return _OPERATIONS[type(node.op)](left, right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        function = _FUNCTIONS.get(node.func.id.lower())
        if function is not None:
            values = [_value(argument, names) for argument in node.args]
            flat = [one for each in values for one in (each if isinstance(each, list) else [each])]
            return float(function(flat))
    raise CellFormulaFault(f"not understood: {ast.unparse(node)}")


def _single(value: Any) -> float:
    if isinstance(value, list):
        if len(value) != 1:
            raise CellFormulaFault("a range is not a single value")
        return float(value[0])
    return float(value)


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


def _letters(number: int) -> str:
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
