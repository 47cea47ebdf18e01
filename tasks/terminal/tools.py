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
            "working directory, variables and jobs between calls. Returns its output, standard "
            "error included, and its exit status. Standard input is empty: use send_keys for "
            "programs that ask."
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
            "Type into a second, full-screen terminal and return its screen. Keys have tmux's "
            "names in angle brackets: ls<Enter>, <C-c>, <Escape>:wq<Enter>, <Up>, <F5>; a newline "
            "is Enter, too. The screen is returned once the program waits for input; with "
            "quiet_ms, after so many milliseconds without output; with wait_for, when a line below "
            "the one typed into shows this text (in a full-screen program, any line); in every "
            "case after timeout seconds. rows and columns change the size, 24 by 80 at first."
        ),
        parameters=_schema(
            {
                "keys": {"type": "string", "maxLength": 4_000},
                "wait_for": {"type": "string", "maxLength": 200},
                "quiet_ms": {"type": "integer", "minimum": 10, "maximum": 10_000},
                "timeout": {"type": "number", "minimum": 1, "maximum": 600},
                "rows": {"type": "integer", "minimum": 5, "maximum": 100},
                "columns": {"type": "integer", "minimum": 20, "maximum": 250},
            },
            "keys",
        ),
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
