"""Dashboards: figures of a period, from rows of sheets."""

from collections import defaultdict
from datetime import date, timedelta

from markupsafe import Markup

from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, get
from hexathlon.tasks.web.world.sites.sheets.access import names_of
from hexathlon.tasks.web.world.sites.sheets.book import evaluator_of, last_row
from hexathlon.tasks.web.world.sites.sheets.charts import drawn
from hexathlon.tasks.web.world.sites.sheets.functions import shown
from hexathlon.tasks.web.world.store import StoreRow
from hexathlon.tasks.web.world.ui import FormField

__all__ = ["Dashboards"]


class Dashboards:
    """Handlers of dashboards."""

    @get("/dashboards")
    def dashboards(self, call: Call) -> WebResponse:
        """List dashboards."""
        rows = call.store.rows("SELECT * FROM dashboards ORDER BY name, id")
        return call.page("dashboards.html", dashboards=rows, names=names_of(call.store))

    @get("/dashboards/{number:int}")
    def dashboard(self, call: Call, number: int) -> WebResponse:
        """Show a dashboard; it always opens with the current month."""
        row = call.store.row("SELECT * FROM dashboards WHERE id = ?", (number,))
        if row is None:
            return call.not_found()
        months = _months(call.clock.today)
        period = call.arg("period") if call.arg("period") in months else months[0]
        group = call.arg("group")
        widgets = call.store.rows(
            "SELECT * FROM widgets WHERE dashboard = ? ORDER BY id", (number,)
        )
        groups = sorted({name for widget in widgets for name in _sums(call, widget, "")})
        fields = [
            FormField("period", call.words("period"), "select", period, [(m, m) for m in months]),
            FormField(
                "group",
                call.words("group"),
                "select",
                group,
                [("", call.words("all")), *((name, name) for name in groups)],
            ),
        ]
        shown_widgets = [(widget, _drawn(call, widget, period, group)) for widget in widgets]
        return call.page(
            "dashboard.html", dashboard=row, fields=fields, widgets=shown_widgets, period=period
        )


def _months(today: date) -> list[str]:
    """Return this month and the nine before it."""
    months = []
    first = today.replace(day=1)
    for _ in range(10):
        months.append(f"{first:%Y-%m}")
        first = (first - timedelta(days=1)).replace(day=1)
    return months


def _sums(call: Call, widget: StoreRow, period: str) -> dict[str, float]:
    """Return the sum, or the count, of a widget's column by group in a period."""
    workbook = call.store.value("SELECT workbook FROM sheets WHERE id = ?", (widget["sheet"],))
    evaluator = evaluator_of(call.store, workbook)
    sums: dict[str, float] = defaultdict(float)
    sheet = widget["sheet"]
    for row in range(2, last_row(evaluator.cells(sheet)) + 1):
        if not evaluator.cells(sheet).get((row, widget["dates"]), "").startswith(period):
            continue
        figure = evaluator.value(sheet, (row, widget["figures"]))
        if isinstance(figure, float):
            name = shown(evaluator.value(sheet, (row, widget["groups"])))
            sums[name] += 1 if widget["kind"] == "count" else figure
    return sums


def _drawn(call: Call, widget: StoreRow, period: str, group: str) -> Markup:
    sums = _sums(call, widget, period)
    if group:
        sums = {name: figure for name, figure in sums.items() if name == group}
    if widget["kind"] == "chart":
        return drawn(call, widget["title"], "bar", sorted(sums.items()))
    text = shown(round(sum(sums.values()), 2))
    return Markup('<p class="figure"><b>{}</b> <span>{}</span></p>').format(text, widget["title"])
