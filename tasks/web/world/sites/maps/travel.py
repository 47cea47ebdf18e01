"""Handlers of the map and of routes, and the timetable of trains."""

from collections import Counter
from datetime import date

from markupsafe import Markup

from hexathlon.tasks.web.world.exchange import WebResponse
from hexathlon.tasks.web.world.site import Call, get
from hexathlon.tasks.web.world.sites.maps.graph import MODES, street_route
from hexathlon.tasks.web.world.sites.maps.vocabulary import CATEGORIES, label_of
from hexathlon.tasks.web.world.store import SiteStore, StoreRow
from hexathlon.tasks.web.world.ui import FormField

__all__ = ["Travel", "day_of"]

_COLOURS = ("#c0562f", "#2f7fc0", "#7a4fb0", "#2f9a5b", "#b0398c", "#b08a1f", "#3b8f93", "#666f7d")


class Travel:
    """Handlers of the map, of routes and of timetables."""

    @get("/map")
    def city_map(self, call: Call) -> WebResponse:
        """Draw the streets and the places of one category."""
        category = call.arg("category") if call.arg("category") in CATEGORIES else "museum"
        rows = call.store.rows(
            "SELECT p.id, p.name, c.x, c.y FROM places p JOIN corners c ON c.id = p.corner "
            "WHERE category = ? ORDER BY p.name, p.id",
            (category,),
        )
        field = FormField(
            "category",
            call.words("category"),
            "select",
            category,
            [(each, label_of(each, call.language)) for each in CATEGORIES],
        )
        colour = _COLOURS[CATEGORIES.index(category)]
        levels = Counter[tuple[int, int]]()
        marks = Markup("")
        for row in rows:  # labels of places at the same corner are stacked
            corner = (row["x"], row["y"])
            marks += Markup(
                '<a href="/places/{}"><circle cx="{}" cy="{}" r="9" fill="{}"/><text x="{}" '
                'y="{}" dy="{:.2f}em" font-size="13">{}</text></a> '
            ).format(row["id"], *corner, colour, corner[0] + 12,
                     corner[1] + 4, 1.15 * levels[corner], row["name"])  # fmt: skip
            levels[corner] += 1
        return call.page("map.html", field=field, picture=_picture(call.store, marks))

    @get("/directions")
    def directions(self, call: Call) -> WebResponse:
        """Show the shortest route between two places, step by step."""
        mode = call.arg("mode") if call.arg("mode") in MODES else "walk"
        names = [call.arg("from"), call.arg("to")]
        ends = [_named(call.store, name) for name in names]
        words = call.words
        modes = [(each, label_of(each, call.language)) for each in MODES]
        fields = [
            FormField("from", words("start"), "text", names[0] if ends[0] is None else
                      ends[0]["name"], error=words("no_place") if names[0] and not ends[0] else ""),
            FormField("to", words("goal"), "text", names[1] if ends[1] is None else
                      ends[1]["name"], error=words("no_place") if names[1] and not ends[1] else ""),
            FormField("mode", words("mode"), "select", mode, modes),
        ]  # fmt: skip
        route = None
        if ends[0] is not None and ends[1] is not None:
            route = street_route(call.store, ends[0]["corner"], ends[1]["corner"], mode)
        return call.page("directions.html", fields=fields, route=route, ends=ends, asked=all(ends),
                         mode=label_of(mode, call.language))  # fmt: skip

    @get("/trains")
    def trains(self, call: Call) -> WebResponse:
        """Show direct trains between two cities on a day."""
        cities = [
            row["origin"]
            for row in call.store.rows("SELECT DISTINCT origin FROM trains ORDER BY origin")
        ]
        day = day_of(call, "date")
        origin, target = call.arg("from"), call.arg("to")
        rows = []
        if day is not None:
            rows = call.store.rows(
                "SELECT * FROM trains WHERE origin = ? AND target = ? AND instr(days, ?) > 0 "
                "ORDER BY departs, id",
                (origin, target, str(day.weekday())),
            )
        words = call.words
        choices = [("", "–"), *((city, city) for city in cities)]
        fields = [
            FormField("from", words("from_city"), "select", origin, choices),
            FormField("to", words("to_city"), "select", target, choices),
            FormField("date", words("date"), "picker", call.arg("date")),
        ]
        return call.page("trains.html", fields=fields, trains=rows, day=day)


def day_of(call: Call, name: str) -> date | None:
    """Return a date of the request, or None."""
    try:
        return date.fromisoformat(call.arg(name))
    except ValueError:
        return None


def _named(store: SiteStore, text: str) -> StoreRow | None:
    """Return a place by its number or by its whole name."""
    if text.isdecimal() and len(text) < 9:
        return store.row("SELECT * FROM places WHERE id = ?", (int(text),))
    return store.row("SELECT * FROM places WHERE name = ? COLLATE NOCASE ORDER BY id", (text,))


def _picture(store: SiteStore, marks: Markup) -> Markup:
    """Draw streets with marks on top."""
    corners = {row["id"]: row for row in store.rows("SELECT * FROM corners")}
    lines = Markup("").join(
        Markup('<line x1="{}" y1="{}" x2="{}" y2="{}" class="{}"/>').format(
            corners[row["a"]]["x"],
            corners[row["a"]]["y"],
            corners[row["b"]]["x"],
            corners[row["b"]]["y"],
            row["kind"],
        )
        for row in store.rows("SELECT a, b, kind FROM streets")
    )
    right = max(row["x"] for row in corners.values()) + 180
    bottom = max(row["y"] for row in corners.values()) + 50
    return Markup('<svg class="map" viewBox="-50 -50 {} {}"><g>{}</g>{}</svg>').format(
        right + 50, bottom + 50, lines, marks
    )
