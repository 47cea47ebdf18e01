"""Parts of tasks on the spreadsheet: sheets by name, edits of cells, and scripts that use pages."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.source import Script
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.world.network import Edit
from hexathlon.tasks.web.world.sites.sheets.book import sheet_cells
from hexathlon.tasks.web.world.sites.sheets.formulas import CellPlace, parse_ref, ref_of
from hexathlon.tasks.web.world.sites.sheets.vocabulary import heading, said
from hexathlon.tasks.web.world.store import SiteStore

__all__ = ["ROWS_PER_PAGE", "SheetContent", "cell_changes", "cell_edit", "comment_on", "new_cells", "open_sheet",
           "row_edits", "set_cell", "set_row", "view_sheet"]  # fmt: skip


ROWS_PER_PAGE = 25
"""Rows on one page of a grid."""


class SheetContent(NamedTuple):
    """A sheet as stored."""

    id: int
    book: str
    """Name of the workbook."""

    name: str
    cells: Mapping[CellPlace, str]

    @property
    def last(self) -> int:
        """Number of the last row."""
        return max((row for row, _ in self.cells), default=1)

    def rows(self) -> list[tuple[int, list[str]]]:
        """Return number and cells of every row below the headings."""
        width = max((column for _, column in self.cells), default=1)
        return [
            (row, [self.cells.get((row, column), "") for column in range(1, width + 1)])
            for row in range(2, self.last + 1)
        ]

    def key(self, row: int, column: int) -> str:
        """Return the key of a cell's record."""
        return f"{self.id}!{ref_of(row, column)}"


def open_sheet(store: SiteStore, book: str, name: str, language: Language) -> SheetContent | None:
    """Return a sheet by the beginning of its workbook's name, `English=中文`, and its own key.

    Archived workbooks and copies are left out; the user may edit it unless the workbook is shared
    for viewing only.
    """
    row = store.row(
        "SELECT s.id, s.name, w.name AS book FROM sheets s JOIN workbooks w ON w.id = s.workbook "
        "WHERE w.archived = 0 AND w.name LIKE ? AND s.name = ? ORDER BY w.id",
        (f"%{said(book, language)}%", heading(name, language)),
    )
    if row is None:
        return None
    return SheetContent(row["id"], row["book"], row["name"], sheet_cells(store, row["id"]))


def cell_edit(sheet: int, ref: str, raw: str) -> Edit:
    """Return the edit that fills a cell before the task begins."""
    place = parse_ref(ref)
    assert place is not None, ref
    sql = "INSERT OR REPLACE INTO cells (id, sheet, row, col, raw) VALUES (?, ?, ?, ?, ?)"
    return ("sheets", sql, (f"{sheet}!{ref}", sheet, *place, raw))


def row_edits(sheet: int, row: int, values: Sequence[object]) -> list[Edit]:
    """Return the edits that fill a row; empty values are left out."""
    return [
        cell_edit(sheet, ref_of(row, column), str(value))
        for column, value in enumerate(values, 1)
        if value != ""
    ]


def comment_on(
    number: int, sheet: int, ref: str, author: str, body: str, at: str, resolved: int = 0
) -> Edit:
    """Return the edit that adds a comment with a given number."""
    sql = (
        "INSERT INTO comments (id, sheet, ref, author, body, created, resolved) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)"
    )
    return ("sheets", sql, (number, sheet, ref, author, body, at, resolved))


def cell_changes(sheet: int, values: Mapping[str, object]) -> dict[str, Any]:
    """Expect existing cells to hold these contents."""
    pairs = [[f"{sheet}!{ref}", {"raw": str(raw)}] for ref, raw in values.items()]
    return {"sheets": {"cells": {"changed": pairs}}}


def new_cells(sheet: int, values: Mapping[str, object]) -> dict[str, Any]:
    """Expect cells that were empty to hold these contents."""
    rows = []
    for ref, raw in values.items():
        place = parse_ref(ref)
        assert place is not None, ref
        rows.append({"id": f"{sheet}!{ref}", "sheet": sheet, "row": place[0], "col": place[1],
                     "raw": str(raw)})  # fmt: skip
    return {"sheets": {"cells": {"added": rows}}}


def view_sheet(pilot: Pilot, sheet: int, query: str = "") -> Script:
    """Open a grid, with filters as a query string."""
    yield from pilot.goto("sheets", f"/sheets/{sheet}" + (f"?{query}" if query else ""))


def set_cell(pilot: Pilot, sheet: int, ref: str, raw: object) -> Script:
    """Change a cell on its own page."""
    yield from pilot.goto("sheets", f"/sheets/{sheet}/cells/{ref}")
    yield from pilot.fill(pilot.words("sheets", "content"), str(raw))
    yield from pilot.click("button", pilot.words("sheets", "save"))


def set_row(pilot: Pilot, sheet: int, row: int, values: Mapping[str, object]) -> Script:
    """Change cells of one row in the row's form; keys are whole names of cells."""
    yield from pilot.goto("sheets", f"/sheets/{sheet}/rows/{row}")
    for ref, raw in values.items():
        label = next(line for line in pilot.screen.splitlines() if f'textbox "{ref} ' in line)
        name = label.partition('textbox "')[2].partition('"')[0]
        yield from pilot.fill(name, str(raw))
    yield from pilot.click("button", pilot.words("sheets", "save"))
