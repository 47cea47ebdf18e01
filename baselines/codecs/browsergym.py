"""BrowserGym's call strings: `click('12')`, `fill("7", "text")`, one per line.

Calls are Python call expressions with literal arguments; nothing is executed. Names that differ are
translated: BrowserGym calls the text of `fill` `value`. The left button and no modifiers are its
defaults, so they are omitted.
"""

import ast
import json
import keyword
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from hexathlon.baselines.codecs.base import (
    DialectCall,
    WireMessage,
    format_calls,
    parse_calls,
    without_thoughts,
)

__all__ = ["BrowserGymCodec"]

_BUTTON = ("button", "modifiers")
_SIGNATURES: Mapping[str, tuple[str, ...]] = {
    "click": ("bid", *_BUTTON),
    "dblclick": ("bid", *_BUTTON),
    "hover": ("bid",),
    "fill": ("bid", "value", "enable_autocomplete_menu"),
    "clear": ("bid",),
    "focus": ("bid",),
    "press": ("bid", "key_comb"),
    "select_option": ("bid", "options"),
    "drag_and_drop": ("from_bid", "to_bid"),
    "upload_file": ("bid", "file"),
    "scroll": ("delta_x", "delta_y"),
    "mouse_move": ("x", "y"),
    "mouse_click": ("x", "y", "button"),
    "mouse_dblclick": ("x", "y", "button"),
    "mouse_drag_and_drop": ("from_x", "from_y", "to_x", "to_y"),
    "keyboard_press": ("key",),
    "keyboard_type": ("text",),
    "keyboard_insert_text": ("text",),
    "goto": ("url",),
    "go_back": (),
    "go_forward": (),
    "new_tab": (),
    "tab_close": (),
    "tab_focus": ("index",),
    "noop": ("wait_ms",),
    "send_msg_to_user": ("text",),
    "report_infeasible": ("status", "record"),
}
"""Parameters of BrowserGym's actions, in order."""

_RENAMED = {"fill": {"value": "text"}}
_DEFAULTS: Mapping[str, Any] = {
    "button": "left", "modifiers": [], "enable_autocomplete_menu": False,
}  # fmt: skip
_PREAMBLE = """

Act with these functions, written as Python calls with literal arguments, one per line:
{tools}

Example:
fill('7', 'some text')
click('12')"""


class BrowserGymCodec:
    """Actions as lines of Python calls."""

    name: ClassVar[str] = "browsergym"
    native: ClassVar[bool] = False
    stop: ClassVar[tuple[str, ...]] = ()

    def system_prompt(self, prompt: str, tools: Sequence[Mapping[str, Any]]) -> str:
        """Append the functions, one per line, and an example."""
        if not tools:
            return prompt
        lines = [
            f"- {_signature(tool)}: {tool['description']} "
            f"Parameters: {json.dumps(_parameters(tool), ensure_ascii=False)}"
            for tool in tools
        ]
        return prompt + _PREAMBLE.format(tools="\n".join(lines))

    def encode(self, action: str) -> WireMessage:
        """Encode each call as a line; prose is unchanged."""
        calls = parse_calls(action)
        lines = [_line(call) for call in calls or ()]
        if not lines or None in lines:
            return {"role": "assistant", "content": action}
        return {"role": "assistant", "content": "\n".join(line for line in lines if line)}

    def decode(self, message: WireMessage) -> str:
        """Parse the calls, with or without a fenced block; text with anything else is prose."""
        text = without_thoughts(str(message.get("content") or ""))
        calls = _calls(_unfenced(text))
        return format_calls(calls) if calls else text

    def answer(self, message: WireMessage, observations: Sequence[str]) -> list[WireMessage]:
        """Return the observations as one user message."""
        return [{"role": "user", "content": "\n\n".join(observations)}]


def _signature(tool: Mapping[str, Any]) -> str:
    known = _parameters(tool)
    needed = tool["parameters"].get("required", ())
    renamed = _RENAMED.get(tool["name"], {})
    required = {name for name in known if renamed.get(name, name) in needed}
    parts = [name if name in required else f"{name}=None" for name in known]
    return f"{tool['name']}({', '.join(parts)})"


def _parameters(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schemas of a tool's parameters under BrowserGym's names."""
    shown = {new: old for old, new in _RENAMED.get(tool["name"], {}).items()}
    known = tool["parameters"].get("properties", {})
    return {shown.get(name, name): schema for name, schema in known.items()}


def _line(call: DialectCall) -> str | None:
    """Write a call; None if it is not a valid Python call."""
    if isinstance(call.arguments, str) or not _is_name(call.name):
        return None
    renamed = {new: old for old, new in _RENAMED.get(call.name, {}).items()}
    order = _SIGNATURES.get(call.name, ())
    parts: list[str] = []
    for position, (name, value) in enumerate(call.arguments.items()):
        name = renamed.get(name, name)
        if len(parts) == position and position < len(order) and order[position] == name:
            parts.append(_literal(value))
        elif _is_name(name):
            parts.append(f"{name}={_literal(value)}")
            order = ()
        else:
            return None
    return f"{call.name}({', '.join(parts)})"


def _is_name(text: str) -> bool:
    return text.isascii() and text.isidentifier() and not keyword.iskeyword(text)


def _literal(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _calls(text: str) -> list[DialectCall]:
    """Return the calls that a text consists of; an empty list if it is anything else."""
    try:
        parsed = ast.parse(text.strip())
        return [_call(statement) for statement in parsed.body]
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return []


def _call(statement: ast.stmt) -> DialectCall:
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        raise ValueError("not a call")
    call = statement.value
    if not isinstance(call.func, ast.Name):
        raise ValueError("not a function of the action set")
    name = call.func.id
    order = _SIGNATURES.get(name, ())
    if len(call.args) > len(order):
        raise ValueError("too many arguments")
    values = [ast.literal_eval(each) for each in call.args]
    given = dict(zip(order, values, strict=False))
    for each in call.keywords:
        if each.arg is None or each.arg in given:
            raise ValueError("an argument without a distinct name")
        given[each.arg] = ast.literal_eval(each.value)
    json.dumps(given)  # raises unless the values are JSON
    renamed = _RENAMED.get(name, {})
    kept = {
        renamed.get(key, key): value
        for key, value in given.items()
        if not (key in _DEFAULTS and value == _DEFAULTS[key])
    }
    return DialectCall(name, kept)


def _unfenced(text: str) -> str:
    """Return the content of the text's only fenced block, or the text."""
    parts = text.split("```")
    if len(parts) != 3:
        return text
    head, _, body = parts[1].partition("\n")
    return body if head.strip() in ("", "python", "action") else parts[1]
