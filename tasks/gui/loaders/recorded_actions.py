"""Steps of a recording, experts' actions as tool calls, and comparison with other actions."""

import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from hexathlon.tasks.record import StrictRecord

__all__ = ["ActionMatch", "RecordedAction", "RecordedStep", "Recording", "call_of", "matches"]

Box = tuple[float, float, float, float]

_ENLARGED = 1.2
"""Factor by which a target's box is enlarged about its centre."""

_NEAR = 0.04
"""Maximum distance from the recorded point, as a share of the screen's width and height."""

_BUTTONS = {"back": "navigate_back", "home": "navigate_home", "enter": "keyboard_enter"}
_TOOLS = {
    "click": "click", "long_press": "long_press", "type": "input_text", "open": "open_app",
    "swipe": "swipe", "wait": "wait", "answer": "answer", "terminate": "status",
}  # fmt: skip
_SCROLLS = ("swipe", "scroll")


class RecordedAction(StrictRecord):
    """An action of `mobile_use`."""

    action: Literal[
        "click", "long_press", "type", "open", "swipe", "wait", "answer", "terminate",
        "system_button",
    ]  # fmt: skip
    coordinate: tuple[float, float] | None = None
    coordinate2: tuple[float, float] | None = None
    text: str = ""
    time: float = 0
    button: str = ""
    status: Literal["success", "failure"] = "success"
    direction: str = ""


class RecordedStep(StrictRecord):
    """One screen and the expert's action on it."""

    screenshot: str
    """Path of the image below the set's folder; empty if there is none."""

    size: tuple[int, int]
    """Width and height in pixels."""

    expert: RecordedAction
    boxes: tuple[Box, ...] = ()
    """Boxes (left, top, right, bottom), any of which may be touched."""

    hint: str = ""
    """The expert's intention in words; agents do not see it."""

    elements: tuple[Mapping[str, Any], ...] = ()
    """Elements of the screen: `text`, `bbox` and optionally `class_name`."""


class Recording(StrictRecord):
    """A trajectory."""

    goal: str
    steps: tuple[RecordedStep, ...]


class ActionMatch(NamedTuple):
    """Comparison of an action with the expert's."""

    kind: bool
    """Whether it is an action of the same kind."""

    exact: bool
    """Whether it also has the same target."""


def call_of(action: RecordedAction) -> tuple[str, dict[str, Any]]:
    """Return the expert's action as a call of the event's tools."""
    if action.action == "system_button":
        return _BUTTONS.get(action.button.lower(), "navigate_back"), {}
    name = _TOOLS[action.action]
    arguments: dict[str, Any] = {}
    if action.coordinate is not None and action.action in ("click", "long_press", "swipe"):
        arguments |= {"x": round(action.coordinate[0]), "y": round(action.coordinate[1])}
    if action.action == "swipe":
        arguments["direction"] = _direction(action)
    if action.action in ("type", "answer"):
        arguments["text"] = action.text
    if action.action == "open":
        arguments["app_name"] = action.text
    if action.action == "terminate":
        arguments["goal_status"] = "complete" if action.status == "success" else "infeasible"
    return name, arguments


def matches(step: RecordedStep, name: str, arguments: Mapping[str, Any]) -> ActionMatch:
    """Compare a call with the expert's action, as UI-S1 does.

    Points match inside a target's box, enlarged by a fifth, or within 4 % of the screen; texts if
    one contains the other, ignoring case; every swipe matches a swipe, every wait a wait. An
    app may also be opened by touching its icon. Unlike there, an empty text matches only an empty
    one. Source: github.com/X-PLUG/MobileAgent, UI-S1, `evaluation/qwenvl_utils.py`.

    Args:
        step: The recorded step.
        name: Name of the tool.
        arguments: Its arguments; an element's index counts as the centre of its box.
    """
    expert = step.expert
    wanted, _ = call_of(expert)
    point = _point(step, arguments)
    if expert.action == "open" and name == "click":
        inside = bool(step.boxes) and point is not None and _touches(step, point)
        return ActionMatch(bool(step.boxes), inside)
    if name not in (_SCROLLS if expert.action == "swipe" else (wanted,)):
        return ActionMatch(False, False)
    if expert.action in ("click", "long_press"):
        return ActionMatch(True, point is not None and _touches(step, point))
    if expert.action in ("type", "answer", "open"):
        given = str(arguments.get("app_name" if expert.action == "open" else "text", ""))
        return ActionMatch(True, _alike(given, expert.text))
    if expert.action == "terminate":
        done = arguments.get("goal_status") == "complete"
        return ActionMatch(True, done == (expert.status == "success"))
    return ActionMatch(True, True)


def _direction(action: RecordedAction) -> str:
    """Return the direction of the finger."""
    if action.coordinate is None or action.coordinate2 is None:
        return action.direction or "up"
    across, down = (
        end - start for start, end in zip(action.coordinate, action.coordinate2, strict=True)
    )
    if abs(across) > abs(down):
        return "right" if across > 0 else "left"
    return "down" if down > 0 else "up"


def _point(step: RecordedStep, arguments: Mapping[str, Any]) -> tuple[float, float] | None:
    index = arguments.get("index")
    if isinstance(index, int) and 0 <= index < len(step.elements):
        left, top, right, bottom = step.elements[index]["bbox"]
        return (left + right) / 2, (top + bottom) / 2
    x, y = arguments.get("x"), arguments.get("y")
    return None if x is None or y is None else (float(x), float(y))


def _touches(step: RecordedStep, point: tuple[float, float]) -> bool:
    x, y = point
    for left, top, right, bottom in step.boxes:
        reach_x, reach_y = (right - left) / 2 * _ENLARGED, (bottom - top) / 2 * _ENLARGED
        if abs(x - (left + right) / 2) <= reach_x and abs(y - (top + bottom) / 2) <= reach_y:
            return True
    target = step.expert.coordinate
    if target is None:
        return False
    width, height = step.size
    return math.hypot((x - target[0]) / width, (y - target[1]) / height) <= _NEAR


def _alike(given: str, wanted: str) -> bool:
    first, second = given.lower().strip(), wanted.lower().strip()
    if not first or not second:
        return first == second
    return first in second or second in first
