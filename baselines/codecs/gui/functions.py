"""The functions `mobile_use` and `computer_use`: their actions, and our tools for each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hexathlon.baselines.codecs.base import DialectCall
from hexathlon.baselines.codecs.gui.points import point_of_list, point_of_text

__all__ = ["COMPUTER_USE", "MOBILE_USE", "UseFunction"]

Arguments = dict[str, Any]
ActionReader = Callable[[Arguments], DialectCall | None]

_STATUSES = {"success": "complete", "failure": "infeasible"}
_BUTTONS = {"back": "navigate_back", "home": "navigate_home", "enter": "keyboard_enter"}
_SCROLL_PIXELS = 500


@dataclass(frozen=True)
class UseFunction:
    """A function whose `action` argument names one of several actions."""

    name: str
    about: str
    readers: Mapping[str, ActionReader]
    """Our call for each action; None from a reader if the arguments do not fit."""

    spoken: Mapping[str, tuple[str, ...]]
    """Our tools that the function covers, with the arguments that it can express."""

    actions: Mapping[str, tuple[str, str]]
    """Actions of the signature: the tool that must exist, and what the action does."""

    parameters: Mapping[str, Mapping[str, Any]]
    writer: Callable[[str, Arguments], Arguments | None]
    example: DialectCall

    def read(self, calls: Sequence[DialectCall]) -> list[DialectCall]:
        """Translate calls of the function to our tools; other calls are unchanged.

        An action that does not fit becomes a call of a tool with the action's own name.
        """
        result: list[DialectCall] = []
        for call in calls:
            translated = self._read_one(call)
            if translated.name == "drag" and result and result[-1].name == "move":
                translated = _joined_drag(result[-1], translated) or translated
                if "x" in translated.arguments:
                    result.pop()
            result.append(translated)
        return result

    def write(self, calls: Sequence[DialectCall]) -> list[DialectCall]:
        """Translate calls of our tools to the function where it covers them."""
        result: list[DialectCall] = []
        for call in calls:
            arguments = call.arguments
            assert isinstance(arguments, dict)
            if call.name == "drag" and set(arguments) == {"x", "y", "to_x", "to_y"}:
                start = {"action": "mouse_move", "coordinate": [arguments["x"], arguments["y"]]}
                result.append(DialectCall(self.name, start))
                arguments = {key: arguments[key] for key in ("to_x", "to_y")}
            written = self.writer(call.name, arguments)
            result.append(DialectCall(self.name, written) if written else call)
        return result

    def signature(self, names: set[str], size: tuple[int, int] | None) -> dict[str, Any]:
        """Return the function's schema, with the actions whose tools exist.

        Args:
            names: Names of the episode's tools.
            size: Width and height of the screen in the model's units, if known.
        """
        kept = {action: text for action, (tool, text) in self.actions.items() if tool in names}
        about = self.about + (f" The screen is {size[0]}x{size[1]}." if size else "")
        listed = "\n".join(f"* `{action}`: {text}" for action, text in kept.items())
        action = {"type": "string", "enum": list(kept), "description": listed}
        return {
            "name": self.name,
            "description": about,
            "parameters": {
                "type": "object",
                "properties": {"action": action, **self.parameters},
                "required": ["action"],
            },
        }

    def _read_one(self, call: DialectCall) -> DialectCall:
        if call.name != self.name or not isinstance(call.arguments, dict):
            return call
        arguments = dict(call.arguments)
        action = arguments.pop("action", None)
        if not isinstance(action, str):
            return call
        reader = self.readers.get(action)
        return (reader(arguments) if reader else None) or DialectCall(action, arguments)


def _joined_drag(move: DialectCall, drag: DialectCall) -> DialectCall | None:
    assert isinstance(move.arguments, dict) and isinstance(drag.arguments, dict)
    if "x" in drag.arguments or set(move.arguments) != {"x", "y"}:
        return None
    return DialectCall("drag", {**move.arguments, **drag.arguments})


def _point(value: Any, keys: tuple[str, str] = ("x", "y")) -> Arguments | None:
    point = point_of_text(value) if isinstance(value, str) else point_of_list(value)
    return dict(zip(keys, point, strict=True)) if point else None


def _pointing(tool: str) -> ActionReader:
    def read(arguments: Arguments) -> DialectCall | None:
        point = _point(arguments.get("coordinate"))
        return DialectCall(tool, point) if point else None

    return read


def _texting(tool: str, key: str = "text") -> ActionReader:
    def read(arguments: Arguments) -> DialectCall | None:
        text = arguments.get("text")
        return DialectCall(tool, {key: text}) if isinstance(text, str) else None

    return read


def _swipe(arguments: Arguments) -> DialectCall | None:
    start = _point(arguments.get("coordinate"))
    end = _point(arguments.get("coordinate2"), ("to_x", "to_y"))
    return DialectCall("swipe", {**start, **end}) if start and end else None


def _drag(arguments: Arguments) -> DialectCall | None:
    if "coordinate2" in arguments:
        swipe = _swipe(arguments)
        return swipe and swipe._replace(name="drag")
    end = _point(arguments.get("coordinate"), ("to_x", "to_y"))
    return DialectCall("drag", end) if end else None


def _button(arguments: Arguments) -> DialectCall | None:
    tool = _BUTTONS.get(str(arguments.get("button", "")).lower())
    return DialectCall(tool, {}) if tool else None


def _keys(arguments: Arguments) -> DialectCall | None:
    keys = arguments.get("keys")
    keys = [keys] if isinstance(keys, str) else keys
    if not isinstance(keys, list) or not keys or not all(isinstance(key, str) for key in keys):
        return None
    return DialectCall("press_keys", {"keys": "+".join(keys)})


def _scrolling(up: str, down: str) -> ActionReader:
    def read(arguments: Arguments) -> DialectCall | None:
        pixels = arguments.get("pixels")
        if type(pixels) not in (int, float) or not pixels:
            return None
        point = _point(arguments.get("coordinate")) or {}
        return DialectCall("scroll", {"direction": up if pixels > 0 else down, **point})

    return read


def _terminate(arguments: Arguments) -> DialectCall | None:
    status = _STATUSES.get(str(arguments.get("status", "success")))
    return DialectCall("status", {"goal_status": status}) if status else None


def _wait(arguments: Arguments) -> DialectCall | None:
    return DialectCall("wait", {})


def _write_shared(name: str, arguments: Arguments, typing: str) -> Arguments | None:
    """Translate calls that both functions have."""
    keys = set(arguments)
    text = arguments.get("text")
    if name in (typing, "answer") and keys == {"text"}:
        return {"action": "type" if name == typing else "answer", "text": text}
    if name == "wait" and not keys:
        return {"action": "wait", "time": 1}
    statuses = {ours: theirs for theirs, ours in _STATUSES.items()}
    if name == "status" and keys == {"goal_status"} and arguments["goal_status"] in statuses:
        return {"action": "terminate", "status": statuses[arguments["goal_status"]]}
    return None


def _write_mobile(name: str, arguments: Arguments) -> Arguments | None:
    keys = set(arguments)
    if name in ("click", "long_press") and keys == {"x", "y"}:
        action = {"action": name, "coordinate": [arguments["x"], arguments["y"]]}
        return {**action, "time": 1} if name == "long_press" else action
    if name == "swipe" and keys == {"x", "y", "to_x", "to_y"}:
        start, end = ([arguments[x], arguments[y]] for x, y in (("x", "y"), ("to_x", "to_y")))
        return {"action": "swipe", "coordinate": start, "coordinate2": end}
    buttons = {tool: button.capitalize() for button, tool in _BUTTONS.items()}
    if name in buttons and not keys:
        return {"action": "system_button", "button": buttons[name]}
    if name == "open_app" and keys == {"app_name"}:
        return {"action": "open", "text": arguments["app_name"]}
    return _write_shared(name, arguments, "input_text")


def _write_computer(name: str, arguments: Arguments) -> Arguments | None:
    keys = set(arguments)
    if name in _CLICKS and keys == {"x", "y"}:
        return {"action": _CLICKS[name], "coordinate": [arguments["x"], arguments["y"]]}
    if name == "drag" and keys == {"to_x", "to_y"}:
        end = [arguments["to_x"], arguments["to_y"]]
        return {"action": "left_click_drag", "coordinate": end}
    if name == "press_keys" and keys == {"keys"} and isinstance(arguments["keys"], str):
        return {"action": "key", "keys": arguments["keys"].split("+")}
    direction = arguments.get("direction")
    if name == "scroll" and direction in ("up", "down", "left", "right"):
        pixels = _SCROLL_PIXELS if direction in ("up", "right") else -_SCROLL_PIXELS
        action = "scroll" if direction in ("up", "down") else "hscroll"
        written: Arguments = {"action": action, "pixels": pixels}
        if {"x", "y"} <= keys:
            written["coordinate"] = [arguments["x"], arguments["y"]]
        return written
    return _write_shared(name, arguments, "type_text")


_CLICKS = {
    "click": "left_click", "right_click": "right_click", "middle_click": "middle_click",
    "double_click": "double_click", "triple_click": "triple_click", "move": "mouse_move",
}  # fmt: skip
_POINT = {"type": "array", "description": "A point [x, y] from the top left corner."}
_TEXT = {"type": "string", "description": "The text."}
_TIME = {"type": "number", "description": "Seconds."}
_STATUS = {"type": "string", "enum": list(_STATUSES), "description": "How the task ended."}
_ENDING = {
    "answer": ("answer", "give the answer `text`"),
    "wait": ("wait", "wait for the screen to change"),
    "terminate": ("status", "end the task with `status`"),
}

MOBILE_USE = UseFunction(
    name="mobile_use",
    about="Touches and keys of a phone.",
    readers={
        "click": _pointing("click"),
        "tap": _pointing("click"),
        "long_press": _pointing("long_press"),
        "swipe": _swipe,
        "scroll": _swipe,
        "type": _texting("input_text"),
        "system_button": _button,
        "open": _texting("open_app", "app_name"),
        "open_app": _texting("open_app", "app_name"),
        "wait": _wait,
        "answer": _texting("answer"),
        "terminate": _terminate,
    },
    spoken={
        name: ("goal_status",)
        for name in (
            "click", "long_press", "swipe", "input_text", "navigate_back", "navigate_home",
            "keyboard_enter", "open_app", "wait", "answer", "status",
        )
    },
    actions={
        "click": ("click", "tap the point `coordinate`"),
        "long_press": ("long_press", "press and hold the point `coordinate`"),
        "swipe": ("swipe", "move the finger from `coordinate` to `coordinate2`"),
        "type": ("input_text", "type `text` into the focused field"),
        "system_button": ("navigate_back", "press the `button` Back, Home or Enter"),
        "open": ("open_app", "open the app named `text`"),
        **_ENDING,
    },
    parameters={
        "coordinate": _POINT,
        "coordinate2": _POINT,
        "text": _TEXT,
        "time": _TIME,
        "button": {"type": "string", "enum": ["Back", "Home", "Menu", "Enter"]},
        "status": _STATUS,
    },
    writer=_write_mobile,
    example=DialectCall("mobile_use", {"action": "click", "coordinate": [512, 80]}),
)  # fmt: skip

COMPUTER_USE = UseFunction(
    name="computer_use",
    about="Mouse and keyboard of a desktop.",
    readers={
        **{action: _pointing(tool) for tool, action in _CLICKS.items()},
        "click": _pointing("click"),
        "left_click_drag": _drag,
        "drag": _drag,
        "key": _keys,
        "hotkey": _keys,
        "type": _texting("type_text"),
        "scroll": _scrolling("up", "down"),
        "hscroll": _scrolling("right", "left"),
        "wait": _wait,
        "answer": _texting("answer"),
        "terminate": _terminate,
    },
    spoken={
        name: ("goal_status",)
        for name in (
            "click", "right_click", "middle_click", "double_click", "triple_click", "move", "drag",
            "press_keys", "type_text", "scroll", "wait", "answer", "status",
        )
    },
    actions={
        "left_click": ("click", "click at `coordinate`"),
        "right_click": ("right_click", "right-click at `coordinate`"),
        "middle_click": ("middle_click", "click the middle button at `coordinate`"),
        "double_click": ("double_click", "double-click at `coordinate`"),
        "triple_click": ("triple_click", "triple-click at `coordinate`"),
        "mouse_move": ("move", "move the pointer to `coordinate`"),
        "left_click_drag": ("drag", "drag with the left button to `coordinate`"),
        "key": ("press_keys", "press `keys` together"),
        "type": ("type_text", "type `text`"),
        "scroll": ("scroll", "scroll by `pixels`, positive upwards"),
        "hscroll": ("scroll", "scroll by `pixels`, positive to the right"),
        **_ENDING,
    },
    parameters={
        "coordinate": _POINT,
        "keys": {"type": "array", "description": "Keys such as [\"ctrl\", \"s\"]."},
        "text": _TEXT,
        "pixels": {"type": "number"},
        "time": _TIME,
        "status": _STATUS,
    },
    writer=_write_computer,
    example=DialectCall("computer_use", {"action": "left_click", "coordinate": [512, 80]}),
)  # fmt: skip
