"""Decisions and notices on definitions, which decide whether a term may be used.

Each ruling has two sides with the same random draws. They differ in what the last notice or row
concerns: the question's term, or another one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta

from hexathlon.tasks.sql.documents import changed_metric, metric_text, threshold
from hexathlon.tasks.sql.schema import Document, Metric, Schema, Value
from hexathlon.tasks.sql.supplement import AddedDocument, AddedTable, Obstacle, Supplement
from hexathlon.tasks.sql.templates.drawing import Drawing, Unbindable

__all__ = ["RULINGS"]

DocumentRuling = tuple[Supplement, Metric, tuple[Metric, ...]]
"""What accompanies the question, the metric in force if there is one, and readings that are not."""

_COUNCILS = ("finance board", "operations council", "data office", "audit committee")
_LETTERS = "ACDGHMPRSW"
_PARAMETERS = ("figure_parameters", "reporting_settings", "limits_in_force", "parameter_log")


def contradiction(scene: Drawing, base: Document, other: Document, blocked: bool) -> DocumentRuling:
    """Two decisions of the same day redefine the term; both withdrawn, or only one of them."""
    table = scene.schema.table(_metric(base).table)
    rivals = (_rival(scene.schema, base, 1), _rival(scene.schema, base, 0))
    foreign = _rival(scene.schema, other, 1)
    one, two, three, *notices = _numbers(scene, 5)
    kept, gone = scene.shuffled((one, two))
    order = scene.shuffled(
        ((one, rivals[0], base), (two, rivals[1], base), (three, foreign, other))
    )
    documents = [
        _decision(scene, number, metric, defined) for number, metric, defined in order
    ]  # fmt: skip
    first, second = scene.shuffled((gone, three if blocked else kept))
    lines = [
        f"{notices[0]} ({_day(scene, 24)}): decision {first} is withdrawn.",
        f"{notices[1]} ({_day(scene, 11)}): decision {second} is withdrawn.",
    ]
    rules = (
        "The definition with the latest date applies. If a decision and another definition of the "
        "same date disagree, neither has precedence: as long as both are in force, do not answer "
        "requests that need the term, but report them as impossible (contradiction), with the "
        "number of the decision. A decision that was withdrawn is treated as if it had never been "
        "made.\n\n" + "\n".join(lines)
    )
    documents.append(AddedDocument("decisions_and_notices", "Notices", _day(scene, 11), rules))
    obstacle = Obstacle("contradiction", (kept,)) if blocked else None
    decoys = tuple(n for n in (one, two, three, *notices) if not blocked or n != kept)
    assert table.name == rivals[0].table
    return Supplement(tuple(documents), (), obstacle, decoys), _metric(base), rivals


def withdrawal(scene: Drawing, base: Document, other: Document, blocked: bool) -> DocumentRuling:
    """Notices withdraw definitions without a successor; a last one revokes one of them."""
    numbers = _numbers(scene, 5)
    mine, foreign = _metric(base).name, _metric(other).name
    pair = [(mine, base), (foreign, other)]
    first, second = scene.shuffled(pair)
    own = numbers[2 if first[0] == mine else 3]
    theirs = numbers[3 if first[0] == mine else 2]

    def withdraws(term: tuple[str, Document]) -> str:
        return f"withdraws the definition of '{term[0]}' of {term[1].dated} without a successor"

    acts = (
        withdraws((mine, base)), f"revokes {numbers[0]}", withdraws(first), withdraws(second),
        f"revokes {theirs if blocked else own}",
    )  # fmt: skip
    days = (51, 44, 30, 21, 9)
    lines = [
        f"{number} ({_day(scene, day)}): {act}."
        for number, day, act in zip(numbers, days, acts, strict=True)
    ]
    rules = (
        "A withdrawn definition must not be used, and earlier ones do not come back into force. "
        "Do not answer requests that need a withdrawn term, but report them as impossible "
        "(missing_value), with the number of the notice that withdrew it. A notice that was "
        "revoked is treated as if it had never been issued.\n\n" + "\n".join(lines)
    )
    document = AddedDocument("notices_on_definitions", "Notices", _day(scene, 9), rules)
    obstacle = Obstacle("missing_value", (own,)) if blocked else None
    decoys = tuple(number for number in numbers if not blocked or number != own)
    return Supplement((document,), (), obstacle, decoys), _metric(base), ()


def parameter(scene: Drawing, base: Document, other: Document, blocked: bool) -> DocumentRuling:
    """A limit of the definition is kept in a table, where the last row of a parameter is empty.

    Raises:
        Unbindable: If the definition has no number as a limit.
    """
    metric = _metric(base)
    column, shares = _limit(scene.schema, metric), scene.shuffled((0.15, 0.2, 0.3, 0.35))
    field = scene.schema.column(metric.table, column)
    values: list[Value] = [threshold(field, share) for share in shares[:3]]
    if len({*values, _value(metric, column)}) < 4:
        raise Unbindable
    mine, foreign = (f"{number.replace('-', '')}_MIN" for number in _numbers(scene, 2, 10, 60))
    numbers = _numbers(scene, 6)
    empty = mine if blocked else foreign
    entries: tuple[tuple[str, Value], ...] = (
        (mine, values[0]), (foreign, scene.number(2, 90)), (mine, None), (mine, values[1]),
        (foreign, scene.number(2, 90)), (empty, None),
    )  # fmt: skip
    days = (140, 131, 90, 62, 40, 13)
    rows = tuple(
        (number, name, value, _day(scene, day))
        for number, day, (name, value) in zip(numbers, days, entries, strict=True)
    )
    table = scene.pick(
        n for n in _PARAMETERS if n not in {t.name.lower() for t in scene.schema.tables}
    )
    unit = f", in {field.unit}" if field.unit else ""
    text = (
        f"Since {_day(scene, 140)}, the definition of '{metric.name}' no longer uses the number "
        f"given in its text for the {field.noun}, but the parameter {mine}{unit}. The definition "
        f"of '{_metric(other).name}' is unchanged; {foreign} belongs to another report.\n\nThe "
        f"parameters are in the table {table}. For each one, the row with the latest valid_from "
        "is in force. While its value is empty, the parameter is suspended: do not answer "
        "requests that need it, but report them as impossible (missing_value), with the entry_no "
        "of that row."
    )
    document = AddedDocument("parameters_of_definitions", "Parameters", _day(scene, 141), text)
    columns = (
        ("entry_no", "TEXT"), ("parameter", "TEXT"), ("value", "REAL"), ("valid_from", "TEXT"),
    )  # fmt: skip
    obstacle = Obstacle("missing_value", (numbers[-1],)) if blocked else None
    supplement = Supplement(
        (document,), (AddedTable(table, columns, rows),), obstacle,
        tuple(numbers[:-1] if blocked else numbers),
    )  # fmt: skip
    right, earlier = (_with_value(metric, column, values[place]) for place in (1, 0))
    return supplement, right, (metric, earlier)


RULINGS: Sequence[Callable[[Drawing, Document, Document, bool], DocumentRuling]] = (
    contradiction, withdrawal, parameter,
)  # fmt: skip


def _metric(document: Document) -> Metric:
    assert document.metric is not None
    return document.metric


def _rival(schema: Schema, document: Document, turned: int) -> Metric:
    """Return another definition of the term, in which one condition differs."""
    metric = _metric(document)
    table = schema.table(metric.table)
    conditions = metric.conditions[::-1] if turned else metric.conditions
    changed = changed_metric(replace(metric, conditions=conditions), table)
    kept = changed.conditions[::-1] if turned else changed.conditions
    return Metric(metric.name, table.name, kept, metric_text(metric.name, table, kept))


def _decision(scene: Drawing, number: str, metric: Metric, base: Document) -> AddedDocument:
    council = scene.pick(_COUNCILS)
    text = f"{metric.text}\n\nMade by the {council}; in force since {base.dated}."
    name = f"decision_{number.lower().replace('-', '_')}"
    return AddedDocument(name, f"Decision {number}", base.dated, text)


def _numbers(scene: Drawing, count: int, low: int = 1000, high: int = 6000) -> list[str]:
    """Return rising numbers of records."""
    letter, first = scene.pick(_LETTERS), scene.number(low, high)

    def rising() -> Iterator[str]:
        number = first
        for _ in range(count):
            number += scene.number(1, 60)
            yield f"{letter}-{number}"

    return list(rising())


def _day(scene: Drawing, before: int) -> str:
    return (date.fromisoformat(scene.schema.today) - timedelta(days=before)).isoformat()


def _limit(schema: Schema, metric: Metric) -> str:
    for condition in metric.conditions:
        column = schema.column(metric.table, condition.column)
        if condition.operator == ">=" and column.role in ("amount", "quantity"):
            return column.name
    raise Unbindable


def _value(metric: Metric, column: str) -> object:
    return next(c.value for c in metric.conditions if c.column == column)


def _with_value(metric: Metric, column: str, value: Value) -> Metric:
    conditions = tuple(
        replace(c, value=value) if c.column == column else c for c in metric.conditions
    )
    return replace(metric, conditions=conditions)
