"""Values of cells and the functions of formulas.

A value is a number, a text, a truth value, None for an empty cell, or a `CellFault`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

__all__ = ["FUNCTIONS", "CellBlock", "CellFault", "CellValue", "matches", "shown", "typed"]


class CellFault(NamedTuple):
    """An error as displayed in a cell, such as `#DIV/0!`."""

    code: str


CellValue = float | str | bool | None | CellFault
CellBlock = Sequence[Sequence[CellValue]]
"""The values of a range, row by row."""

_Argument = CellValue | CellBlock

VALUE_FAULT = CellFault("#VALUE!")
DIVISION_FAULT = CellFault("#DIV/0!")
MISSING_FAULT = CellFault("#N/A")

_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)")


def typed(raw: str) -> CellValue:
    """Return the value of a cell's raw content, unless it is a formula."""
    if not raw:
        return None
    if raw.startswith("'"):
        return raw[1:]
    if _NUMBER.fullmatch(raw) and len(raw) < 20:
        return float(raw)
    return {"TRUE": True, "FALSE": False}.get(raw.upper(), raw)


def shown(value: CellValue) -> str:
    """Return a value as displayed in a cell: numbers with at most six decimals."""
    if value is None:
        return ""
    if isinstance(value, CellFault):
        return value.code
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float | int):
        text = f"{value:.6f}".rstrip("0").rstrip(".")
        return "0" if text == "-0" else text
    return value


def number_of(value: _Argument) -> float | CellFault:
    """Return a value as a number; a text that is not a number gives a fault."""
    if isinstance(value, CellFault):
        return value
    if value is None:
        return 0.0
    if isinstance(value, float | int):
        return float(value)
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        return float(value)
    return VALUE_FAULT


def matches(value: CellValue, criterion: CellValue) -> bool:
    """Whether a value meets a criterion such as `>=10`, `<>done` or `Food*`."""
    text = shown(criterion)
    found = re.match(r"(<=|>=|<>|<|>|=)?(.*)", text, re.DOTALL)
    assert found is not None
    operator, operand = found[1] or "=", found[2]
    if _NUMBER.fullmatch(operand) and not isinstance(criterion, bool):
        if not isinstance(value, float | int) or isinstance(value, bool):
            return operator == "<>"
        return compare(operator, float(value), float(operand))
    if value is None:
        return (operator == "=" and not operand) or (operator == "<>" and bool(operand))
    if isinstance(value, CellFault) or (isinstance(value, float | int) and operator != "<>"):
        return isinstance(value, CellFault) and operator == "=" and value.code == operand
    left, right = shown(value).casefold(), operand.casefold()
    if operator in ("=", "<>") and ("*" in right or "?" in right):
        pattern = re.escape(right).replace(r"\*", ".*").replace(r"\?", ".")
        return bool(re.fullmatch(pattern, left)) == (operator == "=")
    return compare(operator, left, right)


def compare(operator: str, left: float | str, right: float | str) -> bool:
    """Compare two numbers or two texts."""
    order = (left > right) - (left < right)  # type: ignore[operator]
    return {"=": order == 0, "<>": order != 0, "<": order < 0, ">": order > 0, "<=": order <= 0,
            ">=": order >= 0}[operator]  # fmt: skip


def _cells(arguments: Sequence[_Argument]) -> list[CellValue]:
    """Return the values of all arguments in one list."""
    values: list[CellValue] = []
    for argument in arguments:
        if isinstance(argument, list):
            values += [cell for row in argument for cell in row]
        else:
            values.append(argument)  # type: ignore[arg-type]
    return values


def _numbers(arguments: Sequence[_Argument]) -> list[float] | CellFault:
    """Return the numbers among the arguments; texts are skipped, a fault is passed on."""
    numbers = []
    for value in _cells(arguments):
        if isinstance(value, CellFault):
            return value
        if isinstance(value, float | int) and not isinstance(value, bool):
            numbers.append(float(value))
    return numbers


def _over_numbers(
    reduce: Callable[[list[float]], CellValue],
) -> Callable[[Sequence[_Argument]], CellValue]:
    def function(arguments: Sequence[_Argument]) -> CellValue:
        numbers = _numbers(arguments)
        return numbers if isinstance(numbers, CellFault) else reduce(numbers)

    return function


def _mean(numbers: list[float]) -> CellValue:
    return sum(numbers) / len(numbers) if numbers else DIVISION_FAULT


def _chosen(target: _Argument, pairs: Sequence[_Argument]) -> list[CellValue] | CellFault:
    """Return the cells of a range whose neighbours in other ranges meet their criteria."""
    if len(pairs) % 2 or not pairs:
        return VALUE_FAULT
    values = _cells([target])
    for place in range(0, len(pairs), 2):
        if len(_cells([pairs[place]])) != len(values) or isinstance(pairs[place + 1], list):
            return VALUE_FAULT
    tests = [(_cells([pairs[i]]), pairs[i + 1]) for i in range(0, len(pairs), 2)]
    return [
        value
        for place, value in enumerate(values)
        if all(matches(cells[place], criterion) for cells, criterion in tests)  # type: ignore[arg-type]
    ]


def _many_if(reduce: Callable[[list[float]], CellValue]) -> Callable[..., CellValue]:
    def function(arguments: Sequence[_Argument]) -> CellValue:
        chosen = _chosen(arguments[0], arguments[1:])
        return chosen if isinstance(chosen, CellFault) else _over_numbers(reduce)(chosen)

    return function


def _one_if(reduce: Callable[[list[float]], CellValue]) -> Callable[..., CellValue]:
    def function(arguments: Sequence[_Argument]) -> CellValue:
        target = arguments[2] if len(arguments) > 2 else arguments[0]
        return _many_if(reduce)([target, *arguments[:2]])

    return function


def _count_ifs(arguments: Sequence[_Argument]) -> CellValue:
    chosen = _chosen(arguments[0], arguments)
    return chosen if isinstance(chosen, CellFault) else float(len(chosen))


def _lookup(arguments: Sequence[_Argument]) -> CellValue:
    key, table, column = arguments[0], arguments[1], number_of(arguments[2])
    if isinstance(column, CellFault) or isinstance(key, list) or not isinstance(table, list):
        return VALUE_FAULT
    for row in table:
        same = shown(row[0]).casefold() == shown(key).casefold()  # type: ignore[arg-type]
        if same and 1 <= column <= len(row):
            return row[int(column) - 1]  # type: ignore[no-any-return]
    return MISSING_FAULT


def _round(arguments: Sequence[_Argument]) -> CellValue:
    value = number_of(arguments[0])
    digits = number_of(arguments[1]) if len(arguments) > 1 else 0.0
    if isinstance(value, CellFault) or isinstance(digits, CellFault) or abs(digits) > 9:
        return value if isinstance(value, CellFault) else VALUE_FAULT
    scale = 10 ** int(digits)
    size: float = int(abs(value) * scale + 0.5 + 1e-9) / scale
    return size if value >= 0 else -size


def _absolute(arguments: Sequence[_Argument]) -> CellValue:
    value = number_of(arguments[0])
    return value if isinstance(value, CellFault) else abs(value)


def _if(arguments: Sequence[_Argument]) -> CellValue:
    if isinstance(arguments[0], CellFault):
        return arguments[0]
    chosen = arguments[1] if arguments[0] else (arguments[2] if len(arguments) > 2 else False)
    return VALUE_FAULT if isinstance(chosen, list) else chosen  # type: ignore[return-value]


def _if_fault(arguments: Sequence[_Argument]) -> CellValue:
    return arguments[1] if isinstance(arguments[0], CellFault) else arguments[0]  # type: ignore[return-value]


FUNCTIONS: Mapping[str, tuple[int, int, Callable[[Sequence[_Argument]], CellValue]]] = {
    "SUM": (1, 30, _over_numbers(lambda numbers: float(sum(numbers)))),
    "AVERAGE": (1, 30, _over_numbers(_mean)),
    "MIN": (1, 30, _over_numbers(lambda numbers: min(numbers, default=0.0))),
    "MAX": (1, 30, _over_numbers(lambda numbers: max(numbers, default=0.0))),
    "COUNT": (1, 30, _over_numbers(lambda numbers: float(len(numbers)))),
    "COUNTA": (1, 30, lambda a: float(sum(value is not None for value in _cells(a)))),
    "COUNTIF": (2, 2, _count_ifs),
    "COUNTIFS": (2, 16, _count_ifs),
    "SUMIF": (2, 3, _one_if(lambda numbers: float(sum(numbers)))),
    "SUMIFS": (3, 17, _many_if(lambda numbers: float(sum(numbers)))),
    "AVERAGEIF": (2, 3, _one_if(_mean)),
    "MAXIFS": (3, 17, _many_if(lambda numbers: max(numbers, default=0.0))),
    "MINIFS": (3, 17, _many_if(lambda numbers: min(numbers, default=0.0))),
    "VLOOKUP": (3, 4, _lookup),
    "ROUND": (1, 2, _round),
    "ABS": (1, 1, _absolute),
    "IF": (2, 3, _if),
    "IFERROR": (2, 2, _if_fault),
    "AND": (1, 30, lambda a: all(bool(value) for value in _cells(a))),
    "OR": (1, 30, lambda a: any(bool(value) for value in _cells(a))),
    "NOT": (1, 1, lambda a: not a[0]),
}
"""Minimum and maximum number of arguments, and the function, by name."""
