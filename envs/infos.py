"""The info dictionaries of `reset` and `step`: fixed keys, plain values."""

from typing import Any, Literal

from pydantic import TypeAdapter

from hexathlon.envs.status import Status
from hexathlon.tasks.task import Task, ToolSchema

__all__ = ["Advance", "ToolFormat", "info_of", "reset_info_of"]

ToolFormat = Literal["plain", "openai", "anthropic"]
"""Form of tool schemas: name, description and parameters, or that of a provider's API."""

Advance = tuple[Any, Status, int, int, int]
"""The new observation, the status, and the counts of turns, tool errors and characters cut."""

_TOOLS = TypeAdapter(tuple[ToolSchema, ...])


def reset_info_of(
    task: Task, seed: int, system_prompt: str, status: Status, tool_format: ToolFormat = "plain"
) -> dict[str, Any]:
    """Return the info dictionary of a reset."""
    tools = _TOOLS.dump_python(task.tools) if task.tools else ()
    return {
        "task_id": task.opaque_id,
        "task_hash": task.hash,
        "seed": seed,
        "system_prompt": system_prompt,
        "tools": tools if tool_format == "plain" else _formatted(tools, tool_format),
        "status": status._value_,  # avoids the descriptor lookup of `value`
        "reward_terms": {},
        "turn": 0,
    }


def _formatted(tools: tuple[dict[str, Any], ...], form: ToolFormat) -> tuple[dict[str, Any], ...]:
    if form == "openai":
        return tuple({"type": "function", "function": tool} for tool in tools)
    return tuple(
        {"name": t["name"], "description": t["description"], "input_schema": t["parameters"]}
        for t in tools
    )


def info_of(
    status: Status, turn: int, tool_errors: int, cut_chars: int, terms: dict[str, float]
) -> dict[str, Any]:
    """Return the info dictionary of a step."""
    return {
        "status": status._value_,
        "reward_terms": terms,
        "turn": turn,
        "tool_errors": tool_errors,
        "cut_chars": cut_chars,
    }
