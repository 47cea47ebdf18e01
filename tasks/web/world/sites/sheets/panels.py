"""Panels of a sheet: comments, protections, versions, files, sorting and charts."""

import csv
import io
from collections.abc import Mapping
from typing import Any

from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, get, post
from hexathlon.tasks.web.world.sites.sheets.access import names_of, refusal, sheet_of
from hexathlon.tasks.web.world.sites.sheets.book import (
    GridQuery,
    evaluator_of,
    headings,
    last_row,
    role_in,
    row_values,
    selected_rows,
    sheet_cells,
    write_cells,
)
from hexathlon.tasks.web.world.sites.sheets.charts import chart_of
from hexathlon.tasks.web.world.sites.sheets.formulas import (
    column_name,
    parse_range,
    parse_ref,
    ref_of,
)
from hexathlon.tasks.web.world.store import StoreRow
from hexathlon.tasks.web.world.ui import FormField, Pager

__all__ = ["Panels"]

_PER_PAGE = 15
_MAX_IMPORT = 300


class Panels:
    """Handlers of the panels of a sheet."""

    @get("/sheets/{number:int}/comments")
    def comments(self, call: Call, number: int) -> WebResponse:
        """List the comments of a sheet, open ones first."""
        found = sheet_of(call.store, number)
        if found is None:
            return call.not_found()
        state = call.arg("state", "open")
        where = {"open": "resolved = 0", "resolved": "resolved = 1"}.get(state, "1")
        rows = call.store.rows(
            f"SELECT * FROM comments WHERE sheet = ? AND {where} ORDER BY created DESC, id DESC",
            (number,),
        )
        page, pages = _page(call, len(rows))
        words = call.words
        fields = [FormField("state", words("state"), "select", state,
                        [("open", words("open")), ("resolved", words("resolved")),
                         ("all", words("all"))])]  # fmt: skip
        pager = Pager(page, pages, len(rows), f"/sheets/{number}/comments?state={state}&")
        return call.page(
            "comments.html",
            sheet=found,
            fields=fields,
            pager=pager,
            comments=rows[(page - 1) * _PER_PAGE : page * _PER_PAGE],
            names=names_of(call.store),
        )

    @post("/sheets/{number:int}/comments")
    def comment(self, call: Call, number: int) -> WebResponse:
        """Add a comment to a cell."""
        place, text = parse_ref(call.arg("ref")), call.arg("comment")
        if place is None or sheet_of(call.store, number) is None:
            return call.not_found()
        target = f"/sheets/{number}/cells/{ref_of(*place)}"
        if not text:
            return call.redirect(target, call.words("required"), "error")
        call.store.insert("comments", sheet=number, ref=ref_of(*place), author=call.login,
                          body=text, created=call.clock.stamp, resolved=0)  # fmt: skip
        return call.redirect(target, call.words("commented"))

    @post("/comments/{number:int}/resolve")
    def resolve(self, call: Call, number: int) -> WebResponse:
        """Mark a comment as resolved, or open it again."""
        row = call.store.row("SELECT * FROM comments WHERE id = ?", (number,))
        if row is None:
            return call.not_found()
        call.store.execute(
            "UPDATE comments SET resolved = ? WHERE id = ?", (1 - row["resolved"], number)
        )
        back = "comments" if call.arg("from") == "list" else f"cells/{row['ref']}"
        return call.redirect(f"/sheets/{row['sheet']}/{back}", call.words("saved"))

    @get("/sheets/{number:int}/protected")
    def protected(self, call: Call, number: int) -> WebResponse:
        """List protected ranges."""
        found = sheet_of(call.store, number)
        if found is None:
            return call.not_found()
        rows = call.store.rows("SELECT * FROM protections WHERE sheet = ? ORDER BY id", (number,))
        return call.page(
            "protected.html", sheet=found, protections=rows, names=names_of(call.store)
        )

    @get("/sheets/{number:int}/history")
    def history(self, call: Call, number: int) -> WebResponse:
        """List versions, the newest first."""
        found = sheet_of(call.store, number)
        if found is None:
            return call.not_found()
        person = call.arg("author")
        where = "sheet = ?" + (" AND author = ?" if person else "")
        values = (number, person) if person else (number,)
        rows = call.store.rows(
            "SELECT v.*, (SELECT count(*) FROM _version_cells c WHERE c.version = v.id) AS count "
            f"FROM _versions v WHERE {where} ORDER BY at DESC, id DESC",
            values,
        )
        page, pages = _page(call, len(rows))
        authors = call.store.rows(
            "SELECT DISTINCT author FROM _versions WHERE sheet = ? ORDER BY author", (number,)
        )
        names = names_of(call.store)
        choices = [
            ("", call.words("all")),
            *((row["author"], names[row["author"]]) for row in authors),
        ]
        pager = Pager(page, pages, len(rows), f"/sheets/{number}/history?author={person}&")
        return call.page(
            "history.html",
            sheet=found,
            pager=pager,
            names=names,
            fields=[FormField("author", call.words("author"), "select", person, choices)],
            versions=rows[(page - 1) * _PER_PAGE : page * _PER_PAGE],
        )

    @get("/versions/{number:int}")
    def version(self, call: Call, number: int) -> WebResponse:
        """Show what a version changed, beside the current content."""
        row = call.store.row("SELECT * FROM _versions WHERE id = ?", (number,))
        found = sheet_of(call.store, row["sheet"]) if row else None
        if row is None or found is None:
            return call.not_found()
        changes = call.store.rows(
            "SELECT * FROM _version_cells WHERE version = ? ORDER BY id", (number,)
        )
        now = sheet_cells(call.store, row["sheet"])
        lines = [(each, now.get(parse_ref(each["ref"]) or (0, 0), "")) for each in changes]
        return call.page(
            "version.html", version=row, sheet=found, lines=lines, names=names_of(call.store)
        )

    @post("/versions/{number:int}/restore")
    def restore(self, call: Call, number: int) -> WebResponse:
        """Restore the sheet as it was before a version, undoing that version and all later ones."""
        row = call.store.row("SELECT * FROM _versions WHERE id = ?", (number,))
        found = sheet_of(call.store, row["sheet"]) if row else None
        if row is None or found is None:
            return call.not_found()
        changes = call.store.rows(
            "SELECT c.* FROM _version_cells c JOIN _versions v ON v.id = c.version WHERE "
            "v.sheet = ? AND (v.at > ? OR (v.at = ? AND v.id >= ?)) ORDER BY v.at DESC, c.id DESC",
            (row["sheet"], row["at"], row["at"], number),
        )
        values = {change["ref"]: change["before"] for change in changes}
        return self._write(call, found, values, f"/sheets/{row['sheet']}/history")

    @get("/sheets/{number:int}/export")
    def export(self, call: Call, number: int) -> WebResponse:
        """Download the rows that pass the filter, as shown."""
        found = sheet_of(call.store, number)
        if found is None:
            return call.not_found()
        evaluator = evaluator_of(call.store, found["workbook"])
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(headings(evaluator.cells(number), found["columns"]))
        for row in selected_rows(evaluator, number, GridQuery.of(call)):
            writer.writerow(row_values(evaluator, number, row, found["columns"]))
        name = "".join(each if each.isalnum() else "-" for each in found["name"]).lower()
        return call.download(f"{name}-{number}.csv", out.getvalue())

    @get("/sheets/{number:int}/import")
    def import_form(self, call: Call, number: int) -> WebResponse:
        """Show the form for uploading a file."""
        found = sheet_of(call.store, number)
        return call.not_found() if found is None else self._import_page(call, found, "", 200)

    @post("/sheets/{number:int}/import")
    def import_rows(self, call: Call, number: int) -> WebResponse:
        """Append the rows of an uploaded file, whose first line holds names of columns."""
        found = sheet_of(call.store, number)
        if found is None:
            return call.not_found()
        upload = call.request.files.get("file")
        text = upload.content.decode("utf-8", "replace") if upload else ""
        try:
            lines = [line for line in csv.reader(io.StringIO(text)) if any(line)]
        except csv.Error:
            lines = []
        cells = sheet_cells(call.store, number)
        names = headings(cells, found["columns"])
        places = _places_of(lines[0] if lines else [], names)
        if places is None or len(lines) > _MAX_IMPORT:
            return self._import_page(call, found, call.words("bad_file"), 422)
        rows = [
            {places[i]: cell.strip() for i, cell in enumerate(line) if i in places}
            for line in lines[1:]
        ]
        values = _appended(rows, cells, call.arg("known"))
        return self._write(call, found, values, f"/sheets/{number}")

    @post("/sheets/{number:int}/sort")
    def sort_rows(self, call: Call, number: int) -> WebResponse:
        """Sort the rows of the sheet itself by a column."""
        found = sheet_of(call.store, number)
        if found is None:
            return call.not_found()
        evaluator = evaluator_of(call.store, found["workbook"])
        cells = evaluator.cells(number)
        if any(raw.startswith("=") for raw in cells.values()):
            return call.redirect(f"/sheets/{number}", call.words("no_sort_formulas"), "error")
        query = GridQuery(sort=call.number("by", 1), descending=call.arg("order") == "desc")
        order = selected_rows(evaluator, number, query)
        columns = range(1, found["columns"] + 1)
        values = {
            ref_of(row, column): cells.get((old, column), "")
            for row, old in enumerate(order, 2)
            for column in columns
        }
        return self._write(call, found, values, f"/sheets/{number}")

    @get("/sheets/{number:int}/charts")
    def charts(self, call: Call, number: int) -> WebResponse:
        """Show the charts of a sheet."""
        found = sheet_of(call.store, number)
        return call.not_found() if found is None else self._charts_page(call, found, "", 200)

    @post("/sheets/{number:int}/charts")
    def add_chart(self, call: Call, number: int) -> WebResponse:
        """Add a chart."""
        found = sheet_of(call.store, number)
        if found is None:
            return call.not_found()
        areas = [parse_range(call.arg(name)) for name in ("labels", "figures")]
        if not call.arg("title") or None in areas or role_in(call, found["workbook"]) == "viewer":
            return self._charts_page(call, found, call.words("bad_chart"), 422)
        call.store.insert(
            "charts",
            sheet=number,
            title=call.arg("title"),
            kind="line" if call.arg("kind") == "line" else "bar",
            labels=call.arg("labels").upper(),
            figures=call.arg("figures").upper(),
        )
        return call.redirect(f"/sheets/{number}/charts", call.words("saved"))

    @post("/charts/{number:int}/delete")
    def delete_chart(self, call: Call, number: int) -> WebResponse:
        """Delete a chart."""
        row = call.store.row("SELECT * FROM charts WHERE id = ?", (number,))
        found = sheet_of(call.store, row["sheet"]) if row else None
        if row is None or found is None:
            return call.not_found()
        problem = refusal(call, found, ())
        if not problem:
            call.store.execute("DELETE FROM charts WHERE id = ?", (number,))
        return call.redirect(
            f"/sheets/{row['sheet']}/charts",
            problem or call.words("deleted"),
            "error" if problem else "success",
        )

    def _charts_page(self, call: Call, sheet: StoreRow, problem: str, status: int) -> WebResponse:
        evaluator = evaluator_of(call.store, sheet["workbook"])
        rows = call.store.rows("SELECT * FROM charts WHERE sheet = ? ORDER BY id", (sheet["id"],))
        words = call.words
        fields = [
            FormField("title", words("title"), "text", call.arg("title"), error=problem),
            FormField(
                "kind",
                words("kind"),
                "select",
                call.arg("kind"),
                [("bar", words("bars")), ("line", words("line"))],
            ),
            FormField("labels", words("label_range"), "text", call.arg("labels"), help="A2:A9"),
            FormField("figures", words("figure_range"), "text", call.arg("figures"), help="C2:C9"),
        ]
        return call.page(
            "charts.html",
            status,
            sheet=sheet,
            fields=fields,
            charts=[(row, chart_of(call, evaluator, row)) for row in rows],
        )

    def _import_page(self, call: Call, sheet: StoreRow, problem: str, status: int) -> WebResponse:
        words = call.words
        fields = [
            FormField("file", words("file"), "file", error=problem),
            FormField("known", words("known_rows"), "radio", "replace",
                  [("replace", words("known_replace")), ("skip", words("known_skip")),
                   ("append", words("known_append"))]),
        ]  # fmt: skip
        names = headings(sheet_cells(call.store, sheet["id"]), sheet["columns"])
        return call.page("import.html", status, sheet=sheet, fields=fields, names=names)

    def _write(
        self, call: Call, sheet: StoreRow, values: Mapping[str, str], target: str
    ) -> WebResponse:
        """Write many cells, all or none."""
        cells = sheet_cells(call.store, sheet["id"])
        different = {
            ref: raw
            for ref, raw in values.items()
            if raw != cells.get(parse_ref(ref) or (0, 0), "")
        }
        problem = refusal(call, sheet, list(different))
        if problem:
            return call.redirect(target, problem, "error")
        count = len(write_cells(call, sheet["id"], different))
        return call.redirect(target, call.words("cells_changed", count=count))


def _page(call: Call, total: int) -> tuple[int, int]:
    pages = max(1, -(-total // _PER_PAGE))
    return min(max(1, call.number("page", 1)), pages), pages


def _places_of(line: list[str], names: list[str]) -> dict[int, int] | None:
    """Return the column of the sheet for each column of a file; None if one is unknown."""
    known = {name.casefold(): i for i, name in enumerate(names, 1)}
    wanted = [name.strip().casefold() for name in line]
    if not wanted or any(name not in known for name in wanted) or names[0].casefold() not in wanted:
        return None
    return {i: known[name] for i, name in enumerate(wanted)}


def _appended(rows: list[dict[int, str]], cells: Mapping[Any, str], known: str) -> dict[str, str]:
    """Return the cells to write: new rows below, known ones (by column A) as chosen."""
    last = last_row(cells)
    rows_by_key = {raw: row for (row, column), raw in cells.items() if column == 1 and row > 1}
    values: dict[str, str] = {}
    for line in rows:
        row = rows_by_key.get(line.get(1, "")) if known != "append" else None
        if row is not None and known == "skip":
            continue
        if row is None:
            last += 1
            row = last
            rows_by_key[line.get(1, "")] = row
        values.update({f"{column_name(column)}{row}": cell for column, cell in line.items()})
    return values
