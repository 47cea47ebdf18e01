"""The phone's own screens: launcher, notifications, pickers, dialogs, share sheet, calls."""

import calendar
from datetime import date, timedelta
from typing import Any, ClassVar

from hexathlon.tasks.gui.world.apps.names import APP_NAMES
from hexathlon.tasks.gui.world.apps.table import app_named
from hexathlon.tasks.gui.world.kit.dates import WEEKDAYS, day_text, month_text, weekday_text
from hexathlon.tasks.gui.world.kit.events import BACK, PhoneEvent, do, put
from hexathlon.tasks.gui.world.kit.widgets import (
    AppPage,
    BottomSheet,
    Button,
    Chips,
    Choice,
    Columns,
    Dialog,
    Heading,
    IconButton,
    ListRow,
    Menu,
    ScreenWidget,
    Slider,
    Spacer,
    TextLabel,
    Tile,
    TileGrid,
)
from hexathlon.tasks.gui.world.kit.words import label
from hexathlon.tasks.gui.world.phone.app import PhoneApp
from hexathlon.tasks.gui.world.phone.context import AppActs, AppView
from hexathlon.tasks.gui.world.phone.core import ScreenState

__all__ = ["QUICK_SETTINGS", "SystemApp"]

QUICK_SETTINGS = ("wifi", "bluetooth", "airplane", "do_not_disturb", "flashlight", "battery_saver")


def _title(name: str, view: AppView) -> str:
    return label(name, "app_title", view.language, 0)


class SystemApp(PhoneApp):
    """Screens that belong to the phone."""

    name: ClassVar[str] = "system"
    icon: ClassVar[str] = "phone"
    colour = (60, 60, 70)
    tables = {"notices": ()}
    ephemeral = ("notices",)

    def screen_home(self, view: AppView) -> ScreenWidget:
        """The launcher."""
        tiles = []
        for name in APP_NAMES:
            app = app_named(name)
            tiles.append(Tile(_title(name, view), PhoneEvent("start", name), icon=app.icon,
                              colour=app.colour))  # fmt: skip
        today = view.today.isoformat()
        return AppPage("", [
            Spacer(10),
            TextLabel(view.now.strftime("%H:%M"), "big", centre=True),
            TextLabel(f"{weekday_text(today, view.language)} {view.short_day(today)}", "dim",
                  centre=True),
            Spacer(16), TileGrid(tiles, 4),
        ], home=True)  # fmt: skip

    def screen_recents(self, view: AppView) -> ScreenWidget:
        """Apps in use, the latest first."""
        rows: list[Any] = [
            ListRow(_title(name, view), view.core.kept[name][-1].name, PhoneEvent("resume", name),
                    icon=app_named(name).icon,
                    trailing=IconButton("close", view("close_app"), do("close_app", app=name)),
                    swipe_left=do("close_app", app=name), swipe_right=do("close_app", app=name))
            for name in reversed(view.core.kept)
        ]  # fmt: skip
        if not rows:
            rows = [TextLabel(view("no_recents"), "dim", centre=True)]
        else:
            rows.append(Button(view("close_all"), do("close_all"), "outlined"))
        return AppPage(view("recents"), rows)

    def do_close_app(self, acts: AppActs, app: str) -> None:
        """Forget the screens of an app."""
        acts.core.kept.pop(app, None)

    def do_close_all(self, acts: AppActs) -> None:
        """Forget the screens of all apps."""
        acts.core.kept.clear()

    # Notifications -----------------------------------------------------------------------------

    def screen_shade(self, view: AppView) -> ScreenWidget:
        """Notifications and quick settings."""
        chips = [
            Choice(view(name), do("flip", name=name), bool(view.setting(name)))
            for name in QUICK_SETTINGS
        ]
        notices = sorted(view.rows("notices"), key=lambda row: -row["id"])
        rows: list[Any] = [
            ListRow(f"{_title(row['app'], view)}: {row['title']}", row["text"],
                    do("open_notice", id=row["id"]), value=view.moment(row["time"]),
                    icon=app_named(row["app"]).icon, lines=2,
                    swipe_left=do("dismiss", id=row["id"]), swipe_right=do("dismiss", id=row["id"]))
            for row in notices
        ]  # fmt: skip
        if rows:
            rows.append(Button(view("clear_all"), do("clear_all"), "text"))
        else:
            rows = [TextLabel(view("no_notifications"), "dim", centre=True)]
        level = int(view.setting("brightness"))
        return AppPage(view("notifications"), [
            Chips(chips),
            Slider("brightness", view("brightness"), level, on=do("brightness")),
            Heading(view("notifications")), *rows,
        ])  # fmt: skip

    def do_flip(self, acts: AppActs, name: str) -> None:
        """Turn a quick setting on or off."""
        acts.change("settings.values", name, value=not acts.setting(name))

    def do_brightness(self, acts: AppActs, value: int) -> None:
        """Set the brightness."""
        acts.change("settings.values", "brightness", value=value)

    def do_open_notice(self, acts: AppActs, id: int) -> None:
        """Open the screen that a notification refers to."""
        row = acts.row("notices", id)
        acts.remove("notices", id)
        if row is not None:
            event = row["event"] or PhoneEvent("start", row["app"])
            acts.core.pop()
            if event.kind == "start":
                acts.core.dispatch("system", event)
            else:
                acts.core.dispatch("system", PhoneEvent("start", row["app"]))
                acts.core.dispatch(row["app"], event)

    def do_dismiss(self, acts: AppActs, id: int) -> None:
        """Dismiss a notification."""
        acts.remove("notices", id)

    def do_clear_all(self, acts: AppActs) -> None:
        """Dismiss all notifications."""
        acts.core.tables["system.notices"] = {}

    # Questions ---------------------------------------------------------------------------------

    def screen_confirm(self, view: AppView) -> ScreenWidget:
        """A request for confirmation."""
        return Dialog(view.params["question"], view.params["detail"], (), (
            (view.params["yes"], do("confirmed")), (view("cancel"), BACK),
        ))  # fmt: skip

    def do_confirmed(self, acts: AppActs) -> None:
        """Carry out the confirmed action."""
        acts.core.pop()
        acts.core.dispatch(acts.params["owner"], acts.params["event"])

    def screen_menu(self, view: AppView) -> ScreenWidget:
        """Several actions."""
        choices = [
            (text, do("chosen", place=place))
            for place, (text, _) in enumerate(view.params["choices"])
        ]
        if view.params.get("title"):
            return BottomSheet(view.params["title"], [ListRow(text, on=on) for text, on in choices])
        return Menu(choices)

    def do_chosen(self, acts: AppActs, place: int) -> None:
        """Carry out the chosen action."""
        acts.core.pop()
        acts.core.dispatch(acts.params["owner"], acts.params["choices"][place][1])

    def screen_permission(self, view: AppView) -> ScreenWidget:
        """Asks whether an app may have a permission."""
        what = view(f"permission_{view.params['permission']}")
        title = view("permission_question", app=_title(view.params["owner"], view), what=what)
        return Dialog("", title, (), (
            (view("allow"), do("permit", state="allowed")),
            (view("deny"), do("permit", state="denied")),
        ))  # fmt: skip

    def do_permit(self, acts: AppActs, state: str) -> None:
        """Store the answer, and continue if it is yes."""
        owner, permission = acts.params["owner"], acts.params["permission"]
        acts.core.pop()
        acts.core.write("settings.permissions", {
            "id": f"{owner}:{permission}", "app": owner, "permission": permission, "state": state,
        })  # fmt: skip
        if state == "allowed":
            acts.core.dispatch(owner, acts.params["event"])

    # Sharing -----------------------------------------------------------------------------------

    def screen_share(self, view: AppView) -> ScreenWidget:
        """The apps that can receive something."""
        kind, owner = view.params["kind"], view.params["owner"]
        rows: list[Any] = [
            ListRow(_title(name, view), on=do("share_with", app=name), icon=app_named(name).icon)
            for name in APP_NAMES
            if kind in app_named(name).receives and name != owner
        ]
        item = view.params["item"]
        what = item["file"] or item["title"] or item["text"]
        return BottomSheet(view("share_with"), [
            TextLabel(what, "dim", 2), *(rows or [TextLabel(view("no_receiver"), "dim")]),
        ])  # fmt: skip

    def do_share_with(self, acts: AppActs, app: str) -> None:
        """Pass the shared content on."""
        acts.core.pop()
        screen = app_named(app).receives[acts.params["kind"]]
        acts.core.push(ScreenState(app, screen, dict(acts.params["item"])))

    # Pickers -----------------------------------------------------------------------------------

    def screen_select(self, view: AppView) -> ScreenWidget:
        """Options of a field."""
        chosen = view.params["value"]
        return Dialog(view.params["title"], "", [
            ListRow(text, on=do("picked", value=value), selected=value == chosen,
                    icon="check" if value == chosen else "")
            for value, text in view.params["options"]
        ], ((view("cancel"), BACK),))  # fmt: skip

    def do_picked(self, acts: AppActs, value: Any) -> None:
        """Set the value of the field below."""
        key, on, owner = acts.params["key"], acts.params["on"], acts.params["owner"]
        acts.core.pop()
        acts.core.set_value(key, value)
        if on is not None:
            acts.core.dispatch(owner, on._replace(params={**on.params, "value": value}))

    def screen_date(self, view: AppView) -> ScreenWidget:
        """A calendar from which a day is chosen."""
        chosen = view.value("day", view.params["value"]) or view.today.isoformat()
        month = view.value("month", chosen[:7])
        year, number = int(month[:4]), int(month[5:7])
        first = date(year, number, 1)
        before = (first - timedelta(days=1)).isoformat()[:7]
        after = (first + timedelta(days=31)).isoformat()[:7]
        names = "一二三四五六日" if view.language == "zh" else [name[:2] for name in WEEKDAYS]
        tiles = [Tile(name, text=name) for name in names]
        tiles += [Tile("")] * first.weekday()
        for day in range(1, calendar.monthrange(year, number)[1] + 1):
            stamp = f"{month}-{day:02d}"
            tiles.append(Tile(stamp, put("day", stamp), text=str(day), selected=stamp == chosen))
        shown = day_text(chosen, view.look.dates, view.language)
        return Dialog(view.params["title"] or view("choose_date"), "", [
            TextLabel(shown, "title"),
            Columns((
                IconButton("left", view("previous_month"), put("month", before)),
                TextLabel(month_text(year, number, view.language), centre=True),
                IconButton("right", view("next_month"), put("month", after)),
            ), (1, 3, 1)),
            TileGrid(tiles, 7, 38),
        ], ((view("ok"), do("picked", value=chosen)), (view("cancel"), BACK)))  # fmt: skip

    def screen_time(self, view: AppView) -> ScreenWidget:
        """Hour and minute."""
        value = view.params["value"] or "12:00"
        hour = view.value("hour", value[:2])
        minute = view.value("minute", value[3:5])
        chosen = f"{hour}:{minute}"
        hours = [f"{number:02d}" for number in range(24)]
        minutes = [f"{number:02d}" for number in range(0, 60, 5)]
        if minute not in minutes:
            minutes = sorted([*minutes, minute])
        hour_tiles = [Tile(each, put("hour", each), selected=each == hour) for each in hours]
        minute_tiles = [
            Tile(each, put("minute", each), selected=each == minute) for each in minutes
        ]
        return Dialog(view.params["title"] or view("choose_time"), "", [
            TextLabel(view.time(chosen), "big", centre=True),
            Heading(view("hour")), TileGrid(hour_tiles, 6, 36),
            Heading(view("minute")), TileGrid(minute_tiles, 6, 36),
        ], ((view("ok"), do("picked", value=chosen)), (view("cancel"), BACK)))  # fmt: skip

    # Calls -------------------------------------------------------------------------------------

    def screen_call(self, view: AppView) -> ScreenWidget:
        """An incoming call."""
        name, number = view.params["name"], view.params["number"]
        if view.value("answered"):
            return AppPage(view("in_call"), [
                Spacer(40), TextLabel(name or number, "big", centre=True),
                TextLabel(number, "dim", centre=True), Spacer(60),
                Button(view("end_call"), BACK, "danger"),
            ], home=True)  # fmt: skip
        return AppPage(view("incoming_call"), [
            Spacer(40), TextLabel(name or number, "big", centre=True),
            TextLabel(number, "dim", centre=True),
            Spacer(80), Button(view("answer_call"), do("answer")),
            Button(view("decline_call"), do("decline"), "danger"),
        ], home=True)  # fmt: skip

    def do_answer(self, acts: AppActs) -> None:
        """Answer the call."""
        acts.put("answered", True)
        _list_call(acts, "in")

    def do_decline(self, acts: AppActs) -> None:
        """Reject the call."""
        _list_call(acts, "missed")
        acts.core.pop()


def _list_call(acts: AppActs, kind: str) -> None:
    """Add the call to the recent ones, in a table that verifiers do not compare."""
    key = f"call {len(acts.rows('phone.incoming')) + 1}"
    acts.add("phone.incoming", id=key, name=acts.params["name"],
             number=acts.params["number"], kind=kind, seconds=0, time=acts.stamp)  # fmt: skip
