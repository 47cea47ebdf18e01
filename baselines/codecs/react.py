"""ReAct: `Thought:`, `Action:`, `Action Input:` lines, after Yao et al., arXiv 2210.03629."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from hexathlon.baselines.codecs.base import (
    DialectCall,
    WireMessage,
    arguments_text,
    format_calls,
    parse_calls,
    read_call,
    without_thoughts,
)

__all__ = ["ReActCodec"]

_ACTION = re.compile(r"^Action:[ \t]*(.*?)[ \t]*\nAction Input:", re.MULTILINE)
_FINAL = re.compile(r"^Final Answer:[ ]?", re.MULTILINE)

_PREAMBLE = """

You can use these tools:
{tools}

Answer in this form, and write nothing after the action's input:
Thought: what to do next, and why
Action: the name of one tool
Action Input: the tool's arguments as one JSON object

You are then told the Observation. To say something without using a tool, write:
Final Answer: what you have to say"""


class ReActCodec:
    """Thoughts and actions as labelled lines of text."""

    name: ClassVar[str] = "react"
    native: ClassVar[bool] = False
    stop: ClassVar[tuple[str, ...]] = ("\nObservation:",)

    def system_prompt(self, prompt: str, tools: Sequence[Mapping[str, Any]]) -> str:
        """Append the tools, one per line, and the format of an answer."""
        if not tools:
            return prompt
        lines = [
            f"- {tool['name']}: {tool['description']} "
            f"Arguments: {json.dumps(tool['parameters'], ensure_ascii=False)}"
            for tool in tools
        ]
        return prompt + _PREAMBLE.format(tools="\n".join(lines))

    def encode(self, action: str) -> WireMessage:
        """Encode each call as an action with its input, and prose as a final answer."""
        calls = parse_calls(action)
        if calls is None:
            return {"role": "assistant", "content": f"Final Answer: {action}"}
        blocks = [f"Action: {call.name}\nAction Input: {arguments_text(call)}" for call in calls]
        return {"role": "assistant", "content": "\n".join(blocks)}

    def decode(self, message: WireMessage) -> str:
        """Parse the actions, or the final answer if it comes first.

        Parsing stops at an input that is not a JSON object; it is kept verbatim.
        """
        text = without_thoughts(str(message.get("content") or ""))
        final, match = _FINAL.search(text), _ACTION.search(text)
        if final and (match is None or final.start() < match.start()):
            return text[final.end() :]
        calls: list[DialectCall] = []
        while match:
            parsed = read_call(text, match.end())
            if parsed is None or not isinstance(parsed[0], dict):
                calls.append(DialectCall(match.group(1), text[match.end() :].strip()))
                break
            calls.append(DialectCall(match.group(1), parsed[0]))
            match = _ACTION.match(text, _skip_blanks(text, parsed[1]))
        return format_calls(calls) if calls else text

    def answer(self, message: WireMessage, observations: Sequence[str]) -> list[WireMessage]:
        """Return the observations as a user message of labelled lines."""
        text = "\n".join(f"Observation: {observation}" for observation in observations)
        return [{"role": "user", "content": text}]


def _skip_blanks(text: str, start: int) -> int:
    while start < len(text) and text[start].isspace():
        start += 1
    return start
