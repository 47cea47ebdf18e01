"""Write templates that delete rows or change tables."""

from collections.abc import Sequence

from hexathlon.tasks.sql.english import with_article
from hexathlon.tasks.sql.schema import Column, Edge, Table, Value
from hexathlon.tasks.sql.writes.plan import Plan, TableContents, WriteScene


def delete_unreferenced(scene: WriteScene) -> Plan | None:
    """Delete the rows that no row of another table references."""
    parents = [t for t in scene.plain("entity", "event") if _referring(scene, t)]
    parent = scene.pick(parents)
    if parent is None:
        return None
    edges = _referring(scene, parent)
    return _unreferenced(scene, parent, edges)


def _unreferenced(scene: WriteScene, parent: Table, edges: Sequence[Edge]) -> Plan:
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

    def change(content: TableContents) -> None:
        used = {row[e.column] for e in edges for row in content[e.child]}
        content[parent.name] = [r for r in content[parent.name] if r[parent.key] in used]

    named = list(dict.fromkeys(scene.schema.table(e.child).noun for e in edges))
    several = " in any of its columns" if len(named) < len(edges) else ""
    copies = any(table.decoy for table in scene.schema.tables)
    instruction = f"Delete every {parent.noun} that no {' or '.join(named)} refers to{several}." + (
        " Ignore backups and copies of tables, and leave them unchanged." if copies else ""
    )
    return Plan(instruction, (gold,), (other,), mutants, change)


def _referring(scene: WriteScene, parent: Table) -> list[Edge]:
    """Return all references to a table; none if self-referencing or if referrers may be deleted."""
    edges = [edge for edge in scene.schema.edges() if edge.parent == parent.name]
    whole = all(
        edge.child != parent.name and not scene.schema.table(edge.child).soft_delete
        for edge in edges
    )
    return edges if whole else []


def archive(scene: WriteScene) -> Plan | None:
    """Move old rows into a new table with the same columns."""
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

    def change(content: TableContents) -> None:
        rows = content[table.name]
        old = [r for r in rows if (d := date.canonical(r)) is not None and str(d) < limit]
        gone = {row[table.key] for row in old}
        content[target] = old
        content[table.name] = [row for row in rows if row[table.key] not in gone]

    instruction = (
        f"Move every {table.noun} whose {date.noun} is before {limit} out of {table.name} into a "
        f"new table {target} with the same columns."
        + (f" Those without {with_article(date.noun)} stay." if date.nullable else "")
    )
    return Plan(instruction, gold, other, mutants, change)


def _dates(table: Table) -> list[Column]:
    return [c for c in table.columns if c.role == "date"]


def delete_family(scene: WriteScene) -> Plan | None:
    """Delete parents of one kind together with all dependent rows."""
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

    def change(content: TableContents) -> None:
        gone = {
            row[parent.key] for row in content[parent.name]
            if (d := date.canonical(row)) is not None and str(d) <= limit
        }  # fmt: skip
        content[child.name] = [r for r in content[child.name] if r[edge.column] not in gone]
        content[parent.name] = [r for r in content[parent.name] if r[parent.key] not in gone]

    instruction = (
        f"Delete every {parent.noun} whose {date.noun} is {limit} or earlier, together with all "
        f"its {child.plural}."
    )
    return Plan(instruction, (rows, heads), other, mutants, change)


def _alone(scene: WriteScene, edge: Edge) -> bool:
    """Whether this is the only reference to the parent, and nothing references the child."""
    edges = scene.schema.edges()
    parent = scene.schema.table(edge.parent)
    to_parent = [e for e in edges if e.parent == edge.parent]
    return (
        len(to_parent) == 1
        and not any(e.parent == edge.child for e in edges)
        and (bool(_dates(parent)))
    )


def add_count_column(scene: WriteScene) -> Plan | None:
    """Add a column with the number of another table's rows that reference each row."""
    edges = [e for e in scene.edges() if scene.schema.table(e.child).scale == "event"]
    edge = scene.pick(edges)
    if edge is None:
        return None
    child, parent = scene.schema.table(edge.child), scene.schema.table(edge.parent)
    name = child.noun.replace(" ", "_").replace("-", "_") + "_count"
    if name in [column.lower() for column in scene.columns[parent.name]]:
        return None
    return _counted(child, parent, edge, name)


def _counted(child: Table, parent: Table, edge: Edge, name: str) -> Plan:
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

    def change(content: TableContents) -> None:
        counts: dict[Value, int] = {}
        for row in content[child.name]:
            counts[row[edge.column]] = counts.get(row[edge.column], 0) + 1
        for row in content[parent.name]:
            row[name] = counts.get(row[parent.key], 0)

    relation = child.column(edge.column).noun
    role = "" if relation == parent.noun else f" in which it is the {relation}"
    instruction = (
        f"Add an integer column {name} to {parent.name}, with the number of {child.plural} of "
        f"each {parent.noun}{role}, or 0 if there are none."
    )
    return Plan(instruction, gold, other, mutants, change)
