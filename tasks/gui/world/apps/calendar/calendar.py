"""The calendar app."""

import calendar
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, ClassVar

from hexathlon.tasks.gui.world.apps.calendar.appointments import ALARMS, CALENDARS, draw_events
from hexathlon.tasks.gui.world.kit.dates import WEEKDAYS, month_text, weekday_text
from hexathlon.tasks.gui.world.kit.events import BACK, do, go, open_app, put
from hexathlon.tasks.gui.world.kit.widgets import (
    AppPage,
    BarAction,
    Checkbox,
    Choice,
    Columns,
    DateField,
    Dialog,
    Heading,
    IconButton,
    ListRow,
    ListView,
    ScreenWidget,
    Select,
    Tabs,
    TextField,
    TextLabel,
    Tile,
    TileGrid,
    TimeField,
    Toggle,
)
from hexathlon.tasks.gui.world.phone.app import ContentDraws, PhoneApp
from hexathlon.tasks.gui.world.phone.context import AppActs, AppView
from hexathlon.tasks.gui.world.phone.core import PhoneRow

__all__ = ["CalendarApp", "happens_on"]

_REPEATS = ("", "daily", "weekly", "monthly", "yearly")
_TEXTS = ("title", "day", "start", "end", "place", "guests", "calendar", "alarm", "repeat", "note")
_AGENDA_DAYS = 60


class CalendarApp(PhoneApp):
    """Events."""

    name: ClassVar[str] = "calendar"
    icon: ClassVar[str] = "calendar"
    colour = (58, 90, 190)
    tables = {"events": (), "prefs": ()}
    receives = {"text": "edit"}

    def seed(self, draws: ContentDraws) -> None:
        """Draw events and settings."""
        draw_events(draws)
        for name in CALENDARS:
            draws.add("prefs", id=f"show_{name}", value=True)
        draws.add("prefs", id="alarm", value=draws.pick(("", "10", "30")))
        draws.add("prefs", id="sunday_first", value=False)

    # Views -------------------------------------------------------------------------------------

    def screen_home(self, view: AppView) -> ScreenWidget:
        """Agenda, one day, or a month."""
        tab = view.value("tab", "agenda")
        chosen = view.value("day", view.today.isoformat())
        shown = [row for row in view.rows("events") if _pref(view, f"show_{row['calendar']}")]
        if tab == "day":
            children = self._day(view, shown, chosen)
        elif tab == "month":
            children = self._month(view, shown, chosen)
        else:
            children = self._agenda(view, shown)
        tabs = Tabs([
            Choice(view("agenda"), put("tab", "agenda"), tab == "agenda", "list"),
            Choice(view("one_day"), put("tab", "day"), tab == "day", "sun"),
            Choice(view("month"), put("tab", "month"), tab == "month", "calendar"),
        ])  # fmt: skip
        actions = [
            BarAction("search", view("search"), go("search")),
            BarAction("gear", view("settings"), go("settings"), rare=True),
        ]
        day = chosen if tab != "agenda" else view.today.isoformat()
        return AppPage(view("app_title"), children, actions,
                    BarAction("plus", view("new_event"), go("edit", day=day)), tabs,
                    home=True)  # fmt: skip

    def _agenda(self, view: AppView, rows: Sequence[PhoneRow]) -> list[Any]:
        days = [(view.today + timedelta(days=number)).isoformat() for number in range(_AGENDA_DAYS)]
        ordered = sorted(rows, key=_order)
        entries = [(day, row) for day in days for row in ordered
                   if row["day"] == day or (row["repeat"] and happens_on(row, day))]  # fmt: skip

        def build(entry: tuple[str, PhoneRow]) -> ListRow:
            day, row = entry
            if day == view.today.isoformat():
                return self._row(view, row, day, view("today"))
            weekday = weekday_text(day, view.language)
            return self._row(view, row, day, f"{weekday} {view.short_day(day)}")

        return [ListView(entries, build, view("nothing"))]

    def _day(self, view: AppView, rows: Sequence[PhoneRow], chosen: str) -> list[Any]:
        at = date.fromisoformat(chosen)
        inside = sorted((row for row in rows if happens_on(row, chosen)), key=_order)
        return [
            Columns((
                IconButton("left", view("day_before"),
                           put("day", (at - timedelta(days=1)).isoformat())),
                TextLabel(view.full_day(chosen), centre=True),
                IconButton("right", view("day_after"),
                           put("day", (at + timedelta(days=1)).isoformat())),
            ), (1, 4, 1)),
            *[self._row(view, row, chosen, "") for row in inside],
            None if inside else TextLabel(view("nothing"), "dim", centre=True),
        ]  # fmt: skip

    def _month(self, view: AppView, rows: Sequence[PhoneRow], chosen: str) -> list[Any]:
        year, month = int(chosen[:4]), int(chosen[5:7])
        first = date(year, month, 1)
        before = (first - timedelta(days=1)).replace(day=1).isoformat()
        after = (first + timedelta(days=31)).replace(day=1).isoformat()
        shift = 1 if _pref(view, "sunday_first") else 0
        names = list("一二三四五六日") if view.language == "zh" else [n[:2] for n in WEEKDAYS]
        names = names[7 - shift :] + names[: 7 - shift]
        tiles = [Tile(name, text=name) for name in names]
        tiles += [Tile("")] * ((first.weekday() + shift) % 7)
        for number in range(1, calendar.monthrange(year, month)[1] + 1):
            day = f"{chosen[:7]}-{number:02d}"
            count = sum(happens_on(row, day) for row in rows)
            tiles.append(Tile(view.full_day(day), put("day", day), text=str(number),
                              selected=day == chosen, mark="•" * min(count, 3)))  # fmt: skip
        inside = sorted((row for row in rows if happens_on(row, chosen)), key=_order)
        return [
            Columns((
                IconButton("left", view("previous_month"), put("day", before)),
                TextLabel(month_text(year, month, view.language), centre=True),
                IconButton("right", view("next_month"), put("day", after)),
            ), (1, 4, 1)),
            TileGrid(tiles, 7, 44),
            Heading(view.full_day(chosen)),
            *[self._row(view, row, chosen, "") for row in inside],
            None if inside else TextLabel(view("nothing"), "dim"),
        ]  # fmt: skip

    def _row(self, view: AppView, row: PhoneRow, day: str, when: str) -> ListRow:
        time = view("all_day") if row["all_day"] else (
            f"{view.time(row['start'])} – {view.time(row['end'])}")  # fmt: skip
        detail = " · ".join(part for part in (when, time, row["place"]) if part)
        icon = {"work": "work", "family": "home", "personal": "person"}[row["calendar"]]
        return ListRow(row["title"], detail, go("event", id=row["id"], day=day), icon=icon,
                       swipe_left=do("ask_delete", id=row["id"]))  # fmt: skip

    def screen_search(self, view: AppView) -> ScreenWidget:
        """Events by title, place, guests or note, past ones included."""
        wanted = view.value("query").casefold().strip()
        rows = [
            row for row in view.rows("events")
            if wanted and any(wanted in row[name].casefold()
                              for name in ("title", "place", "guests", "note"))
        ]  # fmt: skip
        rows.sort(key=lambda row: (row["day"], *_order(row)))

        def build(row: PhoneRow) -> ListRow:
            return self._row(view, row, row["day"], view.day(row["day"]))

        return AppPage(view("search"), [ListView(rows, build, view("nothing") if wanted else "")],
                    search=TextField("query", view("search"), kind="search"))  # fmt: skip

    # One event ---------------------------------------------------------------------------------

    def screen_event(self, view: AppView) -> ScreenWidget:
        """One event."""
        row = view.row("events", view.params["id"])
        if row is None:
            return AppPage(view("app_title"), [TextLabel(view("nothing"), "dim")])
        key = row["id"]
        day = view.params.get("day") or row["day"]
        if not happens_on(row, day):  # has moved since the list was shown
            day = row["day"]
        time = view("all_day") if row["all_day"] else (
            f"{view.time(row['start'])} – {view.time(row['end'])}")  # fmt: skip
        children: list[Any] = [
            TextLabel(row["title"], "title"),
            ListRow(view.full_day(day), time, icon="calendar"),
        ]
        if row["place"]:
            children.append(
                ListRow(
                    row["place"],
                    view("place"),
                    icon="place",
                    on=open_app("maps", "search", query=row["place"]),
                )
            )
        children.append(ListRow(alarm_text(view, row["alarm"]), view("alarm"), icon="bell"))
        if row["repeat"]:
            children.append(ListRow(view(row["repeat"]), view("repeat"), icon="repeat"))
        children.append(ListRow(view(row["calendar"]), view("calendar"), icon="folder"))
        if row["note"]:
            children += [Heading(view("note")), TextLabel(row["note"])]
        if row["guests"]:
            children.append(Heading(view("guests")))
            children += [
                ListRow(name, on=open_app("messages", "compose", to=name), avatar=name,
                        icon="person") for name in row["guests"].split(", ")
            ]  # fmt: skip
        actions = [
            BarAction("edit", view("edit"), go("edit", id=key)),
            BarAction("delete", view("delete"), do("ask_delete", id=key)),
            BarAction("link", view("duplicate"), do("duplicate", id=key), rare=True),
            BarAction("share", view("share"), do("share", id=key), rare=True),
        ]
        return AppPage(view("event"), children, actions)

    def screen_edit(self, view: AppView) -> ScreenWidget:
        """The event form, which also receives what other apps share."""
        key = view.params.get("id")
        row = _first(view)
        all_day = view.value("all_day", row["all_day"])
        guests = str(view.value("guests", row["guests"]))
        names = [name for name in guests.split(", ") if name]
        times = () if all_day else (
            TimeField("start", view("start"), row["start"], do("move_end")),
            TimeField("end", view("end"), row["end"]))  # fmt: skip
        return AppPage(view("edit_event" if key else "new_event"), [
            TextField("title", view("title"), row["title"]),
            DateField("day", view("day"), row["day"]),
            Toggle(view("all_day"), all_day, key="all_day"), *times,
            TextField("place", view("place"), row["place"]),
            ListRow(view("guests"), ", ".join(names) or view("none"),
                    go("guests", chosen=names), icon="group"),
            Select("calendar", view("calendar"), [(name, view(name)) for name in CALENDARS],
                   row["calendar"]),
            Select("alarm", view("alarm"), [(each, alarm_text(view, each)) for each in ALARMS],
                   row["alarm"]),
            Select("repeat", view("repeat"), [(each, view(each or "once")) for each in _REPEATS],
                   row["repeat"]),
            TextField("note", view("note"), row["note"], multiline=True),
        ], [BarAction("check", view("save"), do("save", id=key))])  # fmt: skip

    def screen_guests(self, view: AppView) -> ScreenWidget:
        """The guests, chosen from the contacts."""
        chosen = view.value("chosen", view.params["chosen"])
        wanted = view.value("query").casefold().strip()
        rows = [row for row in view.rows("contacts.contacts")
                if wanted in row["name"].casefold()]  # fmt: skip
        rows.sort(key=lambda row: (row["name"] not in view.params["chosen"],
                                   row["name"].casefold()))  # fmt: skip

        def build(row: PhoneRow) -> Checkbox:
            return Checkbox(row["name"], row["name"] in chosen, do("invite", name=row["name"]))

        return AppPage(view("guests"), [ListView(rows, build, view("nothing"))],
                    [BarAction("check", view("take_over"), do("take_guests"))],
                    search=TextField("query", view("search"), kind="search"))  # fmt: skip

    def screen_overlap(self, view: AppView) -> ScreenWidget:
        """Asks whether an event may overlap another one."""
        return Dialog(view("overlap_question"), view.params["other"], (), (
            (view("save_anyway"), do("save_anyway")), (view("go_back"), BACK),
        ))  # fmt: skip

    def screen_settings(self, view: AppView) -> ScreenWidget:
        """Visible calendars and the default reminder."""
        alarms = [(each, alarm_text(view, each)) for each in ALARMS]
        return AppPage(view("settings"), [
            Heading(view("shown_calendars")),
            *[Toggle(view(name), _pref(view, f"show_{name}"),
                   do("set", name=f"show_{name}", value=not _pref(view, f"show_{name}")))
              for name in CALENDARS],
            Heading(view("usual")),
            Select("alarm", view("usual_alarm"), alarms, _pref(view, "alarm"),
                   do("set", name="alarm")),
            Toggle(view("sunday_first"), _pref(view, "sunday_first"),
                   do("set", name="sunday_first", value=not _pref(view, "sunday_first"))),
        ])  # fmt: skip

    # Handlers ----------------------------------------------------------------------------------

    def do_invite(self, acts: AppActs, name: str, value: bool = False) -> None:
        """Add or remove a guest in the list of guests."""
        chosen = list(acts.value("chosen", acts.params["chosen"]))
        if name in chosen:
            chosen.remove(name)
        else:
            chosen.append(name)
        acts.put("chosen", chosen)

    def do_move_end(self, acts: AppActs, value: str) -> None:
        """Keep the duration of an event whose start was changed."""
        first = _first(acts)
        old, end = acts.value("begun", first["start"]), acts.value("end", first["end"])
        length = _minutes(end or "10:00") - _minutes(old or "09:00")
        last = min(_minutes(value) + max(length, 0), 23 * 60 + 59)
        acts.put("begun", value)
        acts.put("end", f"{last // 60:02d}:{last % 60:02d}")

    def do_take_guests(self, acts: AppActs) -> None:
        """Put the chosen guests into the form."""
        chosen = acts.value("chosen", acts.params["chosen"])
        acts.back()
        acts.put("guests", ", ".join(sorted(chosen)))

    def do_save(self, acts: AppActs, id: int | None) -> None:
        """Check the form and store it; ask if the time is taken."""
        values = _written(acts)
        if not values["title"]:
            acts.toast(acts("title_missing"))
        elif not values["all_day"] and values["end"] <= values["start"]:
            acts.toast(acts("wrong_times"))
        else:
            other = _overlap(acts, id, values)
            if other is None:
                self._store(acts, id, values)
            else:
                acts.go("overlap", other=f"{other['title']} · {acts.time(other['start'])}")

    def do_save_anyway(self, acts: AppActs) -> None:
        """Store the form below the dialog."""
        acts.back()
        below = AppActs(acts.core, acts.look, acts.core.top, self.name)
        self._store(below, below.params.get("id"), _written(below))

    def _store(self, acts: AppActs, id: int | None, values: dict[str, Any]) -> None:
        acts.back()
        if id:
            acts.change("events", id, **values)
        else:
            acts.add("events", **values)
        acts.toast(acts("saved"))

    def do_ask_delete(self, acts: AppActs, id: int) -> None:
        """Ask before an event is deleted."""
        row = acts.row("events", id)
        acts.confirm(acts("delete_question"), do("delete", id=id), acts("delete"),
                     row["title"] if row else "")  # fmt: skip

    def do_delete(self, acts: AppActs, id: int) -> None:
        """Delete an event."""
        if acts.core.top.name == "event":
            acts.back()
        acts.remove("events", id)
        acts.toast(acts("deleted"))

    def do_duplicate(self, acts: AppActs, id: int) -> None:
        """Open the form for a new event with the same data."""
        row = acts.row("events", id)
        if row is not None:
            acts.go("edit", **{name: row[name] for name in (*_TEXTS, "all_day")})

    def do_share(self, acts: AppActs, id: int) -> None:
        """Share an event as text."""
        row = acts.row("events", id)
        if row is not None:
            when = f"{acts.day(row['day'])} {acts.time(row['start'])}".strip()
            acts.share(row["title"], f"{row['title']}: {when}, {row['place']}".rstrip(", "))

    def do_set(self, acts: AppActs, name: str, value: Any) -> None:
        """Change a setting."""
        acts.change("prefs", name, value=value)


def happens_on(row: PhoneRow, day: str) -> bool:
    """Whether an event takes place on a day, `YYYY-MM-DD`."""
    if row["day"] == day or not row["repeat"] or day < row["day"]:
        return bool(row["day"] == day)
    repeat = row["repeat"]
    if repeat == "weekly":
        return date.fromisoformat(day).weekday() == date.fromisoformat(row["day"]).weekday()
    first, length = {"daily": (10, 0), "monthly": (8, 2), "yearly": (5, 5)}[repeat]
    return bool(row["day"][first : first + length] == day[first : first + length])


def alarm_text(view: AppView, alarm: str) -> str:
    """Return the text of a reminder, given in minutes before the event."""
    if not alarm:
        return view("no_alarm")
    minutes = int(alarm)
    if minutes == 0:
        return view("at_start")
    if minutes == 1440:
        return view("day_ahead")
    if minutes < 60:
        return view("minutes_before", n=minutes)
    return view("hour_before") if minutes == 60 else view("hours_before", n=minutes // 60)


def _minutes(time: str) -> int:
    return int(time[:2]) * 60 + int(time[3:5])


def _order(row: PhoneRow) -> tuple[str, str, int]:
    return row["start"], row["title"], row["id"]


def _pref(view: AppView, name: str) -> Any:
    row = view.row("prefs", name)
    return row["value"] if row else ""


def _first(view: AppView) -> dict[str, Any]:
    """Return the form's initial values: an event's, or those passed in."""
    key = view.params.get("id")
    row = view.row("events", key) if key else None
    if row is not None:
        return {name: row[name] for name in (*_TEXTS, "all_day")}
    given = view.params
    usual = {
        "title": given.get("title") or given.get("text", ""), "day": view.today.isoformat(),
        "start": "09:00", "end": "10:00", "place": "", "guests": "", "calendar": "personal",
        "alarm": _pref(view, "alarm"), "repeat": "",
        "note": given.get("text", "") if given.get("title") else "", "all_day": False,
    }  # fmt: skip
    return {name: given.get(name) or value if name != "alarm" else given.get(name, value)
            for name, value in usual.items()}  # fmt: skip


def _written(view: AppView) -> dict[str, Any]:
    values = {name: view.value(name, value) for name, value in _first(view).items()}
    values = {name: value.strip() if isinstance(value, str) else value
              for name, value in values.items()}  # fmt: skip
    if values["all_day"]:
        values["start"] = values["end"] = ""
    else:
        values["start"] = values["start"] or "09:00"
        values["end"] = values["end"] or "10:00"
    return values


def _overlap(view: AppView, key: int | None, values: dict[str, Any]) -> PhoneRow | None:
    """Return the first event that overlaps the event in the form."""
    if values["all_day"]:
        return None
    rows = [
        row for row in view.rows("events")
        if row["id"] != key and not row["all_day"] and happens_on(row, values["day"])
        and row["start"] < values["end"] and values["start"] < row["end"]
    ]  # fmt: skip
    return min(rows, key=_order, default=None)
