"""Hermes tool calls: JSON between `<tool_call>` tags, the format of Qwen and many other models."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from hexathlon.baselines.codecs.base import (
    DialectCall,
    WireMessage,
    as_call,
    format_calls,
    parse_calls,
    read_call,
    without_thoughts,
)

__all__ = ["HermesCodec"]

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"

_PREAMBLE = """

# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>
{tools}
</tools>

For each function call, return a json object with function name and arguments within \
<tool_call></tool_call> XML tags:
<tool_call>
{{"name": <function-name>, "arguments": <args-json-object>}}
</tool_call>"""


class HermesCodec:
    """Tool calls in `<tool_call>` tags, results in `<tool_response>` tags."""

    name: ClassVar[str] = "hermes"
    native: ClassVar[bool] = False
    stop: ClassVar[tuple[str, ...]] = ()

    def system_prompt(self, prompt: str, tools: Sequence[Mapping[str, Any]]) -> str:
        """Append the function signatures and the format of a call."""
        if not tools:
            return prompt
        lines = [
            json.dumps({"type": "function", "function": dict(tool)}, ensure_ascii=False)
            for tool in tools
        ]
        return prompt + _PREAMBLE.format(tools="\n".join(lines))

    def encode(self, action: str) -> WireMessage:
        """Encode each call between tags."""
        calls = parse_calls(action)
        if calls is None:
            return {"role": "assistant", "content": action}
        blocks = [f"{_OPEN}\n{format_calls([call])}\n{_CLOSE}" for call in calls]
        return {"role": "assistant", "content": "\n".join(blocks)}

    def decode(self, message: WireMessage) -> str:
        """Parse all tagged calls; if one is malformed, return its text verbatim."""
        text = without_thoughts(str(message.get("content") or ""))
        calls: list[DialectCall] = []
        position = text.find(_OPEN)
        while position >= 0:
            parsed = read_call(text, position + len(_OPEN))
            call = as_call(parsed[0]) if parsed else None
            if parsed is None or call is None:
                return _tagged(text, position + len(_OPEN)) or text
            calls.append(call)
            position = text.find(_OPEN, parsed[1])
        return format_calls(calls) if calls else text

    def answer(self, message: WireMessage, observations: Sequence[str]) -> list[WireMessage]:
        """Return a user message, with tool responses if the message contains calls."""
        if _OPEN in str(message.get("content") or ""):
            observations = [f"<tool_response>\n{text}\n</tool_response>" for text in observations]
        return [{"role": "user", "content": "\n".join(observations)}]


def _tagged(text: str, start: int) -> str:
    end = text.find(_CLOSE, start)
    return text[start : end if end >= 0 else len(text)].strip()
