"""Handlers of the spreadsheet: workbooks, grids, rows and cells."""

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import ClassVar
from urllib.parse import urlencode

from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, Site, SiteBrief, get, post
from hexathlon.tasks.web.world.sites.sheets.access import names_of, refusal, sheet_of
from hexathlon.tasks.web.world.sites.sheets.book import (
    OPERATORS,
    GridQuery,
    evaluator_of,
    headings,
    last_row,
    protection_at,
    role_in,
    row_refs,
    row_values,
    selected_rows,
    write_cells,
)
from hexathlon.tasks.web.world.sites.sheets.content import populate
from hexathlon.tasks.web.world.sites.sheets.dashboards import Dashboards
from hexathlon.tasks.web.world.sites.sheets.formulas import column_name, parse_ref, ref_of
from hexathlon.tasks.web.world.sites.sheets.functions import shown
from hexathlon.tasks.web.world.sites.sheets.panels import Panels
from hexathlon.tasks.web.world.store import SiteStore, StoreRow
from hexathlon.tasks.web.world.ui import FormField, Pager

__all__ = ["SITE", "Spreadsheet"]

_PER_PAGE = 25
_MAX_RAW = 400


class Spreadsheet(Panels, Dashboards, Site):
    """A hosted spreadsheet with dashboards."""

    name: ClassVar[str] = "sheets"
    schema: ClassVar[str] = (
        resources.files("hexathlon.tasks.web.world.sites.sheets")
        .joinpath("schema.sql")
        .read_text("utf-8")
    )
    volatile: ClassVar[Mapping[str, Sequence[str]]] = {
        "workbooks": ("updated",),
        "comments": ("id", "created"),
        "charts": ("id",),
    }

    def populate(self, store: SiteStore, brief: SiteBrief) -> None:
        """Fill workbooks, sheets, comments, protections and versions."""
        populate(store, brief)

    def navigation(self, call: Call) -> Sequence[tuple[str, str]]:
        """Return the main navigation."""
        words = call.words
        return [
            (words("workbooks"), "/workbooks"),
            (words("dashboards"), "/dashboards"),
            (words("function_help"), "/functions"),
        ]

    @get("/")
    def start(self, call: Call) -> WebResponse:
        """Redirect to the list of workbooks."""
        return call.redirect("/workbooks")

    @get("/workbooks")
    def workbooks(self, call: Call) -> WebResponse:
        """List workbooks; archived ones only if requested."""
        archived, text = call.arg("archived") == "1", call.arg("q")
        where = "(name LIKE ? OR folder LIKE ?) AND archived <= ?"
        rows = call.store.rows(
            f"SELECT * FROM workbooks WHERE {where} ORDER BY folder, name, id",
            (f"%{text}%", f"%{text}%", int(archived)),
        )
        fields = [
            FormField("q", call.words("search"), "text", text),
            FormField("archived", call.words("with_archived"), "checkbox", archived),
        ]
        return call.page(
            "workbooks.html", workbooks=rows, fields=fields, names=names_of(call.store)
        )

    @get("/workbooks/{number:int}")
    def workbook(self, call: Call, number: int) -> WebResponse:
        """Show a workbook with its sheets and who may edit it."""
        row = call.store.row("SELECT * FROM workbooks WHERE id = ?", (number,))
        if row is None:
            return call.not_found()
        sheets = call.store.rows(
            "SELECT s.*, (SELECT max(row) FROM cells c WHERE c.sheet = s.id) AS last "
            "FROM sheets s WHERE workbook = ? ORDER BY id",
            (number,),
        )
        shares = call.store.rows("SELECT * FROM shares WHERE workbook = ? ORDER BY id", (number,))
        return call.page("workbook.html", workbook=row, sheets=sheets, shares=shares,
                         role=role_in(call, number), names=names_of(call.store))  # fmt: skip

    @get("/sheets/{number:int}")
    def sheet(self, call: Call, number: int) -> WebResponse:
        """Show the grid; filter and order apply only to this view of the sheet."""
        found = sheet_of(call.store, number)
        if found is None:
            return call.not_found()
        evaluator = evaluator_of(call.store, found["workbook"])
        query = GridQuery.of(call)
        rows = selected_rows(evaluator, number, query)
        pages = max(1, -(-len(rows) // _PER_PAGE))
        page = min(max(1, call.number("page", 1)), pages)
        names = headings(evaluator.cells(number), found["columns"])
        formulas = call.arg("formulas") == "1"
        cells = evaluator.cells(number)
        lines = []
        for row in rows[(page - 1) * _PER_PAGE : page * _PER_PAGE]:
            values = row_values(evaluator, number, row, found["columns"])
            if formulas:
                values = [cells.get((row, column), "") for column in range(1, len(values) + 1)]
            lines.append([call.ui.link(str(row), f"/sheets/{number}/rows/{row}"), *values])
        columns = [f"{column_name(i)} {name}" for i, name in enumerate(names, 1)]
        state = {
            "col": query.column,
            "op": query.operator,
            "value": query.operand,
            "sort": query.sort,
            "dir": "desc" if query.descending else "asc",
            "formulas": int(formulas),
        }
        pager = Pager(page, pages, len(rows), f"/sheets/{number}?{urlencode(state)}&")
        return call.page("sheet.html", sheet=found, columns=columns, lines=lines, pager=pager,
                         fields=_view_fields(call, columns, query, formulas=formulas),
                         goto=[FormField("ref", call.words("cell"), "text", "")],
                         sorting=_sort_fields(call, columns),
                         sheets=_sisters(call.store, found), role=role_in(call, found["workbook"]),
                         notices_open=_open_comments(call.store, number))  # fmt: skip

    @get("/sheets/{number:int}/cells")
    def go_to(self, call: Call, number: int) -> WebResponse:
        """Redirect to a cell by its name."""
        place = parse_ref(call.arg("ref"))
        if place is None:
            return call.redirect(f"/sheets/{number}", call.words("no_such_cell"), "error")
        return call.redirect(f"/sheets/{number}/cells/{ref_of(*place)}")

    @get("/sheets/{number:int}/cells/{ref}")
    def cell(self, call: Call, number: int, ref: str) -> WebResponse:
        """Show one cell: its content, value, comments, protection and history."""
        found, place = sheet_of(call.store, number), parse_ref(ref)
        if found is None or place is None:
            return call.not_found()
        return self._cell_page(call, found, ref_of(*place), "", 200)

    @post("/sheets/{number:int}/cells/{ref}")
    def change_cell(self, call: Call, number: int, ref: str) -> WebResponse:
        """Change one cell."""
        found, place = sheet_of(call.store, number), parse_ref(ref)
        if found is None or place is None or place[1] > found["columns"]:
            return call.not_found()
        raw, name = call.arg("raw"), ref_of(*place)
        problem = refusal(call, found, [name]) or _raw_problem(call, raw)
        if problem:
            return self._cell_page(call, found, name, problem, 422, raw)
        write_cells(call, number, {name: raw})
        return call.redirect(f"/sheets/{number}/cells/{name}", call.words("saved"))

    @get("/sheets/{number:int}/rows/new")
    def new_row(self, call: Call, number: int) -> WebResponse:
        """Show the form for a new row."""
        found = sheet_of(call.store, number)
        if found is None:
            return call.not_found()
        row = last_row(evaluator_of(call.store, found["workbook"]).cells(number)) + 1
        return self._row_page(call, found, row, {}, "", 200)

    @get("/sheets/{number:int}/rows/{row:int}")
    def row(self, call: Call, number: int, row: int) -> WebResponse:
        """Show one row as a form."""
        found = sheet_of(call.store, number)
        if found is None or not 1 <= row <= 9_999:
            return call.not_found()
        return self._row_page(call, found, row, {}, "", 200)

    @post("/sheets/{number:int}/rows/{row:int}")
    def change_row(self, call: Call, number: int, row: int) -> WebResponse:
        """Change the cells of a row that were sent; all or none."""
        found = sheet_of(call.store, number)
        if found is None or not 1 <= row <= 9_999:
            return call.not_found()
        cells = evaluator_of(call.store, found["workbook"]).cells(number)
        sent = {name: value.strip() for name, value in call.request.form}
        refs = [ref for ref in row_refs(row, found["columns"]) if ref in sent]
        different = {
            ref: sent[ref] for ref in refs if sent[ref] != cells.get(parse_ref(ref) or (0, 0), "")
        }
        problem = refusal(call, found, list(different))
        for raw in different.values():
            problem = problem or _raw_problem(call, raw)
        if problem:
            return self._row_page(call, found, row, sent, problem, 422)
        write_cells(call, number, different)
        return call.redirect(f"/sheets/{number}/rows/{row}", call.words("saved"))

    @post("/sheets/{number:int}/rows/{row:int}/clear")
    def clear_row(self, call: Call, number: int, row: int) -> WebResponse:
        """Empty every cell of a row."""
        found = sheet_of(call.store, number)
        if found is None:
            return call.not_found()
        refs = row_refs(row, found["columns"])
        problem = refusal(call, found, refs)
        if problem:
            return call.redirect(f"/sheets/{number}/rows/{row}", problem, "error")
        write_cells(call, number, dict.fromkeys(refs, ""))
        return call.redirect(f"/sheets/{number}", call.words("row_cleared", row=row))

    @get("/functions")
    def functions(self, call: Call) -> WebResponse:
        """Explain the functions of formulas."""
        return call.page("functions.html")

    def _cell_page(
        self,
        call: Call,
        sheet: StoreRow,
        ref: str,
        problem: str,
        status: int,
        raw: str | None = None,
    ) -> WebResponse:
        place = parse_ref(ref)
        assert place is not None
        number = sheet["id"]
        evaluator = evaluator_of(call.store, sheet["workbook"])
        typed = evaluator.cells(number).get(place, "")
        trial = call.arg("formula")
        outcome = shown(evaluator.formula(number, trial)) if trial.startswith("=") else trial
        history = call.store.rows(
            "SELECT c.*, v.author, v.at FROM _version_cells c JOIN _versions v ON v.id = c.version "
            "WHERE v.sheet = ? AND c.ref = ? ORDER BY v.at DESC, c.id DESC LIMIT 12",
            (number, ref),
        )
        comments = call.store.rows(
            "SELECT * FROM comments WHERE sheet = ? AND ref = ? ORDER BY created, id", (number, ref)
        )
        names = headings(evaluator.cells(number), max(sheet["columns"], place[1]))
        return call.page(
            "cell.html", status, sheet=sheet, ref=ref, row=place[0], value=evaluator.value(
                number, place), shown=shown, typed=typed, column=names[place[1] - 1],
            edit=[FormField("raw", call.words("content"), "text", typed if raw is None else raw,
                        error=problem)],
            trial=[FormField("formula", call.words("formula"), "text", trial)], outcome=outcome,
            history=history, comments=comments, names=names_of(call.store),
            protection=protection_at(call.store, number, place, call.login),
            may_edit=role_in(call, sheet["workbook"]) != "viewer",
        )  # fmt: skip

    def _row_page(
        self,
        call: Call,
        sheet: StoreRow,
        row: int,
        sent: Mapping[str, str],
        problem: str,
        status: int,
    ) -> WebResponse:
        cells = evaluator_of(call.store, sheet["workbook"]).cells(sheet["id"])
        names = headings(cells, sheet["columns"])
        refs = row_refs(row, sheet["columns"])
        fields = [
            FormField(ref, f"{ref} {name}", "text", sent.get(ref, cells.get((row, column), "")))
            for column, (ref, name) in enumerate(zip(refs, names, strict=True), 1)
        ]
        return call.page("row.html", status, sheet=sheet, row=row, fields=fields, refs=refs,
                         problem=problem, exists=(row, 1) in cells,
                         may_edit=role_in(call, sheet["workbook"]) != "viewer")  # fmt: skip


def _raw_problem(call: Call, raw: str) -> str:
    return call.words("too_long") if len(raw) > _MAX_RAW else ""


def _open_comments(store: SiteStore, sheet: int) -> int:
    return int(
        store.value("SELECT count(*) FROM comments WHERE sheet = ? AND resolved = 0", (sheet,))
    )


def _sisters(store: SiteStore, sheet: StoreRow) -> list[StoreRow]:
    return store.rows(
        "SELECT id, name FROM sheets WHERE workbook = ? ORDER BY id", (sheet["workbook"],)
    )


def _sort_fields(call: Call, columns: Sequence[str]) -> list[FormField]:
    words = call.words
    return [
        FormField("by", words("sort"), "select", "1", [(str(i), n) for i, n in enumerate(columns, 1)]),
        FormField("order", words("direction"), "select", "asc",
              [("asc", words("ascending")), ("desc", words("descending"))]),
    ]  # fmt: skip


def _view_fields(
    call: Call, columns: Sequence[str], query: GridQuery, *, formulas: bool
) -> list[FormField]:
    words = call.words
    choices = [("0", words("none")), *((str(i), name) for i, name in enumerate(columns, 1))]
    labels = {"*": words("contains")}
    return [
        FormField("col", words("filter_column"), "select", query.column, choices),
        FormField("op", words("comparison"), "select", query.operator,
              [(each, labels.get(each, each)) for each in OPERATORS]),
        FormField("value", words("filter_value"), "text", query.operand),
        FormField("sort", words("sort"), "select", query.sort, choices),
        FormField("dir", words("direction"), "select", "desc" if query.descending else "asc",
              [("asc", words("ascending")), ("desc", words("descending"))]),
        FormField("formulas", words("show_formulas"), "checkbox", formulas),
    ]  # fmt: skip


SITE = Spreadsheet()
