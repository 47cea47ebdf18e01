"""Evaluation of expressions over plain rows: each compiles to a Python function of a row.

This shares no code with SQL rendering: it is half of the second derivation. `evaluate` handles
aggregates, windows and relations.
"""

import datetime
import decimal
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hexathlon.tasks.sql.programs.expressions import (
    And,
    Binary,
    Case,
    Compare,
    Expression,
    FunctionCall,
    InList,
    IsNull,
    Literal,
    Misreadable,
    Not,
    Or,
    Ref,
    Scalar,
    Value,
)

__all__ = ["Compiler", "Computed", "close", "order_key"]

BoundRow = Sequence[Any]
Computed = Callable[[BoundRow], Any]
_NEAR = 1e-9


def close(left: Value, right: Value) -> bool:
    """Whether two distinct numbers are so close that rounding may decide their order."""
    if not isinstance(left, float) and not isinstance(right, float):
        return False
    if not isinstance(left, int | float) or not isinstance(right, int | float) or left == right:
        return False
    return abs(left - right) <= _NEAR * max(abs(left), abs(right), 1.0)


def order_key(value: Value) -> tuple[int, Any]:
    """Return the sort key of a value: missing first, then numbers, then strings by code point."""
    if value is None:
        return (0, 0)
    return (2, value) if isinstance(value, str) else (1, value)


class Compiler:
    """Compiles expressions for rows with columns at known positions.

    Args:
        places: Column name to index in the row.
        scalar: Computes the value of a `Scalar`.
        on_near: Called when a comparison depends on the last digits of a real number.
    """

    def __init__(
        self,
        places: Mapping[str, int],
        scalar: Callable[[Scalar], Value],
        on_near: Callable[[], None],
    ) -> None:
        self._places = places
        self._scalar = scalar
        self._on_near = on_near

    def compile(self, expression: Expression) -> Computed:
        """Return the function that computes the expression from a row."""
        match expression:
            case Ref(name):
                place = self._places[name]
                return lambda row: row[place]
            case Literal(value):
                return lambda row: value
            case Misreadable(right, _, _):
                return self.compile(right)
            case Scalar():
                constant = self._scalar(expression)
                return lambda row: constant
            case Binary(operator, left, right):
                return _arithmetic(operator, self.compile(left), self.compile(right))
            case Case(branches, default):
                return self._case(branches, default)
            case FunctionCall(function, arguments):
                return _call(function, [self.compile(argument) for argument in arguments])
            case _:
                return self._truth(expression)

    def _truth(self, expression: Expression) -> Computed:
        match expression:
            case Compare(operator, left, right):
                return self._compare(operator, self.compile(left), self.compile(right))
            case And(terms):
                return _all([self.compile(term) for term in terms])
            case Or(terms):
                return _any([self.compile(term) for term in terms])
            case Not(operand):
                inner = self.compile(operand)
                return lambda row: None if (truth := inner(row)) is None else not truth
            case IsNull(operand, negated):
                inner = self.compile(operand)
                return lambda row: (inner(row) is None) != negated
            case InList(operand, values, negated):
                return _member(self.compile(operand), frozenset(values), negated)
            case _:
                raise TypeError(f"no rule to compute {type(expression).__name__}")

    def _case(
        self, branches: tuple[tuple[Expression, Expression], ...], default: Expression
    ) -> Computed:
        pairs = [(self.compile(test), self.compile(value)) for test, value in branches]
        otherwise = self.compile(default)

        def run(row: BoundRow) -> Any:
            for test, value in pairs:
                if test(row):
                    return value(row)
            return otherwise(row)

        return run

    def _compare(self, operator: str, left: Computed, right: Computed) -> Computed:
        decide = _COMPARISONS[operator]

        def run(row: BoundRow) -> bool | None:
            a, b = left(row), right(row)
            if a is None or b is None:
                return None
            if close(a, b):
                self._on_near()
            return decide(a, b)

        return run


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: bool(a == b),
    "<>": lambda a, b: bool(a != b),
    "<": lambda a, b: bool(a < b),
    "<=": lambda a, b: bool(a <= b),
    ">": lambda a, b: bool(a > b),
    ">=": lambda a, b: bool(a >= b),
}


def _all(terms: list[Computed]) -> Computed:
    def run(row: BoundRow) -> bool | None:
        known = True
        for term in terms:
            truth = term(row)
            if truth is None:
                known = False
            elif not truth:
                return False
        return True if known else None

    return run


def _any(terms: list[Computed]) -> Computed:
    def run(row: BoundRow) -> bool | None:
        known = True
        for term in terms:
            truth = term(row)
            if truth is None:
                known = False
            elif truth:
                return True
        return False if known else None

    return run


def _member(inner: Computed, values: frozenset[Value], negated: bool) -> Computed:
    def run(row: BoundRow) -> bool | None:
        value = inner(row)
        return None if value is None else (value in values) != negated

    return run


def _arithmetic(operator: str, left: Computed, right: Computed) -> Computed:
    def run(row: BoundRow) -> Any:
        a, b = left(row), right(row)
        if a is None or b is None:
            return None
        match operator:
            case "+":
                return a + b
            case "-":
                return a - b
            case "*":
                return a * b
            case _:
                return a / b if b != 0 else None

    return run


def _call(function: str, arguments: list[Computed]) -> Computed:
    if function == "coalesce":
        first, second = arguments
        return lambda row: second(row) if (value := first(row)) is None else value
    apply = _FUNCTIONS[function]
    single = arguments[0] if len(arguments) == 1 else None
    if single is not None:
        return lambda row: None if (value := single(row)) is None else apply(value)

    def run(row: BoundRow) -> Any:
        values = [argument(row) for argument in arguments]
        if function == "nullif":
            return None if values[0] == values[1] else values[0]
        return None if None in values else apply(*values)

    return run


def _days_between(later: str, earlier: str) -> int:
    return (datetime.date.fromisoformat(later) - datetime.date.fromisoformat(earlier)).days


def _add_days(day: str, count: int) -> str:
    return (datetime.date.fromisoformat(day) + datetime.timedelta(days=count)).isoformat()


def _round(number: float, places: int) -> float:
    step = decimal.Decimal(1).scaleb(-places)
    return float(decimal.Decimal(number).quantize(step, decimal.ROUND_HALF_UP))


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "lower": lambda text: str(text).lower(),
    "upper": lambda text: str(text).upper(),
    "trim": lambda text: str(text).strip(" "),
    "length": lambda text: len(str(text)),
    "substr": lambda text, start, count: str(text)[start - 1 : start - 1 + count],
    "replace": lambda text, old, new: str(text).replace(old, new),
    "concat": lambda left, right: f"{left}{right}",
    "nullif": lambda left, right: None,
    "abs": abs,
    "round": _round,
    "real": float,
    "integer": int,
    "days_between": _days_between,
    "add_days": _add_days,
}
