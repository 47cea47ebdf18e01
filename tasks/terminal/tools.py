"""Tool schemas of the terminal event."""

from typing import Any

from hexathlon.tasks.task import ToolSchema

__all__ = ["TOOLS"]

_MAX_COMMAND = 60_000


def _schema(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


TOOLS: tuple[ToolSchema, ...] = (
    ToolSchema(
        name="run",
        description=(
            "Run a command line (or a script of several lines) in a bash shell that keeps its "
            "working directory and variables between calls. Returns its output, standard error "
            "included, and its exit status. Standard input is empty: use send_keys for programs "
            "that ask."
        ),
        parameters=_schema(
            {
                "command": {"type": "string", "maxLength": _MAX_COMMAND},
                "timeout": {"type": "number", "minimum": 1, "maximum": 600},
            },
            "command",
        ),
    ),
    ToolSchema(
        name="send_keys",
        description=(
            "Type into a second, full-screen terminal (80 columns, 24 lines) and return its "
            "screen. Write a newline for Enter, \\u0003 for Control-C, \\u001b for Escape."
        ),
        parameters=_schema({"keys": {"type": "string", "maxLength": 4_000}}, "keys"),
    ),
    ToolSchema(
        name="read_file",
        description="Return the text of a file.",
        parameters=_schema({"path": {"type": "string", "maxLength": 1_000}}, "path"),
    ),
    ToolSchema(
        name="write_file",
        description="Write a file, whole; folders on its way are made.",
        parameters=_schema(
            {
                "path": {"type": "string", "maxLength": 1_000},
                "text": {"type": "string", "maxLength": _MAX_COMMAND},
            },
            "path",
            "text",
        ),
    ),
    ToolSchema(
        name="submit",
        description=(
            "Say that the work is done. All your processes are ended and the files as they then "
            "are get judged; a task in several steps goes on with the next."
        ),
        parameters=_schema({}),
    ),
)
