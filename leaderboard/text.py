"""Sanitising of foreign text for display.

Escaping for HTML is the template engine's job; this module handles what escaping leaves: terminal
colours, control characters, characters that reverse the reading direction or are invisible.
Nothing is dropped without a mark, except terminal colours.
"""

from __future__ import annotations

import json
import re
from typing import Any

from markupsafe import Markup

LONGEST = 200_000
"""Maximum number of characters of one text on a page; the rest is only in the records."""

_COLOUR = re.compile(r"(?:\x1b\[|\x9b)[0-9;:]*m")
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # cursor movement and the like
    r"|\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)"  # window titles, links
    r"|\x1b[PX^_][^\x1b]{0,4096}\x1b\\"
)
_SUSPECT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)

_CONTROLS = (
    "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI "
    "DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US"
).split()


def shown(text: str) -> str:
    """Return a text with all invisible characters made visible.

    Control characters become their names, line ends become newlines, bidirectional controls,
    zero-width characters and lone surrogates become their code points in angle brackets.
    """
    if _SUSPECT.search(text) is None:
        return text
    text = text.replace("\r\n", "\n")
    text = _SEQUENCE.sub("\u27e8ESC\u27e9", _COLOUR.sub("", text))
    return _SUSPECT.sub(_symbol, text)


def _symbol(match: re.Match[str]) -> str:
    code = ord(match.group())
    name = _CONTROLS[code] if code < len(_CONTROLS) else f"U+{code:04X}"
    return f"\u27e8{name}\u27e9"


def finalise(value: Any) -> Any:
    """Make every text printed by a template visible; the engine escapes it afterwards."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return shown(value)
    return value


def shorten(text: str, longest: int = LONGEST) -> tuple[str, int]:
    """Return at most ``longest`` characters, both ends kept, and the number of characters cut."""
    if len(text) <= longest:
        return text, 0
    half = longest // 2
    return text[:half] + "\n\u22ef\n" + text[-half:], len(text) - 2 * half


def pretty_json(value: Any) -> str:
    """Return JSON formatted for reading."""
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)


def inline_json(value: Any) -> Markup:
    """Return JSON safe inside a script element: nothing in it can close the element."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for character in "<>&'":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # no character left that HTML could parse as markup


def slug(text: str, longest: int = 40) -> str:
    """Return a text as a safe file name: lower-case letters, digits and single dashes."""
    return re.sub(r"[^a-z0-9]+", "-", shown(text).lower())[:longest].strip("-") or "run"
