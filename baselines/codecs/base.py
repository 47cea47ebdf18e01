"""What a codec is, and the canonical calls that all of them speak of."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

__all__ = [
    "Codec",
    "DialectCall",
    "Wire",
    "arguments_text",
    "as_call",
    "format_calls",
    "parse_calls",
    "read_arguments",
    "read_call",
    "read_json",
    "with_thought",
    "without_thoughts",
]

Wire = dict[str, Any]
"""A message as it travels to and from a chat server (OpenAI chat completions)."""


class DialectCall(NamedTuple):
    """One tool call."""

    name: str
    arguments: dict[str, Any] | str
    """An object; text where the model's arguments are not the JSON of one, kept verbatim."""


class Codec(Protocol):
    """Translates between one dialect and canonical actions."""

    name: ClassVar[str]
    native: ClassVar[bool]
    """Whether tools travel in the request's own `tools` field, not in the system prompt."""

    stop: ClassVar[tuple[str, ...]]
    """Strings after which the model must not go on, lest it invents the environment's answer."""

    def system_prompt(self, prompt: str, tools: Sequence[Mapping[str, Any]]) -> str:
        """Return the system prompt, with the tools described where the dialect needs that."""
        ...

    def encode(self, action: str) -> Wire:
        """Write a canonical action as an assistant message."""
        ...

    def decode(self, message: Wire) -> str:
        """Read the canonical action out of an assistant message; prose stays as it came."""
        ...

    def answer(self, message: Wire, observations: Sequence[str]) -> list[Wire]:
        """Return the messages that tell the model what followed its message, one text a call."""
        ...


def format_calls(calls: Sequence[DialectCall]) -> str:
    """Write calls as a canonical action: an object for one, a list for several."""
    rows = [{"name": call.name, "arguments": call.arguments} for call in calls]
    return json.dumps(rows[0] if len(rows) == 1 else rows, ensure_ascii=False)


def parse_calls(action: str) -> list[DialectCall] | None:
    """Read a canonical action; None where it is prose or not well formed."""
    value = read_json(action)
    rows = value if isinstance(value, list) else [value]
    calls = [as_call(row) for row in rows]
    if not calls or None in calls:
        return None
    return [call for call in calls if call is not None]


def read_json(text: str) -> Any:
    """Return the JSON value of a whole text, or None where it is not JSON."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def read_call(text: str, start: int) -> tuple[Any, int] | None:
    """Return the JSON value that begins at or after blanks from `start`, and where it ends."""
    while start < len(text) and text[start].isspace():
        start += 1
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None


def with_thought(thought: str, message: Wire) -> Wire:
    """Put a thought before what an assistant message says, as reasoning models write it."""
    if not thought:
        return message
    said = str(message.get("content") or "")
    return {**message, "content": f"<think>\n{thought}\n</think>\n\n{said}"}


def without_thoughts(text: str) -> str:
    """Drop a leading `<think>…</think>`.

    Some templates write the opening tag themselves, so it may be missing; what begins with a call
    is no thought.
    """
    head, tag, tail = text.partition("</think>")
    head = head.lstrip()
    opened = head.startswith("<think>")
    if not tag or "<think>" in head[1:] or (not opened and _CALLING.match(head)):
        return text
    return tail.lstrip()


def as_call(value: Any) -> DialectCall | None:
    """Return the call that a JSON value spells, or None."""
    if not isinstance(value, dict) or set(value) - {"name", "arguments"}:
        return None
    name, arguments = value.get("name"), value.get("arguments", {})
    if not isinstance(name, str) or not isinstance(arguments, (dict, str)):
        return None
    return DialectCall(name, read_arguments(arguments) if isinstance(arguments, str) else arguments)


def read_arguments(text: str) -> dict[str, Any] | str:
    """Return the object that a JSON text spells, or the text itself."""
    value = read_json(text) if text.strip() else {}
    return value if isinstance(value, dict) else text


def arguments_text(call: DialectCall) -> str:
    """Return a call's arguments as JSON text, or verbatim where they never were JSON."""
    if isinstance(call.arguments, str):
        return call.arguments
    return json.dumps(call.arguments, ensure_ascii=False)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


_CALLING = re.compile(r"[{\[]|<tool_call>|Action:|Final Answer:")
_DECODER = json.JSONDecoder(parse_constant=_refuse)
