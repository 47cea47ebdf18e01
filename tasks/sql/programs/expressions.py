"""Expressions over the named columns of a relation: plain immutable data, no behaviour.

Logic is three-valued, as in SQL: a comparison with a missing value is neither true nor false.
Division is always real-valued and gives a missing value if the divisor is zero.
"""

from dataclasses import dataclass

from hexathlon.tasks.sql.programs.relation import Relation

__all__ = [
    "FUNCTIONS",
    "And",
    "Binary",
    "Case",
    "Compare",
    "Expression",
    "FunctionCall",
    "InList",
    "IsNull",
    "Literal",
    "Misreadable",
    "Not",
    "Or",
    "Ref",
    "Scalar",
    "Value",
    "both",
    "conjuncts",
    "meant",
]

Value = int | float | str | None


@dataclass(frozen=True, slots=True)
class Expression:
    """A node with one value per row."""


@dataclass(frozen=True, slots=True)
class Ref(Expression):
    """A reference to a column of the relation by name."""

    name: str


@dataclass(frozen=True, slots=True)
class Literal(Expression):
    """A constant."""

    value: Value


@dataclass(frozen=True, slots=True)
class Binary(Expression):
    """Arithmetic: `+`, `-`, `*` or `/`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Compare(Expression):
    """A comparison: `=`, `<>`, `<`, `<=`, `>` or `>=`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class And(Expression):
    """True if all terms are true."""

    terms: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or(Expression):
    """True if any term is true."""

    terms: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Not(Expression):
    """Negation of the operand."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class IsNull(Expression):
    """Whether the operand is missing or, if negated, present."""

    operand: Expression
    negated: bool = False


@dataclass(frozen=True, slots=True)
class InList(Expression):
    """Whether the operand is one of the values or, if negated, none of them."""

    operand: Expression
    values: tuple[Value, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Case(Expression):
    """The value of the first branch whose condition is true, else the default."""

    branches: tuple[tuple[Expression, Expression], ...]
    default: Expression = Literal(None)


@dataclass(frozen=True, slots=True)
class FunctionCall(Expression):
    """A function of `FUNCTIONS` applied to arguments."""

    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Scalar(Expression):
    """The single value of a one-row, one-column relation that refers to no outer column."""

    relation: Relation


@dataclass(frozen=True, slots=True)
class Misreadable(Expression):
    """An expression paired with a misreading that a careless solver might choose.

    It always means `right`. Mutations substitute `wrong`; `label` names the mistake.
    """

    right: Expression
    wrong: Expression
    label: str


FUNCTIONS = {
    "lower": 1,
    "upper": 1,
    "trim": 1,
    "length": 1,
    "substr": 3,
    "replace": 3,
    "concat": 2,
    "coalesce": 2,
    "nullif": 2,
    "abs": 1,
    "round": 2,
    "real": 1,
    "integer": 1,
    "days_between": 2,
    "add_days": 2,
}
"""Functions and their argument counts; dates are strings, `YYYY-MM-DD`."""


def both(*terms: Expression | None) -> Expression:
    """Join terms with And, omitting None and flattening."""
    parts = [part for term in terms if term is not None for part in conjuncts(term)]
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def conjuncts(expression: Expression) -> tuple[Expression, ...]:
    """Return the terms of a conjunction; any other expression is its own single term."""
    if isinstance(expression, And):
        return tuple(part for term in expression.terms for part in conjuncts(term))
    return (expression,)


def meant(expression: Expression) -> Expression:
    """Return the expression itself, or the intended meaning of a variant."""
    return meant(expression.right) if isinstance(expression, Misreadable) else expression
