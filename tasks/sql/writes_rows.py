"""Write templates that add or change rows: inserts, updates, upserts, transfers."""

from collections.abc import Sequence

from hexathlon.tasks.sql.schema import Column, Condition, Metric, Table, Value
from hexathlon.tasks.sql.writes_plan import (
    Content,
    Plan,
    Record,
    Scene,
    label,
    literal,
    sound,
    spelt,
)  # fmt: skip


def insert_derived(scene: Scene) -> Plan | None:
    """A new row whose key and amount follow from the rows that are there."""
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
    given = _given(child, example, {child.key, edge.column, amount.name})
    who = next((r for r in scene.content[parent.name] if r[edge.parent_column] == owner), None)
    if who is None:
        return None
    told = _told(child, given)
    relation = child.column(edge.column).noun
    instruction = (
        f"Add one {child.noun} for the {relation} {spelt(who[name.name])}{told}. Its number "
        f"({child.key}) is one above the highest in use, and its {amount.noun} is the highest "
        f"{amount.noun} that any {child.noun} of that {relation} has. "
        "Leave its other columns empty."
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

    def change(content: Content) -> None:
        own = [r for r in content[child.name] if r[edge.column] == owner]
        amounts = [r[amount.name] for r in own if r[amount.name] is not None]
        row: Record = dict.fromkeys(scene.columns[child.name])
        row.update(given)
        row[child.key] = max(int(r[child.key] or 0) for r in content[child.name]) + 1
        row[edge.column] = owner
        row[amount.name] = max(amounts)  # type: ignore[type-var]
        content[child.name].append(row)

    return Plan(instruction, (gold,), (other,), mutants, change)


def _insertable(table: Table) -> bool:
    """Whether a row can be told in words: clean columns, none unique but the key."""
    return bool(sound(table, "amount")) and all(
        (column.dirt is None or column.nullable) and not (column.unique and column.role != "key")
        for column in table.columns
    )


def _given(table: Table, example: Record, derived: set[str]) -> Record:
    """The values that must be told: of columns that are not NULL, taken from an example row."""
    return {
        column.name: example[column.name]
        for column in table.columns
        if column.name not in derived and not column.nullable
    }


def _told(table: Table, given: Record) -> str:
    """The given values in words, references by number."""
    parts = []
    for name, value in given.items():
        column = table.column(name)
        number = "number " if column.role == "foreign_key" else ""
        parts.append(f", {column.noun} {number}{spelt(value)}")
    return "".join(parts)


def update_join(scene: Scene) -> Plan | None:
    """An amount raised where the referenced row has a certain value."""
    edges = [
        e for e in scene.edges()
        if sound(scene.schema.table(e.child), "amount") and _kinds(scene.schema.table(e.parent))
    ]  # fmt: skip
    edge = scene.pick(edges)
    if edge is None:
        return None
    child, parent = scene.schema.table(edge.child), scene.schema.table(edge.parent)
    amount, kind = scene.pick(sound(child, "amount")), scene.pick(_kinds(parent))
    if amount is None or kind is None:
        return None
    values = scene.values(parent, kind)
    if len(values) < 2:
        return None
    places = scene.rng.permutation(len(values))
    wanted, wrong = values[int(places[0])], values[int(places[1])]
    step = 0.25 * (1 + int(scene.rng.integers(40)))
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

    def change(content: Content) -> None:
        keys = {
            row[edge.parent_column] for row in content[parent.name]
            if kind.canonical(row) == wanted
        }  # fmt: skip
        for row in content[child.name]:
            value = row[amount.name]
            if row[edge.column] in keys and isinstance(value, float):
                row[amount.name] = value + step

    relation = child.column(edge.column).noun
    instruction = (
        f"Raise the {amount.noun} of every {child.noun} by {step:.2f} whose {relation} has the "
        f"{kind.noun} {spelt(wanted)}. A {amount.noun} that is not known stays so."
    )
    return Plan(instruction, (gold,), (other,), mutants, change)


def _kinds(table: Table) -> list[Column]:
    """Columns with few values, clean or curable by one expression."""
    curable = (None, "case_padding", "codes")
    return [
        c for c in table.columns
        if c.role in ("category", "status") and (c.dirt.kind if c.dirt else None) in curable
    ]  # fmt: skip


def upsert(scene: Scene) -> Plan | None:
    """Listed rows brought to a value: those that exist changed, those that lack added."""
    table = scene.pick([t for t in scene.plain("entity") if _upsertable(t)])
    if table is None:
        return None
    name, amount = label(table), scene.pick([c for c in sound(table, "amount") if not c.unique])
    if name is None or amount is None:
        return None
    rows = scene.content[table.name]
    picked = [rows[int(i)] for i in scene.rng.permutation(len(rows))[:2]]
    example = rows[int(scene.rng.integers(len(rows)))]
    given = _given(table, example, {table.key, name.name, amount.name})
    fresh = f"Provisional {table.noun} {int(scene.rng.integers(100, 1000))}"
    targets = [(str(row[name.name]), 0.25 * int(scene.rng.integers(40, 900))) for row in picked]
    new = (fresh, 0.25 * int(scene.rng.integers(40, 900)))
    order = [targets[0], new, targets[1]]
    told = _told(table, given)
    listed = "; ".join(f"{spelt(who)} {value:.2f}" for who, value in order)
    instruction = (
        f"Set the {amount.noun} of these {table.plural}, told by their {name.noun}: {listed}. One "
        f"that is not there yet is added with that {amount.noun}, the number ({table.key}) one "
        f"above the highest in use{told} and nothing else. None may stand twice afterwards."
    )
    names = ", ".join([table.key, name.name, amount.name, *given])
    tail = "".join(f", {literal(v)}" for v in given.values())

    def update(who: str, value: float) -> str:
        return (
            f"UPDATE {table.name} SET {amount.name} = {value} WHERE {name.name} = {literal(who)}"
        )

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

    def change(content: Content) -> None:
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


def _upsertable(table: Table) -> bool:
    """Whether a row can be told by its label and its not-NULL columns."""
    name = label(table)
    return name is not None and all(
        column.nullable
        or (column.dirt is None and (not column.unique or column.role == "key" or column == name))
        for column in table.columns
    )


def transfer(scene: Scene) -> Plan | None:
    """An amount moved between two rows so that the first keeps a given rest."""
    tables = [t for t in scene.plain("entity") if label(t) and sound(t, "amount")]
    table = scene.pick(tables)
    if table is None:
        return None
    name, amount = label(table), scene.pick([c for c in sound(table, "amount") if not c.unique])
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
    giver, taker = (literal(row[name.name]) for row in picked[:2])
    bystander = literal(picked[2][name.name])

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

    def change(content: Content) -> None:
        by_name = {row[name.name]: row for row in content[table.name]}
        first, second = by_name[picked[0][name.name]], by_name[picked[1][name.name]]
        before = float(first[amount.name] or 0) + float(second[amount.name] or 0)
        first[amount.name] = rest
        second[amount.name] = before - rest

    instruction = (
        f"Move {amount.noun} from the {table.noun} {spelt(picked[0][name.name])} to the "
        f"{table.noun} {spelt(picked[1][name.name])}, so much that the first is left with exactly "
        f"{rest:.2f}. What both have together must stay the same."
    )
    return Plan(instruction, (add(taker), keep), other, mutants, change)


def reassign(scene: Scene) -> Plan | None:
    """The later rows of one owner given to another."""
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
    day = date.canonical_sql(child.name)

    def update(condition: str) -> str:
        return (
            f"UPDATE {child.name} SET {edge.column} = {literal(heir)} WHERE {condition}"
        )

    own = f"{edge.column} = {literal(owner)}"
    gold = update(f"{own} AND {day} >= '{limit}'")
    other = (
        f"UPDATE {child.name} SET {edge.column} = (SELECT {edge.parent_column} FROM {parent.name} "
        f"WHERE {name.name} = {literal(owners[heir][name.name])}) WHERE {child.key} IN (SELECT "
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

    def change(content: Content) -> None:
        for row in content[child.name]:
            if row[edge.column] == owner and str(date.canonical(row)) >= limit:
                row[edge.column] = heir

    relation = child.column(edge.column).noun
    instruction = (
        f"Every {child.noun} of the {relation} {spelt(owners[owner][name.name])} whose {date.noun} "
        f"is {limit} or later now belongs to the {relation} {spelt(owners[heir][name.name])} "
        "instead. Record that."
    )
    return Plan(instruction, (gold,), (other,), mutants, change)


def _dated(table: Table) -> list[Column]:
    return [c for c in table.columns if c.role == "date" and not c.nullable]


def apply_definition(scene: Scene) -> Plan | None:
    """A value set where a documented definition holds, of which an old version is on file too."""
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

    def change(content: Content) -> None:
        for row in content[table.name]:
            if meets(table, metric, row):
                row[target.name] = value

    instruction = (
        f"Set the {target.noun} of every {metric.name} to {spelt(value)}. What a {metric.name} is "
        "stands in the documents; the definition in force decides."
    )
    return Plan(instruction, (gold,), (other,), mutants, change, (old.name, current.name))


def condition_sql(table: Table, condition: Condition) -> str:
    """A metric's condition on the canonical value, as SQL on the unaliased table."""
    reference = table.column(condition.column).canonical_sql(table.name)
    if isinstance(condition.value, tuple):
        return f"{reference} IN ({', '.join(literal(item) for item in condition.value)})"
    return f"{reference} {condition.operator} {literal(condition.value)}"


def meets(table: Table, metric: Metric, row: Record) -> bool:
    """Whether a row meets all conditions of a metric; an unknown value meets none."""
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
