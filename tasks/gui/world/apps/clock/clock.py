"""The clock app: alarms, a world clock, a stopwatch and timers."""

from datetime import datetime, timedelta
from typing import Any, ClassVar

from hexathlon.tasks.gui.world.apps.clock.cities import CITIES, city_name
from hexathlon.tasks.gui.world.kit.dates import WEEKDAYS
from hexathlon.tasks.gui.world.kit.events import do, go, put
from hexathlon.tasks.gui.world.kit.widgets import (
    AppPage,
    BarAction,
    Button,
    Card,
    Checkbox,
    Choice,
    Columns,
    Heading,
    IconButton,
    ListRow,
    ListView,
    ScreenWidget,
    Select,
    Spacer,
    Tabs,
    TextField,
    TextLabel,
    TimeField,
    Toggle,
)
from hexathlon.tasks.gui.world.phone.app import ContentDraws, PhoneApp
from hexathlon.tasks.gui.world.phone.context import AppActs, AppView
from hexathlon.tasks.gui.world.phone.core import PhoneRow

__all__ = ["ALARM_SOUNDS", "ClockApp", "days_text"]

ALARM_SOUNDS = ("Aurora", "Breeze", "Cascade", "Ember", "Lark", "Meadow")
_SNOOZES = ("5", "10", "15")
_LABELS = (
    "Wake up|起床", "Early shift|早班", "Medicine|吃药", "Gym|健身", "School run|送孩子上学",
    "Bread out of the oven|面包出炉", "Feed the cat|喂猫", "Stand-up call|站会", "Nap|午睡",
    "Water the seedlings|浇苗", "Late shift|晚班", "Laundry|洗衣服",
)  # fmt: skip
_TIMERS = (
    "Tea|泡茶|4", "Pasta|煮面|9", "Eggs|煮蛋|7", "Plank|平板支撑|2", "Meditation|冥想|15",
    "Rice|煮饭|18", "Dough|发面|45", "Reading|阅读|25", "Laundry|洗衣|40", "Pizza|披萨|12",
    "Break|休息|10", "Steak|牛排|6",
)  # fmt: skip


class ClockApp(PhoneApp):
    """Alarms, cities, stopwatch and timers."""

    name: ClassVar[str] = "clock"
    icon: ClassVar[str] = "clock"
    colour = (30, 36, 60)
    tables = {"alarms": (), "cities": (), "timers": ("ends", "left"), "watch": (), "prefs": ()}
    ephemeral = ("watch",)

    def seed(self, draws: ContentDraws) -> None:
        """Draw alarms at look-alike times, cities and timers."""
        side = 1 if draws.language == "zh" else 0
        times: set[str] = set()
        for _ in range(6 + 2 * draws.scale):
            time = f"{draws.pick((5, 6, 6, 7, 7, 8, 14, 17, 19, 21)):02d}"
            time = f"{time}:{draws.between(0, 11) * 5:02d}"
            if time in times:
                continue
            times.add(time)
            days = draws.pick(("12345", "67", "", "135", "24", "1234567", "3"))
            label = draws.pick(draws.own(_LABELS)).split("|")[side] if draws.chance(0.7) else ""
            draws.add("alarms", time=time, days=days, label=label, on=draws.chance(0.5),
                      sound=draws.pick(ALARM_SOUNDS), snooze=draws.pick(_SNOOZES),
                      vibrate=draws.chance(0.5))  # fmt: skip
        for key in draws.sample(sorted(CITIES), 4 + draws.scale):
            draws.add("cities", city=key)
        for text in draws.sample(_TIMERS, 3 + draws.scale):
            seconds = int(text.split("|")[2]) * 60 + draws.pick((0, 0, 30, 60))
            draws.add("timers", label=text.split("|")[side], seconds=seconds, running=False,
                      ends="", left=seconds)  # fmt: skip
        draws.add("watch", id="watch", since="", kept=0, laps=())
        draws.add("prefs", id="snooze", value=draws.pick(_SNOOZES))
        draws.add("prefs", id="gentle", value=draws.chance(0.5))
        draws.add("prefs", id="sound", value=draws.pick(ALARM_SOUNDS))

    # Screens -----------------------------------------------------------------------------------

    def screen_home(self, view: AppView) -> ScreenWidget:
        """Alarms, cities, the stopwatch or timers."""
        tab = view.value("tab", "alarms")
        create = {
            "alarms": BarAction("plus", view("new_alarm"), go("alarm")),
            "world": BarAction("plus", view("add_city"), go("cities")),
            "timers": BarAction("plus", view("new_timer"), go("timer")),
        }.get(tab)
        children = {
            "alarms": self._alarms, "world": self._world, "watch": self._watch,
            "timers": self._timers,
        }[tab](view)  # fmt: skip
        tabs = Tabs([
            Choice(view(name), put("tab", name), tab == name, icon)
            for name, icon in (("alarms", "alarm"), ("world", "globe"), ("watch", "timer"),
                               ("timers", "repeat"))
        ])  # fmt: skip
        return AppPage(view("app_title"), children,
                    [BarAction("gear", view("settings"), go("settings"), rare=True)], create, tabs,
                    home=True)  # fmt: skip

    def _alarms(self, view: AppView) -> list[Any]:
        rows = sorted(view.rows("alarms"), key=lambda row: (row["time"], row["id"]))

        def build(row: PhoneRow) -> ListRow:
            detail = days_text(view, row["days"])
            if row["label"]:
                detail = f"{row['label']} · {detail}"
            return ListRow(
                view.time(row["time"]), detail, go("alarm", id=row["id"]),
                swipe_left=do("ask_delete_alarm", id=row["id"]),
                trailing=Toggle(view("alarm_at", time=view.time(row["time"])), row["on"],
                                do("switch", id=row["id"])),
            )  # fmt: skip

        return [ListView(rows, build, view("nothing"))]

    def _world(self, view: AppView) -> list[Any]:
        def build(row: PhoneRow) -> ListRow:
            there = view.now + timedelta(minutes=CITIES[row["city"]][1])
            ahead = (there.date() - view.today).days
            day = view(("yesterday", "today", "tomorrow")[ahead + 1])
            name = city_name(row["city"], view.language)
            return ListRow(name, f"{day}, {_offset(CITIES[row['city']][1])}",
                           value=view.time(f"{there:%H:%M}"),
                           swipe_left=do("drop_city", id=row["id"]),
                           trailing=IconButton("close", view("drop_city", name=name),
                                               do("drop_city", id=row["id"])))  # fmt: skip

        here = view.time(f"{view.now:%H:%M}")
        return [TextLabel(here, "big", centre=True), TextLabel(view("here"), "dim", centre=True),
                ListView(view.rows("cities"), build, view("nothing"))]  # fmt: skip

    def _watch(self, view: AppView) -> list[Any]:
        row = view.row("watch", "watch") or {"since": "", "kept": 0, "laps": ()}
        total = _elapsed(view, row)
        buttons = [Button(view("stop" if row["since"] else "start"), do("watch"))]
        if row["since"]:
            buttons.append(Button(view("lap"), do("lap"), "outlined"))
        elif total:
            buttons.append(Button(view("reset"), do("reset_watch"), "outlined"))
        laps = [
            ListRow(view("lap_number", n=number), value=_span(seconds), icon="flag")
            for number, seconds in enumerate(row["laps"], 1)
        ]
        return [Spacer(30), TextLabel(_span(total), "big", centre=True), Spacer(20),
                Columns(buttons), Spacer(10), *reversed(laps)]  # fmt: skip

    def _timers(self, view: AppView) -> list[Any]:
        rows = view.rows("timers")
        if not rows:
            return [TextLabel(view("nothing"), "dim", centre=True)]
        return [
            Card((
                Columns((
                    TextLabel(row["label"] or view("timer"), "title"),
                    TextLabel(_span(_left(view, row)), "title"),
                ), (3, 2)),
                Columns((
                    Button(view("pause" if row["running"] else "start_timer",
                                name=row["label"] or _span(row["seconds"])),
                           do("run", id=row["id"]), "filled" if not row["running"] else "outlined"),
                    IconButton("edit", "", go("timer", id=row["id"])),
                    IconButton("refresh", "", do("reset", id=row["id"])),
                ), (4, 1, 1)),
            ))
            for row in rows
        ]  # fmt: skip

    def screen_alarm(self, view: AppView) -> ScreenWidget:
        """The alarm form."""
        key = view.params.get("id")
        row = _alarm(view)
        days = view.value("days", row["days"])
        names = _short_days(view)
        chips: list[Any] = [
            Columns(tuple(
                Checkbox(names[number], str(number + 1) in days, do("day", day=str(number + 1)))
                for number in part
            )) for part in ((0, 1), (2, 3), (4, 5), (6,))
        ]  # fmt: skip
        actions = [BarAction("check", view("save"), do("save_alarm", id=key))]
        if key:
            actions.append(BarAction("delete", view("delete"), do("ask_delete_alarm", id=key),
                                     rare=True))  # fmt: skip
        return AppPage(view("edit_alarm" if key else "new_alarm"), [
            TimeField("time", view("time"), row["time"]),
            Heading(view("days")), *chips,
            TextField("label", view("label"), row["label"]),
            Select("sound", view("sound"), [(each, each) for each in ALARM_SOUNDS], row["sound"]),
            Select("snooze", view("snooze"), [(n, view("minutes", n=n)) for n in _SNOOZES],
                   row["snooze"]),
            Toggle(view("vibrate"), row["vibrate"], key="vibrate"),
        ], actions)  # fmt: skip

    def screen_cities(self, view: AppView) -> ScreenWidget:
        """Cities to add."""
        wanted = view.value("query").casefold().strip()
        have = {row["city"] for row in view.rows("cities")}
        keys = [key for key in CITIES if key not in have
                and wanted in city_name(key, view.language).casefold()]  # fmt: skip
        keys.sort(key=lambda key: city_name(key, view.language))

        def build(key: str) -> ListRow:
            return ListRow(city_name(key, view.language), _offset(CITIES[key][1]),
                           do("add_city", city=key), icon="globe")  # fmt: skip

        return AppPage(view("add_city"), [ListView(keys, build, view("nothing"))],
                    search=TextField("query", view("search"), kind="search"))  # fmt: skip

    def screen_timer(self, view: AppView) -> ScreenWidget:
        """The timer form."""
        key = view.params.get("id")
        row = (view.row("timers", key) if key else None) or {"label": "", "seconds": 300}
        minutes, seconds = divmod(row["seconds"], 60)
        actions = [BarAction("check", view("save"), do("save_timer", id=key))]
        if key:
            actions.append(BarAction("delete", view("delete"), do("delete_timer", id=key),
                                     rare=True))  # fmt: skip
        return AppPage(view("edit_timer" if key else "new_timer"), [
            TextField("label", view("label"), row["label"]),
            TextField("minutes", view("minutes_field"), str(minutes), kind="number"),
            TextField("seconds", view("seconds_field"), str(seconds), kind="number"),
        ], actions)  # fmt: skip

    def screen_settings(self, view: AppView) -> ScreenWidget:
        """Defaults for new alarms."""
        values = {row["id"]: row["value"] for row in view.rows("prefs")}
        return AppPage(view("settings"), [
            Select("sound", view("sound"), [(each, each) for each in ALARM_SOUNDS],
                   values["sound"], do("set", name="sound")),
            Select("snooze", view("snooze"), [(n, view("minutes", n=n)) for n in _SNOOZES],
                   values["snooze"], do("set", name="snooze")),
            Toggle(view("gentle"), bool(values["gentle"]),
                   do("set", name="gentle", value=not values["gentle"])),
        ])  # fmt: skip

    # Handlers ----------------------------------------------------------------------------------

    def do_switch(self, acts: AppActs, id: int, value: bool = False) -> None:
        """Turn an alarm on or off."""
        row = acts.row("alarms", id)
        acts.change("alarms", id, on=not (row and row["on"]))

    def do_day(self, acts: AppActs, day: str, value: bool = False) -> None:
        """Add or remove a weekday in the form."""
        days = set(acts.value("days", _alarm(acts)["days"])) ^ {day}
        acts.put("days", "".join(sorted(days)))

    def do_save_alarm(self, acts: AppActs, id: int | None) -> None:
        """Store the alarm form and turn the alarm on."""
        values = {name: acts.value(name, value) for name, value in _alarm(acts).items()}
        values["label"] = values["label"].strip()
        acts.back()
        if id:
            acts.change("alarms", id, **values, on=True)
        else:
            acts.add("alarms", **values, on=True)
        acts.toast(acts("alarm_set", time=acts.time(values["time"])))

    def do_ask_delete_alarm(self, acts: AppActs, id: int) -> None:
        """Ask before an alarm is deleted."""
        row = acts.row("alarms", id)
        acts.confirm(acts("delete_question"), do("delete_alarm", id=id), acts("delete"),
                     acts.time(row["time"]) if row else "")  # fmt: skip

    def do_delete_alarm(self, acts: AppActs, id: int) -> None:
        """Delete an alarm."""
        acts.back_to("home")
        acts.remove("alarms", id)
        acts.toast(acts("deleted"))

    def do_add_city(self, acts: AppActs, city: str) -> None:
        """Add a city."""
        acts.back()
        acts.add("cities", city=city)

    def do_drop_city(self, acts: AppActs, id: int) -> None:
        """Remove a city."""
        acts.remove("cities", id)

    def do_watch(self, acts: AppActs) -> None:
        """Start or stop the stopwatch."""
        row = acts.row("watch", "watch")
        if row is not None:
            running = bool(row["since"])
            acts.change("watch", "watch", kept=_elapsed(acts, row),
                        since="" if running else acts.now.isoformat())  # fmt: skip

    def do_lap(self, acts: AppActs) -> None:
        """Record a lap."""
        row = acts.row("watch", "watch")
        if row is not None:
            acts.change("watch", "watch", laps=(*row["laps"], _elapsed(acts, row)))

    def do_reset_watch(self, acts: AppActs) -> None:
        """Set the stopwatch to zero."""
        acts.change("watch", "watch", kept=0, since="", laps=())

    def do_run(self, acts: AppActs, id: int) -> None:
        """Start or pause a timer."""
        row = acts.row("timers", id)
        if row is None:
            return
        left = _left(acts, row) or row["seconds"]
        if row["running"]:
            acts.change("timers", id, running=False, ends="", left=left)
        else:
            ends = (acts.now + timedelta(seconds=left)).isoformat()
            acts.change("timers", id, running=True, ends=ends, left=left)

    def do_reset(self, acts: AppActs, id: int) -> None:
        """Reset a timer."""
        row = acts.row("timers", id)
        if row is not None:
            acts.change("timers", id, running=False, ends="", left=row["seconds"])

    def do_save_timer(self, acts: AppActs, id: int | None) -> None:
        """Store the timer form."""
        row = (acts.row("timers", id) if id else None) or {"label": "", "seconds": 300}
        label = str(acts.value("label", row["label"])).strip()
        minutes = str(acts.value("minutes", str(row["seconds"] // 60))).strip() or "0"
        seconds = str(acts.value("seconds", str(row["seconds"] % 60))).strip() or "0"
        if not (minutes.isascii() and minutes.isdigit() and seconds.isascii()
                and seconds.isdigit() and int(minutes[:5]) * 60 + int(seconds[:5])):  # fmt: skip
            acts.toast(acts("wrong_duration"))
            return
        total = int(minutes[:5]) * 60 + int(seconds[:5])
        acts.back()
        values = {"label": label, "seconds": total, "running": False, "ends": "", "left": total}
        if id:
            acts.change("timers", id, **values)
        else:
            acts.add("timers", **values)
        acts.toast(acts("saved"))

    def do_delete_timer(self, acts: AppActs, id: int) -> None:
        """Delete a timer."""
        acts.back()
        acts.remove("timers", id)

    def do_set(self, acts: AppActs, name: str, value: Any) -> None:
        """Change a setting."""
        acts.change("prefs", name, value=value)


def days_text(view: AppView, days: str) -> str:
    """Return the weekdays of an alarm, given as digits, 1 for Monday."""
    if days in ("", "12345", "67", "1234567"):
        return view({"": "once", "12345": "weekdays", "67": "weekend"}.get(days, "every_day"))
    names = _short_days(view)
    return ("、" if view.language == "zh" else " ").join(names[int(day) - 1] for day in days)


def _short_days(view: AppView) -> list[str]:
    if view.language == "zh":
        return [f"周{each}" for each in "一二三四五六日"]
    return [name[:3] for name in WEEKDAYS]


def _alarm(view: AppView) -> dict[str, Any]:
    """Return the initial values of the alarm form."""
    key = view.params.get("id")
    row = view.row("alarms", key) if key else None
    names = ("time", "days", "label", "sound", "snooze", "vibrate")
    if row is not None:
        return {name: row[name] for name in names}
    values = {each["id"]: each["value"] for each in view.rows("prefs")}
    return {"time": "07:00", "days": "", "label": "", "sound": values["sound"],
            "snooze": values["snooze"], "vibrate": True}  # fmt: skip


def _offset(minutes: int) -> str:
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours}:{rest:02d}"


def _span(seconds: int) -> str:
    hours, rest = divmod(seconds, 3600)
    text = f"{rest // 60:02d}:{rest % 60:02d}"
    return f"{hours}:{text}" if hours else text


def _elapsed(view: AppView, row: PhoneRow) -> int:
    since = row["since"]
    passed = (view.now - datetime.fromisoformat(since)).total_seconds() if since else 0
    return int(row["kept"] + passed)


def _left(view: AppView, row: PhoneRow) -> int:
    if not row["running"]:
        return int(row["left"])
    return max(0, int((datetime.fromisoformat(row["ends"]) - view.now).total_seconds()))
