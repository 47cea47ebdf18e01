"""The agent's tools on the desktop: pointer, keys, programs, and the report at the end."""

from typing import Any

from hexathlon.tasks.task import ToolSchema

__all__ = ["DESKTOP_TOOLS"]


def _tool(name: str, about: str, required: tuple[str, ...] = (), **properties: Any) -> ToolSchema:
    return ToolSchema(
        name=name,
        description=about,
        parameters={
            "type": "object", "properties": properties, "required": list(required),
            "additionalProperties": False,
        },
    )  # fmt: skip


_INDEX = {"type": "integer", "minimum": 0, "description": "Number of the element."}
_X = {"type": "integer", "minimum": 0, "maximum": 1279, "description": "Pixels from the left."}
_Y = {"type": "integer", "minimum": 0, "maximum": 799, "description": "Pixels from the top."}
_TEXT = {"type": "string"}
_PLACE: dict[str, Any] = {"index": _INDEX, "x": _X, "y": _Y}

DESKTOP_TOOLS: tuple[ToolSchema, ...] = (
    _tool("click", "Click an element, or the point x, y.", **_PLACE),
    _tool("double_click", "Double-click an element, or the point x, y.", **_PLACE),
    _tool("right_click", "Right-click an element, or the point x, y.", **_PLACE),
    _tool(
        "drag", "Drag with the left button from x, y to to_x, to_y.", ("x", "y", "to_x", "to_y"),
        x=_X, y=_Y, to_x=_X, to_y=_Y,
    ),
    _tool(
        "type_text", "Type text where the focus is. A line break presses Enter.", ("text",),
        text=_TEXT,
    ),
    _tool(
        "press_keys",
        "Press one key, or several at once joined by '+', such as enter, ctrl+s or alt+f4.",
        ("keys",), keys=_TEXT,
    ),
    _tool(
        "scroll", "Turn the wheel over an element or a point.", ("direction",),
        direction={"type": "string", "enum": ["up", "down", "left", "right"]},
        **_PLACE, notches={"type": "integer", "minimum": 1, "maximum": 50, "default": 3},
    ),
    _tool(
        "open_app",
        "Open a program, or bring it to the front; with `file`, open a file of the home folder.",
        ("app_name",), app_name=_TEXT,
        file={**_TEXT, "description": "Such as Documents/letter.txt."},
    ),
    _tool("wait", "Wait half a second."),
    _tool("answer", "Answer the question of the task.", ("text",), text=_TEXT),
    _tool(
        "status", "End the task as complete, or as infeasible with a reason.", ("goal_status",),
        goal_status={"type": "string", "enum": ["complete", "infeasible"]},
        reason={**_TEXT, "description": "Why it cannot be done: a code from the task."},
        record={**_TEXT, "description": "What stands in the way: a name, number or line."},
    ),
)  # fmt: skip
