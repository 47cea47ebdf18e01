"""The write template for a documented definition, with its conditions in SQL and in Python."""

from collections.abc import Sequence

from hexathlon.tasks.sql.english import with_article
from hexathlon.tasks.sql.programs.phrases import literal
from hexathlon.tasks.sql.schema import Condition, Metric, Table, Value
from hexathlon.tasks.sql.writes.plan import (
    NamedRow,
    Plan,
    TableContents,
    WriteScene,
    sound,
    spelt,
)


def apply_definition(scene: WriteScene) -> Plan | None:
    """Set a value where a documented definition holds; an outdated version is documented too."""
    documents = [
        d for d in scene.schema.documents
        if d.metric and d.superseded_by
        and scene.schema.table(d.metric.table) in scene.plain()
    ]  # fmt: skip
    old = scene.pick(documents)
    if old is None or old.metric is None or old.superseded_by is None:
        return None
    current = scene.schema.document(old.superseded_by)
    table = scene.schema.table(old.metric.table)
    used = {condition.column for condition in (*old.metric.conditions,)}
    targets = [c for c in sound(table, "quantity", "amount", "rating") if c.name not in used]
    target = scene.pick(targets)
    if target is None or current.metric is None:
        return None
    metric, outdated = current.metric, old.metric
    value: Value = 1 if target.type == "INTEGER" else 1.25

    def update(conditions: Sequence[Condition]) -> str:
        tests = [condition_sql(table, condition) for condition in conditions]
        return f"UPDATE {table.name} SET {target.name} = {literal(value)} WHERE " + (
            " AND ".join(tests) or "TRUE"
        )

    gold = update(metric.conditions)
    other = (
        f"UPDATE {table.name} SET {target.name} = {literal(value)} WHERE {table.key} IN (SELECT "
        f"{table.key} FROM {table.name} WHERE {condition_sql(table, metric.conditions[0])} "
        f"INTERSECT SELECT {table.key} FROM {table.name} WHERE "
        f"{condition_sql(table, metric.conditions[-1])})"
    )
    mutants = {
        "outdated_definition": (update(outdated.conditions),),
        "first_condition_only": (update(metric.conditions[:1]),),
        "last_condition_only": (update(metric.conditions[-1:]),),
        "all_rows": (update(()),),
    }

    def change(content: TableContents) -> None:
        for row in content[table.name]:
            if meets(table, metric, row):
                row[target.name] = value

    instruction = (
        f"Set the {target.noun} of every {metric.name} to {spelt(value)}, according to the "
        f"definition of {with_article(metric.name)} that is in force."
    )
    return Plan(instruction, (gold,), (other,), mutants, change, (old.name, current.name))


def condition_sql(table: Table, condition: Condition) -> str:
    """Return a metric's condition on the canonical value, as SQL on the unaliased table."""
    reference = table.column(condition.column).canonical_sql(table.name)
    if isinstance(condition.value, tuple):
        return f"{reference} IN ({', '.join(literal(item) for item in condition.value)})"
    return f"{reference} {condition.operator} {literal(condition.value)}"


def meets(table: Table, metric: Metric, row: NamedRow) -> bool:
    """Whether a row meets all conditions of a metric; NULL meets none."""
    return all(_meets(table.column(c.column).canonical(row), c) for c in metric.conditions)


def _meets(value: Value, condition: Condition) -> bool:
    wanted = condition.value
    if value is None:
        return False
    if isinstance(wanted, tuple):
        return value in wanted
    tests = {
        "=": value == wanted, "<>": value != wanted, ">=": value >= wanted,  # type: ignore[operator]
        "<=": value <= wanted, ">": value > wanted, "<": value < wanted,  # type: ignore[operator]
    }  # fmt: skip
    return tests[condition.operator]
