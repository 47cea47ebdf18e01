"""Compact tool calls for small policies: the tool's name, then one `key: value` line per argument.

In `compact`, a text of several lines is a JSON string on one line. In `lines`, it is a block under
`key: |` with lines indented by two spaces, as in YAML, which keeps programs readable. The prompt
does not describe these dialects; only policies trained on them use them.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from hexathlon.baselines.codecs.base import (
    DialectCall,
    WireMessage,
    format_calls,
    parse_calls,
    read_json,
    without_thoughts,
)

__all__ = ["CompactCodec", "LinesCodec"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LINE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*): ?(.*)")
_BLOCK, _INDENT = "|", "  "


class CompactCodec:
    """One call per message; any other text is prose."""

    name: ClassVar[str] = "compact"
    native: ClassVar[bool] = False
    stop: ClassVar[tuple[str, ...]] = ()
    _blocks: ClassVar[bool] = False

    def system_prompt(self, prompt: str, tools: Sequence[Mapping[str, Any]]) -> str:
        """Return an empty prompt, since the prompt is the same in every episode."""
        return ""

    def encode(self, action: str) -> WireMessage:
        """Encode a single call as lines; anything else as JSON."""
        calls = parse_calls(action)
        call = calls[0] if calls is not None and len(calls) == 1 else None
        if call is None or isinstance(call.arguments, str) or not _plain(call):
            round_trips = self.decode({"role": "assistant", "content": action}) == action
            return {"role": "assistant", "content": action if round_trips else json.dumps(action)}
        lines = [
            f"{key}: {_format_value(value, blocks=self._blocks)}"
            for key, value in call.arguments.items()
        ]
        return {"role": "assistant", "content": "\n".join([call.name, *lines])}

    def decode(self, message: WireMessage) -> str:
        """Parse a call; prose is returned unchanged, or unquoted if it is a JSON string."""
        text = str(message.get("content") or "")
        text = without_thoughts(text) if text.startswith("<think>") else text
        quoted = read_json(text)
        if isinstance(quoted, str):
            return quoted
        head, *rest = text.split("\n")
        arguments = _parse_arguments(rest, blocks=self._blocks)
        if not _NAME.fullmatch(head) or arguments is None:
            return text
        return format_calls([DialectCall(head, arguments)])

    def answer(self, message: WireMessage, observations: Sequence[str]) -> list[WireMessage]:
        """Return the observations as a user message."""
        return [{"role": "user", "content": "\n\n".join(observations)}]


class LinesCodec(CompactCodec):
    """The `compact` dialect with multi-line texts as indented blocks."""

    name: ClassVar[str] = "lines"
    _blocks: ClassVar[bool] = True


def _plain(call: DialectCall) -> bool:
    return all(_NAME.fullmatch(name) for name in (call.name, *call.arguments))


def _format_value(value: Any, *, blocks: bool) -> str:
    """Return a text unquoted if it parses back to itself, everything else as JSON."""
    if blocks and isinstance(value, str) and "\n" in value:
        return "\n".join([_BLOCK, *(_INDENT + line for line in value.split("\n"))])
    if isinstance(value, str) and "\n" not in value and read_json(value) is None:
        reserved = ("", "null", _BLOCK) if blocks else ("", "null")
        return value if value == value.strip() and value not in reserved else json.dumps(value)
    return json.dumps(value, ensure_ascii=False)


def _parse_arguments(lines: Sequence[str], *, blocks: bool) -> dict[str, Any] | None:
    """Parse `key: value` lines and blocks; None if a line is neither."""
    arguments: dict[str, Any] = {}
    block_lines: dict[str, list[str]] = {}
    block = ""
    for line in lines:
        if block and line.startswith(_INDENT):
            block_lines[block].append(line.removeprefix(_INDENT))
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            return None
        name, value = match.groups()
        block = name if blocks and value == _BLOCK else ""
        block_lines.pop(name, None)
        if block:
            block_lines[name] = []
        arguments[name] = _parse_value(value)
    return arguments | {name: "\n".join(text) for name, text in block_lines.items()}


def _parse_value(text: str) -> Any:
    value = read_json(text)
    return text if value is None and text != "null" else value
