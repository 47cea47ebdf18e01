"""Plain JSON: the message is the canonical action, bare or in one fenced block."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from hexathlon.baselines.codecs.base import WireMessage, format_calls, parse_calls, without_thoughts

__all__ = ["PlainCodec"]

_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)

_PREAMBLE = """

You can use these tools:
{tools}

To use one, answer with a JSON object and nothing else:
{{"name": "the tool's name", "arguments": {{…}}}}"""


class PlainCodec:
    """The canonical action itself."""

    name: ClassVar[str] = "json"
    native: ClassVar[bool] = False
    stop: ClassVar[tuple[str, ...]] = ()

    def system_prompt(self, prompt: str, tools: Sequence[Mapping[str, Any]]) -> str:
        """Append the tools as JSON, one per line."""
        if not tools:
            return prompt
        lines = [json.dumps(dict(tool), ensure_ascii=False) for tool in tools]
        return prompt + _PREAMBLE.format(tools="\n".join(lines))

    def encode(self, action: str) -> WireMessage:
        """Return the action unchanged."""
        return {"role": "assistant", "content": action}

    def decode(self, message: WireMessage) -> str:
        """Parse the whole message, or its only fenced block, as a call."""
        text = without_thoughts(str(message.get("content") or ""))
        calls = parse_calls(text)
        blocks = _FENCE.findall(text)
        if calls is None and len(blocks) == 1 and blocks[0].lstrip()[:1] in ("{", "["):
            text, calls = blocks[0], parse_calls(blocks[0])
        return text if calls is None else format_calls(calls)

    def answer(self, message: WireMessage, observations: Sequence[str]) -> list[WireMessage]:
        """Return the observations as a user message."""
        return [{"role": "user", "content": "\n\n".join(observations)}]
