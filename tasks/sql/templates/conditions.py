"""Conditions on rows: an expression with an equivalent English clause."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hexathlon.tasks.sql.english import indefinite, with_article
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
from hexathlon.tasks.sql.templates.wording import clause, flag_words, listed

__all__ = [
    "PhrasedCondition",
    "both_conditions",
    "condition",
    "in_plural",
    "metric_expression",
    "shown",
    "threshold_of",
    "year_of",
]

COMPARED = (">", ">=", "<", "<=")
_NUMBERS = {">": "more than {}", ">=": "at least {}", "<": "less than {}", "<=": "at most {}"}
_YEARS = {">": "after {}", ">=": "{} or later", "<": "before {}", "<=": "{} or earlier"}


@dataclass(frozen=True, slots=True)
class PhrasedCondition:
    """A condition as an expression and in English."""

    expression: Expression
    text: str
    """A relative clause, such as "whose status is 'paid'"."""
    column: str
    """`alias.column`, or the metric's name."""


def both_conditions(conditions: Sequence[PhrasedCondition]) -> str:
    """Conditions as one clause that follows a plural noun; empty if there are none."""
    texts = [item.text for item in conditions if item.text]
    return f" {listed(texts)}" if texts else ""


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
    made = _KINDS[column.role](scene, source, column, prefix)
    return made and PhrasedCondition(made[0], made[1], f"{source.alias}.{column.name}")


Made = tuple[Expression, str] | None


def _choice(scene: Drawing, source: Source, column: Column, prefix: str) -> Made:
    value = source.value(column)
    options = scene.shuffled(column.values)
    if len(options) < 2:
        return None
    kind = scene.pick(["is", "is", "is not", "one of"] if len(options) > 2 else ["is"])
    first, second = shown(options[0]), shown(options[1])
    if kind == "is":
        return Compare("=", value, Literal(options[0])), clause(prefix, column.noun, first)
    if kind == "is not":
        predicate = f"known and not {first}" if column.nullable else f"not {first}"
        return (
            Compare("<>", value, Literal(options[0])),
            clause(prefix, column.noun, predicate),
        )
    pair = tuple(options[:2])
    return InList(value, pair), clause(prefix, column.noun, f"{first} or {second}")


def _flag(scene: Drawing, source: Source, column: Column, prefix: str) -> Made:
    value = scene.number(0, 1)
    text = _holds(source, prefix, flag_words(column.noun, bool(value), plural=not prefix))
    return Compare("=", source.value(column), Literal(value)), text


def _holds(source: Source, prefix: str, predicate: str) -> str:
    """Return a relative clause with a verb of its own."""
    pronoun = "who" if source.table.person else "that"
    return f"whose {prefix} {predicate}" if prefix else f"{pronoun} {predicate}"


def _number(scene: Drawing, source: Source, column: Column, prefix: str) -> Made:
    bound = threshold_of(scene, source, column)
    if bound is None:
        return None
    operator = scene.pick(COMPARED)
    words = _YEARS if column.role == "year" else _NUMBERS
    return (
        Compare(operator, source.value(column), Literal(bound)),
        clause(prefix, column.noun, words[operator].format(_in_unit(column, bound))),
    )


def _in_unit(column: Column, bound: Value) -> str:
    """Return a bound with its unit, in the larger one where rows have their own unit."""
    if column.dirt is not None and column.dirt.kind == "row_units" and isinstance(bound, float):
        unit, factor = column.dirt.mapping[0]
        if (4 * bound / int(factor)).is_integer():
            return f"{shown(bound / int(factor))} {unit}"
    return f"{shown(bound)} {column.unit}" if column.unit else shown(bound)


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


def _date(scene: Drawing, source: Source, column: Column, prefix: str) -> Made:
    days = _dates(scene, source, column)
    if len(days) < 4:
        return None
    value = source.value(column)
    test, predicate = _period(scene, value, days)
    return test, clause(prefix, column.noun, predicate)


def _period(scene: Drawing, value: Expression, days: Sequence[str]) -> tuple[Expression, str]:
    """Return a condition on a date, with its predicate in words."""
    kind = scene.pick(["year", "since", "until", "between"])
    if kind == "year":
        year = days[len(days) * scene.number(3, 7) // 10][:4]
        return Compare("=", year_of(value), Literal(year)), f"in {year}"
    if kind == "since":
        day = days[len(days) // 4]
        return Compare(">=", value, Literal(day)), f"on or after {day}"
    if kind == "until":
        day = days[len(days) * 3 // 4]
        return Compare("<", value, Literal(day)), f"before {day}"
    first, last = days[len(days) // 5], days[len(days) * 4 // 5]
    return (
        And((Compare(">=", value, Literal(first)), Compare("<=", value, Literal(last)))),
        f"from {first} to {last} (both days included)",
    )


def _missing(scene: Drawing, source: Source, column: Column, prefix: str) -> Made:
    if not column.nullable:
        return None
    negated = scene.chance(0.5)
    verb = "has" if prefix else "have"
    thing = indefinite(column.noun) if negated else f"no {column.noun}"
    return IsNull(source.value(column), negated), _holds(source, prefix, f"{verb} {thing}")


def _metric(source: Source, prefix: str, metric: Metric, old: Metric | None) -> PhrasedCondition:
    right = metric_expression(source, metric)
    wrong = metric_expression(source, old) if old else None
    expression = Misreadable(right, wrong, "outdated_document") if wrong else right
    term = with_article(metric.name) if prefix else in_plural(metric, source)
    verb = "counts" if prefix else "count"
    text = _holds(source, prefix, f"{verb} as {term} by the definition in force")
    return PhrasedCondition(expression, text, metric.name)


def in_plural(metric: Metric, source: Source) -> str:
    """Return the plural of a metric's name, such as "key accounts"."""
    table = source.table
    return metric.name.removesuffix(table.noun) + table.plural


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
