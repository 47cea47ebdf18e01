"""Write templates that delete rows, change tables or mend columns."""

from hexathlon.tasks.sql.schema import Column, Edge, Table, Value
from hexathlon.tasks.sql.writes_plan import Content, Plan, Record, Scene, literal, spelt


def delete_unreferenced(scene: Scene) -> Plan | None:
    """Rows deleted to which no row of any other table refers."""
    parents = [t for t in scene.plain("entity", "event") if _referring(scene, t)]
    parent = scene.pick(parents)
    if parent is None:
        return None
    edges = _referring(scene, parent)
    tests = [
        f"NOT EXISTS (SELECT 1 FROM {e.child} c WHERE c.{e.column} = {parent.name}.{parent.key})"
        for e in edges
    ]
    gold = f"DELETE FROM {parent.name} WHERE {' AND '.join(tests)}"
    unions = " UNION ".join(
        f"SELECT {e.column} FROM {e.child} WHERE {e.column} IS NOT NULL" for e in edges
    )
    other = f"DELETE FROM {parent.name} WHERE {parent.key} NOT IN ({unions})"
    first = edges[0]
    mutants = {
        "referenced_rows": (f"DELETE FROM {parent.name} WHERE {parent.key} IN ({unions})",),
        "once_referenced_too": (
            f"DELETE FROM {parent.name} WHERE {parent.key} NOT IN (SELECT {first.column} FROM "
            f"{first.child} WHERE {first.column} IS NOT NULL GROUP BY {first.column} "
            "HAVING COUNT(*) > 1)",
        ),
        "empty_references_ignored": (
            f"DELETE FROM {parent.name} WHERE {parent.key} NOT IN "
            f"(SELECT {first.column} FROM {first.child})",
        ),
        "referring_rows_too": (
            gold, f"DELETE FROM {first.child} WHERE {first.child}.rowid IN "
            f"(SELECT MIN(rowid) FROM {first.child})",
        ),
        "one_row_too_many": (
            gold, f"DELETE FROM {parent.name} WHERE {parent.key} = "
            f"(SELECT MAX({parent.key}) FROM {parent.name})",
        ),
    }  # fmt: skip
    if len(edges) > 1:
        mutants["one_table_forgotten"] = (
            f"DELETE FROM {parent.name} WHERE {' AND '.join(tests[:-1])}",
        )

    def change(content: Content) -> None:
        used = {row[e.column] for e in edges for row in content[e.child]}
        content[parent.name] = [r for r in content[parent.name] if r[parent.key] in used]

    named = list(dict.fromkeys(scene.schema.table(e.child).noun for e in edges))
    listed = ", ".join(named[:-1]) + (" and no " if len(named) > 1 else "") + named[-1]
    instruction = (
        f"Delete every {parent.noun} to which no {listed} refers, in whatever part. Leave copies "
        "and backups of tables alone."
    )
    return Plan(instruction, (gold,), (other,), mutants, change)


def _referring(scene: Scene, parent: Table) -> list[Edge]:
    """All references to a table; none if it refers to itself or its referrers may be deleted."""
    edges = [edge for edge in scene.schema.edges() if edge.parent == parent.name]
    whole = all(
        edge.child != parent.name and not scene.schema.table(edge.child).soft_delete
        for edge in edges
    )
    return edges if whole else []


def archive(scene: Scene) -> Plan | None:
    """Old rows moved into a new table of the same columns."""
    referenced = {edge.parent for edge in scene.schema.edges()}
    tables = [t for t in scene.plain("event") if t.name not in referenced and _dates(t)]
    table = scene.pick(tables)
    if table is None:
        return None
    date = scene.pick(_dates(table))
    if date is None:
        return None
    days = [d for r in scene.content[table.name] if (d := date.canonical(r)) is not None]
    limit = str(sorted(days, key=str)[len(days) // 3])
    target = f"{table.name}_archive"
    day = date.canonical_sql(table.name)
    names = ", ".join(scene.columns[table.name])

    def move(condition: str) -> tuple[str, str]:
        return (
            f"CREATE TABLE {target} AS SELECT * FROM {table.name} WHERE {condition}",
            f"DELETE FROM {table.name} WHERE {condition}",
        )

    gold = move(f"{day} < '{limit}'")
    kinds = ", ".join(f"{c.name} {c.type}" for c in table.columns)
    other = (
        f"CREATE TABLE {target} ({kinds})",
        f"INSERT INTO {target} ({names}) SELECT {names} FROM {table.name} WHERE {day} < '{limit}'",
        f"DELETE FROM {table.name} WHERE {table.key} IN (SELECT {table.key} FROM {target})",
    )
    mutants = {
        "day_itself_too": move(f"{day} <= '{limit}'"),
        "copied_but_not_deleted": gold[:1],
        "deleted_but_not_copied": gold[1:],
        "undated_rows_too": move(f"({day} < '{limit}' OR {day} IS NULL)"),
        "raw_dates": move(f"{date.name} < '{limit}'"),
        "wrong_side": move(f"{day} >= '{limit}'"),
    }

    def change(content: Content) -> None:
        rows = content[table.name]
        old = [r for r in rows if (d := date.canonical(r)) is not None and str(d) < limit]
        gone = {row[table.key] for row in old}
        content[target] = old
        content[table.name] = [row for row in rows if row[table.key] not in gone]

    instruction = (
        f"Move every {table.noun} whose {date.noun} is before {limit} out of {table.name} into a "
        f"new table {target} that has the same columns. A {table.noun} without a {date.noun} stays."
    )
    return Plan(instruction, gold, other, mutants, change)


def _dates(table: Table) -> list[Column]:
    return [c for c in table.columns if c.role == "date"]


def delete_family(scene: Scene) -> Plan | None:
    """Parents of one kind deleted together with all rows that depend on them."""
    edge = scene.pick([e for e in scene.edges() if _alone(scene, e)])
    if edge is None:
        return None
    child, parent = scene.schema.table(edge.child), scene.schema.table(edge.parent)
    date = scene.pick(_dates(parent))
    if date is None:
        return None
    days = [d for r in scene.content[parent.name] if (d := date.canonical(r)) is not None]
    if len(days) < 4:
        return None
    limit = str(sorted(days, key=str)[len(days) // 4])
    day = date.canonical_sql(parent.name)
    inner = f"SELECT {parent.key} FROM {parent.name} WHERE {day} <= '{limit}'"
    rows = f"DELETE FROM {child.name} WHERE {edge.column} IN ({inner})"
    heads = f"DELETE FROM {parent.name} WHERE {day} <= '{limit}'"
    other = (
        f"DELETE FROM {child.name} WHERE EXISTS (SELECT 1 FROM {parent.name} WHERE "
        f"{parent.name}.{parent.key} = {child.name}.{edge.column} AND {day} <= '{limit}')",
        f"DELETE FROM {parent.name} WHERE {parent.key} IN ({inner})",
    )
    mutants = {
        "dependants_left": (heads,),
        "heads_left": (rows,),
        "heads_first": (heads, rows),
        "day_itself_left_out": (
            rows.replace("<= '", "< '"), heads.replace("<= '", "< '"),
        ),
        "childless_heads_left": (
            f"DELETE FROM {parent.name} WHERE {day} <= '{limit}' AND {parent.key} IN "
            f"(SELECT {edge.column} FROM {child.name})", rows,
        ),
    }  # fmt: skip

    def change(content: Content) -> None:
        gone = {
            row[parent.key] for row in content[parent.name]
            if (d := date.canonical(row)) is not None and str(d) <= limit
        }  # fmt: skip
        content[child.name] = [r for r in content[child.name] if r[edge.column] not in gone]
        content[parent.name] = [r for r in content[parent.name] if r[parent.key] not in gone]

    instruction = (
        f"Delete every {parent.noun} whose {date.noun} is {limit} or earlier, together with all "
        f"its {child.plural}; nothing may refer to a deleted {parent.noun} afterwards."
    )
    return Plan(instruction, (rows, heads), other, mutants, change)


def _alone(scene: Scene, edge: Edge) -> bool:
    """Whether this is the only reference to the parent, and none leads to the child."""
    edges = scene.schema.edges()
    parent = scene.schema.table(edge.parent)
    to_parent = [e for e in edges if e.parent == edge.parent]
    return len(to_parent) == 1 and not any(e.parent == edge.child for e in edges) and (
        bool(_dates(parent))
    )


def add_count_column(scene: Scene) -> Plan | None:
    """A new column that holds how many rows of another table refer to each row."""
    edges = [e for e in scene.edges() if scene.schema.table(e.child).scale == "event"]
    edge = scene.pick(edges)
    if edge is None:
        return None
    child, parent = scene.schema.table(edge.child), scene.schema.table(edge.parent)
    name = child.noun.replace(" ", "_").replace("-", "_") + "_count"
    if name in [column.lower() for column in scene.columns[parent.name]]:
        return None
    add = f"ALTER TABLE {parent.name} ADD COLUMN {name} INTEGER"
    count = (
        f"SELECT COUNT(*) FROM {child.name} c WHERE c.{edge.column} = {parent.name}.{parent.key}"
    )
    gold = (add, f"UPDATE {parent.name} SET {name} = ({count})")
    found = (
        f"UPDATE {parent.name} SET {name} = ({count}) WHERE {parent.key} IN "
        f"(SELECT {edge.column} FROM {child.name})"
    )
    other = (f"{add} NOT NULL DEFAULT 0", found)
    mutants = {
        "empty_instead_of_zero": (add, found),
        "not_filled": (add,),
        "zero_for_all": (f"{add} NOT NULL DEFAULT 0",),
        "total_everywhere": (
            add, f"UPDATE {parent.name} SET {name} = (SELECT COUNT(*) FROM {child.name})",
        ),
        "childless_counted_once": (
            add, f"UPDATE {parent.name} SET {name} = (SELECT COUNT(*) FROM {parent.name} p LEFT "
            f"JOIN {child.name} c ON c.{edge.column} = p.{parent.key} "
            f"WHERE p.{parent.key} = {parent.name}.{parent.key})",
        ),
        "as_text": (
            f"ALTER TABLE {parent.name} ADD COLUMN {name} TEXT", gold[1],
        ),
    }  # fmt: skip

    def change(content: Content) -> None:
        counts: dict[Value, int] = {}
        for row in content[child.name]:
            counts[row[edge.column]] = counts.get(row[edge.column], 0) + 1
        for row in content[parent.name]:
            row[name] = counts.get(row[parent.key], 0)

    relation = child.column(edge.column).noun
    role = "" if relation == parent.noun else f" in which it is the {relation}"
    instruction = (
        f"Add a whole-number column {name} to {parent.name} and fill it with the number of "
        f"{child.plural} of each {parent.noun}{role}; 0 where there is none."
    )
    return Plan(instruction, gold, other, mutants, change)


def dedupe(scene: Scene) -> Plan | None:
    """Rows entered twice removed, the one with the lowest key kept."""
    tables = [t for t in scene.schema.asked() if t.natural_key and not t.soft_delete]
    table = scene.pick(tables)
    if table is None or table.natural_key is None:
        return None
    code, key = table.natural_key, table.key
    first = f"SELECT MIN({key}) FROM {table.name} GROUP BY {code}"
    gold = f"DELETE FROM {table.name} WHERE {key} NOT IN ({first})"
    other = (
        f"DELETE FROM {table.name} WHERE EXISTS (SELECT 1 FROM {table.name} d WHERE "
        f"d.{code} = {table.name}.{code} AND d.{key} < {table.name}.{key})"
    )
    several = f"SELECT {code} FROM {table.name} GROUP BY {code} HAVING COUNT(*) > 1"
    mutants = {
        "highest_kept": (gold.replace("MIN(", "MAX("),),
        "both_deleted": (f"DELETE FROM {table.name} WHERE {code} IN ({several})",),
        "one_duplicate_left": (
            f"DELETE FROM {table.name} WHERE {key} = "
            f"(SELECT MAX({key}) FROM {table.name} WHERE {code} IN ({several}))",
        ),
        "one_row_too_many": (
            gold, f"DELETE FROM {table.name} WHERE {key} = (SELECT MAX({key}) FROM {table.name})",
        ),
        "lowest_deleted": (
            f"DELETE FROM {table.name} WHERE {code} IN ({several}) AND {key} IN ({first})",
        ),
    }  # fmt: skip

    def change(content: Content) -> None:
        lowest: dict[Value, Record] = {}
        for row in sorted(content[table.name], key=lambda row: int(row[key] or 0)):
            lowest.setdefault(row[code], row)
        content[table.name] = list(lowest.values())

    instruction = (
        f"Some rows of {table.name} were entered twice: the same {table.column(code).noun} under "
        f"two numbers. Keep the row with the lowest {key} of each {table.noun} and delete the "
        "others. Leave all other tables as they are."
    )
    return Plan(instruction, (gold,), (other,), mutants, change)


_REPAIRS = ("case_padding", "codes", "two_date_formats", "missing_spellings")
_ORDERS = {
    "case_padding": "in lower case and without spaces around it",
    "codes": "as the full word in lower case",
    "two_date_formats": "as YYYY-MM-DD",
    "missing_spellings": "as NULL where it is not known",
}


def repair(scene: Scene) -> Plan | None:
    """A dirty column rewritten in its canonical form."""
    spots = [
        (table, column)
        for table in scene.schema.asked() for column in table.columns
        if column.dirt is not None and column.dirt.kind in _REPAIRS
    ]  # fmt: skip
    spot = scene.pick(spots)
    if spot is None or spot[1].dirt is None:
        return None
    table, column = spot
    kind, mapping = spot[1].dirt.kind, spot[1].dirt.mapping
    gold = _set(table, column, column.canonical_sql(table.name))
    other, mutants = _REPAIR_STEPS[kind](table, column, mapping)
    mutants["all_rows_alike"] = (
        _set(table, column, f"(SELECT MIN({column.name}) FROM {table.name})"),
    )

    def change(content: Content) -> None:
        for row in content[table.name]:
            row[column.name] = column.canonical(row)

    deleted = ", deleted rows included" if table.soft_delete else ""
    entered = ", rows entered twice included" if table.natural_key else ""
    note = f" Mind the rule: {column.dirt.note}." if column.dirt and kind == "codes" else ""
    instruction = (
        f"Rewrite the {column.noun} of every {table.noun} in {table.name} {_ORDERS[kind]}{deleted}"
        f"{entered}; change nothing else.{note}"
    )
    return Plan(instruction, (gold,), other, mutants, change)


_Mutants = dict[str, tuple[str, ...]]
Steps = tuple[tuple[str, ...], _Mutants]
_Mapping = tuple[tuple[str, str | int], ...]


def _set(table: Table, column: Column, value: str, condition: str = "") -> str:
    where = f" WHERE {condition}" if condition else ""
    return f"UPDATE {table.name} SET {column.name} = {value}{where}"


def _repair_case(table: Table, column: Column, mapping: _Mapping) -> Steps:
    name = column.name
    lower, trim = _set(table, column, f"LOWER({name})"), _set(table, column, f"TRIM({name})")
    mutants: _Mutants = {
        "spaces_left": (lower,),
        "case_left": (trim,),
        "upper_case": (trim, _set(table, column, f"UPPER({name})")),
        "left_side_only": (lower, _set(table, column, f"LTRIM({name})")),
    }
    return (trim, lower), mutants


def _repair_codes(table: Table, column: Column, mapping: _Mapping) -> Steps:
    steps = tuple(
        _set(table, column, literal(value), f"LOWER({column.name}) = {literal(key)}")
        for key, value in mapping
    )
    numbers = tuple(s for s, (key, _) in zip(steps, mapping, strict=True) if key.isdigit())
    letters = tuple(s for s, (key, _) in zip(steps, mapping, strict=True) if not key.isdigit())
    exact = tuple(
        _set(table, column, literal(value), f"{column.name} = {literal(key)}")
        for key, value in mapping
    )
    mutants = {
        "numbers_left": letters, "letters_left": numbers, "capitals_left": exact,
        "last_value_left": steps[: -sum(value == mapping[-1][1] for _, value in mapping)],
    }  # fmt: skip
    return steps, mutants


def _repair_dates(table: Table, column: Column, mapping: _Mapping) -> Steps:
    name = column.name
    day, month, year = (f"SUBSTR({name}, {a}, {b})" for a, b in ((1, 2), (4, 2), (-4, 4)))
    slashed = f"{name} LIKE '%/%'"

    def join(*parts: str) -> str:
        return " || '-' || ".join(parts)

    right = _set(table, column, join(year, month, day), slashed)
    mutants: _Mutants = {
        "month_and_day_swapped": (_set(table, column, join(year, day, month), slashed),),
        "slashes_only": (_set(table, column, f"REPLACE({name}, '/', '-')"),),
        "emptied": (_set(table, column, "NULL", slashed),),
        "every_row": (_set(table, column, join(year, month, day)),),
    }
    return (right,), mutants


def _repair_missing(table: Table, column: Column, mapping: _Mapping) -> Steps:
    name = column.name
    right = _set(table, column, "NULL", f"{name} IN ('', 'N/A')")
    mutants: _Mutants = {
        "empty_text_left": (_set(table, column, "NULL", f"{name} = 'N/A'"),),
        "not_available_left": (_set(table, column, "NULL", f"{name} = ''"),),
        "empty_text_everywhere": (_set(table, column, "''", f"{name} IS NULL OR {name} = 'N/A'"),),
        "rows_deleted": (f"DELETE FROM {table.name} WHERE {name} IN ('', 'N/A')",),
    }
    return (right,), mutants


_REPAIR_STEPS = {
    "case_padding": _repair_case, "codes": _repair_codes, "two_date_formats": _repair_dates,
    "missing_spellings": _repair_missing,
}  # fmt: skip


def rename_value(scene: Scene) -> Plan | None:
    """Two values of a category merged into one."""
    spots = [
        (table, column)
        for table in scene.plain("entity", "event") for column in table.columns
        if column.role in ("category", "status") and column.dirt is None
        and len(scene.values(table, column)) >= 3
    ]  # fmt: skip
    spot = scene.pick(spots)
    if spot is None:
        return None
    table, column = spot
    values = scene.values(table, column)
    order = scene.rng.permutation(len(values))
    old, kept, third = (str(values[int(place)]) for place in order[:3])
    gold = _set(table, column, literal(kept), f"{column.name} = {literal(old)}")
    other = _set(
        table, column, f"REPLACE({column.name}, {literal(old)}, {literal(kept)})",
        f"{table.key} IN (SELECT {table.key} FROM {table.name} WHERE {column.name} IN "
        f"({literal(old)}))",
    )  # fmt: skip
    mutants = {
        "other_way_round": (_set(table, column, literal(old), f"{column.name} = {literal(kept)}"),),
        "new_word": (_set(table, column, literal(kept + "s"), f"{column.name} = {literal(old)}"),),
        "third_value_too": (
            gold, _set(table, column, literal(kept), f"{column.name} = {literal(third)}"),
        ),
        "unknown_too": (_set(table, column, literal(kept),
                             f"{column.name} = {literal(old)} OR {column.name} IS NULL"),),
        "rows_deleted": (f"DELETE FROM {table.name} WHERE {column.name} = {literal(old)}",),
    }  # fmt: skip

    def change(content: Content) -> None:
        for row in content[table.name]:
            row[column.name] = kept if row[column.name] == old else row[column.name]

    instruction = (
        f"The {column.noun} {spelt(old)} of a {table.noun} is given up: record {spelt(kept)} "
        "wherever it stands."
    )
    return Plan(instruction, (gold,), (other,), mutants, change)
