"""SQL rendering of expressions, in one of three dialects.

`text` renders relations; it passes in the SQL of each column name and renders sub-queries on
request.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal as Choice

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
    meant,
)
from hexathlon.tasks.sql.programs.relation import Relation

__all__ = ["SqlDialect", "expression_sql", "literal", "ordering", "quoted"]

SqlDialect = Choice["sqlite", "duckdb", "postgresql"]
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_RESERVED = frozenset(
    "all and any as asc between by case check column constraint create cross current_date default "
    "delete desc distinct do else end except exists filter from full group having in index inner "
    "insert intersect into is join key left like limit natural not null offset on or order outer "
    "over partition primary rank references right row rows select set table then to transaction "
    "union unique update user using values view when where window with year month day date".split()
)
_REAL = {"sqlite": "REAL", "duckdb": "DOUBLE", "postgresql": "DOUBLE PRECISION"}


def quoted(name: str) -> str:
    """Return an identifier, double-quoted only if necessary."""
    if _PLAIN.match(name) and name.lower() not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def ordering(sql: str, descending: bool, dialect: SqlDialect) -> str:
    """Return one sort key; missing values come first in ascending order, as in SQLite."""
    if dialect == "sqlite":
        return f"{sql} DESC" if descending else sql
    return f"{sql} DESC NULLS LAST" if descending else f"{sql} NULLS FIRST"


def literal(value: Value) -> str:
    """Return a constant as SQL."""
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)


def literals(values: Iterable[Value]) -> str:
    """Return constants as SQL, separated by commas."""
    return ", ".join(map(literal, values))


def expression_sql(
    expression: Expression,
    scope: Mapping[str, str],
    dialect: SqlDialect,
    subquery: Callable[[Relation], str],
) -> str:
    """Return the SQL of an expression; `scope` maps column names to their SQL."""

    def text(part: Expression) -> str:
        return expression_sql(part, scope, dialect, subquery)

    match expression:
        case Ref(name):
            return scope[name]
        case Literal(value):
            return literal(value)
        case Misreadable(right, _, _):
            return text(right)
        case Scalar(relation):
            return f"({subquery(relation)})"
        case Binary("/", left, right):
            divisor = text(right)
            if not (isinstance(right, Literal) and right.value):
                divisor = f"NULLIF({divisor}, 0)"
            return f"({text(left)} * 1.0 / {divisor})"
        case Binary(operator, left, right):
            return f"({text(left)} {operator} {text(right)})"
        case Case(branches, default):
            arms = " ".join(f"WHEN {text(test)} THEN {text(value)}" for test, value in branches)
            otherwise = "" if default == Literal(None) else f" ELSE {text(default)}"
            return f"CASE {arms}{otherwise} END"
        case FunctionCall(function, arguments):
            return _call_sql(function, [text(argument) for argument in arguments], dialect)
        case _:
            return _truth_sql(expression, text)


def _truth_sql(expression: Expression, text: Callable[[Expression], str]) -> str:
    match expression:
        case Compare(operator, left, right):
            return f"{text(left)} {operator} {text(right)}"
        case And(terms):
            return " AND ".join(
                f"({text(term)})" if isinstance(meant(term), Or) else text(term) for term in terms
            )
        case Or(terms):
            return " OR ".join(
                f"({text(term)})" if isinstance(meant(term), And) else text(term) for term in terms
            )
        case Not(operand):
            return f"NOT ({text(operand)})"
        case IsNull(operand, negated):
            return f"{text(operand)} IS {'NOT ' if negated else ''}NULL"
        case InList(operand, values, negated):
            listed = literals(values)
            return f"{text(operand)} {'NOT ' if negated else ''}IN ({listed})"
        case _:
            raise TypeError(f"no SQL for {type(expression).__name__}")


def _call_sql(function: str, arguments: list[str], dialect: SqlDialect) -> str:
    match function:
        case "concat":
            return f"({' || '.join(arguments)})"
        case "real":
            return f"CAST({arguments[0]} AS {_REAL[dialect]})"
        case "integer":
            return f"CAST({arguments[0]} AS INTEGER)"
        case "round" if dialect == "postgresql":
            return f"ROUND(CAST({arguments[0]} AS NUMERIC), {arguments[1]})"
        case "days_between":
            later, earlier = arguments
            if dialect == "sqlite":
                return f"CAST(JULIANDAY({later}) - JULIANDAY({earlier}) AS INTEGER)"
            return f"(CAST({later} AS DATE) - CAST({earlier} AS DATE))"
        case "add_days":
            day, count = arguments
            if dialect == "sqlite":
                return f"DATE({day}, ({count}) || ' days')"
            return f"CAST(CAST(CAST({day} AS DATE) + {count} AS DATE) AS VARCHAR)"
        case _:
            return f"{function.upper()}({', '.join(arguments)})"
