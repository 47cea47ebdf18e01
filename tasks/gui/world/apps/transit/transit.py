"""The transit app."""

from typing import Any, ClassVar

from hexathlon.tasks.gui.world.apps.transit.timetable import (
    TransitRide,
    clock,
    minutes_of,
    rides,
    seed_transit,
)
from hexathlon.tasks.gui.world.kit.events import do, go, put
from hexathlon.tasks.gui.world.kit.widgets import (
    AppPage,
    BarAction,
    Button,
    Card,
    Choice,
    DateField,
    Heading,
    ListRow,
    ListView,
    ScreenWidget,
    Select,
    Tabs,
    TextField,
    TextLabel,
    TimeField,
)
from hexathlon.tasks.gui.world.phone.app import ContentDraws, PhoneApp
from hexathlon.tasks.gui.world.phone.context import AppActs, AppView
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.phone.money import cents_text

__all__ = ["TransitApp"]

_SHOWN = 12


class TransitApp(PhoneApp):
    """Connections and tickets."""

    name: ClassVar[str] = "transit"
    icon: ClassVar[str] = "forward"
    colour = (20, 96, 150)
    tables = {"stations": (), "lines": (), "tickets": ()}

    def seed(self, draws: ContentDraws) -> None:
        """Draw a network and tickets."""
        seed_transit(draws)

    # Screens -----------------------------------------------------------------------------------

    def screen_home(self, view: AppView) -> ScreenWidget:
        """Connections, tickets or lines."""
        tab = view.value("tab", "connections")
        tabs = Tabs([Choice(view(name), put("tab", name), tab == name, icon) for name, icon in (
            ("connections", "search"), ("tickets", "tag"), ("lines", "list"))])  # fmt: skip
        body = {"connections": self._connections, "tickets": self._tickets,
                "lines": self._lines}[tab](view)  # fmt: skip
        return AppPage(view("app_title"), body,
                       [BarAction("search", view("search"), go("search"))], tabs=tabs,
                       home=True)  # fmt: skip

    def _connections(self, view: AppView) -> list[Any]:
        names = _stations(view)
        options = [
            (str(key), name) for key, name in sorted(names.items(), key=lambda each: each[1])
        ]
        start, end = str(view.value("from", "")), str(view.value("to", ""))
        day = str(view.value("day", view.today.isoformat()))
        after = str(view.value("after", f"{view.now:%H:%M}"))
        form: list[Any] = [
            Select("from", view("from"), options, start), Select("to", view("to"), options, end),
            DateField("day", view("day"), day), TimeField("after", view("after"), after),
        ]  # fmt: skip
        if not start or not end:
            return form
        found = [ride for ride in rides(view.rows("lines"), int(start), int(end))
                 if ride.start >= after]  # fmt: skip
        lines = {row["id"]: row["name"] for row in view.rows("lines")}

        def build(ride: TransitRide) -> ListRow:
            return ListRow(
                f"{view.time(ride.start)} – {view.time(ride.end)}",
                f"{lines[ride.line]} · {view('minutes', n=_length(ride))}",
                go("ride", line=ride.line, start=int(start), end=int(end), day=day,
                   time=ride.start), value=cents_text(ride.price, view.language),
            )  # fmt: skip

        if not found:
            return [*form, TextLabel(view("no_ride"), "dim", centre=True)]
        return [*form, *map(build, found[:_SHOWN])]

    def _tickets(self, view: AppView) -> list[Any]:
        rows = sorted(view.rows("tickets"), key=lambda row: (row["day"], row["time"], row["id"]),
                      reverse=True)  # fmt: skip
        return [ListView(rows, lambda row: _ticket(view, row), view("nothing"))]

    def _lines(self, view: AppView) -> list[Any]:
        names = _stations(view)
        return [
            ListRow(row["name"], f"{names[row['stops'][0]]} – {names[row['stops'][-1]]}",
                    go("line", id=row["id"]), icon="list")
            for row in view.rows("lines")
        ]  # fmt: skip

    def screen_line(self, view: AppView) -> ScreenWidget:
        """One line with its stations."""
        row = view.row("lines", view.params["id"])
        if row is None:
            return AppPage(view("lines"), [TextLabel(view("nothing"), "dim")])
        names = _stations(view)
        return AppPage(row["name"], [
            Card([TextLabel(view("every", n=row["every"]), "title"),
                  TextLabel(f"{view.time(clock(row['first']))} – {view.time(clock(row['last']))}",
                            "dim")]),
            Heading(view("stations")),
            *(ListRow(names[stop], view("minutes", n=minutes), icon="place")
              for stop, minutes in zip(row["stops"], row["minutes"], strict=True)),
        ])  # fmt: skip

    def screen_search(self, view: AppView) -> ScreenWidget:
        """Tickets by code or station."""
        wanted = str(view.value("query")).casefold().strip()
        names = _stations(view)
        rows = [row for row in view.rows("tickets") if wanted and any(
            wanted in text.casefold()
            for text in (row["code"], names[row["start"]], names[row["end"]]))]  # fmt: skip
        return AppPage(view("search"), [ListView(rows, lambda row: _ticket(view, row),
                                                 view("nothing") if wanted else "")],
                       search=TextField("query", view("search"), kind="search"))  # fmt: skip

    def screen_ride(self, view: AppView) -> ScreenWidget:
        """One ride, for which a ticket can be bought."""
        ride = _ride(view)
        if ride is None:
            return AppPage(view("ride"), [TextLabel(view("nothing"), "dim")])
        names, params = _stations(view), view.params
        line = view.row("lines", ride.line)
        return AppPage(view("ride"), [
            TextLabel(f"{names[params['start']]} – {names[params['end']]}", "title"),
            TextLabel(cents_text(ride.price, view.language), "big"),
            ListRow(view("day"), view.full_day(params["day"]), icon="calendar"),
            ListRow(view("departure"), view.time(ride.start), icon="clock"),
            ListRow(view("arrival"), view.time(ride.end), icon="clock"),
            ListRow(view("line"), line["name"] if line else "", icon="list"),
            Button(view("buy"), do("ask_buy", **params)),
        ])  # fmt: skip

    def screen_ticket(self, view: AppView) -> ScreenWidget:
        """One ticket."""
        row = view.row("tickets", view.params["id"])
        if row is None:
            return AppPage(view("tickets"), [TextLabel(view("nothing"), "dim")])
        names = _stations(view)
        line = view.row("lines", row["line"])
        actions = [BarAction("share", view("share"), do("share", id=row["id"]))]
        if row["state"] == "valid":
            actions.append(BarAction("close", view("cancel_ticket"),
                                     do("ask_cancel", id=row["id"]), rare=True))  # fmt: skip
        return AppPage(row["code"], [
            TextLabel(f"{names[row['start']]} – {names[row['end']]}", "title"),
            TextLabel(view(f"state_{row['state']}"), "dim"),
            ListRow(view("day"), view.full_day(row["day"]), icon="calendar"),
            ListRow(view("departure"), view.time(row["time"]), icon="clock"),
            ListRow(view("line"), line["name"] if line else "", icon="list"),
            ListRow(view("price"), cents_text(row["price"], view.language), icon="card"),
        ], actions)  # fmt: skip

    # Handlers ----------------------------------------------------------------------------------

    def do_ask_buy(
        self, acts: AppActs, line: int, start: int, end: int, day: str, time: str
    ) -> None:
        """Ask before a ticket is bought; rides of the past cannot be bought."""
        if f"{day} {time}" < acts.stamp:
            acts.toast(acts("departed"))
            return
        ride = _ride(acts)
        if ride is not None:
            acts.confirm(
                acts("buy_question", price=cents_text(ride.price, acts.language)),
                do("buy", line=line, start=start, end=end, day=day, time=time, price=ride.price),
                acts("buy"), f"{acts.day(day)} {acts.time(time)}",
            )  # fmt: skip

    def do_buy(
        self, acts: AppActs, line: int, start: int, end: int, day: str, time: str, price: int
    ) -> None:
        """Buy a ticket."""
        code = f"N{2000 + 17 * len(acts.rows('tickets'))}"
        key = acts.add("tickets", code=code, line=line, start=start, end=end, day=day, time=time,
                       price=price, state="valid")  # fmt: skip
        acts.back_to("home")
        acts.go("ticket", id=key)
        acts.toast(acts("bought"))

    def do_share(self, acts: AppActs, id: int) -> None:
        """Share a ticket as text."""
        row = acts.row("tickets", id)
        if row is not None:
            names = _stations(acts)
            acts.share(row["code"], f"{row['code']}: {names[row['start']]} – {names[row['end']]}, "
                                    f"{row['day']} {row['time']}")  # fmt: skip

    def do_ask_cancel(self, acts: AppActs, id: int) -> None:
        """Ask before a ticket is cancelled."""
        row = acts.row("tickets", id)
        acts.confirm(acts("cancel_question"), do("cancel", id=id), acts("cancel_ticket"),
                     row["code"] if row else "")  # fmt: skip

    def do_cancel(self, acts: AppActs, id: int) -> None:
        """Cancel a ticket."""
        acts.change("tickets", id, state="cancelled")
        acts.toast(acts("state_cancelled"))


def _stations(view: AppView) -> dict[int, str]:
    return {row["id"]: row["name"] for row in view.rows("stations")}


def _length(ride: TransitRide) -> int:
    return minutes_of(ride.end) - minutes_of(ride.start)


def _ride(view: AppView) -> TransitRide | None:
    """Return the ride of the screen's parameters."""
    params = view.params
    return next((ride for ride in rides(view.rows("lines"), params["start"], params["end"])
                 if (ride.line, ride.start) == (params["line"], params["time"])), None)  # fmt: skip


def _ticket(view: AppView, row: PhoneRow) -> ListRow:
    names = _stations(view)
    return ListRow(f"{names[row['start']]} – {names[row['end']]}",
                   f"{view.short_day(row['day'])} {view.time(row['time'])} · {row['code']}",
                   go("ticket", id=row["id"]), value=view(f"state_{row['state']}"),
                   icon="tag")  # fmt: skip
