"""UI-TARS: `Thought: …` and `Action: click(start_box='(x,y)')`.

Version 1.0 writes points as thousandths of the screen between box tokens, version 1.5 as pixels of
the resized screenshot, in `start_box='(x,y)'` or `point='<point>x y</point>'`; both forms are read
in either version. Source: the prompts, `README_coordinates.md` and the action parser in
github.com/bytedance/UI-TARS; actions on phones from Qin et al. 2025 (UI-TARS), table 1.
"""

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from hexathlon.baselines.codecs.base import DialectCall
from hexathlon.baselines.codecs.gui.base import GuiCodec, unspoken
from hexathlon.baselines.codecs.gui.points import point_of_text
from hexathlon.baselines.codecs.gui.screen import RelativeSpace, ResizedSpace, Space

__all__ = ["UiTars15Codec", "UiTarsCodec"]

_ACTION = re.compile(r"(?:^|\n)[ \t]*Action:[ \t]*")
_NEXT = re.compile(r"(?<=\))[ \t]*\n\s*\n(?=\s*\w+\()")
_CALL = re.compile(r"\s*([A-Za-z_]\w*)\s*\((.*)\)\s*", re.DOTALL)
_OPENED = re.compile(r"\s*([A-Za-z_]\w*)\s*\((.*)", re.DOTALL)
_CONTENT = re.compile(r"\s*(\w+)\s*=\s*(['\"])(.*)\2\s*", re.DOTALL)
_ESCAPES = {r"\n": "\n", r"\t": "\t", r"\'": "'", r"\"": '"', r"\\": "\\"}
_ARROWS = {f"arrow{way}": way for way in ("up", "down", "left", "right")}
_DIRECTIONS = ("up", "down", "left", "right")

_FORM = """

Answer with a thought and one action, in this form:
Thought: …
Action: …

Actions:
{actions}"""
_OTHERS = """

Further actions, each written as one JSON object {{"name": …, "arguments": {{…}}}} and nothing else:
{tools}"""

Arguments = dict[str, Any]


class UiTarsCodec(GuiCodec):
    """UI-TARS 1.0: thousandths of the screen."""

    name: ClassVar[str] = "ui-tars"
    space: ClassVar[Space] = RelativeSpace(1000)
    example: ClassVar[str] = "Thought: I open the menu.\nAction: click(start_box='(512,80)')"

    def read(self, text: str) -> list[DialectCall]:
        """Parse what follows the last `Action:`, one call or several, a blank line between them."""
        starts = list(_ACTION.finditer(text))
        if not starts:
            return []
        parts = _NEXT.split(text[starts[-1].end() :].strip())
        calls: list[DialectCall] = []
        for part in parts:
            read = self._read_one(part)
            if not read:
                return []
            calls += read
        return calls

    def write(self, calls: Sequence[DialectCall]) -> str | None:
        """Write calls after `Action:`."""
        lines: list[str] = []
        rest = list(calls)
        while rest:
            line, taken = self._write_first(rest)
            if line is None:
                return None
            lines.append(line)
            rest = rest[taken:]
        return "Action: " + "\n\n".join(lines)

    def preamble(self, tools: Sequence[Mapping[str, Any]]) -> str:
        """Return the actions whose tools exist, and the other tools as JSON."""
        table = _DESKTOP_ACTIONS if self.desktop else _PHONE_ACTIONS
        names = {tool["name"] for tool in tools}
        lines = [line for tool, line in table.items() if tool in names]
        text = ""
        if lines:
            text += _FORM.format(actions="\n".join(lines))
        spoken = {name: ("goal_status",) for name in (*table, "keyboard_enter", "answer")}
        others = [
            f"- {tool['name']}: {tool['description']} "
            f"Parameters: {json.dumps(tool['parameters'], ensure_ascii=False)}"
            for tool in unspoken(tools, spoken)
        ]
        return text + (_OTHERS.format(tools="\n".join(others)) if others else "")

    def _read_one(self, text: str) -> list[DialectCall]:
        match = _CALL.fullmatch(text)
        if match is None:
            opened = _OPENED.fullmatch(text)
            return [DialectCall(opened[1], opened[2])] if opened else []
        name, inside = match[1], match[2]
        arguments = _arguments(inside)
        if arguments is None:
            return [DialectCall(name, inside)]
        reader = _READERS.get(name)
        calls = reader(arguments, self.desktop) if reader else None
        return calls or [DialectCall(name, arguments)]

    def _write_first(self, calls: Sequence[DialectCall]) -> tuple[str | None, int]:
        """Write the first call, together with the second if one action expresses both."""
        first = calls[0]
        assert isinstance(first.arguments, dict)
        second = calls[1] if len(calls) > 1 else None
        typing = "type_text" if self.desktop else "input_text"
        enter = ("press_keys", {"keys": "enter"}) if self.desktop else ("keyboard_enter", {})
        text = first.arguments.get("text")
        if first.name == typing and set(first.arguments) == {"text"} and isinstance(text, str):
            joined = second is not None and tuple(second) == enter
            return f"type(content={_quoted(text + chr(10) * joined)})", 1 + joined
        if first.name == "answer" and second is not None and isinstance(text, str):
            if tuple(second) == _COMPLETE:
                return f"finished(content={_quoted(text)})", 2
            return None, 0
        return _written(first.name, first.arguments), 1


class UiTars15Codec(UiTarsCodec):
    """UI-TARS 1.5: pixels of the resized screenshot."""

    name: ClassVar[str] = "ui-tars-1.5"
    space: ClassVar[Space] = ResizedSpace(28, 100 * 28 * 28, 16384 * 28 * 28)


# Reading -----------------------------------------------------------------------------------------


def _arguments(inside: str) -> Arguments | None:
    """Read keyword arguments with string values; None if they are anything else."""
    try:
        call = ast.parse(f"f({inside.strip()})", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return _single(inside)
    if not isinstance(call, ast.Call) or call.args:
        return None
    read: Arguments = {}
    for each in call.keywords:
        if each.arg is None or not isinstance(each.value, ast.Constant):
            return None
        if not isinstance(each.value.value, str) or each.arg in read:
            return None
        read[each.arg] = each.value.value
    return read


def _single(inside: str) -> Arguments | None:
    """Read one quoted argument whose text has quotes or line breaks that are not escaped."""
    match = _CONTENT.fullmatch(inside)
    if match is None:
        return None
    return {match[1]: re.sub(r"\\.", lambda found: _ESCAPES.get(found[0], found[0]), match[3])}


def _point(arguments: Arguments, start: bool = True) -> Arguments | None:
    """Return the point of an action as `x` and `y`, or that of its end as `to_x` and `to_y`."""
    names = ("start_box", "start_point", "point") if start else ("end_box", "end_point")
    for name in names:
        if name in arguments:
            point = point_of_text(arguments[name])
            keys = ("x", "y") if start else ("to_x", "to_y")
            return dict(zip(keys, point, strict=True)) if point else None
    return None


def _pointing(tool: str, desktop_tool: str = "") -> Callable[[Arguments, bool], Any]:
    def read(arguments: Arguments, desktop: bool) -> list[DialectCall] | None:
        point = _point(arguments) if len(arguments) == 1 else None
        if point is None:
            return None
        return [DialectCall(desktop_tool if desktop and desktop_tool else tool, point)]

    return read


def _drag(arguments: Arguments, desktop: bool) -> list[DialectCall] | None:
    start, end = _point(arguments), _point(arguments, start=False)
    if start is None or end is None or len(arguments) != 2:
        return None
    return [DialectCall("drag" if desktop else "swipe", {**start, **end})]


def _scroll(arguments: Arguments, desktop: bool) -> list[DialectCall] | None:
    point = _point(arguments)
    direction = arguments.get("direction")
    if direction not in _DIRECTIONS or len(arguments) != (1 if point is None else 2):
        return None
    return [DialectCall("scroll", {"direction": direction, **(point or {})})]


def _type(arguments: Arguments, desktop: bool) -> list[DialectCall] | None:
    if set(arguments) != {"content"}:
        return None
    text = arguments["content"]
    typed = DialectCall("type_text" if desktop else "input_text", {"text": text.removesuffix("\n")})
    if not text.endswith("\n"):
        return [typed]
    enter = DialectCall("press_keys", {"keys": "enter"})
    return [typed, enter if desktop else DialectCall("keyboard_enter", {})]


def _hotkey(arguments: Arguments, desktop: bool) -> list[DialectCall] | None:
    keys = [_ARROWS.get(key, key) for key in str(arguments.get("key", "")).lower().split()]
    if not keys or len(arguments) != 1:
        return None
    if desktop:
        return [DialectCall("press_keys", {"keys": "+".join(keys)})]
    return [DialectCall("keyboard_enter", {})] if keys == ["enter"] else None


def _finished(arguments: Arguments, desktop: bool) -> list[DialectCall] | None:
    if set(arguments) - {"content"}:
        return None
    done = DialectCall(_COMPLETE[0], dict(_COMPLETE[1]))
    text = arguments.get("content", "")
    return [DialectCall("answer", {"text": text}), done] if text else [done]


def _open_app(arguments: Arguments, desktop: bool) -> list[DialectCall] | None:
    return [DialectCall("open_app", arguments)] if set(arguments) == {"app_name"} else None


def _pressing(
    tool: str, fixed: Arguments | None = None
) -> Callable[[Arguments, bool], list[DialectCall] | None]:
    def read(arguments: Arguments, desktop: bool) -> list[DialectCall] | None:
        return None if arguments else [DialectCall(tool, dict(fixed or {}))]

    return read


_COMPLETE = ("status", {"goal_status": "complete"})
_READERS: dict[str, Callable[[Arguments, bool], list[DialectCall] | None]] = {
    "click": _pointing("click"),
    "left_double": _pointing("double_tap", "double_click"),
    "right_single": _pointing("right_click"),
    "long_press": _pointing("long_press"),
    "drag": _drag,
    "scroll": _scroll,
    "type": _type,
    "hotkey": _hotkey,
    "wait": _pressing("wait"),
    "finished": _finished,
    "call_user": _pressing("status", {"goal_status": "infeasible"}),
    "open_app": _open_app,
    "press_home": _pressing("navigate_home"),
    "press_back": _pressing("navigate_back"),
    "press_enter": _pressing("keyboard_enter"),
}

# Writing -----------------------------------------------------------------------------------------

_POINTING = {
    "click": "click", "double_tap": "left_double", "double_click": "left_double",
    "right_click": "right_single", "long_press": "long_press",
}  # fmt: skip
_DRAGGING = {"swipe", "drag"}
_PRESSING = {
    "wait": "wait()", "navigate_home": "press_home()", "navigate_back": "press_back()",
    "keyboard_enter": "press_enter()",
}  # fmt: skip


def _written(name: str, arguments: Arguments) -> str | None:
    keys = set(arguments)
    if name in _POINTING and keys == {"x", "y"}:
        return f"{_POINTING[name]}(start_box='({arguments['x']},{arguments['y']})')"
    if name in _DRAGGING and keys == {"x", "y", "to_x", "to_y"}:
        start, end = ((arguments[x], arguments[y]) for x, y in (("x", "y"), ("to_x", "to_y")))
        return f"drag(start_box='({start[0]},{start[1]})', end_box='({end[0]},{end[1]})')"
    if name == "scroll" and keys == {"direction", "x", "y"}:
        box = f"({arguments['x']},{arguments['y']})"
        return f"scroll(start_box='{box}', direction='{arguments['direction']}')"
    if name == "scroll" and keys == {"direction"}:
        return f"scroll(direction='{arguments['direction']}')"
    if name == "press_keys" and isinstance(arguments.get("keys"), str):
        return f"hotkey(key={_quoted(arguments['keys'].replace('+', ' '))})"
    if name == "open_app" and isinstance(arguments.get("app_name"), str):
        return f"open_app(app_name={_quoted(arguments['app_name'])})"
    if (name, arguments) == _COMPLETE:
        return "finished()"
    if (name, arguments) == ("status", {"goal_status": "infeasible"}):
        return "call_user()"
    return _PRESSING.get(name) if not arguments else None


def _quoted(text: str) -> str:
    r"""Quote a text as UI-TARS does: `\\`, `\'` and `\n` are escaped."""
    escaped = text.replace("\\", r"\\").replace("'", r"\'").replace("\n", r"\n")
    return "'" + escaped.replace("\r", r"\r").replace("\x00", r"\x00") + "'"


_POINT_FORM = "start_box='(x,y)'"
_PHONE_ACTIONS = {
    "click": f"click({_POINT_FORM}): tap",
    "double_tap": f"left_double({_POINT_FORM}): tap twice",
    "long_press": f"long_press({_POINT_FORM}): press and hold",
    "input_text": "type(content='…'): type into the focused field; end with \\n to submit",
    "scroll": f"scroll({_POINT_FORM}, direction='down'): show more below; also up, left, right",
    "swipe": f"drag({_POINT_FORM}, end_box='(x,y)'): move the finger from point to point",
    "open_app": "open_app(app_name='…'): open an app",
    "navigate_home": "press_home(): go to the home screen",
    "navigate_back": "press_back(): go back",
    "wait": "wait(): wait for the screen to change",
    "status": "finished(content='…'): the task is done; content is the answer, if one was asked\n"
     "call_user(): the task cannot be done",
}  # fmt: skip
_DESKTOP_ACTIONS = {
    "click": f"click({_POINT_FORM}): left click",
    "double_click": f"left_double({_POINT_FORM}): double click",
    "right_click": f"right_single({_POINT_FORM}): right click",
    "drag": f"drag({_POINT_FORM}, end_box='(x,y)'): drag with the left button",
    "type_text": "type(content='…'): type; end with \\n to submit",
    "press_keys": "hotkey(key='ctrl c'): press keys together, a space between them",
    "scroll": f"scroll({_POINT_FORM}, direction='down'): show more below; also up, left, right",
    "open_app": "open_app(app_name='…'): open an application",
    "wait": "wait(): wait for the screen to change",
    "status": "finished(content='…'): the task is done; content is the answer, if one was asked\n"
     "call_user(): the task cannot be done",
}  # fmt: skip
