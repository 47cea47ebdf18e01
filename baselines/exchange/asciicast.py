"""Trials of the terminal event as recordings in asciinema's format, asciicast v2.

A record holds what the agent saw, so a recording consists of its commands, their output and the
screens. Times are nominal, since observations have none. Of the terminal's sequences only "clear"
(`ESC [2J ESC [H`) is used. The trajectory page plays the same recording (`cast.js`).
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from hexathlon.baselines.exchange.transcript import ChatTranscript

__all__ = ["to_asciicast"]

_CLEAR = "\x1b[2J\x1b[H"
_CURSOR = re.compile(r"\n?\[cursor in row \d+, column \d+\]$")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_WIDTH, _HEIGHT = 80, 24
_TYPED_MS, _LONGEST_MS = 600, 3_000
"""Nominal time before an output, and the longest after it."""


def to_asciicast(conversation: ChatTranscript) -> str:
    """Return a conversation as the lines of a recording.

    Raises:
        ValueError: If it has no commands and no screens.
    """
    calls = list(_calls(conversation))
    shown = [name for name, _, _ in calls if name in ("run", "send_keys")]
    if not shown:
        raise ValueError(f"{conversation.task or 'the conversation'} has no commands to record")
    header = {
        "version": 2,
        "width": max(_WIDTH, *(_number(given, "columns") for _, given, _ in calls)),
        "height": max(_HEIGHT, *(_number(given, "rows") for _, given, _ in calls)),
        "title": conversation.task,
    }
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in (header, *_events(calls)))


def _events(calls: list[tuple[str, Mapping[str, Any], str]]) -> Iterator[list[Any]]:
    now, on_screen = 0, False
    for name, given, output in calls:
        if name == "send_keys":
            now += _TYPED_MS
            shown = _CLEAR + _shown(_CURSOR.sub("", output))
        else:
            typed = str(given.get("command", "")) if name == "run" else _remark(name, given)
            yield [now / 1000, "o", (_CLEAR if on_screen else "") + f"$ {_shown(typed)}\r\n"]
            now += _TYPED_MS
            shown = _shown(output) if name == "run" else ""
            shown += "\r\n" if shown and not shown.endswith("\r\n") else ""
        on_screen = name == "send_keys"
        if shown:
            yield [now / 1000, "o", shown]
        now += min(_LONGEST_MS, _TYPED_MS + 100 * shown.count("\n"))


def _remark(name: str, given: Mapping[str, Any]) -> str:
    path = given.get("path")
    return f"# {name}" if path is None else f"# {name} {path}"


def _shown(text: str) -> str:
    """Return text as a terminal needs it; control characters of a record are spelled out."""
    return _CONTROL.sub(lambda found: f"<{ord(found[0]):02x}>", text).replace("\n", "\r\n")


def _number(given: Mapping[str, Any], name: str) -> int:
    value = given.get(name)
    return value if isinstance(value, int) and 0 < value <= 1_000 else 0


def _calls(conversation: ChatTranscript) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """Yield the name, the arguments and the output of each call."""
    said: tuple[str, Mapping[str, Any]] | None = None
    for message in conversation.messages:
        if message["role"] == "assistant":
            calls = message.get("tool_calls") or ()
            said = None
            if calls:
                function = calls[0]["function"]
                given = function.get("arguments")
                given = json.loads(given) if isinstance(given, str) else given
                said = (str(function["name"]), given if isinstance(given, Mapping) else {})
        elif said is not None:
            content = message["content"]
            yield *said, content if isinstance(content, str) else ""
            said = None
