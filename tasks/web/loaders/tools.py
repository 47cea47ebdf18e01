"""Tools of public web tasks: the browser's actions, and the answer in each benchmark's format."""

from hexathlon.tasks.task import ToolSchema
from hexathlon.tasks.web.tools import STATUSES, TASK_TYPES, WEB_TOOLS

__all__ = ["TEXT_ANSWER_TOOLS", "TYPED_ANSWER_TOOLS"]

_ACTIONS = tuple(tool for tool in WEB_TOOLS if tool.name not in ("finish", "report_infeasible"))

TEXT_ANSWER_TOOLS: tuple[ToolSchema, ...] = (
    *_ACTIONS,
    ToolSchema(
        name="finish",
        description="End the task when it is done, with the answer if one was asked for.",
        parameters={
            "type": "object",
            "properties": {
                "answer": {
                    "type": "string",
                    "description": "The answer and nothing else; N/A if the task cannot be done.",
                }
            },
            "required": ["answer"],
        },
    ),
)
"""Tools of WebArena and VisualWebArena, whose answer is a text."""

TYPED_ANSWER_TOOLS: tuple[ToolSchema, ...] = (
    *_ACTIONS,
    ToolSchema(
        name="finish",
        description="End the task, whether it could be done or not.",
        parameters={
            "type": "object",
            "properties": {
                "task_type": {"enum": list(TASK_TYPES)},
                "status": {"enum": list(STATUSES)},
                "retrieved_data": {
                    "type": ["array", "null"],
                    "description": "What was asked for, one item per value; null if nothing was.",
                },
                "error_details": {"type": ["string", "null"]},
            },
            "required": ["task_type", "status"],
        },
    ),
)
"""Tools of WebArena-Verified, whose answer is typed."""
