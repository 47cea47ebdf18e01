"""The agent's tools on a phone: AndroidWorld's vocabulary and a typed final report."""

from typing import Any

from hexathlon.tasks.task import ToolSchema

__all__ = ["DIRECTIONS", "PHONE_TOOLS", "REASONS"]

DIRECTIONS = ("up", "down", "left", "right")

REASONS = (
    "not_found",
    "not_allowed",
    "conflict",
    "missing_information",
    "not_possible",
)
"""Kinds of obstacles that can be reported for an infeasible task."""

_INDEX = {"type": "integer", "minimum": 0, "description": "Number of the element."}
_X = {"type": "integer", "description": "Pixels from the left, instead of an index."}
_Y = {"type": "integer", "description": "Pixels from the top."}
_PLACE: dict[str, Any] = {"index": _INDEX, "x": _X, "y": _Y}


def _tool(name: str, about: str, required: tuple[str, ...] = (), **properties: Any) -> ToolSchema:
    return ToolSchema(
        name=name,
        description=about,
        parameters={"type": "object", "properties": properties, "required": list(required)},
    )


PHONE_TOOLS: tuple[ToolSchema, ...] = (
    _tool("click", "Tap an element or a pixel.", (), **_PLACE),
    _tool("double_tap", "Tap twice.", (), **_PLACE),
    _tool("long_press", "Press for a while.", (), **_PLACE),
    _tool(
        "input_text",
        "Type at the end of a text field; the field that has the keyboard, if none is named.",
        ("text",),
        text={"type": "string"},
        **_PLACE,
        clear_text={"type": "boolean", "description": "Whether to empty the field first."},
    ),
    _tool("keyboard_enter", "Press the Enter key of the keyboard."),
    _tool("navigate_back", "Press the back button; it closes the keyboard first."),
    _tool("navigate_home", "Press the home button."),
    _tool("navigate_recents", "Show the apps in use."),
    _tool("open_app", "Open an app.", ("app_name",), app_name={"type": "string"}),
    _tool(
        "scroll",
        "Show what follows in a direction, by most of a screen.",
        ("direction",),
        direction={"enum": list(DIRECTIONS)},
        index=_INDEX,
    ),
    _tool(
        "swipe",
        "Move a finger in a direction from an element or a pixel, or to a second pixel. From the "
        "top edge down: notifications.",
        ("direction",),
        direction={"enum": list(DIRECTIONS)},
        **_PLACE,
        x2=_X,
        y2=_Y,
    ),
    _tool("wait", "Let a minute pass."),
    _tool("ask_user", "Ask the user for a fact.", ("question",), question={"type": "string"}),
    _tool(
        "answer",
        "Give the answer to a question, before the status; several values are separated by `;`.",
        ("text",),
        text={"type": "string"},
    ),
    _tool(
        "status",
        "Report that the request is complete or infeasible.",
        ("goal_status",),
        goal_status={"enum": ["complete", "infeasible"]},
        reason={"enum": list(REASONS)},
        record={
            "type": "string",
            "description": "If infeasible: the name or number of the entry that stands in the way.",
        },
    ),
)
