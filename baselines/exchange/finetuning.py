"""Conversations as fine-tuning data: OpenAI's chat format and ShareGPT's.

Both keep messages and tools only: task, seed and reward are not part of them, and are empty after
reading. Export what has earned its place: the reward filters, not the format.
"""

import json
from collections.abc import Mapping
from typing import Any

from hexathlon.baselines.exchange.transcript import ChatTranscript

__all__ = ["from_openai", "from_sharegpt", "to_openai", "to_sharegpt"]

_FROM = {"user": "human", "assistant": "gpt", "tool": "observation"}
_ROLE = {"human": "user", "gpt": "assistant", "observation": "tool", "function_call": "assistant"}


def to_openai(conversation: ChatTranscript) -> dict[str, Any]:
    """Return a line of OpenAI's fine-tuning JSONL."""
    tools = [{"type": "function", "function": tool} for tool in conversation.tools]
    line: dict[str, Any] = {"messages": conversation.messages}
    return {**line, "tools": tools} if tools else line


def from_openai(line: Mapping[str, Any]) -> ChatTranscript:
    """Read a line of OpenAI's fine-tuning JSONL."""
    tools = [tool["function"] for tool in line.get("tools", ())]
    return ChatTranscript([dict(message) for message in line["messages"]], tools)


def to_sharegpt(conversation: ChatTranscript) -> dict[str, Any]:
    """Return a ShareGPT row; tool calls become `function_call` turns as JSON.

    Raises:
        ValueError: If a message has images: ShareGPT's turns are texts.
    """
    turns, system = [], ""
    for message in conversation.messages:
        content = message.get("content") or ""
        if not isinstance(content, str):
            raise ValueError("ShareGPT's turns are texts, and this conversation has images")
        if message["role"] == "system":
            system = content
        elif calls := message.get("tool_calls"):
            called = [
                {"name": each["name"], "arguments": json.loads(each["arguments"])}
                for each in (call["function"] for call in calls)
            ]
            value = called[0] if len(called) == 1 else called
            turns.append({"from": "function_call", "value": json.dumps(value, ensure_ascii=False)})
        else:
            turns.append({"from": _FROM[message["role"]], "value": content})
    tools = json.dumps(conversation.tools, ensure_ascii=False)
    return {"conversations": turns, "system": system, "tools": tools}


def from_sharegpt(row: Mapping[str, Any]) -> ChatTranscript:
    """Read a ShareGPT row."""
    messages: list[dict[str, Any]] = []
    if row.get("system"):
        messages.append({"role": "system", "content": row["system"]})
    waiting: list[str] = []
    for number, turn in enumerate(row["conversations"]):
        message: dict[str, Any] = {"role": _ROLE[turn["from"]], "content": turn["value"]}
        if turn["from"] == "function_call":
            value = json.loads(turn["value"])
            calls = value if isinstance(value, list) else [value]
            message = {"role": "assistant", "content": None, "tool_calls": [
                {"id": f"call_{number}_{at}", "type": "function", "function": {
                    "name": call["name"],
                    "arguments": json.dumps(call["arguments"], ensure_ascii=False)}}
                for at, call in enumerate(calls)
            ]}  # fmt: skip
            waiting = [call["id"] for call in message["tool_calls"]]
        elif message["role"] == "tool":
            message["tool_call_id"] = waiting.pop(0) if waiting else f"call_{number}_0"
        messages.append(message)
    return ChatTranscript(messages, json.loads(row.get("tools") or "[]"))
