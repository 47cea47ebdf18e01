"""Query results and table descriptions as compact text.

One line per row, cells separated by ` | `. Text is printed unquoted unless that would mislead:
empty text, surrounding blanks, control characters, bars and the word NULL are shown in quotes.
"""

from collections.abc import Sequence

from hexathlon.tasks.sql.world.backends.base import (
    QueryResult,
    StoredValue,
    TableCatalogue,
    TableInfo,
)

__all__ = ["ROWS_SHOWN", "found_text", "result_text", "table_text", "tables_text", "work_text"]

ROWS_SHOWN = 50
_CELL_SHOWN = 200
_MATCHES_SHOWN = 40
_FEW = 12
"""Number of cells up to which checking each is faster than checking all together."""


def result_text(result: QueryResult, shown: int = ROWS_SHOWN) -> str:
    """Render a result: header, rows, and the number of rows."""
    if not result.columns:
        changed = result.changed
        return "Done." if changed is None else f"Done. {_rows(changed)} changed."
    lines = _lines([result.columns, *result.rows[:shown]])
    count = len(result.rows)
    if result.more:
        lines.append(f"(first {min(shown, count)} of more than {count:,} rows)")
    elif count > shown:
        lines.append(f"(first {shown} of {count:,} rows)")
    else:
        lines.append(f"({_rows(count)})")
    if result.changed is not None:
        lines.append(f"{_rows(result.changed)} changed.")
    return "\n".join(lines)


def work_text(steps: int, budget: int) -> str:
    """Render the work that a statement took, beside the limit of the one to be handed in."""
    return f"\n({steps:,} steps; the limit is {budget:,})"


def tables_text(catalogue: TableCatalogue, counts: dict[str, int]) -> str:
    """Render the list of tables."""
    lines = [f"{len(catalogue)} table{'' if len(catalogue) == 1 else 's'}"]
    for table in catalogue.values():
        kind = "view, " if table.view else ""
        lines.append(f"{table.name} ({kind}{_rows(counts[table.name])})")
    return "\n".join(lines)


def table_text(table: TableInfo, count: int) -> str:
    """Render one table's columns."""
    lines = [f"{'view' if table.view else 'table'} {table.name} ({_rows(count)})"]
    lines.append("column | type | null | key | references")
    for column in table.columns:
        target = column.references
        lines.append(
            " | ".join((
                column.name,
                column.type or "any",
                "yes" if column.nullable else "no",
                "primary" if column.key else "-",
                "-" if target is None else f"{target[0]}({target[1]})" if target[1] else target[0],
            ))
        )  # fmt: skip
    return "\n".join(lines)


def found_text(catalogue: TableCatalogue, query: str) -> str:
    """Render the tables whose name, or whose columns' names, contain a word of the query."""
    words = [word for word in query.lower().replace("_", " ").replace(",", " ").split() if word]
    lines = []
    for table in catalogue.values():
        columns = [c.name for c in table.columns if any(w in c.name.lower() for w in words)]
        if columns or any(word in table.name.lower() for word in words):
            lines.append(table.name + (f": {', '.join(columns)}" if columns else ""))
    if not lines:
        return "No table and no column matches."
    more = len(lines) - _MATCHES_SHOWN
    return "\n".join(lines[:_MATCHES_SHOWN] + ([f"(and {more} more tables)"] if more > 0 else []))


def _rows(count: int) -> str:
    return f"{count:,} row" + ("" if count == 1 else "s")


def _lines(rows: Sequence[Sequence[StoredValue]]) -> list[str]:
    """Return one line per row; plain rows are detected on the joined text, which is fast."""
    if len(rows) * len(rows[0]) <= _FEW:
        return [" | ".join([_cell(cell) for cell in row]) for row in rows]
    lines = [
        " | ".join(
            [
                cell if cell.__class__ is str else repr(cell) if cell is not None else "NULL"
                for cell in row
            ]
        )
        for row in rows
    ]
    if _is_plain(lines, rows):
        return lines
    return [" | ".join([_cell(cell) for cell in row]) for row in rows]


def _is_plain(lines: list[str], rows: Sequence[Sequence[StoredValue]]) -> bool:
    """Whether no cell needs quoting: each of those would leave one of these traces."""
    text = "\n".join(lines)
    return (
        text.replace("\n", "").isprintable()
        and text.count("\n") == len(lines) - 1
        and text.count("|") == len(lines) * (len(rows[0]) - 1)
        and text.count("NULL") == sum([row.count(None) for row in rows])
        and "  " not in text
        and " \n" not in text
        and "\n " not in text
        and "\n\n" not in text
        and "b'" not in text
        and 'b"' not in text
        and text[:1].strip() != ""
        and text[-1:].strip() != ""
        and max(map(len, lines)) <= _CELL_SHOWN
    )


def _cell(value: StoredValue) -> str:
    if value.__class__ is str and value.isprintable() and "|" not in value and value != "NULL":
        if 0 < len(value) <= _CELL_SHOWN and value[0] != " " != value[-1]:
            return value  # most are so; a printable text has no whitespace other than spaces
    match value:
        case None:
            return "NULL"
        case str():
            odd = not value or value == "NULL" or value != value.strip() or "|" in value
            text = value if len(value) <= _CELL_SHOWN else value[:_CELL_SHOWN]
            if not text.isprintable():
                text, odd = _escaped(text), True
            text = f"'{text}'" if odd else text
            return text + _cut_marker(len(value), "characters")
        case bytes():
            text = f"x'{value[: _CELL_SHOWN // 4].hex()}'"
            return text + (_cut_marker(len(value), "bytes", _CELL_SHOWN // 4))
        case _:
            return repr(value)


def _escaped(text: str) -> str:
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def _cut_marker(length: int, unit: str, shown: int = _CELL_SHOWN) -> str:
    return f"…[+{length - shown:,} {unit}]" if length > shown else ""
