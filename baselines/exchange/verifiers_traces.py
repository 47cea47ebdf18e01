"""Conversations as traces of verifiers v1, the rows of its `traces.jsonl`.

A trace is a graph of message nodes. An export has one branch; of a trace with several, the last
branch is read. The verdict is the reward `verdict`; an unscored trial has an error instead.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from hexathlon.baselines.exchange.transcript import ChatTranscript

__all__ = ["from_trace", "to_trace"]

_KEPT = ("env", "task", "seed", "trial", "terms", "stop")


def to_trace(conversation: ChatTranscript) -> dict[str, Any]:
    """Return a trace as JSON values."""
    said = [message["role"] == "assistant" for message in conversation.messages]
    nodes = [
        {"parent": at - 1 if at else None, "message": _wire(message), "sampled": said[at],
         "timestamp": 0.0}
        for at, message in enumerate(conversation.messages)
    ]  # fmt: skip
    kept = {key: getattr(conversation, key) for key in _KEPT}
    name = f"{conversation.task}#{conversation.seed}.{conversation.trial}"
    scored = conversation.reward is not None
    error = {"type": "EnvFault", "message": conversation.error or "the episode has no score"}
    return {
        "version": 1,
        "id": hashlib.sha256(name.encode()).hexdigest()[:32],
        "task": {"type": "EventTask", "data": {"name": conversation.task}},
        "agent": {"config": {"model": conversation.model}},
        "tools": conversation.tools,
        "nodes": nodes,
        "rewards": {"verdict": {"score": conversation.reward, "weight": 1.0}} if scored else {},
        "info": {"hexathlon": kept},
        "is_completed": True,
        "ok": scored,
        "stop_condition": conversation.stop or None,
        "errors": [] if scored else [error],
    }


def from_trace(trace: Mapping[str, Any]) -> ChatTranscript:
    """Read a trace; its reward is the sum of its weighted rewards, None if it has errors."""
    nodes, path = trace["nodes"], []
    at = len(nodes) - 1 if nodes else None
    while at is not None:
        path.append(nodes[at]["message"])
        at = nodes[at].get("parent")
    rewards = [each for each in trace.get("rewards", {}).values() if each is not None]
    scored = rewards and not trace.get("errors")
    kept = trace.get("info", {}).get("hexathlon", {})
    errors = "; ".join(each["message"] for each in trace.get("errors", ()))
    return ChatTranscript(
        [_openai(message) for message in reversed(path)],
        [{key: tool.get(key) for key in ("name", "description", "parameters")}
         for tool in trace.get("tools", ())],
        model=trace.get("agent", {}).get("config", {}).get("model") or "",
        reward=sum(each["score"] * each.get("weight", 1.0) for each in rewards) if scored else None,
        error=errors,
        **{key: kept[key] for key in _KEPT if key in kept},
    )  # fmt: skip


def _wire(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message in the form of verifiers, whose tool calls are flat."""
    calls = [{"id": call["id"], **call["function"]} for call in message.get("tool_calls") or ()]
    plain = {key: value for key, value in message.items() if key != "tool_calls"}
    return {**plain, "tool_calls": calls} if calls else plain


def _openai(message: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("role", "content", "tool_call_id")
    plain = {key: message[key] for key in kept if message.get(key) is not None or key == "content"}
    plain.setdefault("content", None)
    if calls := message.get("tool_calls"):
        plain["tool_calls"] = [
            {"id": call["id"], "type": "function",
             "function": {"name": call["name"], "arguments": call["arguments"]}}
            for call in calls
        ]  # fmt: skip
    return plain
