"""The simulated phone's adb interface: the commands that android-env and its users send."""

import shlex
from collections.abc import Callable, Sequence

from hexathlon.tasks.gui.world.apps.names import APP_NAMES
from hexathlon.tasks.gui.world.system.phone import Phone, PhoneRefusal

__all__ = ["AdbRefusal", "PhoneShell", "package_of"]

_PACKAGE = "test.hexathlon."
_SETTINGS = {
    "wifi_on": "wifi", "bluetooth_on": "bluetooth", "airplane_mode_on": "airplane",
    "mobile_data": "mobile_data", "screen_brightness": "brightness",
    "accelerometer_rotation": "auto_rotate", "vibrate_when_ringing": "vibrate",
    "screen_off_timeout": "timeout", "auto_time": "auto_time", "device_name": "device_name",
}  # fmt: skip
"""Android setting name → setting name on the simulated phone."""


class AdbRefusal(Exception):
    """The phone does not support a command, or cannot execute it."""


def package_of(app: str) -> str:
    """Return the package name of an app."""
    return f"{_PACKAGE}{app}"


class PhoneShell:
    """Answers adb commands.

    Args:
        phone: Returns the phone, which may be replaced when a state is loaded.
    """

    def __init__(self, phone: Callable[[], Phone]) -> None:
        self._phone = phone
        self.settings: dict[tuple[str, str], str] = {}
        """Values of settings that the simulated phone lacks, by namespace and name."""

    def run(self, arguments: Sequence[str]) -> str:
        """Execute a command, given without `adb`, and return its output.

        Raises:
            AdbRefusal: If the phone does not support it.
        """
        words = list(arguments)
        if words[:1] == ["shell"]:
            words = words[1:]
            if len(words) == 1:
                words = _split(words[0])
        for begin, answer in _COMMANDS:
            if tuple(words[: len(begin)]) == begin:
                return answer(self, words[len(begin) :])
        known = ", ".join(" ".join(begin) for begin, _ in _COMMANDS)
        raise AdbRefusal(
            f"the phone does not support {' '.join(arguments)[:120]!r}; it supports: {known}"
        )

    # Input -------------------------------------------------------------------------------------

    def _input_text(self, words: list[str]) -> str:
        self._act(lambda phone: phone.type_text(" ".join(words).replace("%s", " ")))
        return ""

    def _input_tap(self, words: list[str]) -> str:
        x, y = _numbers(words, 2)
        self._act(lambda phone: phone.tap_at(x, y))
        return ""

    def _input_swipe(self, words: list[str]) -> str:
        x0, y0, x1, y1 = _numbers(words[:4], 4)
        milliseconds = int(words[4]) if len(words) > 4 and words[4].isdigit() else 0
        if (x0, y0) == (x1, y1) and milliseconds >= 500:
            self._act(lambda phone: phone.long_press_at(x0, y0))
        else:
            self._act(lambda phone: phone.swipe(x0, y0, x1, y1))
        return ""

    def _input_key(self, words: list[str]) -> str:
        for word in words:
            name = word.removeprefix("KEYCODE_")
            if name not in _KEYS:
                raise AdbRefusal(f"unknown key {word!r}; known: {', '.join(_KEYS)}")
            self._act(_KEYS[name])
        return ""

    def _act(self, action: Callable[[Phone], str]) -> None:
        phone = self._phone()
        phone.begin_action()
        try:
            action(phone)
        except PhoneRefusal as error:
            raise AdbRefusal(str(error)) from None
        finally:
            phone.end_action()

    # Apps --------------------------------------------------------------------------------------

    def _start(self, words: list[str]) -> str:
        activity = words[words.index("-n") + 1] if "-n" in words[:-1] else ""
        app = activity.partition("/")[0].removeprefix(_PACKAGE)
        if app not in APP_NAMES:
            raise AdbRefusal(f"there is no activity {activity!r}; the apps are: "
                             f"{', '.join(map(package_of, APP_NAMES))}")  # fmt: skip
        self._act(lambda phone: phone.open_app(app))
        return "Status: ok"

    def _force_stop(self, words: list[str]) -> str:
        app = words[0].removeprefix(_PACKAGE) if words else ""
        phone = self._phone()
        phone.core.kept.pop(app, None)
        if phone.app_name == app:
            self._act(Phone.home)
            phone.core.kept.pop(app, None)
        return ""

    def _stack(self, words: list[str]) -> str:
        name = self._phone().app_name
        activity = f"{package_of(name)}/.{self._phone().core.top.name}"
        return f"taskId=1: {activity} visible=true topActivity=ComponentInfo{{{activity}}}"

    def _packages(self, words: list[str]) -> str:
        return "\n".join(f"package:{package_of(app)}" for app in APP_NAMES)

    # The device --------------------------------------------------------------------------------

    def _settings_get(self, words: list[str]) -> str:
        space, name = _at_least(words, 2, "settings get NAMESPACE NAME")[:2]
        if name in _SETTINGS:
            value = self._phone().core.table("settings.values")[_SETTINGS[name]]["value"]
            return str(int(value)) if isinstance(value, bool) else str(value)
        return self.settings.get((space, name), "null")

    def _settings_put(self, words: list[str]) -> str:
        space, name, *values = _at_least(words, 3, "settings put NAMESPACE NAME VALUE")
        value = " ".join(values)
        if name not in _SETTINGS:
            self.settings[space, name] = value
            return ""
        phone, key = self._phone(), _SETTINGS[name]
        row = phone.core.table("settings.values")[key]
        kind = type(row["value"])
        if kind is int and not (value.isascii() and value.isdigit() and len(value) < 10):
            raise AdbRefusal(f"{name} takes a whole number, got {value[:60]!r}")
        phone.core.write("settings.values", {**row, "value": value == "1" if kind is bool
                                             else kind(value)})  # fmt: skip
        phone.refresh()
        return ""

    def _settings_delete(self, words: list[str]) -> str:
        space, name = _at_least(words, 2, "settings delete NAMESPACE NAME")[:2]
        return f"Deleted {int(self.settings.pop((space, name), None) is not None)} rows"

    def _settings_list(self, words: list[str]) -> str:
        wanted = _at_least(words, 1, "settings list NAMESPACE")[0]
        own = {name: value for (space, name), value in self.settings.items() if space == wanted}
        shared = {name: self._settings_get([wanted, name]) for name in _SETTINGS}
        return "\n".join(f"{name}={value}" for name, value in sorted({**shared, **own}.items()))

    def _orientation(self, words: list[str]) -> str:
        return " SurfaceOrientation: 0"

    def _size(self, words: list[str]) -> str:
        width, height = self._phone().appearance.size
        return f"Physical size: {width}x{height}"

    def _service(self, words: list[str]) -> str:
        return f"Service {words[-1] if words else ''}: found"

    def _nothing(self, words: list[str]) -> str:
        return ""

    def _dump(self, words: list[str]) -> str:
        return hierarchy_xml(self._phone())


def hierarchy_xml(phone: Phone) -> str:
    """Return the elements of the screen in the format of `uiautomator dump`."""
    from xml.sax.saxutils import quoteattr

    package = package_of(phone.app_name)
    lines = ["<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>", '<hierarchy rotation="0">']
    for each in phone.elements():
        left, top, right, bottom = each.bounds
        text = each.value if each.editable else each.text
        flags = {
            "checkable": each.checkable, "checked": each.checked, "clickable": each.clickable,
            "enabled": each.enabled, "focusable": each.editable, "focused": each.focused,
            "scrollable": each.scrollable, "long-clickable": each.long_clickable,
            "password": False, "selected": each.selected,
        }  # fmt: skip
        lines.append(
            f'<node index="{each.index}" text={quoteattr(text)} resource-id="" '
            f'class="{each.role}" package="{package}" '
            f"content-desc={quoteattr(each.content_description)} "
            + " ".join(f'{name}="{str(value).lower()}"' for name, value in flags.items())
            + f' bounds="[{left},{top}][{right},{bottom}]" />'
        )
    return "\n".join([*lines, "</hierarchy>"])


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise AdbRefusal(f"the command {line[:60]!r} cannot be read: {error}") from None


def _at_least(words: list[str], count: int, form: str) -> list[str]:
    if len(words) < count:
        raise AdbRefusal(f"expected {form}, got {len(words)} of its arguments")
    return words


def _numbers(words: Sequence[str], count: int) -> list[int]:
    try:
        found = [int(float(word)) for word in words[:count]]
    except (ValueError, OverflowError):
        found = []
    if len(found) != count:
        raise AdbRefusal(f"expected {count} numbers, got {' '.join(words)[:60]!r}")
    return found


_KEYS: dict[str, Callable[[Phone], str]] = {
    "HOME": Phone.home, "BACK": Phone.back, "ENTER": Phone.enter, "APP_SWITCH": Phone.recents,
    "DEL": Phone.erase, "NOTIFICATION": Phone.open_shade,
    "3": Phone.home, "4": Phone.back, "66": Phone.enter, "187": Phone.recents, "67": Phone.erase,
}  # fmt: skip

_COMMANDS: tuple[tuple[tuple[str, ...], Callable[[PhoneShell, list[str]], str]], ...] = (
    (("input", "text"), PhoneShell._input_text),
    (("input", "tap"), PhoneShell._input_tap),
    (("input", "swipe"), PhoneShell._input_swipe),
    (("input", "keyevent"), PhoneShell._input_key),
    (("am", "start"), PhoneShell._start),
    (("am", "force-stop"), PhoneShell._force_stop),
    (("am", "stack", "list"), PhoneShell._stack),
    (("pm", "list", "packages"), PhoneShell._packages),
    (("settings", "get"), PhoneShell._settings_get),
    (("settings", "put"), PhoneShell._settings_put),
    (("settings", "delete"), PhoneShell._settings_delete),
    (("settings", "list"), PhoneShell._settings_list),
    (("dumpsys", "input"), PhoneShell._orientation),
    (("wm", "size"), PhoneShell._size),
    (("service", "check"), PhoneShell._service),
    (("uiautomator", "dump"), PhoneShell._dump),
    (("devices",), PhoneShell._nothing),
)
