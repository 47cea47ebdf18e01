"""The settings app."""

from collections.abc import Sequence
from typing import Any, ClassVar

from hexathlon.tasks.gui.world.apps.names import APP_NAMES
from hexathlon.tasks.gui.world.apps.settings.networks import draw_networks
from hexathlon.tasks.gui.world.kit.events import BACK, do, go
from hexathlon.tasks.gui.world.kit.widgets import (
    AppPage,
    BarAction,
    Button,
    Dialog,
    Divider,
    Heading,
    ListRow,
    ScreenWidget,
    Select,
    Slider,
    TextField,
    TextLabel,
    Toggle,
)
from hexathlon.tasks.gui.world.kit.words import label
from hexathlon.tasks.gui.world.phone.app import ContentDraws, PhoneApp
from hexathlon.tasks.gui.world.phone.context import AppActs, AppView

__all__ = ["PERMISSIONS", "SettingsApp"]

PERMISSIONS = ("contacts", "location", "camera", "files", "calendar", "microphone", "notifications")

_SECTIONS = (
    ("network", "wifi", ("wifi", "bluetooth", "airplane", "mobile_data", "roaming", "hotspot")),
    ("display", "sun", ("dark_theme", "large_text", "auto_rotate", "brightness", "timeout")),
    ("sound", "bell", ("do_not_disturb", "vibrate", "media_volume", "ring_volume", "alarm_volume",
                       "ringtone")),
    ("battery", "battery", ("battery_saver", "battery_percent")),
    ("security", "lock", ("location", "usage_data", "lock_content", "screen_lock")),
    ("system", "gear", ("auto_time", "auto_update", "time_zone", "flashlight")),
)  # fmt: skip
_LEVELS = ("brightness", "media_volume", "ring_volume", "alarm_volume")
_RINGTONES = ("Aurora", "Breeze", "Cascade", "Ember", "Lark", "Meadow", "Pulse", "Tide")
_ZONES = ("Lisbon", "Berlin", "Athens", "Nairobi", "Karachi", "Beijing", "Tokyo", "Sydney", "Lima",
          "Chicago", "Halifax", "Honolulu")  # fmt: skip
_TIMEOUTS = ("15", "30", "60", "120", "300", "600")


class SettingsApp(PhoneApp):
    """Settings, each a row of `values` whose key is its name."""

    name: ClassVar[str] = "settings"
    icon: ClassVar[str] = "gear"
    colour = (96, 102, 114)
    tables = {"values": (), "permissions": (), "networks": ()}

    def seed(self, draws: ContentDraws) -> None:
        """Draw the settings."""
        for _, _, names in _SECTIONS:
            for name in names:
                draws.add("values", id=name, value=_draw_value(draws, name))
        draws.add("values", id="device_name", value=draws.say("Phone", "手机")
                  + f" {draws.between(10, 99)}")  # fmt: skip
        draws.add("values", id="serial", value=f"HX{draws.between(10**7, 10**8 - 1)}")
        draws.add("values", id="storage_used", value=draws.between(20, 110))
        draw_networks(draws)

    # Screens -----------------------------------------------------------------------------------

    def screen_home(self, view: AppView) -> ScreenWidget:
        """The sections."""
        rows = [ListRow(view(name), on=go("section", name=name), icon=icon)
                for name, icon, _ in _SECTIONS]  # fmt: skip
        rows.insert(4, ListRow(view("apps"), on=go("apps"), icon="grid"))
        rows.append(ListRow(view("about"), view.setting("device_name"), go("about"), icon="info"))
        return AppPage(view("app_title"), rows, [BarAction("search", view("search"), go("search"))],
                    home=True)  # fmt: skip

    def screen_section(self, view: AppView) -> ScreenWidget:
        """The settings of a section."""
        section = view.params["name"]
        names = next(names for name, _, names in _SECTIONS if name == section)
        children = [self._field(view, name) for name in names]
        if section == "network":
            children += [Divider(), *self._networks(view)]
        return AppPage(view(section), children)

    def screen_search(self, view: AppView) -> ScreenWidget:
        """Settings by their label."""
        wanted = view.value("query").casefold().strip()
        found = [
            ListRow(view(name), view(section), go("section", name=section), icon=icon)
            for section, icon, names in _SECTIONS for name in names
            if wanted and wanted in view(name).casefold()
        ]  # fmt: skip
        return AppPage(view("search"), found,
                    search=TextField("query", view("search"), kind="search"))  # fmt: skip

    def _field(self, view: AppView, name: str) -> Any:
        value = view.setting(name)
        if name in _LEVELS:
            return Slider(name, view(name), int(value), on=do("set", name=name))
        options = self._options(view, name)
        if options:
            return Select(name, view(name), options, str(value), do("set", name=name))
        return Toggle(view(name), bool(value), do("flip", name=name))

    def _options(self, view: AppView, name: str) -> Sequence[tuple[str, str]]:
        if name == "timeout":
            return [
                (each, view("seconds", n=each) if int(each) < 60
                 else view("minutes", n=int(each) // 60))
                for each in _TIMEOUTS
            ]  # fmt: skip
        if name == "ringtone":
            return [(each, each) for each in _RINGTONES]
        if name == "time_zone":
            return [(each, each) for each in _ZONES]
        if name == "screen_lock":
            return [(each, view(each)) for each in ("none", "swipe", "pattern", "pin")]
        return ()

    # Networks ----------------------------------------------------------------------------------

    def _networks(self, view: AppView) -> list[Any]:
        if not view.setting("wifi"):
            return []
        rows: list[Any] = [Heading(view("wifi_networks"))]
        for row in view.rows("networks"):
            state = view("connected") if row["connected"] else (
                view("saved_network") if row["saved"] else "")  # fmt: skip
            rows.append(ListRow(row["name"], state, do("open_network", id=row["id"]),
                                icon="lock" if row["key"] else "wifi"))  # fmt: skip
        return rows

    def screen_network(self, view: AppView) -> ScreenWidget:
        """A network that is in use or was used."""
        row = view.row("networks", view.params["id"])
        assert row is not None
        main = None if row["connected"] else Button(view("connect"), do("connect", id=row["id"]))
        return AppPage(row["name"], [
            TextLabel(view("connected" if row["connected"] else "saved_network"), "dim"), main,
            Button(view("forget"), do("forget", id=row["id"]), "outlined"),
        ])  # fmt: skip

    def screen_join(self, view: AppView) -> ScreenWidget:
        """Prompt for a network's password."""
        row = view.row("networks", view.params["id"])
        assert row is not None
        return Dialog(row["name"], "", [TextField("password", view("password"), kind="secret")], (
            (view("connect"), do("join", id=row["id"])), (view("cancel"), BACK),
        ))  # fmt: skip

    def do_open_network(self, acts: AppActs, id: int) -> None:
        """Show a network, ask for its password, or connect to an open one."""
        row = acts.row("networks", id)
        assert row is not None
        if row["saved"] or row["connected"]:
            acts.go("network", id=id)
        elif row["key"]:
            acts.go("join", id=id)
        else:
            self.do_connect(acts, id)

    def do_join(self, acts: AppActs, id: int) -> None:
        """Connect if the password is correct."""
        row = acts.row("networks", id)
        right = row is not None and acts.value("password") == row["key"]
        acts.back()
        if right:
            self.do_connect(acts, id)
        else:
            acts.toast(acts("wrong_password"))

    def do_connect(self, acts: AppActs, id: int) -> None:
        """Connect to one network, and disconnect from any other."""
        for row in acts.rows("networks"):
            if row["id"] == id:
                acts.change("networks", id, connected=True, saved=True)
            elif row["connected"]:
                acts.change("networks", row["id"], connected=False)
        acts.toast(acts("connected"))

    def do_forget(self, acts: AppActs, id: int) -> None:
        """Forget a network."""
        acts.change("networks", id, connected=False, saved=False)
        acts.back()

    # Apps --------------------------------------------------------------------------------------

    def screen_apps(self, view: AppView) -> ScreenWidget:
        """All apps."""
        rows = [ListRow(label(name, "app_title", view.language, 0), on=go("app", name=name))
                for name in APP_NAMES]  # fmt: skip
        return AppPage(view("apps"), rows)

    def screen_app(self, view: AppView) -> ScreenWidget:
        """The permissions of an app."""
        name = view.params["name"]
        toggles = []
        for permission in PERMISSIONS:
            row = view.row("permissions", f"{name}:{permission}")
            granted = row["state"] == "allowed" if row else permission == "notifications"
            text = view("notifications_allowed" if permission == "notifications" else permission)
            event = do("permit", name=name, permission=permission, granted=not granted)
            toggles.append(Toggle(text, granted, event))
        return AppPage(label(name, "app_title", view.language, 0),
                    [Heading(view("permissions")), *toggles])  # fmt: skip

    def screen_about(self, view: AppView) -> ScreenWidget:
        """Information about the phone."""
        return AppPage(view("about"), [
            ListRow(view("device_name"), view.setting("device_name"), go("rename"), icon="phone"),
            ListRow(view("model"), "Hexathlon One"),
            ListRow(view("serial"), view.setting("serial")),
            ListRow(view("os_version"), "15.2 (HX.240)"),
            ListRow(view("storage_used"), f"{view.setting('storage_used')} GB / 128 GB"),
        ])  # fmt: skip

    def screen_rename(self, view: AppView) -> ScreenWidget:
        """Prompt for the phone's name."""
        name = view.setting("device_name")
        return Dialog(view("device_name"), "", [TextField("name", view("device_name"), name)], (
            (view("save"), do("rename")), (view("cancel"), BACK),
        ))  # fmt: skip

    # Handlers ----------------------------------------------------------------------------------

    def do_set(self, acts: AppActs, name: str, value: Any) -> None:
        """Set a value."""
        acts.change("values", name, value=value)

    def do_flip(self, acts: AppActs, name: str) -> None:
        """Turn something on or off."""
        acts.change("values", name, value=not acts.setting(name))

    def do_rename(self, acts: AppActs) -> None:
        """Rename the phone."""
        name = str(acts.value("name", acts.setting("device_name"))).strip()
        acts.back()
        if name:
            acts.change("values", "device_name", value=name)

    def do_permit(self, acts: AppActs, name: str, permission: str, granted: bool) -> None:
        """Grant or deny a permission to an app."""
        acts.add("permissions", id=f"{name}:{permission}", app=name, permission=permission,
                 state="allowed" if granted else "denied")  # fmt: skip


def _draw_value(draws: ContentDraws, name: str) -> Any:
    if name in _LEVELS:
        return draws.between(1, 9) * 10
    if name == "timeout":
        return draws.pick(_TIMEOUTS)
    if name == "ringtone":
        return draws.pick(draws.own(_RINGTONES))
    if name == "time_zone":
        return draws.pick(draws.own(_ZONES))
    if name == "screen_lock":
        return draws.pick(("swipe", "pattern", "pin"))
    usual = {"wifi": True, "mobile_data": True, "auto_time": True, "airplane": False,
             "flashlight": False, "dark_theme": False, "large_text": False}  # fmt: skip
    return usual[name] if name in usual else draws.chance(0.5)
