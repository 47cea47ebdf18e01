"""The documents of a database: data dictionary, house rules and metric definitions.

A metric is a structured rule from which its English text is generated, so the two cannot differ. An
outdated version defines the same metric differently; the newer version says that it replaces the
old one, and since when.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta

import numpy as np

from hexathlon.tasks.sql.english import be, with_article
from hexathlon.tasks.sql.schema import Column, Condition, Document, Metric, Table, Value
from hexathlon.tasks.task import Level

METRICS = {"tiny": 0, "easy": 2, "medium": 4, "hard": 6}
_ADJECTIVES = (
    "key", "core", "priority", "qualified", "standard", "notable", "active", "regular",
    "counted", "featured", "eligible", "recognised",
)  # fmt: skip
_AUTHORITIES = ("the data office", "the finance board", "the operations council")
_OPERATORS = {"=": "is", "<>": "is not", ">=": "is at least", "<=": "is at most", ">": "is above",
              "<": "is below", "IN": "is"}  # fmt: skip


def write_documents(
    tables: Sequence[Table], level: Level, today: str, cryptic: bool, rng: np.random.Generator
) -> tuple[Document, ...]:
    """Return all documents of a schema; a tiny schema has none."""
    if level == "tiny":
        return ()
    asked = [table for table in tables if table.core and not table.decoy]
    documents = [*_dictionaries(tables, cryptic, today), *_rules(tables, today)]
    documents.extend(_metrics(asked, METRICS[level], level, today, rng))
    return tuple(documents)


def _dictionaries(tables: Sequence[Table], cryptic: bool, today: str) -> Iterator[Document]:
    """Yield one document for the tables that questions are about, and one per 40 other tables."""
    asked = [table for table in tables if table.core and not table.decoy]
    others = [table for table in tables if not table.core and not table.decoy]
    parts = [asked, *(others[start : start + 40] for start in range(0, len(others), 40))]
    for number, part in enumerate(parts):
        name = "data_dictionary" if number == 0 else f"data_dictionary_{number + 1}"
        title = "Data dictionary" + (f", part {number + 1}" if number else "")
        text = "\n\n".join(_entry(table, cryptic) for table in part)
        yield Document(name, title, "dictionary", text, _before(today, 200))


def _entry(table: Table, cryptic: bool) -> str:
    lines = [f"{table.name}: one row per {table.noun}."]
    for column in table.columns:
        parts = [_meaning(column, table)] if cryptic else []
        parts += _facts(column)
        if parts:
            lines.append(f"  {column.name}: {'; '.join(parts)}.")
    return "\n".join(lines)


def _meaning(column: Column, table: Table) -> str:
    if column.references:
        return f"{column.noun} of the {table.noun}, references {'.'.join(column.references)}"
    return column.noun


def _facts(column: Column) -> Iterator[str]:
    """Yield what the name of a column does not tell: its unit, and how its values are written."""
    dirt = column.dirt
    if column.role == "soft_delete":
        yield "1 where the row was deleted"
    if column.role == "flag":
        yield "1 = yes, 0 = no"
    if column.unit and (dirt is None or dirt.kind != "row_units"):
        yield f"in {column.unit}"
    if dirt is not None and dirt.stated:
        yield dirt.note


def _rules(tables: Sequence[Table], today: str) -> Iterator[Document]:
    lines = []
    for table in tables:
        if table.soft_delete and not table.decoy:
            lines.append(
                f"Rows of {table.name} with {table.soft_delete} = 1 were deleted and do not count."
            )
        if table.natural_key and not table.decoy:
            lines.append(
                f"{table.name} contains duplicates: rows with the same {table.natural_key} are "
                f"the same {table.noun}. Only the one with the lowest {table.key} counts."
            )
    copies = [table for table in tables if table.decoy]
    if copies:
        lines.append(
            "Backups and copies of tables (with endings such as _old, _copy or _2021_archive, or "
            "beginnings such as tmp_, stg_ or x_) are out of date. Do not use them."
        )
    if not all(table.core or table.decoy for table in tables):
        lines.append(
            "The database is shared with other departments, whose tables have a prefix. Requests "
            "are about the tables without a department's prefix, unless they say otherwise."
        )
    if lines:
        yield Document("house_rules", "House rules for figures", "rules", "\n".join(lines),
                       _before(today, 120))  # fmt: skip


def _metrics(
    asked: Sequence[Table], number: int, level: Level, today: str, rng: np.random.Generator
) -> Iterator[Document]:
    tables = [table for table in asked if len(_atoms(table)) >= 2]
    adjectives = rng.permutation(len(_ADJECTIVES))
    for index in range(min(number, 2 * len(tables))):
        table = tables[int(rng.integers(len(tables)))]
        term = f"{_ADJECTIVES[int(adjectives[index])]} {table.noun}"
        metric = _metric(term, table, today, rng)
        if level == "easy" or index % 2:
            yield _definition(metric, table, "", _before(today, 90 + index), None)
        else:
            yield from _versions(metric, table, today, index, rng)


def _versions(
    metric: Metric, table: Table, today: str, index: int, rng: np.random.Generator
) -> Iterator[Document]:
    since = _before(today, 60 + index)
    authority = _AUTHORITIES[int(rng.integers(len(_AUTHORITIES)))]
    new = _definition(metric, table, f"_{since[:4]}", since, None)
    old_metric, issued = changed_metric(metric, table), _before(today, 900 + index)
    old = _definition(old_metric, table, f"_{issued[:4]}", issued, new.name)
    text = (
        f"{new.text}\n\nApproved by {authority}; in force since {since}. It replaces all earlier "
        "definitions, including those still on file."
    )
    yield old
    yield replace(new, text=text)


def _definition(
    metric: Metric, table: Table, ending: str, dated: str, superseded_by: str | None
) -> Document:
    name = "metric_" + metric.name.replace(" ", "_").replace("-", "_") + ending
    return Document(
        name, f"Definition of {metric.name}", "metric", metric.text, dated, metric, superseded_by
    )


def _metric(term: str, table: Table, today: str, rng: np.random.Generator) -> Metric:
    atoms = _atoms(table)
    picked = sorted(rng.permutation(len(atoms))[:2].tolist())
    conditions = tuple(_condition(atoms[index], today, rng) for index in picked)
    return Metric(term, table.name, conditions, metric_text(term, table, conditions))


def _atoms(table: Table) -> list[Column]:
    """Return the columns suited to a definition: at most one per role, with no rare values."""
    fit = [
        column for column in table.columns
        if column.role in ("category", "amount", "quantity", "rating", "date", "status")
        and column.law.after is None
    ]  # fmt: skip
    return list({column.role: column for column in reversed(fit)}.values())


def _condition(column: Column, today: str, rng: np.random.Generator) -> Condition:
    if column.role in ("category", "status"):
        if len(column.values) > 3 and rng.random() < 0.5:
            kept = sorted(rng.permutation(len(column.values))[:2].tolist())
            return Condition(column.name, "IN", tuple(column.values[index] for index in kept))
        return Condition(column.name, "<>", column.values[int(rng.integers(len(column.values)))])
    if column.role == "rating":
        return Condition(column.name, ">=", 3)
    if column.role == "date":
        return Condition(column.name, ">=", _before(today, int(column.law.high * 2 / 3)))
    return Condition(column.name, ">=", threshold(column, 0.25))


def threshold(column: Column, share: float) -> int:
    """Return a round number near a share of the column's range, in its canonical unit."""
    low, high = column.law.low, column.law.high
    factor = 1
    if column.dirt is not None and column.dirt.kind == "row_units":
        factor = int(column.dirt.mapping[0][1])
    return round((low + (high - low) * share) * factor)


def changed_metric(metric: Metric, table: Table) -> Metric:
    """Return an earlier version of the metric, with a different last condition."""
    last = metric.conditions[-1]
    column = table.column(last.column)
    if last.operator == "IN" and isinstance(last.value, tuple):
        others = tuple(value for value in column.values if value not in last.value)
        changed = replace(last, value=others[:1] + last.value[:1])
    elif last.operator == "<>":
        others = tuple(value for value in column.values if value != last.value)
        changed = replace(last, value=others[0])
    elif column.role == "date":
        changed = replace(last, value=_before(str(last.value), 150))
    elif column.role == "rating":
        changed = replace(last, value=4)
    else:
        changed = replace(last, value=threshold(column, 0.4))
    conditions = (*metric.conditions[:-1], changed)
    return Metric(
        metric.name, metric.table, conditions, metric_text(metric.name, table, conditions)
    )


def metric_text(term: str, table: Table, conditions: Sequence[Condition]) -> str:
    """Return a definition in English."""
    parts = [_phrase(condition, table.column(condition.column)) for condition in conditions]
    subject, noun = with_article(term, capital=True), with_article(table.noun)
    return f"{subject} is {noun} whose {' and whose '.join(parts)}."


def _phrase(condition: Condition, column: Column) -> str:
    operator = _OPERATORS[condition.operator]
    if column.role == "date":
        operator = {">=": "is on or after", "<=": "is on or before"}.get(
            condition.operator, operator
        )
    unit = f" {column.unit}" if column.unit else ""
    operator = be(column.noun) + operator.removeprefix("is")
    return f"{column.noun} {operator} {_spelt(condition.value)}{unit}"


def _spelt(value: Value | tuple[Value, ...]) -> str:
    if isinstance(value, tuple):
        return " or ".join(str(item) for item in value)
    return str(value)


def _before(day: str, days: int) -> str:
    return (date.fromisoformat(day) - timedelta(days=days)).isoformat()
