"""Compact calls for small policies: the tool's name, then one `key: value` line an argument.

In `compact` a text of several lines is a JSON string on one line. In `lines` it stands under
`key: |`, each line behind two blanks, as in YAML: programs are then read line by line. Nothing is
described in the prompt: a policy that speaks these dialects was trained on them.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from hexathlon.baselines.codecs.base import (
    DialectCall,
    Wire,
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
    """One call a message; anything that does not have its form is prose."""

    name: ClassVar[str] = "compact"
    native: ClassVar[bool] = False
    stop: ClassVar[tuple[str, ...]] = ()
    _blocks: ClassVar[bool] = False

    def system_prompt(self, prompt: str, tools: Sequence[Mapping[str, Any]]) -> str:
        """Leave the prompt out: what it says is the same in every episode."""
        return ""

    def encode(self, action: str) -> Wire:
        """Write a single call in lines; several calls, or arguments that are no object, as JSON."""
        calls = parse_calls(action)
        call = calls[0] if calls is not None and len(calls) == 1 else None
        if call is None or isinstance(call.arguments, str) or not _plain(call):
            same = self.decode({"role": "assistant", "content": action}) == action
            return {"role": "assistant", "content": action if same else json.dumps(action)}
        lines = [
            f"{key}: {_written(value, blocks=self._blocks)}"
            for key, value in call.arguments.items()
        ]
        return {"role": "assistant", "content": "\n".join([call.name, *lines])}

    def decode(self, message: Wire) -> str:
        """Read a call out of lines; prose stays as it came, quoted where it looks like a call."""
        text = str(message.get("content") or "")
        text = without_thoughts(text) if text.startswith("<think>") else text
        quoted = read_json(text)
        if isinstance(quoted, str):
            return quoted
        head, *rest = text.split("\n")
        arguments = _arguments(rest, blocks=self._blocks)
        if not _NAME.fullmatch(head) or arguments is None:
            return text
        return format_calls([DialectCall(head, arguments)])

    def answer(self, message: Wire, observations: Sequence[str]) -> list[Wire]:
        """Return the observations as a user message."""
        return [{"role": "user", "content": "\n\n".join(observations)}]


class LinesCodec(CompactCodec):
    """As `compact`, with texts of several lines as they are."""

    name: ClassVar[str] = "lines"
    _blocks: ClassVar[bool] = True


def _plain(call: DialectCall) -> bool:
    return all(_NAME.fullmatch(name) for name in (call.name, *call.arguments))


def _written(value: Any, *, blocks: bool) -> str:
    """Write a text bare where it reads back as itself, everything else as JSON."""
    if blocks and isinstance(value, str) and "\n" in value:
        return "\n".join([_BLOCK, *(_INDENT + line for line in value.split("\n"))])
    if isinstance(value, str) and "\n" not in value and read_json(value) is None:
        taken = ("", "null", _BLOCK) if blocks else ("", "null")
        return value if value == value.strip() and value not in taken else json.dumps(value)
    return json.dumps(value, ensure_ascii=False)


def _arguments(lines: Sequence[str], *, blocks: bool) -> dict[str, Any] | None:
    """Read `key: value` lines, and blocks if there are any; None where a line is neither."""
    arguments: dict[str, Any] = {}
    open_blocks: dict[str, list[str]] = {}
    within = ""
    for line in lines:
        if within and line.startswith(_INDENT):
            open_blocks[within].append(line.removeprefix(_INDENT))
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            return None
        name, value = found.groups()
        within = name if blocks and value == _BLOCK else ""
        open_blocks.pop(name, None)
        if within:
            open_blocks[name] = []
        arguments[name] = _read(value)
    return arguments | {name: "\n".join(text) for name, text in open_blocks.items()}


def _read(text: str) -> Any:
    value = read_json(text)
    return text if value is None and text != "null" else value
