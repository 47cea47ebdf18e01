"""Formulas: parsing, references and evaluation, with errors and cycles as cells display them."""

import operator as operator_module
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from hexathlon.tasks.web.world.sites.sheets.functions import (
    DIVISION_FAULT,
    FUNCTIONS,
    VALUE_FAULT,
    CellBlock,
    CellFault,
    CellValue,
    compare,
    number_of,
    shown,
    typed,
)

__all__ = ["Evaluator", "CellPlace", "column_name", "column_number", "parse_range", "parse_ref",
           "ref_of"]  # fmt: skip

CellPlace = tuple[int, int]
"""Row and column, both from 1."""

_MAX_DEPTH = 30
_MAX_CHAIN = 40
_MAX_RANGE = 20_000
_TOKEN = re.compile(
    r"""\s*(?:(?P<number>\d+(?:\.\d*)?|\.\d+)|(?P<text>"(?:[^"]|"")*")
    |(?P<sheet>'[^']+'!|[^\W\d]\w*!)?(?:(?P<area>\$?[A-Za-z]{1,2}\$?\d{1,4}:\$?[A-Za-z]{1,2}\$?\d{1,4})
    |(?P<columns>\$?[A-Za-z]{1,2}:\$?[A-Za-z]{1,2})(?!\w)|(?P<cell>\$?[A-Za-z]{1,2}\$?\d{1,4})(?![\w(]))
    |(?P<name>[A-Za-z]+)|(?P<operator><=|>=|<>|[-+*/^&=<>(),%]))""",
    re.VERBOSE,
)


class FormulaFault(Exception):
    """A formula cannot be parsed."""


def column_name(number: int) -> str:
    """Return the letters of a column: 1 is A, 27 is AA."""
    letters = ""
    while number > 0:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def column_number(letters: str) -> int:
    """Return the number of a column."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number


def ref_of(row: int, column: int) -> str:
    """Return the name of a cell, such as B7."""
    return f"{column_name(column)}{row}"


def parse_ref(text: str) -> CellPlace | None:
    """Return row and column of a cell name, or None."""
    found = re.fullmatch(r"\$?([A-Za-z]{1,2})\$?([1-9]\d{0,3})", text.strip())
    return (int(found[2]), column_number(found[1])) if found else None


def parse_range(text: str) -> tuple[CellPlace, CellPlace] | None:
    """Return the first and the last cell of a range such as B2:D9, or None."""
    first, _, last = text.partition(":")
    start, end = parse_ref(first), parse_ref(last or first)
    if start is None or end is None:
        return None
    return (min(start[0], end[0]), min(start[1], end[1])), (
        max(start[0], end[0]),
        max(start[1], end[1]),
    )


class Evaluator:
    """Evaluates the cells of one workbook.

    Args:
        sheets: Id of every sheet, by name in lower case.
        load: Returns the raw content of a sheet's cells, by row and column.

    Attributes:
        ordered: Whether a value may depend on which cells were evaluated before: a cycle or the
            longest chain was met.
    """

    def __init__(
        self, sheets: Mapping[str, int], load: Callable[[int], Mapping[CellPlace, str]]
    ) -> None:
        self._sheets = sheets
        self._load = load
        self._cells: dict[int, Mapping[CellPlace, str]] = {}
        self._values: dict[tuple[int, CellPlace], CellValue] = {}
        self._open: list[tuple[int, CellPlace]] = []
        self.ordered = False

    def cells(self, sheet: int) -> Mapping[CellPlace, str]:
        """Return the raw content of a sheet."""
        if sheet not in self._cells:
            self._cells[sheet] = self._load(sheet)
        return self._cells[sheet]

    def value(self, sheet: int, place: CellPlace) -> CellValue:
        """Return the value of a cell."""
        key = (sheet, place)
        if key in self._values:
            return self._values[key]
        if key in self._open:
            self.ordered = True
            return CellFault("#CYCLE!")
        if len(self._open) > _MAX_CHAIN:
            self.ordered = True
            return CellFault("#CALC!")
        raw = self.cells(sheet).get(place, "")
        if not raw.startswith("="):
            value = typed(raw)
        else:
            self._open.append(key)
            try:
                value = self.formula(sheet, raw)
            finally:
                self._open.pop()
        self._values[key] = value
        return value

    def formula(self, sheet: int, text: str) -> CellValue:
        """Return the value of a formula as if it were in a cell of a sheet."""
        tree = _tree(text[1:] if text.startswith("=") else text)
        if tree is None:
            return CellFault("#ERROR!")
        value = self._evaluated(sheet, tree)
        return VALUE_FAULT if isinstance(value, list) else value

    def _evaluated(self, sheet: int, tree: tuple[Any, ...]) -> Any:
        kind = tree[0]
        if kind == "constant":
            return tree[1]
        if kind == "cell":
            target = self._sheet_of(sheet, tree[1])
            return CellFault("#REF!") if target is None else self.value(target, tree[2])
        if kind == "area":
            return self._area(self._sheet_of(sheet, tree[1]), tree[2], tree[3])
        if kind == "call":
            least, most, function = FUNCTIONS[tree[1]]
            if not least <= len(tree[2]) <= most:
                return VALUE_FAULT
            return function([self._evaluated(sheet, each) for each in tree[2]])
        return _operated(tree[1], [self._evaluated(sheet, each) for each in tree[2:]])

    def _sheet_of(self, sheet: int, name: str) -> int | None:
        return self._sheets.get(name.lower()) if name else sheet

    def _area(self, sheet: int | None, start: CellPlace, end: CellPlace) -> CellBlock | CellFault:
        if sheet is None:
            return CellFault("#REF!")
        last = end[0] or max((row for row, _ in self.cells(sheet)), default=1)
        if (last - start[0] + 1) * (end[1] - start[1] + 1) > _MAX_RANGE:
            return VALUE_FAULT
        return [
            [self.value(sheet, (row, column)) for column in range(start[1], end[1] + 1)]
            for row in range(start[0], last + 1)
        ]


def _operated(operator: str, operands: list[Any]) -> CellValue:
    for operand in operands:
        if isinstance(operand, CellFault):
            return operand
        if isinstance(operand, list):
            return VALUE_FAULT
    if operator == "&":
        return shown(operands[0]) + shown(operands[1])
    if operator in ("=", "<>", "<", ">", "<=", ">="):
        left, right = operands
        if isinstance(left, str) or isinstance(right, str):
            return compare(operator, shown(left).casefold(), shown(right).casefold())
        return compare(operator, float(left or 0), float(right or 0))
    numbers = [number_of(operand) for operand in operands]
    for number in numbers:
        if isinstance(number, CellFault):
            return number
    return _arithmetic(operator, [float(number) for number in numbers])  # type: ignore[arg-type]


_BINARY: Mapping[str, Callable[[float, float], Any]] = {
    "+": operator_module.add,
    "-": operator_module.sub,
    "*": operator_module.mul,
    "/": operator_module.truediv,
    "^": operator_module.pow,
}


def _arithmetic(operator: str, numbers: list[float]) -> CellValue:
    if operator == "negative":
        return -numbers[0]
    if operator == "percent":
        return numbers[0] / 100
    left, right = numbers
    if operator == "/" and not right:
        return DIVISION_FAULT
    try:
        result = _BINARY[operator](left, right)
    except (OverflowError, ZeroDivisionError):
        return CellFault("#NUM!")
    if isinstance(result, complex) or abs(result) >= 1e15:
        return CellFault("#NUM!")
    return float(result)


@lru_cache(maxsize=20_000)
def _tree(text: str) -> tuple[Any, ...] | None:
    """Parse a text as a formula; None if it is not one."""
    try:
        return _Parser(text).whole()
    except FormulaFault:
        return None


class _Parser:
    """Parses a formula into nested tuples."""

    _LEVELS = (("=", "<>", "<", ">", "<=", ">="), ("&",), ("+", "-"), ("*", "/"), ("^",))

    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, re.Match[str]]] = []
        place = 0
        text = text.rstrip()
        while place < len(text):
            found = _TOKEN.match(text, place)
            if found is None or len(text) > 600:
                raise FormulaFault
            kind = next(
                name
                for name, value in found.groupdict().items()
                if value is not None and name != "sheet"
            )
            self._tokens.append((kind, found))
            place = found.end()
        self._at = 0
        self._depth = 0

    def whole(self) -> tuple[Any, ...]:
        """Parse the whole formula."""
        tree = self._binary(0)
        if self._at != len(self._tokens):
            raise FormulaFault
        return tree

    def _next(self) -> str:
        """Return the operator that follows, if one does."""
        if self._at < len(self._tokens) and self._tokens[self._at][0] == "operator":
            return self._tokens[self._at][1]["operator"]
        return ""

    def _binary(self, level: int) -> tuple[Any, ...]:
        if level == len(self._LEVELS):
            return self._unary()
        tree = self._binary(level + 1)
        while self._next() in self._LEVELS[level]:
            operator = self._next()
            self._at += 1
            tree = ("operation", operator, tree, self._binary(level + 1))
        return tree

    def _unary(self) -> tuple[Any, ...]:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise FormulaFault
        if self._next() in ("-", "+"):
            negative = self._next() == "-"
            self._at += 1
            tree = self._unary()
            tree = ("operation", "negative", tree) if negative else tree
        else:
            tree = self._primary()
        while self._next() == "%":
            self._at += 1
            tree = ("operation", "percent", tree)
        self._depth -= 1
        return tree

    def _primary(self) -> tuple[Any, ...]:
        if self._at >= len(self._tokens):
            raise FormulaFault
        kind, found = self._tokens[self._at]
        self._at += 1
        sheet = (found["sheet"] or "").rstrip("!").strip("'")
        if kind == "number":
            return ("constant", float(found["number"]))
        if kind == "text":
            return ("constant", found["text"][1:-1].replace('""', '"'))
        if kind == "cell":
            return ("cell", sheet, parse_ref(found["cell"].replace("$", "")))
        if kind == "area":
            bounds = parse_range(found["area"].replace("$", ""))
            if bounds is None:
                raise FormulaFault
            return ("area", sheet, *bounds)
        if kind == "columns":
            first, last = (
                column_number(each) for each in found["columns"].replace("$", "").split(":")
            )
            return ("area", sheet, (1, min(first, last)), (0, max(first, last)))
        if kind == "name":
            return self._named(found["name"].upper())
        if found["operator"] == "(":
            tree = self._binary(0)
            self._expect(")")
            return tree
        raise FormulaFault

    def _named(self, name: str) -> tuple[Any, ...]:
        if self._next() != "(":
            if name in ("TRUE", "FALSE"):
                return ("constant", name == "TRUE")
            return ("constant", CellFault("#NAME?"))
        self._at += 1
        arguments = []
        if self._next() != ")":
            arguments.append(self._binary(0))
            while self._next() == ",":
                self._at += 1
                arguments.append(self._binary(0))
        self._expect(")")
        if name not in FUNCTIONS:
            return ("constant", CellFault("#NAME?"))
        return ("call", name, arguments)

    def _expect(self, operator: str) -> None:
        if self._next() != operator:
            raise FormulaFault
        self._at += 1
