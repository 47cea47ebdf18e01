"""Write templates that repair data: deduplication and cleaning of dirty columns."""

from hexathlon.tasks.sql.programs.phrases import literal
from hexathlon.tasks.sql.schema import Column, Table, Value
from hexathlon.tasks.sql.writes.plan import NamedRow, Plan, TableContents, WriteScene


def dedupe(scene: WriteScene) -> Plan | None:
    """Remove duplicate rows, keeping the one with the lowest key."""
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

    def change(content: TableContents) -> None:
        lowest: dict[Value, NamedRow] = {}
        for row in sorted(content[table.name], key=lambda row: int(row[key] or 0)):
            lowest.setdefault(row[code], row)
        content[table.name] = list(lowest.values())

    instruction = (
        f"{table.name} contains duplicates: rows with the same {table.column(code).noun} are the "
        f"same {table.noun}. For each {table.noun}, keep the row with the lowest {key} and delete "
        "the others. Leave all other tables unchanged."
    )
    return Plan(instruction, (gold,), (other,), mutants, change)


_REPAIRS = ("case_padding", "codes", "two_date_formats", "missing_spellings")
_ORDERS = {
    "case_padding": "to lower case without leading or trailing spaces",
    "codes": "to the full words in lower case",
    "two_date_formats": "to the form YYYY-MM-DD",
}
"""Forms to convert to; for the other kind, unknown values are set to NULL."""


def repair(scene: WriteScene) -> Plan | None:
    """Rewrite a dirty column in canonical form."""
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

    def change(content: TableContents) -> None:
        for row in content[table.name]:
            row[column.name] = column.canonical(row)

    deleted = ", deleted ones included" if table.soft_delete else ""
    entered = ", duplicates included" if table.natural_key else ""
    note = f" The column has {column.dirt.note}." if column.dirt and kind == "codes" else ""
    task = (
        f"convert the {column.noun} {_ORDERS[kind]}, in every row"
        if kind in _ORDERS
        else f"set the {column.noun} to NULL in every row in which it is unknown, however spelt"
    )
    instruction = f"In the table {table.name}, {task}{deleted}{entered}. Change nothing else.{note}"
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
