"""Write templates that add rows: a derived row, and an upsert."""

from collections.abc import Sequence

from hexathlon.tasks.sql.english import with_article
from hexathlon.tasks.sql.programs.phrases import literal
from hexathlon.tasks.sql.schema import Column, Edge, Table, Value
from hexathlon.tasks.sql.templates.wording import listed
from hexathlon.tasks.sql.writes.plan import (
    NamedRow,
    Plan,
    TableContents,
    WriteScene,
    label,
    sound,
    spelt,
)


def insert_derived(scene: WriteScene) -> Plan | None:
    """Insert a row whose key and amount derive from existing rows."""
    edge = scene.pick([e for e in scene.edges() if _insertable(scene.schema.table(e.child))])
    if edge is None:
        return None
    child, parent = scene.schema.table(edge.child), scene.schema.table(edge.parent)
    amount, name = scene.pick(sound(child, "amount")), label(parent)
    rows = [r for r in scene.content[child.name] if amount and r[amount.name] is not None]
    example = scene.pick(rows)
    if amount is None or name is None or example is None:
        return None
    owner = example[edge.column]
    given = given_values(child, example, {child.key, edge.column, amount.name})
    who = next((r for r in scene.content[parent.name] if r[edge.parent_column] == owner), None)
    if who is None:
        return None
    return _derived_row(scene, edge, amount, given, owner, who[name.name])


def _derived_row(
    scene: WriteScene, edge: Edge, amount: Column, given: NamedRow, owner: Value, who: Value
) -> Plan:
    child = scene.schema.table(edge.child)
    told, others = stated_values(child, given), len(child.columns) > len(given) + 3
    relation = child.column(edge.column).noun
    instruction = (
        f"Add {with_article(child.noun)} for the {relation} {spelt(who)}"
        + (f" with {told}" if told else "")
        + f". Its key ({child.key}) is one above the highest in use, and its {amount.noun} equals "
        f"the highest {amount.noun} of that {relation}'s existing {child.plural}."
        + (" Leave its other columns empty (NULL)." if others else "")
    )
    names = ", ".join([child.key, edge.column, amount.name, *given])
    fixed = ", ".join(literal(v) for v in given.values())
    tail = f", {fixed}" if fixed else ""
    where = f"WHERE {edge.column} = {literal(owner)}"

    def insert(key: str, value: str) -> str:
        return (
            f"INSERT INTO {child.name} ({names}) "
            f"SELECT {key}, {literal(owner)}, {value}{tail}"
        )  # fmt: skip

    top = f"(SELECT MAX({child.key}) + 1 FROM {child.name})"
    best = f"(SELECT MAX({amount.name}) FROM {child.name} {where})"
    other = (
        f"INSERT INTO {child.name} ({names}) SELECT (SELECT {child.key} + 1 FROM {child.name} "
        f"ORDER BY {child.key} DESC LIMIT 1), {edge.column}, {amount.name}{tail} FROM {child.name} "
        f"{where} AND {amount.name} IS NOT NULL ORDER BY {amount.name} DESC LIMIT 1"
    )
    gold = insert(top, best)
    mutants = {
        "key_skips_one": (insert(f"(SELECT MAX({child.key}) + 2 FROM {child.name})", best),),
        "over_all_rows": (insert(top, f"(SELECT MAX({amount.name}) FROM {child.name})"),),
        "lowest": (insert(top, f"(SELECT MIN({amount.name}) FROM {child.name} {where})"),),
        "twice": (gold, gold),
        "amount_left_empty": (insert(top, "NULL"),),
    }

    def change(content: TableContents) -> None:
        own = [r for r in content[child.name] if r[edge.column] == owner]
        amounts = [r[amount.name] for r in own if r[amount.name] is not None]
        row: NamedRow = dict.fromkeys(scene.columns[child.name])
        row.update(given)
        row[child.key] = max(int(r[child.key] or 0) for r in content[child.name]) + 1
        row[edge.column] = owner
        row[amount.name] = max(amounts)  # type: ignore[type-var]
        content[child.name].append(row)

    return Plan(instruction, (gold,), (other,), mutants, change)


def _insertable(table: Table) -> bool:
    """Whether a row can be described in words: clean columns, none unique except the key."""
    return bool(sound(table, "amount")) and all(
        (column.dirt is None or column.nullable) and not (column.unique and column.role != "key")
        for column in table.columns
    )


def given_values(table: Table, example: NamedRow, derived: set[str]) -> NamedRow:
    """Return the values to state: those of NOT NULL columns, taken from an example row."""
    return {
        column.name: example[column.name]
        for column in table.columns
        if column.name not in derived and not column.nullable
    }


def stated_values(table: Table, given: NamedRow) -> str:
    """List the given values; references by their key, with the name of the column."""
    parts = []
    for name, value in given.items():
        column = table.column(name)
        place = f" ({name})" if column.role == "foreign_key" else ""
        parts.append(f"{column.noun} {spelt(value)}{place}")
    return listed(parts) if parts else ""


def upsert(scene: WriteScene) -> Plan | None:
    """Set a value in listed rows: existing ones are updated, missing ones inserted."""
    table = scene.pick([t for t in scene.plain("entity") if upsertable(t)])
    if table is None:
        return None
    name, amount = label(table), scene.pick([c for c in sound(table, "amount") if not c.unique])
    if name is None or amount is None:
        return None
    rows = scene.content[table.name]
    picked = [rows[int(i)] for i in scene.rng.permutation(len(rows))[:2]]
    example = rows[int(scene.rng.integers(len(rows)))]
    given = given_values(table, example, {table.key, name.name, amount.name})
    fresh = f"Provisional {table.noun} {int(scene.rng.integers(100, 1000))}"

    def drawn() -> float:
        """Return an amount that is usual in the column, a multiple of 0.25."""
        low, high = (int(4 * bound) for bound in (amount.law.low, amount.law.high))
        return 0.25 * int(scene.rng.integers(max(low, 1), max(high, 40)))

    targets = [(str(row[name.name]), drawn()) for row in picked]
    new = (fresh, drawn())
    return _listed_rows(scene, table, (name, amount), given, targets, new)


NamedAmount = tuple[str, float]


def _listed_rows(
    scene: WriteScene, table: Table, columns: tuple[Column, Column], given: NamedRow,
    targets: Sequence[NamedAmount], new: NamedAmount,
) -> Plan:  # fmt: skip
    name, amount = columns
    order = [targets[0], new, targets[1]]
    instruction = _listed(table, columns, given, order)
    names = ", ".join([table.key, name.name, amount.name, *given])
    tail = "".join(f", {literal(v)}" for v in given.values())

    def update(who: str, value: float) -> str:
        return f"UPDATE {table.name} SET {amount.name} = {value} WHERE {name.name} = {literal(who)}"

    def insert(who: str, value: float) -> str:
        return (
            f"INSERT INTO {table.name} ({names}) SELECT MAX({table.key}) + 1, {literal(who)}, "
            f"{value}{tail} FROM {table.name}"
        )

    updates = tuple(update(*target) for target in targets)
    both = " ".join(f"WHEN {literal(who)} THEN {value}" for who, value in targets)
    keys = ", ".join(literal(who) for who, _ in targets)
    other = (
        insert(*new),
        f"UPDATE {table.name} SET {amount.name} = CASE {name.name} {both} END "
        f"WHERE {name.name} IN ({keys})",
    )
    mutants = {
        "insert_forgotten": updates,
        "updates_forgotten": (insert(*new),),
        "inserted_beside": (insert(*targets[0]), insert(*new), insert(*targets[1])),
        "values_swapped": (
            update(targets[0][0], targets[1][1]), update(targets[1][0], targets[0][1]),
            insert(*new),
        ),
        "added_twice": (*updates, insert(*new), insert(*new)),
    }  # fmt: skip

    def change(content: TableContents) -> None:
        wanted = dict(targets)
        for row in content[table.name]:
            if row[name.name] in wanted:
                row[amount.name] = wanted[str(row[name.name])]
        row = dict.fromkeys(scene.columns[table.name])
        row.update(given)
        row[name.name], row[amount.name] = new
        row[table.key] = max(int(r[table.key] or 0) for r in content[table.name]) + 1
        content[table.name].append(row)

    return Plan(instruction, (*updates, insert(*new)), other, mutants, change)


def _listed(
    table: Table, columns: tuple[Column, Column], given: NamedRow, order: Sequence[NamedAmount]
) -> str:
    name, amount = columns
    told = stated_values(table, given)
    values = listed([f"{spelt(who)} to {value:.2f}" for who, value in order])
    return (
        f"Set the {amount.noun} of these {table.plural}, identified by {name.noun}: {values}. If "
        f"one does not exist yet, add it with that {amount.noun}"
        + (f", {told}" if told else "")
        + f". Its key ({table.key}) is one above the highest in use"
        + (
            ", and its other columns are empty (NULL)."
            if len(table.columns) > len(given) + 3
            else "."
        )
        + f" There must be only one {table.noun} per {name.noun}."
    )


def upsertable(table: Table) -> bool:
    """Whether a row can be described by its label and its NOT NULL columns."""
    name = label(table)
    return name is not None and all(
        column.nullable
        or (column.dirt is None and (not column.unique or column.role == "key" or column == name))
        for column in table.columns
    )
