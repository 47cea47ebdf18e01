"""OpenAI tool calls: tools in the request, `tool_calls` in the reply."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from hexathlon.baselines.codecs.base import (
    DialectCall,
    WireMessage,
    arguments_text,
    format_calls,
    parse_calls,
    read_arguments,
    without_thoughts,
)

__all__ = ["OpenAICodec"]


class OpenAICodec:
    """The format of servers that parse tool calls themselves."""

    name: ClassVar[str] = "openai"
    native: ClassVar[bool] = True
    stop: ClassVar[tuple[str, ...]] = ()

    def system_prompt(self, prompt: str, tools: Sequence[Mapping[str, Any]]) -> str:
        """Return the prompt unchanged; tools are sent in the request."""
        return prompt

    def encode(self, action: str) -> WireMessage:
        """Encode calls in `tool_calls`, anything else in `content`."""
        calls = parse_calls(action)
        if calls is None:
            return {"role": "assistant", "content": action}
        rows = [
            {
                "id": f"call_{position}",
                "type": "function",
                "function": {"name": call.name, "arguments": arguments_text(call)},
            }
            for position, call in enumerate(calls)
        ]
        return {"role": "assistant", "content": None, "tool_calls": rows}

    def decode(self, message: WireMessage) -> str:
        """Parse `tool_calls`; arguments that are not a JSON object are kept verbatim."""
        rows = message.get("tool_calls")
        if not rows:
            return without_thoughts(str(message.get("content") or ""))
        functions = [row["function"] for row in rows]
        return format_calls(
            [DialectCall(f["name"], read_arguments(f["arguments"])) for f in functions]
        )

    def answer(self, message: WireMessage, observations: Sequence[str]) -> list[WireMessage]:
        """Return one tool message per call, or a user message if there are no calls."""
        rows = message.get("tool_calls") or ()
        if not rows:
            return [{"role": "user", "content": "\n\n".join(observations)}]
        texts = [*observations, *[""] * (len(rows) - len(observations))]
        return [
            {"role": "tool", "tool_call_id": row["id"], "content": text}
            for row, text in zip(rows, texts, strict=False)
        ]
