"""The agent's tools in a browser: BrowserGym's vocabulary, and the typed answer at the end."""

from typing import Any

from hexathlon.tasks.task import ToolSchema

__all__ = ["COORDINATE_TOOLS", "STATUSES", "TASK_TYPES", "WEB_TOOLS"]

TASK_TYPES = ("RETRIEVE", "MUTATE", "NAVIGATE")
"""Kinds of tasks, as WebArena-Verified names them."""

STATUSES = (
    "SUCCESS",
    "NOT_FOUND_ERROR",
    "ACTION_NOT_ALLOWED_ERROR",
    "PERMISSION_DENIED_ERROR",
    "DATA_VALIDATION_ERROR",
    "UNKNOWN_ERROR",
)
"""Ways in which a task ends, as WebArena-Verified names them."""

_ELEMENT = {"type": "string", "description": "Number of the element, such as 12."}
_TEXT = {"type": "string"}


def _tool(name: str, about: str, required: tuple[str, ...] = (), **properties: Any) -> ToolSchema:
    return ToolSchema(
        name=name,
        description=about,
        parameters={"type": "object", "properties": properties, "required": list(required)},
    )


WEB_TOOLS: tuple[ToolSchema, ...] = (
    _tool("click", "Click an element.", ("bid",), bid=_ELEMENT),
    _tool("dblclick", "Double-click an element.", ("bid",), bid=_ELEMENT),
    _tool("hover", "Move the pointer over an element.", ("bid",), bid=_ELEMENT),
    _tool("fill", "Replace the text of a field.", ("bid", "text"), bid=_ELEMENT, text=_TEXT),
    _tool("clear", "Empty a field.", ("bid",), bid=_ELEMENT),
    _tool(
        "select_option",
        "Choose an option of a list, by its label.",
        ("bid", "options"),
        bid=_ELEMENT,
        options={"type": ["string", "array"], "items": {"type": "string"}},
    ),
    _tool(
        "press",
        "Press a key in an element, such as Enter or Escape.",
        ("bid", "key_comb"),
        bid=_ELEMENT,
        key_comb=_TEXT,
    ),
    _tool("focus", "Focus an element.", ("bid",), bid=_ELEMENT),
    _tool(
        "drag_and_drop",
        "Drag one element onto another.",
        ("from_bid", "to_bid"),
        from_bid=_ELEMENT,
        to_bid=_ELEMENT,
    ),
    _tool(
        "upload_file",
        "Choose one of your files in a file field.",
        ("bid", "file"),
        bid=_ELEMENT,
        file={"type": "string", "description": "Name of the file."},
    ),
    _tool(
        "read_file",
        "Read one of your files: those you began with and those you downloaded.",
        ("file",),
        file=_TEXT,
        start={"type": "integer", "minimum": 0, "description": "Character to read from."},
    ),
    _tool(
        "scroll",
        "Scroll the page by pixels.",
        (),
        delta_x={"type": "number"},
        delta_y={"type": "number"},
    ),
    _tool("goto", "Open a URL in the current tab.", ("url",), url=_TEXT),
    _tool("go_back", "Go back to the page before."),
    _tool("go_forward", "Go forward again."),
    _tool("new_tab", "Open an empty tab."),
    _tool("tab_focus", "Switch to a tab.", ("index",), index={"type": "integer", "minimum": 0}),
    _tool("tab_close", "Close the current tab."),
    _tool("noop", "Do nothing for a moment.", (), wait_ms={"type": "number"}),
    _tool(
        "send_msg_to_user",
        "Say something to the user.",
        ("text",),
        text=_TEXT,
    ),
    _tool(
        "report_infeasible",
        "End the task because it cannot be done as asked.",
        ("status",),
        status={"enum": list(STATUSES[1:])},
        record={
            "type": "string",
            "description": "Id of the record or number of the rule in the way, as shown.",
        },
    ),
    _tool(
        "finish",
        "End the task when everything that was asked is done.",
        ("task_type",),
        task_type={"enum": list(TASK_TYPES)},
        retrieved_data={
            "type": ["array", "null"],
            "description": "What was asked for, one item per value, in the order asked.",
        },
    ),
)
"""Tools of generated tasks. `finish` and `report_infeasible` give WebArena-Verified's answer."""

_PLACE = {"x": {"type": "number"}, "y": {"type": "number"}}

COORDINATE_TOOLS: tuple[ToolSchema, ...] = (
    _tool("mouse_click", "Click at a place of the window, in pixels.", ("x", "y"), **_PLACE),
    _tool("mouse_dblclick", "Double-click at a place of the window.", ("x", "y"), **_PLACE),
    _tool("mouse_move", "Move the pointer to a place of the window.", ("x", "y"), **_PLACE),
    _tool(
        "mouse_drag_and_drop",
        "Drag from one place of the window to another.",
        ("from_x", "from_y", "to_x", "to_y"),
        from_x={"type": "number"},
        from_y={"type": "number"},
        to_x={"type": "number"},
        to_y={"type": "number"},
    ),
    _tool("keyboard_press", "Press a key or combination, such as Control+A.", ("key",), key=_TEXT),
    _tool("keyboard_type", "Type a text key by key where the focus is.", ("text",), text=_TEXT),
    _tool("keyboard_insert_text", "Insert a text where the focus is.", ("text",), text=_TEXT),
)
"""Tools that need a window; a real browser offers them in addition to `WEB_TOOLS`."""
