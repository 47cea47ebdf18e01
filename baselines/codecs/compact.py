"""Compact calls for small policies: the tool's name, then one `key: value` line an argument.

Nothing is described in the prompt: a policy that speaks this dialect was trained on it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from hexathlon.baselines.codecs.base import Call, Wire, format_calls, parse_calls, read_json

__all__ = ["CompactCodec"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LINE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*): ?(.*)")


class CompactCodec:
    """One call a message; anything that does not have its form is prose."""

    name: ClassVar[str] = "compact"
    native: ClassVar[bool] = False
    stop: ClassVar[tuple[str, ...]] = ()

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
        lines = [f"{key}: {_written(value)}" for key, value in call.arguments.items()]
        return {"role": "assistant", "content": "\n".join([call.name, *lines])}

    def decode(self, message: Wire) -> str:
        """Read a call out of lines; prose stays as it came, quoted where it looks like a call."""
        text = str(message.get("content") or "")
        quoted = read_json(text)
        if isinstance(quoted, str):
            return quoted
        head, *rest = text.split("\n")
        lines = [_LINE.fullmatch(line) for line in rest]
        if not _NAME.fullmatch(head) or not all(lines):
            return text
        arguments = {line[1]: _read(line[2]) for line in lines if line}
        return format_calls([Call(head, arguments)])

    def answer(self, message: Wire, observations: Sequence[str]) -> list[Wire]:
        """Return the observations as a user message."""
        return [{"role": "user", "content": "\n\n".join(observations)}]


def _plain(call: Call) -> bool:
    return all(_NAME.fullmatch(name) for name in (call.name, *call.arguments))


def _written(value: Any) -> str:
    """Write a text bare where it reads back as itself, everything else as JSON."""
    if isinstance(value, str) and "\n" not in value and read_json(value) is None:
        return value if value == value.strip() and value not in ("", "null") else json.dumps(value)
    return json.dumps(value, ensure_ascii=False)


def _read(text: str) -> Any:
    value = read_json(text)
    return text if value is None and text != "null" else value
