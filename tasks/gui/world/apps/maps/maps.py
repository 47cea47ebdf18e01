"""The maps app."""

from math import hypot
from typing import Any, ClassVar

from hexathlon.tasks.gui.world.apps.maps.town import KINDS, LISTS, TOWN_SIZE, draw_town
from hexathlon.tasks.gui.world.kit.dates import WEEKDAYS
from hexathlon.tasks.gui.world.kit.events import BACK, do, go, open_app, put
from hexathlon.tasks.gui.world.kit.widgets import (
    AppPage,
    BarAction,
    Button,
    Canvas,
    Chips,
    Choice,
    Columns,
    Dialog,
    Heading,
    IconButton,
    ListRow,
    ListView,
    Radio,
    ScreenWidget,
    Select,
    Spot,
    Tabs,
    TextField,
    TextLabel,
    Toggle,
)
from hexathlon.tasks.gui.world.phone.app import ContentDraws, PhoneApp
from hexathlon.tasks.gui.world.phone.context import AppActs, AppView
from hexathlon.tasks.gui.world.phone.core import PhoneRow

__all__ = ["MapsApp", "open_on", "route_metres", "route_minutes"]

_MODES = ("walk", "bus", "car")
_METRES_PER_MINUTE = {"walk": 80, "bus": 300, "car": 500}
_EXTRA_MINUTES = {"walk": 0, "bus": 6, "car": 3}
_VIEW, _STEP = (360, 400), 0.5
_WATER, _PARK, _STREET, _GROUND = (150, 190, 220), (176, 208, 160), (250, 250, 248), (226, 224, 216)
_INK, _PIN, _HERE = (90, 90, 96), (196, 60, 50), (40, 110, 220)


class MapsApp(PhoneApp):
    """Places and routes."""

    name: ClassVar[str] = "maps"
    icon: ClassVar[str] = "map"
    colour = (64, 140, 96)
    tables = {"places": (), "saved": (), "prefs": (), "here": (), "history": ("time",)}
    ephemeral = ("history",)
    receives = {"text": "search"}

    def seed(self, draws: ContentDraws) -> None:
        """Draw a town."""
        draw_town(draws)

    # The map -----------------------------------------------------------------------------------

    def screen_home(self, view: AppView) -> ScreenWidget:
        """The map, or saved places."""
        tab = view.value("tab", "map")
        tabs = Tabs([
            Choice(view("map"), put("tab", "map"), tab == "map", "map"),
            Choice(view("saved_places"), put("tab", "saved"), tab == "saved", "bookmark"),
        ])  # fmt: skip
        actions = [
            BarAction("search", view("search"), go("search")),
            BarAction("gear", view("settings"), go("settings"), rare=True),
        ]
        children = self._saved(view) if tab == "saved" else self._map(view)
        return AppPage(view("app_title"), children, actions,
                    BarAction("forward", view("directions"), go("route")), tabs,
                    home=True)  # fmt: skip

    def _map(self, view: AppView) -> list[Any]:
        kind, zoom = view.value("kind", ""), view.value("zoom", 1)
        here = _here(view)
        x, y = view.value("x", here["x"]), view.value("y", here["y"])
        rows = [row for row in view.rows("places") if kind in ("", row["kind"])]
        chips = [Choice(view("all"), put("kind", ""), kind == "")]
        chips += [Choice(view(name), put("kind", name), kind == name)
                  for name in tuple(KINDS)[:7]]  # fmt: skip
        return [
            Chips(chips), _canvas(view, rows, x, y, zoom),
            Columns((
                IconButton("minus", "", put("zoom", max(zoom - 1, 0))),
                IconButton("plus", "", put("zoom", min(zoom + 1, 2))),
                IconButton("place", view("my_location"), do("locate")),
            )),
        ]  # fmt: skip

    def _saved(self, view: AppView) -> list[Any]:
        chosen = view.value("list", LISTS[0])
        rows = [row for row in view.rows("saved") if row["list"] == chosen]
        by_key = {row["id"]: row for row in view.rows("places")}
        rows.sort(key=lambda row: by_key[row["place"]]["name"])

        def build(row: PhoneRow) -> ListRow:
            place = by_key[row["place"]]
            return ListRow(place["name"], row["note"] or place["address"],
                           go("place", id=row["place"]), icon=KINDS[place["kind"]],
                           swipe_left=do("unsave", id=row["place"]))  # fmt: skip

        return [Chips([Choice(view(name), put("list", name), name == chosen) for name in LISTS]),
                ListView(rows, build, view("nothing"))]  # fmt: skip

    def do_move_map(self, acts: AppActs, dx: float, dy: float) -> None:
        """Move the map under the finger."""
        here, scale = _here(acts), _STEP * 2 ** acts.value("zoom", 1)
        x = acts.value("x", here["x"]) - dx / scale
        y = acts.value("y", here["y"]) - dy / scale
        acts.put("x", round(min(max(x, 0), TOWN_SIZE)))
        acts.put("y", round(min(max(y, 0), TOWN_SIZE)))

    def do_locate(self, acts: AppActs) -> None:
        """Show the map around the phone, if that is permitted."""
        if acts.permitted("location", do("locate")):
            here = _here(acts)
            acts.put("x", here["x"])
            acts.put("y", here["y"])

    # Places ------------------------------------------------------------------------------------

    def screen_search(self, view: AppView) -> ScreenWidget:
        """Places by name, address or kind; also receives what other apps share."""
        first = view.params.get("query") or view.params.get("text", "")
        wanted = str(view.value("query", first)).casefold().strip()
        order = view.value("order", "distance")
        open_now = view.value("open", False)
        here = _here(view)
        rows = [
            row for row in view.rows("places")
            if wanted and (wanted in row["name"].casefold() or wanted in row["address"].casefold()
                           or wanted in view(row["kind"]).casefold())
            and (not open_now or _open_now(view, row))
        ]  # fmt: skip
        rows.sort(key=lambda row: (-row["rating"] if order == "rating" else
                                   route_metres(here, row), row["name"]))  # fmt: skip
        chips = [
            Choice(view("by_distance"), put("order", "distance"), order == "distance"),
            Choice(view("by_rating"), put("order", "rating"), order == "rating"),
            Choice(view("open_now"), put("open", not open_now), open_now),
        ]
        found = ListView(rows, lambda row: self._row(view, row), view("nothing"))
        return AppPage(view("search"), [Chips(chips), found if wanted else None],
                    search=TextField("query", view("search"), first, kind="search"))  # fmt: skip

    def _row(self, view: AppView, row: PhoneRow) -> ListRow:
        metres = route_metres(_here(view), row)
        return ListRow(row["name"], f"{_stars(row)} · {row['address']}", go("place", id=row["id"]),
                       value=_distance(view, metres), icon=KINDS[row["kind"]])  # fmt: skip

    def screen_place(self, view: AppView) -> ScreenWidget:
        """One place."""
        row = view.row("places", view.params["id"])
        if row is None:
            return AppPage(view("app_title"), [TextLabel(view("nothing"), "dim")])
        key = row["id"]
        saved = _saved_row(view, key)
        state = view("open" if _open_now(view, row) else "closed_now")
        actions = [
            BarAction("bookmark", view("saved" if saved else "save_place"),
                      do("unsave" if saved else "ask_list", id=key)),
            BarAction("share", view("share"), do("share", id=key)),
            BarAction("calendar", view("to_calendar"),
                      open_app("calendar", "edit", place=row["name"]), rare=True),
            BarAction("home", view("set_home"), do("set", name="home", value=key), rare=True),
            BarAction("work", view("set_work"), do("set", name="work", value=key), rare=True),
        ]  # fmt: skip
        closed = view("never_closed")
        if row["closed"]:
            closed = ", ".join(_weekday(view, int(day)) for day in row["closed"])
        facts: list[Any] = [
            ListRow(row["address"], view("address"), icon="place"),
            ListRow(f"{state} · {_hours(view, row)}", view("hours"), icon="clock"),
            ListRow(closed, view("closed_days"), icon="calendar"),
            ListRow(row["phone"], view("telephone"),
                    open_app("phone", "number", number=row["phone"]), icon="phone"),
            ListRow("€" * row["price"], view("price"), icon="card"),
            ListRow(view("yes" if row["step_free"] else "no"), view("step_free"), icon="info"),
        ]  # fmt: skip
        if saved:
            facts.append(ListRow(saved["note"] or view("add_note"), view(saved["list"]),
                                 go("note", id=key), icon="bookmark"))  # fmt: skip
        return AppPage(row["name"], [
            _canvas(view, [row], row["x"], row["y"], 2, height=120),
            TextLabel(f"{view(row['kind'])} · {_stars(row)}", "dim"),
            Button(view("directions"), go("route", to=key)), *facts,
        ], actions)  # fmt: skip

    def screen_note(self, view: AppView) -> ScreenWidget:
        """Prompt for a note about a saved place."""
        saved = _saved_row(view, view.params["id"]) or {"note": ""}
        return Dialog(view("add_note"), "", [TextField("note", view("note"), saved["note"])], (
            (view("save"), do("note", id=view.params["id"])), (view("cancel"), BACK),
        ))  # fmt: skip

    def do_ask_list(self, acts: AppActs, id: int) -> None:
        """Choose the list in which a place is saved."""
        acts.choose(acts("save_place"), [(acts(name), do("save", id=id, list=name))
                                         for name in LISTS])  # fmt: skip

    def do_save(self, acts: AppActs, id: int, list: str) -> None:  # noqa: A002 - name of a column
        """Save a place in a list."""
        acts.add("saved", place=id, list=list, note="")
        acts.toast(acts("saved"))

    def do_unsave(self, acts: AppActs, id: int) -> None:
        """Ask before a place is removed from its list."""
        acts.confirm(acts("unsave_question"), do("forget", id=id), acts("delete"))

    def do_forget(self, acts: AppActs, id: int) -> None:
        """Remove a place from its list."""
        row = _saved_row(acts, id)
        if row is not None:
            acts.remove("saved", row["id"])
            acts.toast(acts("deleted"))

    def do_note(self, acts: AppActs, id: int) -> None:
        """Store the note about a saved place."""
        row = _saved_row(acts, id)
        text = str(acts.value("note", row["note"] if row else "")).strip()
        acts.back()
        if row is not None:
            acts.change("saved", row["id"], note=text)

    def do_share(self, acts: AppActs, id: int) -> None:
        """Share a place as text."""
        row = acts.row("places", id)
        if row is not None:
            acts.share(row["name"], f"{row['name']}, {row['address']}")

    # Routes ------------------------------------------------------------------------------------

    def screen_route(self, view: AppView) -> ScreenWidget:
        """A route between two places, or from the phone's position."""
        start = view.value("from", view.params.get("from", 0))
        end = view.value("to", view.params.get("to", 0))
        mode = view.value("mode", _pref(view, "mode"))
        names = {row["id"]: row["name"] for row in view.rows("places")}
        children: list[Any] = [
            ListRow(names.get(start, view("my_location")), view("from"), go("choose", end="from"),
                    icon="place"),
            ListRow(names.get(end, view("choose_place")), view("to"), go("choose", end="to"),
                    icon="flag"),
            Button(view("reverse"), do("reverse"), "text", enabled=bool(end)),
            Radio("mode", view("mode"), [(name, view(name)) for name in _MODES], mode),
        ]  # fmt: skip
        one = view.row("places", start) if start else _here(view)
        two = view.row("places", end) if end else None
        if one is not None and two is not None:
            metres = route_metres(one, two)
            minutes = route_minutes(metres, mode)
            children += [
                Heading(view("result")),
                TextLabel(f"{view('minutes', n=minutes)} · {_distance(view, metres)}", "big"),
                TextLabel(view("arrival", time=view.time(_after(view, minutes))), "dim"),
                _canvas(view, [two], (one["x"] + two["x"]) / 2, (one["y"] + two["y"]) / 2, 0,
                        route=(one, two), height=180),
            ]  # fmt: skip
        return AppPage(view("directions"), children)

    def screen_choose(self, view: AppView) -> ScreenWidget:
        """The choice of a place for a route."""
        wanted = view.value("query").casefold().strip()
        end = view.params["end"]
        usual = [
            ListRow(view(name), row["name"], do("take", end=end, id=row["id"]), icon=icon)
            for name, icon in (("home", "home"), ("work", "work"))
            if (row := view.row("places", _pref(view, name))) is not None
        ] if not wanted else []  # fmt: skip
        rows = [
            row
            for row in view.rows("places")
            if wanted in row["name"].casefold() or wanted in row["address"].casefold()
        ]
        rows.sort(key=lambda row: row["name"])

        def build(row: PhoneRow) -> ListRow:
            return ListRow(row["name"], row["address"], do("take", end=end, id=row["id"]),
                           icon=KINDS[row["kind"]])  # fmt: skip

        return AppPage(view("choose_place"), [*usual, ListView(rows, build, view("nothing"))],
                    search=TextField("query", view("search"), kind="search"))  # fmt: skip

    def do_take(self, acts: AppActs, end: str, id: int) -> None:
        """Take a place as the start or the end of the route."""
        acts.back()
        acts.put(end, id)

    def do_reverse(self, acts: AppActs) -> None:
        """Swap start and end."""
        start = acts.value("from", acts.params.get("from", 0))
        end = acts.value("to", acts.params.get("to", 0))
        acts.put("from", end)
        acts.put("to", start)

    # Settings ----------------------------------------------------------------------------------

    def screen_settings(self, view: AppView) -> ScreenWidget:
        """Home, work and units."""
        names = {row["id"]: row["name"] for row in view.rows("places")}
        units = [("km", view("kilometres")), ("mi", view("miles"))]
        modes = [(name, view(name)) for name in _MODES]
        return AppPage(view("settings"), [
            ListRow(names.get(_pref(view, "home"), ""), view("home"), icon="home"),
            ListRow(names.get(_pref(view, "work"), ""), view("work"), icon="work"),
            Select("units", view("units"), units, _pref(view, "units"), do("set", name="units")),
            Select("mode", view("usual_mode"), modes, _pref(view, "mode"), do("set", name="mode")),
            Toggle(view("avoid_tolls"), bool(_pref(view, "avoid_tolls")),
                   do("set", name="avoid_tolls", value=not _pref(view, "avoid_tolls"))),
        ])  # fmt: skip

    def do_set(self, acts: AppActs, name: str, value: Any) -> None:
        """Change a setting."""
        acts.change("prefs", name, value=value)
        acts.toast(acts("saved"))


def route_metres(one: PhoneRow, two: PhoneRow) -> int:
    """Return the length of a route in metres, rounded to 10; streets bend a little."""
    return round(hypot(one["x"] - two["x"], one["y"] - two["y"]) * 1.25) * 10


def route_minutes(metres: int, mode: str) -> int:
    """Return how long a route takes: `walk`, `bus` or `car`."""
    return -(-metres // _METRES_PER_MINUTE[mode]) + _EXTRA_MINUTES[mode]


def open_on(row: PhoneRow, weekday: int, time: str) -> bool:
    """Whether a place is open on a weekday (1 is Monday) at a time, `HH:MM`."""
    start, _, end = row["hours"].partition("-")
    return str(weekday) not in row["closed"] and start <= time < end


def _open_now(view: AppView, row: PhoneRow) -> bool:
    return open_on(row, view.now.isoweekday(), f"{view.now:%H:%M}")


def _hours(view: AppView, row: PhoneRow) -> str:
    start, _, end = row["hours"].partition("-")
    if (start, end) == ("00:00", "24:00"):
        return view("day_and_night")
    return f"{view.time(start)} – {view.time(end)}"


def _weekday(view: AppView, day: int) -> str:
    return f"星期{'一二三四五六日'[day - 1]}" if view.language == "zh" else WEEKDAYS[day - 1]


def _stars(row: PhoneRow) -> str:
    return f"★ {row['rating'] / 10:.1f}"


def _distance(view: AppView, metres: int) -> str:
    if _pref(view, "units") == "mi":
        return f"{metres / 1609.344:.1f} mi"
    return f"{metres} m" if metres < 1000 else f"{metres / 1000:.1f} km"


def _after(view: AppView, minutes: int) -> str:
    total = (view.now.hour * 60 + view.now.minute + minutes) % 1440
    return f"{total // 60:02d}:{total % 60:02d}"


def _here(view: AppView) -> PhoneRow:
    row = view.row("here", "here")
    assert row is not None
    return row


def _pref(view: AppView, name: str) -> Any:
    row = view.row("prefs", name)
    return row["value"] if row else ""


def _saved_row(view: AppView, place: int) -> PhoneRow | None:
    return next((row for row in view.rows("saved") if row["place"] == place), None)


def _canvas(
    view: AppView, rows: list[PhoneRow], x: float, y: float, zoom: int, *,
    height: int = _VIEW[1], route: tuple[PhoneRow, PhoneRow] | None = None,
) -> Canvas:  # fmt: skip
    """Draw the town around a point, with touchable places."""
    width, scale = _VIEW[0], _STEP * 2**zoom
    if route is not None:
        span = max(abs(route[0]["x"] - route[1]["x"]), abs(route[0]["y"] - route[1]["y"]) * 2, 100)
        scale = min(1.0, (width - 60) / span)

    def at(px: float, py: float) -> tuple[float, float]:
        return (px - x) * scale + width / 2, (py - y) * scale + height / 2

    shapes: list[tuple[Any, ...]] = [
        ("area", _GROUND, 0, 0, width, 0, width, height, 0, height),
        ("area", _PARK, *at(620, 640), *at(800, 640), *at(800, 780), *at(620, 780)),
        ("line", _WATER, 26 * scale, *at(0, 250), *at(300, 330), *at(560, 260), *at(1000, 340)),
    ]  # fmt: skip
    for number in range(60, TOWN_SIZE, 110):
        broad = 14 * scale if (number - 60) % 220 else 8 * scale
        shapes.append(("line", _STREET, broad, *at(0, number), *at(1000, number)))
        shapes.append(("line", _STREET, broad, *at(number, 0), *at(number, 1000)))
    if route is not None:
        one, two = route
        shapes.append(("line", _HERE, 4, *at(one["x"], one["y"]), *at(two["x"], one["y"]),
                       *at(two["x"], two["y"])))  # fmt: skip
    spots = []
    for row in rows:
        px, py = at(row["x"], row["y"])
        if 6 <= px < width - 6 and 6 <= py < height - 6:
            shapes.append(("disc", _PIN, px, py, 6))
            if zoom == 2 or len(rows) == 1:
                shapes.append(("text", _INK, 11, px, py + 14, row["name"]))
            spots.append(Spot(px, py, row["name"], go("place", id=row["id"])))
    here = _here(view)
    px, py = at(here["x"], here["y"])
    if 0 <= px < width and 0 <= py < height:
        shapes.append(("disc", _HERE, px, py, 8))
    return Canvas(width, height, shapes, spots, view("map"), do("move_map") if not route else None)
