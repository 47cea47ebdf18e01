"""Conversations as episodes of verifiers v1, the rows of its `traces.jsonl`.

An episode has a trace for each of its agents, here one. A trace is a graph of message nodes. An
export has one branch; of a trace with several, the last branch is read. The verdict is the reward
`verdict`; an unscored trial has an error instead.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from hexathlon.baselines.exchange.transcript import ChatTranscript

__all__ = ["from_episode", "from_trace", "to_episode", "to_trace"]

_KEPT = ("env", "task", "seed", "trial", "terms", "stop")
_TASK = "EventTask"
"""The class of our tasks there: `bridges.verifiers_taskset`."""


def to_episode(conversation: ChatTranscript) -> dict[str, Any]:
    """Return an episode of one trace as JSON values."""
    trace = to_trace(conversation)
    return {
        "id": trace["id"], "env": {"id": "hexathlon"}, "task": trace["task"], "ok": trace["ok"],
        "errors": [], "traces": [trace],
    }  # fmt: skip


def from_episode(episode: Mapping[str, Any]) -> ChatTranscript:
    """Read an episode of one agent, or a trace that stands alone.

    Raises:
        ValueError: If the episode has the traces of several agents.
    """
    if "traces" not in episode:
        return from_trace(episode)
    traces = episode["traces"]
    if len(traces) > 1:
        raise ValueError(f"expected episodes of one agent, got one with {len(traces)} traces")
    if traces:
        return from_trace(traces[0])
    said = "; ".join(each["message"] for each in episode.get("errors", ()))
    return ChatTranscript([], error=said or "the episode has no trace", **_played(episode))


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
        "task": {"type": _TASK, "data": {"name": conversation.task, "seed": conversation.seed}},
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
        **{**_played(trace), **{key: kept[key] for key in _KEPT if key in kept}},
    )  # fmt: skip


def _played(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return task and seed of a row that our own taskset has produced."""
    task = row.get("task") or {}
    if task.get("type") != _TASK:
        return {}
    return {"task": task["data"]["name"], "seed": task["data"].get("seed", 0)}


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
