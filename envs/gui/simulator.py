"""The simulated phone as a device: tools by element or by pixel become taps, swipes and keys."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hexathlon.envs.gui.errors import DeviceRefusal
from hexathlon.tasks.gui.elements import UIElement
from hexathlon.tasks.gui.world.apps.names import APP_NAMES
from hexathlon.tasks.gui.world.kit.looks import LOOKS, draw_appearance
from hexathlon.tasks.gui.world.kit.scene import UINode
from hexathlon.tasks.gui.world.kit.words import wordings
from hexathlon.tasks.gui.world.system.phone import Phone, PhoneRefusal
from hexathlon.tasks.gui.world.system.plan import PhonePlan
from hexathlon.tasks.task import Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["PhoneDevice"]

_WAIT_SECONDS = 60


class PhoneDevice:
    """A simulated phone.

    Args:
        look: Name of its look; drawn from the episode's seed by default.
        size: Width and height of the screen in pixels; 540 x 1200 by default.
        theme: `light` or `dark`; drawn from the episode's seed by default.
        large_text: Whether its font is large; drawn from the episode's seed by default.
    """

    def __init__(
        self, look: str | None = None, size: tuple[int, int] | None = None,
        theme: str | None = None, large_text: bool | None = None,
    ) -> None:  # fmt: skip
        self.look, self.theme, self.large_text = look, theme, large_text
        self.size = size or (540, 1200)
        self.blocked: tuple[str, ...] = ()
        self._phone: Phone | None = None
        self._painter: Any = None

    @property
    def phone(self) -> Phone:
        """The phone."""
        if self._phone is None:
            raise RuntimeError("there is no phone yet; call open() first")
        return self._phone

    def open(self, task: Task, rng: "np.random.Generator") -> None:
        """Build the phone of a task."""
        appearance = draw_appearance(task.split, rng)._replace(size=self.size)
        if self.look is not None:
            appearance = appearance._replace(look=LOOKS[self.look])
        if self.theme is not None:
            appearance = appearance._replace(dark=self.theme == "dark")
        if self.large_text is not None:
            appearance = appearance._replace(font_scale=1.3 if self.large_text else 1.0)
        later = [edit for each in task.params.get("requests", ()) for edit in each["edits"]]
        plan = replace(PhonePlan.from_json(task.params["world"]), coming=tuple(map(tuple, later)))
        self._set_phone(Phone(plan, appearance))

    def _set_phone(self, phone: Phone) -> None:
        self._phone = phone
        self._painter = None

    # Actions -----------------------------------------------------------------------------------

    def act(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Run a tool of the phone."""
        phone = self.phone
        # The element is looked up on the screen that the agent saw.
        place = self._place(arguments) if _PLACED.get(name) else None
        if name == "open_app":
            arguments = {"app_name": _app_name(str(arguments["app_name"]), phone)}
        phone.begin_action()
        try:
            return self._act(name, arguments, place)
        except PhoneRefusal as error:
            raise DeviceRefusal(str(error)) from None
        finally:
            phone.end_action()

    def _act(
        self, name: str, arguments: Mapping[str, Any], place: UINode | tuple[int, int] | None
    ) -> str:
        phone = self.phone
        if name in ("click", "double_tap", "long_press"):
            if place is None:
                raise DeviceRefusal(f"{name} needs an index, or x and y.")
            by_node, by_pixel = _POINTED[name]
            remark: str = (
                by_node(phone, place) if isinstance(place, UINode) else by_pixel(phone, *place)
            )
            if name == "double_tap":
                remark = remark or phone.tap_at(*_centre(place))
            return remark
        if name == "input_text":
            if place is not None:
                remark = phone.tap(place) if isinstance(place, UINode) else phone.tap_at(*place)
                if remark:
                    return remark
            return phone.type_text(arguments["text"], clear=bool(arguments.get("clear_text")))
        if name == "scroll":
            return phone.scroll(
                arguments["direction"], place if isinstance(place, UINode) else None
            )
        if name == "swipe":
            return self._swipe(arguments, place)
        if name == "wait":
            phone.core.seconds += _WAIT_SECONDS
            return ""
        if name == "open_app":
            return phone.open_app(arguments["app_name"])
        keys: Mapping[str, Callable[[], str]] = {
            "keyboard_enter": phone.enter, "navigate_back": phone.back,
            "navigate_home": phone.home, "navigate_recents": phone.recents,
        }  # fmt: skip
        if name not in keys:
            raise DeviceRefusal(f"The phone has no action {name!r}.")
        return keys[name]()

    def _swipe(self, arguments: Mapping[str, Any], place: UINode | tuple[int, int] | None) -> str:
        width, height = self.size
        x, y = _centre(place) if place is not None else (width // 2, height // 2)
        if "x2" in arguments and "y2" in arguments:
            return self.phone.swipe(x, y, int(arguments["x2"]), int(arguments["y2"]))
        direction = arguments["direction"]
        reach = width * 2 // 5 if direction in ("left", "right") else height * 2 // 5
        sign = -1 if direction in ("left", "up") else 1
        dx, dy = (sign * reach, 0) if direction in ("left", "right") else (0, sign * reach)
        return self.phone.swipe(x, y, x + dx, y + dy)

    def _place(self, arguments: Mapping[str, Any]) -> UINode | tuple[int, int] | None:
        if "index" in arguments:
            nodes = self.phone.nodes()
            index = int(arguments["index"])
            if not 0 <= index < len(nodes):
                raise DeviceRefusal(
                    f"There is no element {index}; the screen has {len(nodes)}, from 0 on."
                )
            return nodes[index]
        if "x" in arguments and "y" in arguments:
            x, y = int(arguments["x"]), int(arguments["y"])
            width, height = self.size
            if not (0 <= x < width and 0 <= y < height):
                raise DeviceRefusal(
                    f"The pixel {x}, {y} is not on the screen of {width} x {height} pixels."
                )
            return x, y
        return None

    # The screen --------------------------------------------------------------------------------

    def elements(self) -> Sequence[UIElement]:
        """Return the elements of the screen."""
        return self.phone.elements()

    def caption(self) -> str:
        """Return the app, whether the keyboard is open, and where there is more to scroll to."""
        phone = self.phone
        parts = [f"App: {phone.app_name}"]
        if phone.core.focus:
            parts.append("keyboard open")
        areas = phone.scene.areas
        if areas:
            area = areas[-1]
            if area.offset > 0:
                parts.append("scroll up for more")
            if area.offset < area.most:
                parts.append("scroll down for more")
        return " · ".join(parts)

    def pixels(self) -> "NDArray[np.uint8]":
        """Return the screen as pixels."""
        from hexathlon.tasks.gui.world.kit.paint import ScreenPainter

        if self._painter is None:
            self._painter = ScreenPainter(self.size)
        pixels: NDArray[np.uint8] = self._painter.paint(self.phone.scene)
        return pixels

    def intervene(self, change: Mapping[str, Any]) -> None:
        """Apply edits, and post the notifications that come with them."""
        self.phone.intervene(change.get("edits", ()), *change.get("notices", ()))

    # State -------------------------------------------------------------------------------------

    def final_state(self) -> dict[str, Any]:
        """Return the changed rows by table, and the look."""
        appearance = self.phone.appearance
        return {
            "changes": self.phone.changes(), "look": appearance.look.name,
            "dark": appearance.dark, "font_scale": appearance.font_scale,
        }  # fmt: skip

    def save(self) -> Any:
        """Return the state of the phone."""
        return self.phone.plan, self.phone.appearance, self.phone.save()

    def load(self, payload: Any) -> None:
        """Continue from a saved state."""
        plan, appearance, state = payload
        phone = self._phone
        if phone is None or phone.plan is not plan or phone.appearance is not appearance:
            self._set_phone(Phone(plan, appearance))
        self.phone.load(state)

    def close(self) -> None:
        """Release the phone."""
        self._phone = self._painter = None


_PLACED = dict.fromkeys(
    ("click", "double_tap", "long_press", "input_text", "scroll", "swipe"), True
)
_POINTED: Mapping[str, tuple[Any, Any]] = {
    "click": (Phone.tap, Phone.tap_at),
    "double_tap": (Phone.tap, Phone.tap_at),
    "long_press": (Phone.long_press, Phone.long_press_at),
}


def _centre(place: UINode | tuple[int, int]) -> tuple[int, int]:
    if isinstance(place, UINode):
        return (place.left + place.right) // 2, (place.top + place.bottom) // 2
    return place


def _app_name(given: str, phone: Phone) -> str:
    """Return an app by its name or its title on the launcher; unknown names are unchanged."""
    wanted = given.strip().casefold()
    for name in APP_NAMES:
        titles = (wordings(name, "app_title", language)[0] for language in ("en", "zh"))
        if wanted in (name, *(title.casefold() for title in titles)):
            return name
    return given
