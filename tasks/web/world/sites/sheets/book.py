"""Reading and writing of sheets: values, permissions, protections and versions."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hexathlon.tasks.web.world.site import Call
from hexathlon.tasks.web.world.sites.sheets.formulas import (
    CellPlace,
    Evaluator,
    parse_range,
    parse_ref,
    ref_of,
)
from hexathlon.tasks.web.world.sites.sheets.functions import CellValue, matches, shown
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = ["GridQuery", "evaluator_of", "headings", "last_row", "protection_at", "role_in",
           "selected_rows", "sheet_cells", "write_cells"]  # fmt: skip

OPERATORS = ("=", "<>", "*", ">=", "<=", ">", "<")
"""Comparisons of a filter; `*` is "contains"."""


class GridQuery(NamedTuple):
    """Filter and order of a grid."""

    column: int = 0
    operator: str = "="
    operand: str = ""
    sort: int = 0
    descending: bool = False

    @classmethod
    def of(cls, call: Call) -> "GridQuery":
        """Read filter and order from a request."""
        operator = call.arg("op", "=")
        return cls(
            call.number("col"),
            operator if operator in OPERATORS else "=",
            call.arg("value"),
            call.number("sort"),
            call.arg("dir") == "desc",
        )


def sheet_cells(store: SiteStore, sheet: int) -> dict[CellPlace, str]:
    """Return the raw content of a sheet's cells, by row and column."""
    rows = store.rows("SELECT row, col, raw FROM cells WHERE sheet = ?", (sheet,))
    return {(row["row"], row["col"]): row["raw"] for row in rows}


def evaluator_of(store: SiteStore, workbook: int) -> Evaluator:
    """Return an evaluator of a workbook's formulas.

    It is cached until a cell is written, unless its values may depend on the order of evaluation.
    """
    known: Evaluator | None = store.memo.get(("evaluator", workbook))
    if known is not None and not known.ordered:
        return known
    rows = store.rows("SELECT id, name FROM sheets WHERE workbook = ?", (workbook,))
    names = {row["name"].lower(): row["id"] for row in rows}
    evaluator = Evaluator(names, lambda sheet: sheet_cells(store, sheet))
    store.memo["evaluator", workbook] = evaluator
    return evaluator


def headings(cells: Mapping[CellPlace, str], columns: int) -> list[str]:
    """Return the names of the columns."""
    return [cells.get((1, column), "") for column in range(1, columns + 1)]


def last_row(cells: Mapping[CellPlace, str]) -> int:
    """Return the number of the last row with content."""
    return max((row for row, _ in cells), default=1)


def selected_rows(evaluator: Evaluator, sheet: int, query: GridQuery) -> list[int]:
    """Return the numbers of the rows below the headings that pass a filter, in order."""
    last = last_row(evaluator.cells(sheet))
    rows = list(range(2, last + 1))
    if query.column and query.operand:
        operator = "=" if query.operator == "*" else query.operator
        operand = f"*{query.operand}*" if query.operator == "*" else query.operand
        rows = [
            row
            for row in rows
            if _kept(
                evaluator.value(sheet, (row, query.column)),
                operator,
                operand,
                contains=query.operator == "*",
            )
        ]
    if query.sort:
        rows.sort(
            key=lambda row: _order(evaluator.value(sheet, (row, query.sort))),
            reverse=query.descending,
        )
    return rows


def role_in(call: Call, workbook: int) -> str:
    """Return the person's role in a workbook: `owner`, `editor` or `viewer`."""
    owner = call.store.value("SELECT owner FROM workbooks WHERE id = ?", (workbook,))
    if owner == call.login:
        return "owner"
    role = call.store.value(
        "SELECT role FROM shares WHERE workbook = ? AND login = ?", (workbook, call.login)
    )
    return str(role or "viewer")


def protection_at(store: SiteStore, sheet: int, place: CellPlace, login: str) -> StoreRow | None:
    """Return the protection that keeps a person from changing a cell, if any."""
    for row in store.rows("SELECT * FROM protections WHERE sheet = ? ORDER BY id", (sheet,)):
        bounds = parse_range(row["area"])
        if bounds is None or row["editor"] == login:
            continue
        (top, left), (bottom, right) = bounds
        if top <= place[0] <= bottom and left <= place[1] <= right:
            return row
    return None


def write_cells(
    call: Call, sheet: int, values: Mapping[str, str], label: str = ""
) -> Sequence[str]:
    """Write cells and add a version; return the names of those that changed."""
    store = call.store
    before = {
        ref: str(store.value("SELECT raw FROM cells WHERE id = ?", (f"{sheet}!{ref}",)) or "")
        for ref in values
    }
    different = {ref: raw for ref, raw in values.items() if raw != before[ref]}
    if not different:
        return ()
    version = store.insert(
        "_versions", sheet=sheet, author=call.login, at=call.clock.stamp, label=label
    )
    for ref, raw in different.items():
        put_cell(store, sheet, ref, raw)
        store.insert("_version_cells", version=version, ref=ref, before=before[ref], after=raw)
    workbook = store.value("SELECT workbook FROM sheets WHERE id = ?", (sheet,))
    store.execute("UPDATE workbooks SET updated = ? WHERE id = ?", (call.clock.stamp, workbook))
    return tuple(different)


def put_cell(store: SiteStore, sheet: int, ref: str, raw: str) -> None:
    """Write one cell, or remove it if it becomes empty."""
    key, place = f"{sheet}!{ref}", parse_ref(ref)
    assert place is not None, ref
    if not raw:
        store.execute("DELETE FROM cells WHERE id = ?", (key,))
        return
    store.execute(
        "INSERT INTO cells (id, sheet, row, col, raw) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (id) DO UPDATE SET raw = excluded.raw",
        (key, sheet, place[0], place[1], raw),
    )


def row_values(evaluator: Evaluator, sheet: int, row: int, columns: int) -> list[str]:
    """Return the displayed values of a row's cells."""
    return [shown(evaluator.value(sheet, (row, column))) for column in range(1, columns + 1)]


def row_refs(row: int, columns: int) -> list[str]:
    """Return the names of the cells of a row."""
    return [ref_of(row, column) for column in range(1, columns + 1)]


def _kept(value: CellValue, operator: str, operand: str, *, contains: bool) -> bool:
    if contains:
        return operand.strip("*").casefold() in shown(value).casefold()
    return matches(value, f"{operator}{operand}")


def _order(value: CellValue) -> tuple[int, Any]:
    if value is None:
        return (2, "")
    if isinstance(value, float | int) and not isinstance(value, bool):
        return (0, value)
    return (1, shown(value).casefold())
