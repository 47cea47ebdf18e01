"""Conditions on rows: an expression with an equivalent English clause."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hexathlon.tasks.sql.english import be
from hexathlon.tasks.sql.programs.expressions import (
    And,
    Compare,
    Expression,
    FunctionCall,
    InList,
    IsNull,
    Literal,
    Misreadable,
    Value,
    both,
)
from hexathlon.tasks.sql.schema import Column, Metric
from hexathlon.tasks.sql.templates.drawing import Drawing
from hexathlon.tasks.sql.templates.sources import Source

__all__ = [
    "PhrasedCondition",
    "both_conditions",
    "condition",
    "metric_expression",
    "shown",
    "threshold_of",
    "year_of",
]

COMPARED = {">": "more than", ">=": "at least", "<": "less than", "<=": "at most"}


@dataclass(frozen=True, slots=True)
class PhrasedCondition:
    """A condition as an expression and in English."""

    expression: Expression
    text: str
    """A relative clause, such as "whose status is 'paid'"."""
    column: str
    """`alias.column`, or the metric's name."""


def both_conditions(conditions: Sequence[PhrasedCondition]) -> str:
    """Conditions as one clause that follows a plural noun."""
    return "".join(
        f"{' and' if number else ''} {item.text}" for number, item in enumerate(conditions)
    )


def shown(value: Value) -> str:
    """Return a constant as a question shows it."""
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return f"'{value}'" if isinstance(value, str) else str(value)


def condition(
    scene: Drawing, source: Source, prefix: str, kinds: Sequence[str], prefer: bool, used: set[str]
) -> PhrasedCondition | None:
    """Draw a condition on a source; `prefer` selects a documented definition if there is one."""
    metrics = [pair for pair in scene.metrics(source.table) if pair[0].name not in used]
    if metrics and not kinds and (prefer or scene.chance(0.15)):
        return _metric(source, prefix, *scene.pick(metrics))
    columns = [
        column
        for column in source.table.columns
        if f"{source.alias}.{column.name}" not in used
        and column.role in _KINDS
        and (not kinds or column.role in kinds)
    ]
    if not columns:
        return None
    dirty = [column for column in columns if column.dirt]
    column = scene.pick(dirty if dirty and scene.chance(0.6) else columns)
    noun = f"{prefix}'s {column.noun}" if prefix else column.noun
    made = _KINDS[column.role](scene, source, column, noun)
    return made and PhrasedCondition(made[0], made[1], f"{source.alias}.{column.name}")


Made = tuple[Expression, str] | None


def _choice(scene: Drawing, source: Source, column: Column, noun: str) -> Made:
    value = source.value(column)
    options = scene.shuffled(column.values)
    if len(options) < 2:
        return None
    kind = scene.pick(["is", "is", "is not", "one of"] if len(options) > 2 else ["is"])
    if kind == "is":
        return Compare(
            "=", value, Literal(options[0])
        ), f"whose {noun} {be(noun)} {shown(options[0])}"
    if kind == "is not":
        known = f"{be(noun)} known and " if column.nullable else ""
        return (
            Compare("<>", value, Literal(options[0])),
            f"whose {noun} {known}{be(noun)} not {shown(options[0])}",
        )
    pair = tuple(options[:2])
    return InList(value, pair), f"whose {noun} {be(noun)} {shown(pair[0])} or {shown(pair[1])}"


def _flag(scene: Drawing, source: Source, column: Column, noun: str) -> Made:
    value = scene.number(0, 1)
    state = "set (1)" if value else "not set (0)"
    return Compare("=", source.value(column), Literal(value)), f"whose {noun} flag is {state}"


def _number(scene: Drawing, source: Source, column: Column, noun: str) -> Made:
    bound = threshold_of(scene, source, column)
    if bound is None:
        return None
    operator = scene.pick(COMPARED)
    unit = f" {column.unit}" if column.unit else ""
    return (
        Compare(operator, source.value(column), Literal(bound)),
        f"whose {noun} {be(noun)} {COMPARED[operator]} {shown(bound)}{unit}",
    )


def threshold_of(scene: Drawing, source: Source, column: Column) -> Value:
    """A value from the middle of the column's distribution; None where there are too few."""
    names = [item.name for item in source.table.columns]
    values = [
        value
        for row in scene.sample[source.table.name][:400]
        if isinstance(value := column.canonical(dict(zip(names, row, strict=True))), int | float)
    ]
    if len(values) < 4:
        return None
    return sorted(values)[int(len(values) * (0.25 + 0.5 * scene.rng.random()))]


def _dates(scene: Drawing, source: Source, column: Column) -> list[str]:
    names = [item.name for item in source.table.columns]
    values = (
        column.canonical(dict(zip(names, row, strict=True)))
        for row in scene.sample[source.table.name][:400]
    )
    return sorted(str(value) for value in values if value)


def year_of(value: Expression) -> Expression:
    """Return the year of a date, as text."""
    return FunctionCall("substr", (value, Literal(1), Literal(4)))


def _date(scene: Drawing, source: Source, column: Column, noun: str) -> Made:
    days = _dates(scene, source, column)
    if len(days) < 4:
        return None
    value = source.value(column)
    kind = scene.pick(["year", "since", "until", "between"])
    if kind == "year":
        year = days[len(days) * scene.number(3, 7) // 10][:4]
        return Compare("=", year_of(value), Literal(year)), f"whose {noun} {be(noun)} in {year}"
    if kind == "since":
        day = days[len(days) // 4]
        return Compare(">=", value, Literal(day)), f"whose {noun} {be(noun)} on or after {day}"
    if kind == "until":
        day = days[len(days) * 3 // 4]
        return Compare("<", value, Literal(day)), f"whose {noun} {be(noun)} before {day}"
    first, last = days[len(days) // 5], days[len(days) * 4 // 5]
    return (
        And((Compare(">=", value, Literal(first)), Compare("<=", value, Literal(last)))),
        f"whose {noun} {be(noun)} from {first} to {last} (both days included)",
    )


def _missing(scene: Drawing, source: Source, column: Column, noun: str) -> Made:
    if not column.nullable:
        return None
    negated = scene.chance(0.5)
    return (
        IsNull(source.value(column), negated),
        f"whose {noun} {be(noun)} {'recorded' if negated else 'missing'}",
    )


def _metric(source: Source, prefix: str, metric: Metric, old: Metric | None) -> PhrasedCondition:
    right = metric_expression(source, metric)
    wrong = metric_expression(source, old) if old else None
    expression = Misreadable(right, wrong, "outdated_document") if wrong else right
    term = f"the documents' current definition of '{metric.name}'"
    text = f"whose {prefix} meets {term}" if prefix else f"that meet {term}"
    return PhrasedCondition(expression, text, metric.name)


def metric_expression(source: Source, metric: Metric) -> Expression:
    """Return the definition of a metric, on canonical values."""
    terms = []
    for item in metric.conditions:
        value = source.value(item.column)
        if item.operator == "IN":
            values: Any = item.value
            terms.append(InList(value, tuple(values)))
        else:
            terms.append(Compare(item.operator, value, Literal(item.value)))  # type: ignore[arg-type]
    return both(*terms)


_KINDS: dict[str, Callable[[Drawing, Source, Column, str], Made]] = {
    "category": _choice,
    "status": _choice,
    "flag": _flag,
    "amount": _number,
    "quantity": _number,
    "rating": _number,
    "year": _number,
    "date": _date,
    "text": _missing,
}
