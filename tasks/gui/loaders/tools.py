"""Tools of public GUI tasks, and the ways in which their episodes end."""

from typing import Any

from hexathlon.tasks.task import ToolSchema

__all__ = ["PUBLIC_DESKTOP_TOOLS", "PUBLIC_PHONE_TOOLS"]

_WAYS = {"type": "string", "enum": ["up", "down", "left", "right"]}
_TEXT = {"type": "string"}
_PIXEL = {"type": "integer", "minimum": 0}
_PLACE: dict[str, Any] = {
    "index": {"type": "integer", "minimum": 0, "description": "Number of the element."},
    "x": _PIXEL,
    "y": _PIXEL,
}
_ENDS: dict[str, Any] = {"to_x": _PIXEL, "to_y": _PIXEL}
_STATUS = {"type": "string", "enum": ["complete", "infeasible"]}


def _tool(name: str, about: str, required: tuple[str, ...] = (), **properties: Any) -> ToolSchema:
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return ToolSchema(name=name, description=about, parameters=parameters)


_ENDING = (
    _tool("wait", "Wait for the screen to change."),
    _tool("answer", "Answer the question of the task.", ("text",), text=_TEXT),
    _tool(
        "status", "End the task: complete, or infeasible if it cannot be done.",
        ("goal_status",), goal_status=_STATUS,
    ),
)  # fmt: skip

PUBLIC_PHONE_TOOLS: tuple[ToolSchema, ...] = (
    _tool("click", "Tap an element or a point.", **_PLACE),
    _tool("double_tap", "Tap an element or a point twice.", **_PLACE),
    _tool("long_press", "Press and hold an element or a point.", **_PLACE),
    _tool(
        "input_text", "Type into a field, replacing its text if asked to.", ("text",),
        text=_TEXT, clear_text={"type": "boolean"}, **_PLACE,
    ),
    _tool("keyboard_enter", "Press the Enter key."),
    _tool("navigate_back", "Go back."),
    _tool("navigate_home", "Go to the home screen."),
    _tool("open_app", "Open an app by its name.", ("app_name",), app_name=_TEXT),
    _tool("scroll", "Show more in a direction.", ("direction",), direction=_WAYS, **_PLACE),
    _tool(
        "swipe", "Move the finger in a direction, or from one point to another.",
        direction=_WAYS, **_PLACE, **_ENDS,
    ),
    *_ENDING,
)  # fmt: skip
"""AndroidWorld's actions."""

PUBLIC_DESKTOP_TOOLS: tuple[ToolSchema, ...] = (
    _tool("click", "Click an element or a point.", **_PLACE),
    _tool("double_click", "Double-click an element or a point.", **_PLACE),
    _tool("right_click", "Right-click an element or a point.", **_PLACE),
    _tool("drag", "Drag from one point to another.", **_PLACE, **_ENDS),
    _tool("type_text", "Type into the focused field.", ("text",), text=_TEXT),
    _tool(
        "press_keys", "Press keys together, such as ctrl+s.", ("keys",), keys=_TEXT
    ),
    _tool("scroll", "Show more in a direction.", ("direction",), direction=_WAYS, **_PLACE),
    _tool("open_app", "Open an application by its name.", ("app_name",), app_name=_TEXT),
    *_ENDING,
)  # fmt: skip
"""OSWorld's actions in the desktop's terms."""
