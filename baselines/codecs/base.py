"""The codec interface, canonical tool calls, and helpers shared by the codecs."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, Self, runtime_checkable

__all__ = [
    "Codec",
    "DialectCall",
    "ScreenCodec",
    "WireMessage",
    "arguments_text",
    "as_call",
    "fitted",
    "format_calls",
    "parse_calls",
    "read_arguments",
    "read_call",
    "read_json",
    "with_thought",
    "without_thoughts",
]

WireMessage = dict[str, Any]
"""A message in the format of OpenAI chat completions."""


class DialectCall(NamedTuple):
    """One tool call."""

    name: str
    arguments: dict[str, Any] | str
    """A JSON object, or the model's text verbatim if it is not one."""


class Codec(Protocol):
    """Translates between one dialect and canonical actions."""

    name: ClassVar[str]
    native: ClassVar[bool]
    """Whether tools are sent in the request's `tools` field instead of the system prompt."""

    stop: ClassVar[tuple[str, ...]]
    """Stop strings that keep the model from inventing the environment's answer."""

    def system_prompt(self, prompt: str, tools: Sequence[Mapping[str, Any]]) -> str:
        """Return the system prompt, including the tools if the dialect describes them there."""
        ...

    def encode(self, action: str) -> WireMessage:
        """Convert a canonical action to an assistant message."""
        ...

    def decode(self, message: WireMessage) -> str:
        """Convert an assistant message to a canonical action; prose is returned unchanged."""
        ...

    def answer(self, message: WireMessage, observations: Sequence[str]) -> list[WireMessage]:
        """Return the messages that answer an assistant message, with one text per tool call."""
        ...


@runtime_checkable
class ScreenCodec(Protocol):
    """A codec whose points depend on the episode's screen."""

    def fitted(self, tools: Sequence[Mapping[str, Any]]) -> Self:
        """Return a codec for an episode with these tools."""
        ...

    def seeing(self, width: int, height: int) -> Self:
        """Return a codec for screenshots of this size in pixels."""
        ...


def fitted(codec: Codec, tools: Sequence[Mapping[str, Any]]) -> Codec:
    """Return the codec for an episode with these tools; most codecs are the same for all."""
    fit: Codec = codec.fitted(tools) if isinstance(codec, ScreenCodec) else codec
    return fit


def format_calls(calls: Sequence[DialectCall]) -> str:
    """Return calls as a canonical action: a JSON object for one, a list for several."""
    rows = [{"name": call.name, "arguments": call.arguments} for call in calls]
    return json.dumps(rows[0] if len(rows) == 1 else rows, ensure_ascii=False)


def parse_calls(action: str) -> list[DialectCall] | None:
    """Parse a canonical action; None if it is prose or malformed."""
    value = read_json(action)
    rows = value if isinstance(value, list) else [value]
    calls = [as_call(row) for row in rows]
    if not calls or None in calls:
        return None
    return [call for call in calls if call is not None]


def read_json(text: str) -> Any:
    """Parse a whole text as JSON; None if it is not JSON."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def read_call(text: str, start: int) -> tuple[Any, int] | None:
    """Return the JSON value at `start`, after optional whitespace, and the index of its end."""
    while start < len(text) and text[start].isspace():
        start += 1
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None


def with_thought(thought: str, message: WireMessage) -> WireMessage:
    """Prepend a `<think>` block to an assistant message, as reasoning models write it."""
    if not thought:
        return message
    content = str(message.get("content") or "")
    return {**message, "content": f"<think>\n{thought}\n</think>\n\n{content}"}


def without_thoughts(text: str) -> str:
    """Remove a leading `<think>…</think>` block.

    The opening tag may be missing, since some templates write it themselves; a text that begins
    with a tool call is then not taken for a thought.
    """
    head, tag, tail = text.partition("</think>")
    head = head.lstrip()
    opened = head.startswith("<think>")
    if not tag or "<think>" in head[1:] or (not opened and _CALLING.match(head)):
        return text
    return tail.lstrip()


def as_call(value: Any) -> DialectCall | None:
    """Return a JSON value as a call, or None if it is not one."""
    if not isinstance(value, dict) or set(value) - {"name", "arguments"}:
        return None
    name, arguments = value.get("name"), value.get("arguments", {})
    if not isinstance(name, str) or not isinstance(arguments, (dict, str)):
        return None
    return DialectCall(name, read_arguments(arguments) if isinstance(arguments, str) else arguments)


def read_arguments(text: str) -> dict[str, Any] | str:
    """Parse a text as a JSON object; return the text unchanged if it is not one."""
    value = read_json(text) if text.strip() else {}
    return value if isinstance(value, dict) else text


def arguments_text(call: DialectCall) -> str:
    """Return a call's arguments as JSON text, or verbatim if they are not JSON."""
    if isinstance(call.arguments, str):
        return call.arguments
    return json.dumps(call.arguments, ensure_ascii=False)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


_CALLING = re.compile(r"[{\[]|<tool_call>|Action:|Final Answer:")
_DECODER = json.JSONDecoder(parse_constant=_refuse)
