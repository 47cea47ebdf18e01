"""Write templates that change values: raises through a join, transfers, reassignments, merges."""

import re
from collections.abc import Sequence

from hexathlon.tasks.sql.programs.phrases import literal
from hexathlon.tasks.sql.schema import Column, Edge, Table, Value
from hexathlon.tasks.sql.templates.wording import clause
from hexathlon.tasks.sql.writes.plan import (
    NamedRow,
    Plan,
    TableContents,
    WriteScene,
    label,
    sound,
    spelt,
)


def update_join(scene: WriteScene) -> Plan | None:
    """Raise an amount where the referenced row has a certain value."""
    edges = [
        e for e in scene.edges()
        if _money(scene.schema.table(e.child)) and _kinds(scene.schema.table(e.parent))
    ]  # fmt: skip
    edge = scene.pick(edges)
    if edge is None:
        return None
    child, parent = scene.schema.table(edge.child), scene.schema.table(edge.parent)
    amount, kind = scene.pick(_money(child)), scene.pick(_kinds(parent))
    if amount is None or kind is None:
        return None
    values = scene.values(parent, kind)
    if len(values) < 2:
        return None
    places = scene.rng.permutation(len(values))
    wanted, wrong = values[int(places[0])], values[int(places[1])]
    step = 0.25 * (1 + int(scene.rng.integers(max(4, int(amount.law.high / 5)))))
    return _raise(scene, edge, amount, kind, (wanted, wrong), step)


def _raise(
    scene: WriteScene,
    edge: Edge,
    amount: Column,
    kind: Column,
    values: tuple[Value, Value],
    step: float,
) -> Plan:
    child, parent = scene.schema.table(edge.child), scene.schema.table(edge.parent)
    wanted, wrong = values
    clean, raw = kind.canonical_sql("p"), f"p.{kind.name}"

    def update(inner: str, rise: float) -> str:
        return (
            f"UPDATE {child.name} SET {amount.name} = {amount.name} + {rise} WHERE {edge.column} "
            f"IN (SELECT p.{edge.parent_column} FROM {parent.name} p WHERE {inner})"
        )

    gold = update(f"{clean} = {literal(wanted)}", step)
    other = (
        f"UPDATE {child.name} SET {amount.name} = {amount.name} + {step} WHERE EXISTS (SELECT 1 "
        f"FROM {parent.name} p WHERE p.{edge.parent_column} = {child.name}.{edge.column} "
        f"AND {clean} = {literal(wanted)})"
    )
    mutants = {
        "all_rows": (f"UPDATE {child.name} SET {amount.name} = {amount.name} + {step}",),
        "no_join_condition": (
            f"UPDATE {child.name} SET {amount.name} = {amount.name} + {step} WHERE EXISTS "
            f"(SELECT 1 FROM {parent.name} p WHERE {clean} = {literal(wanted)})",
        ),
        "wrong_value": (update(f"{clean} = {literal(wrong)}", step),),
        "off_by_a_quarter": (update(f"{clean} = {literal(wanted)}", step + 0.25),),
        "raw_value": (update(f"{raw} = {literal(wanted)}", step),),
        "twice": (gold, gold),
    }

    def change(content: TableContents) -> None:
        keys = {
            row[edge.parent_column] for row in content[parent.name]
            if kind.canonical(row) == wanted
        }  # fmt: skip
        for row in content[child.name]:
            value = row[amount.name]
            if row[edge.column] in keys and isinstance(value, float):
                row[amount.name] = value + step

    relation = child.column(edge.column).noun
    empty = f" An empty {amount.noun} (NULL) stays empty." if amount.nullable else ""
    instruction = (
        f"Raise the {amount.noun} by {step:.2f} USD for every {child.noun} "
        f"{clause(relation, kind.noun, spelt(wanted))}.{empty}"
    )
    return Plan(instruction, (gold,), (other,), mutants, change)


def _money(table: Table) -> list[Column]:
    """Return the clean columns with amounts of money."""
    return [c for c in sound(table, "amount") if c.unit == "USD"]


def _kinds(table: Table) -> list[Column]:
    """Return columns with few values, clean or cleaned by one expression."""
    curable = (None, "case_padding", "codes")
    return [
        c for c in table.columns
        if c.role in ("category", "status") and (c.dirt.kind if c.dirt else None) in curable
    ]  # fmt: skip


def transfer(scene: WriteScene) -> Plan | None:
    """Move an amount between two rows so that the first keeps a given remainder."""
    tables = [t for t in scene.plain("entity") if label(t) and _shared(t)]
    table = scene.pick(tables)
    if table is None:
        return None
    name, amount = label(table), scene.pick(_shared(table))
    if name is None or amount is None:
        return None
    rows = [r for r in scene.content[table.name] if isinstance(r[amount.name], float)]
    if len(rows) < 3:
        return None
    picked = [rows[int(i)] for i in scene.rng.permutation(len(rows))[:3]]
    have = float(picked[0][amount.name] or 0)
    rest = 0.25 * int(have * (1 + int(scene.rng.integers(3))))
    if have < 2 or rest == have:
        return None
    return _move(table, name, amount, [row[name.name] for row in picked], rest)


_FUNDS = re.compile(r"(?:balance|budget|deposit|fees|fund|grant|limit|line|subsidy|volume)$")


def _shared(table: Table) -> list[Column]:
    """Return the clean columns with money that one row can give to another."""
    return [c for c in _money(table) if _FUNDS.search(c.noun) and not c.unique]


def _move(table: Table, name: Column, amount: Column, people: Sequence[Value], rest: float) -> Plan:
    giver, taker = (literal(who) for who in people[:2])
    bystander = literal(people[2])

    def value_of(who: str) -> str:
        return f"(SELECT {amount.name} FROM {table.name} WHERE {name.name} = {who})"

    def put(who: str, value: str) -> str:
        return f"UPDATE {table.name} SET {amount.name} = {value} WHERE {name.name} = {who}"

    def add(who: str) -> str:
        return put(who, f"{amount.name} + {value_of(giver)} - {rest}")

    keep = put(giver, str(rest))
    other = (
        f"UPDATE {table.name} SET {amount.name} = CASE WHEN {name.name} = {giver} THEN {rest} "
        f"ELSE {amount.name} + {value_of(giver)} - {rest} END "
        f"WHERE {name.name} IN ({giver}, {taker})",
    )
    mutants = {
        "not_received": (keep,),
        "not_given": (add(taker),),
        "rest_moved_instead": (
            put(taker, f"{amount.name} + {rest}"), put(giver, f"{amount.name} - {rest}"),
        ),
        "read_after_write": (keep, add(taker)),
        "wrong_receiver": (add(bystander), keep),
    }  # fmt: skip

    def change(content: TableContents) -> None:
        by_name = {row[name.name]: row for row in content[table.name]}
        first, second = by_name[people[0]], by_name[people[1]]
        before = float(first[amount.name] or 0) + float(second[amount.name] or 0)
        first[amount.name] = rest
        second[amount.name] = before - rest

    instruction = (
        f"Transfer part of the {amount.noun} of the {table.noun} {spelt(people[0])} to the "
        f"{table.noun} {spelt(people[1])}, so that exactly {rest:.2f} USD remains with the first "
        "and the total of the two stays the same."
    )
    return Plan(instruction, (add(taker), keep), other, mutants, change)


def reassign(scene: WriteScene) -> Plan | None:
    """Reassign the later rows of one owner to another."""
    edges = [e for e in scene.edges() if _dated(scene.schema.table(e.child))]
    edge = scene.pick([e for e in edges if label(scene.schema.table(e.parent))])
    if edge is None:
        return None
    child, parent = scene.schema.table(edge.child), scene.schema.table(edge.parent)
    name, date = label(parent), scene.pick(_dated(child))
    rows = [r for r in scene.content[child.name] if r[edge.column] is not None]
    example = scene.pick(rows)
    if name is None or date is None or example is None:
        return None
    owner = example[edge.column]
    dates = sorted(str(date.canonical(r)) for r in rows if r[edge.column] == owner)
    owners = {row[edge.parent_column]: row for row in scene.content[parent.name]}
    others = [key for key in owners if key != owner]
    if len(dates) < 3 or owner not in owners or not others:
        return None
    limit, heir = dates[len(dates) // 2], scene.pick(others)
    return _hand_over(scene, edge, date, (owner, owners[owner]), (heir, owners[heir]), limit)


Owner = tuple[Value, NamedRow]


def _hand_over(
    scene: WriteScene, edge: Edge, date: Column, old: Owner, new: Owner, limit: str
) -> Plan | None:
    child, parent = scene.schema.table(edge.child), scene.schema.table(edge.parent)
    name = label(parent)
    if name is None:
        return None
    (owner, _), (heir, _) = old, new
    day = date.canonical_sql(child.name)

    def update(condition: str) -> str:
        return f"UPDATE {child.name} SET {edge.column} = {literal(heir)} WHERE {condition}"

    own = f"{edge.column} = {literal(owner)}"
    gold = update(f"{own} AND {day} >= '{limit}'")
    other = (
        f"UPDATE {child.name} SET {edge.column} = (SELECT {edge.parent_column} FROM {parent.name} "
        f"WHERE {name.name} = {literal(new[1][name.name])}) WHERE {child.key} IN (SELECT "
        f"{child.key} FROM {child.name} WHERE {own} AND NOT {day} < '{limit}')"
    )
    mutants = {
        "day_itself_left_out": (update(f"{own} AND {day} > '{limit}'"),),
        "every_day": (update(own),),
        "every_owner": (update(f"{day} >= '{limit}'"),),
        "earlier_rows": (update(f"{own} AND {day} <= '{limit}'"),),
        "owner_deleted": (
            gold, f"DELETE FROM {parent.name} WHERE {edge.parent_column} = {literal(owner)}",
        ),
    }  # fmt: skip

    def change(content: TableContents) -> None:
        for row in content[child.name]:
            if row[edge.column] == owner and str(date.canonical(row)) >= limit:
                row[edge.column] = heir

    relation = child.column(edge.column).noun
    instruction = (
        f"Every {child.noun} of the {relation} {spelt(old[1][name.name])} whose {date.noun} "
        f"is {limit} or later now belongs to the {relation} {spelt(new[1][name.name])}. Update "
        "the database accordingly."
    )
    return Plan(instruction, (gold,), (other,), mutants, change)


def _dated(table: Table) -> list[Column]:
    return [c for c in table.columns if c.role == "date" and not c.nullable]


def _put(table: Table, column: Column, value: str, condition: str) -> str:
    return f"UPDATE {table.name} SET {column.name} = {value} WHERE {condition}"


_NEVER_MERGED = frozenset({"sex"})
"""Personal attributes whose values must not be merged."""


def rename_value(scene: WriteScene) -> Plan | None:
    """Merge two values of a category."""
    spots = [
        (table, column)
        for table in scene.plain("entity", "event") for column in table.columns
        if column.role in ("category", "status") and column.dirt is None
        and column.noun not in _NEVER_MERGED and len(scene.values(table, column)) >= 3
    ]  # fmt: skip
    spot = scene.pick(spots)
    if spot is None:
        return None
    table, column = spot
    values = scene.values(table, column)
    order = scene.rng.permutation(len(values))
    old, kept, third = (str(values[int(place)]) for place in order[:3])
    gold = _put(table, column, literal(kept), f"{column.name} = {literal(old)}")
    other = _put(
        table, column, f"REPLACE({column.name}, {literal(old)}, {literal(kept)})",
        f"{table.key} IN (SELECT {table.key} FROM {table.name} WHERE {column.name} IN "
        f"({literal(old)}))",
    )  # fmt: skip
    mutants = {
        "other_way_round": (_put(table, column, literal(old), f"{column.name} = {literal(kept)}"),),
        "new_word": (_put(table, column, literal(kept + "s"), f"{column.name} = {literal(old)}"),),
        "third_value_too": (
            gold, _put(table, column, literal(kept), f"{column.name} = {literal(third)}"),
        ),
        "unknown_too": (_put(table, column, literal(kept),
                             f"{column.name} = {literal(old)} OR {column.name} IS NULL"),),
        "rows_deleted": (f"DELETE FROM {table.name} WHERE {column.name} = {literal(old)}",),
    }  # fmt: skip

    def change(content: TableContents) -> None:
        for row in content[table.name]:
            row[column.name] = kept if row[column.name] == old else row[column.name]

    instruction = (
        f"The {column.noun} {spelt(old)} is no longer used for {table.plural}. Change it to "
        f"{spelt(kept)} wherever it occurs."
    )
    return Plan(instruction, (gold,), (other,), mutants, change)
