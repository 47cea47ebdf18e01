"""Expressions over the named columns of a relation: plain frozen data, no behaviour.

Truth is three-valued, as in SQL: comparing with a missing value gives neither true nor false.
Division is always of real numbers and gives a missing value when the divisor is zero.
"""

from dataclasses import dataclass

from hexathlon.tasks.sql.programs.relation import Relation

__all__ = [
    "FUNCTIONS",
    "And",
    "Binary",
    "Call",
    "Case",
    "Compare",
    "Expression",
    "InList",
    "IsNull",
    "Literal",
    "Not",
    "Or",
    "Ref",
    "Scalar",
    "Value",
    "Variant",
    "both",
    "conjuncts",
    "meant",
]

Value = int | float | str | None


@dataclass(frozen=True, slots=True)
class Expression:
    """Something that has one value per row."""


@dataclass(frozen=True, slots=True)
class Ref(Expression):
    """The value of a column of the relation, by its name there."""

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
    """All terms hold."""

    terms: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or(Expression):
    """Some term holds."""

    terms: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Not(Expression):
    """The operand does not hold."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class IsNull(Expression):
    """The operand is missing, or, negated, is not."""

    operand: Expression
    negated: bool = False


@dataclass(frozen=True, slots=True)
class InList(Expression):
    """The operand is one of the values, or, negated, none of them."""

    operand: Expression
    values: tuple[Value, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Case(Expression):
    """The value of the first branch whose condition holds, else the default."""

    branches: tuple[tuple[Expression, Expression], ...]
    default: Expression = Literal(None)


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """A function of `FUNCTIONS` applied to arguments."""

    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Scalar(Expression):
    """The single value of a relation of one row and one column, which sees no outer column."""

    relation: Relation


@dataclass(frozen=True, slots=True)
class Variant(Expression):
    """An expression beside a wrong reading of it that a careless solver would take.

    It always means `right`. Mutations swap in `wrong`; `label` names the mistake.
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
"""Functions and how many arguments they take; dates are texts `YYYY-MM-DD`."""


def both(*terms: Expression | None) -> Expression:
    """Join terms by And, leaving out None and flattening."""
    parts = [part for term in terms if term is not None for part in conjuncts(term)]
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def conjuncts(expression: Expression) -> tuple[Expression, ...]:
    """Return the terms of a conjunction; anything else is its own single term."""
    if isinstance(expression, And):
        return tuple(part for term in expression.terms for part in conjuncts(term))
    return (expression,)


def meant(expression: Expression) -> Expression:
    """The expression itself, or what a variant means."""
    return meant(expression.right) if isinstance(expression, Variant) else expression
