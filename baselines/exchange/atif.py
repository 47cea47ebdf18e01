"""Conversations in Harbor's Agent Trajectory Interchange Format, ATIF 1.8.

Our identity, verdict and stop reason travel in `extra`. Texts only: ATIF refers to images by files.
"""

import json
from collections.abc import Mapping
from typing import Any

from hexathlon.baselines.exchange.transcript import ChatTranscript

__all__ = ["from_atif", "to_atif"]

_KEPT = ("env", "task", "seed", "trial", "reward", "terms", "stop", "error")
_SOURCE = {"system": "system", "user": "user", "assistant": "agent"}
_ROLE = {source: role for role, source in _SOURCE.items()}


def to_atif(conversation: ChatTranscript) -> dict[str, Any]:
    """Return an ATIF document.

    Raises:
        ValueError: If a message has images.
    """
    steps: list[dict[str, Any]] = []
    for message in conversation.messages:
        content = message.get("content") or ""
        if not isinstance(content, str):
            raise ValueError("images are not exported to ATIF, and this conversation has some")
        if message["role"] == "tool":
            result = {"source_call_id": message["tool_call_id"], "content": content}
            steps[-1].setdefault("observation", {"results": []})["results"].append(result)
            continue
        step: dict[str, Any] = {"step_id": len(steps) + 1, "source": _SOURCE[message["role"]],
                                "message": content}  # fmt: skip
        if calls := message.get("tool_calls"):
            step["tool_calls"] = [
                {"tool_call_id": call["id"], "function_name": call["function"]["name"],
                 "arguments": json.loads(call["function"]["arguments"])}
                for call in calls
            ]  # fmt: skip
        steps.append(step)
    name = f"{conversation.task}#{conversation.seed}.{conversation.trial}"
    tools = [{"type": "function", "function": tool} for tool in conversation.tools]
    return {
        "schema_version": "ATIF-v1.8",
        "session_id": name,
        "trajectory_id": name,
        "agent": {"name": "hexathlon", "version": "1", "model_name": conversation.model,
                  "tool_definitions": tools},
        "steps": steps,
        "final_metrics": {"total_steps": len(steps)},
        "extra": {key: getattr(conversation, key) for key in _KEPT},
    }  # fmt: skip


def from_atif(document: Mapping[str, Any]) -> ChatTranscript:
    """Read an ATIF document of any version 1; foreign ones have no reward of ours."""
    messages: list[dict[str, Any]] = []
    for step in document["steps"]:
        message: dict[str, Any] = {"role": _ROLE[step["source"]], "content": _text(step["message"])}
        calls = step.get("tool_calls") or ()
        if calls:
            message["content"] = message["content"] or None
            message["tool_calls"] = [
                {"id": call["tool_call_id"], "type": "function", "function": {
                    "name": call["function_name"],
                    "arguments": json.dumps(call["arguments"], ensure_ascii=False)}}
                for call in calls
            ]  # fmt: skip
        messages.append(message)
        for result in (step.get("observation") or {}).get("results", ()):
            text, call = _text(result.get("content")), result.get("source_call_id")
            owner = {"role": "tool", "tool_call_id": call} if call else {"role": "user"}
            messages.append({**owner, "content": text})
    agent, extra = document["agent"], document.get("extra") or {}
    tools = [tool.get("function", tool) for tool in agent.get("tool_definitions") or ()]
    kept = {key: extra[key] for key in _KEPT if key in extra}
    return ChatTranscript(messages, tools, model=agent.get("model_name") or "", **kept)


def _text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part.get("text") or "" for part in content)
