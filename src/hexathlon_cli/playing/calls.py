"""Tool calls from lines typed at `hexathlon play`.

A line that begins like a SQL statement runs as a query if a tool takes one.
`name word word …` fills the tool's parameters in order, `name key=value …` by name, and both can be
mixed. A tool's name may be abbreviated to a unique prefix of the name, or of a word in it; `#3`
stands for the third item of the last list. Any other line is prose, or is passed to the event's
plain-text tool, such as a shell's; tool names must then be complete.
"""

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.baselines.codecs.base import DialectCall, format_calls, read_json

__all__ = [
    "ArgumentsMissing",
    "ReadingProblem",
    "complete_call",
    "listed_in",
    "numbered",
    "read_line",
    "signature",
]

Tool = Mapping[str, Any]
_LISTED = re.compile(r"^ *(\d+)\. +([\w-]+)", re.MULTILINE)
_ID = re.compile(r"[A-Z]+\d[\w-]*")
_ROW = re.compile(r"^ *((?=[\w/-]*\d)[A-Z][\w/-]+)  +\S", re.MULTILINE)
"""Line that begins with an id."""

_TABLE = re.compile(r"^ *([A-Za-z_][\w.]*) \([\d,]+ rows?\)", re.MULTILINE)
"""Line of a list of tables."""

_QUERY = re.compile(
    r"\s*(select|with|values|explain|insert|update|delete|replace|create|alter|drop)\b",
    re.IGNORECASE,
)
"""Start of a SQL statement."""

_PLACE = re.compile(r"#(\d+)\b")
_KEY = re.compile(r"(?:^|\s)([A-Za-z_]\w*)=")
_PATH = "path"
_ID_LENGTH = 60
"""A string parameter with at most this maximum length takes one word."""


class ReadingProblem(ValueError):
    """Typed line that is not a valid call; the message shows the correct form."""


class ArgumentsMissing(ReadingProblem):
    """A call without all of its required arguments.

    Attributes:
        tool: The tool.
        given: The arguments given in the line.
        names: The required ones that it lacks.
    """

    def __init__(self, tool: Tool, given: Mapping[str, Any], names: Sequence[str]) -> None:
        super().__init__(f"Still missing: {', '.join(names)}. Type {_forms(tool)}")
        self.tool = tool
        self.given = given
        self.names = names


def complete_call(tool: Tool, given: Mapping[str, Any], listed: Mapping[str, str]) -> str:
    """Return the action for a call whose arguments were asked for one by one.

    Args:
        tool: The tool.
        given: Its arguments; texts are read as the schema says.
        listed: Ids of the last list by number.
    """
    properties = tool["parameters"].get("properties", {})
    arguments = {
        name: _value(_PLACE.sub(lambda place: listed.get(place[1], place[0]), value),
                     properties.get(name, {}))
        if isinstance(value, str) else value
        for name, value in given.items()
    }  # fmt: skip
    return format_calls([DialectCall(tool["name"], arguments)])


def numbered(text: str) -> str:
    """Write the number that `#` takes before each item of a list that has none.

    >>> print(numbered("O41  3 days ago" + chr(10) + "O12  8 days ago"))
    1. O41  3 days ago
    2. O12  8 days ago
    """
    if _LISTED.search(text):
        return text
    for pattern in (_ROW, _TABLE):
        if len(pattern.findall(text)) > 1:
            return _counted(pattern, text)
    return text


def _counted(pattern: re.Pattern[str], text: str) -> str:
    places = itertools.count(1)
    return pattern.sub(lambda row: f"{next(places)}. {row[0].lstrip()}", text)


def listed_in(text: str) -> dict[str, str]:
    """Return the ids of a list by number, or by position if it has no numbers.

    >>> listed_in(" 1. P7AA  $5" + chr(10) + " 2. P7BB  $6")
    {'1': 'P7AA', '2': 'P7BB'}
    >>> listed_in("O41  3 days ago" + chr(10) + "O12  8 days ago")
    {'1': 'O41', '2': 'O12'}

    A single line is a page heading, not a list, unless it consists of the id alone:

    >>> listed_in("P7AA  Reviews, page 1/1" + chr(10) + "Fits well.")
    {}
    >>> listed_in("C9362")
    {'1': 'C9362'}
    """
    rows = _ROW.findall(text)
    if _ID.fullmatch(text.strip()):
        return {"1": text.strip()}
    found = dict(_LISTED.findall(text))
    rows = rows if len(rows) > 1 else _TABLE.findall(text)
    if not found and len(rows) > 1:
        found = {str(place): name for place, name in enumerate(rows, 1)}
    return found


def read_line(line: str, tools: Sequence[Tool], listed: Mapping[str, str], plain: str = "") -> str:
    """Return the action for a typed line.

    Args:
        line: The typed line.
        tools: The available tools.
        listed: Ids of the last list by number.
        plain: Tool that receives the whole line if it names no tool.

    Raises:
        ReadingProblem: If the line names a tool but lacks required arguments.
    """
    name, _, rest = line.strip().partition(" ")
    query = _query_tool(tools) if _QUERY.match(line) else None
    if query is not None:
        return format_calls([DialectCall(query["name"], {"sql": line.strip()})])
    if plain:
        tool = next((tool for tool in tools if tool["name"] == name), None)
        if tool is None and not line.lstrip().startswith("{"):
            tool, rest = next(tool for tool in tools if tool["name"] == plain), line
        return line if tool is None else format_calls([_call(tool, rest.strip(), tools)])
    tool = _tool_of(name, tools)
    if tool is None:
        return line
    unknown = [number for number in _PLACE.findall(rest) if number not in listed]
    if unknown:
        raise ReadingProblem(f"The last list has no #{unknown[0]}.")
    text = _PLACE.sub(lambda place: listed[place[1]], rest.strip())
    return format_calls([_call(tool, text, tools)])


def _call(tool: Tool, text: str, tools: Sequence[Tool]) -> DialectCall:
    return DialectCall(tool["name"], _arguments(tool, text, tools))


def signature(tool: Tool) -> str:
    """Return a tool with its parameters, optional ones in brackets."""
    required = tool["parameters"].get("required", ())
    names = tool["parameters"].get("properties", {})
    parts = [name.upper() if name in required else f"[{name.upper()}]" for name in names]
    return " ".join([tool["name"], *parts])


def _query_tool(tools: Sequence[Tool]) -> Tool | None:
    """Return the tool that runs SQL statements, if there is one."""
    queries = (tool for tool in tools if tool["parameters"].get("required") == ["sql"])
    return next(queries, None)


def _forms(tool: Tool) -> str:
    """Return the forms of a call; unnamed words fill the last parameter."""
    required = tool["parameters"].get("required", ())
    named = " ".join([tool["name"], *(f"{name}=…" for name in required)])
    return signature(tool) + (f" or {named}" if len(required) > 1 else "")


def _tool_of(name: str, tools: Sequence[Tool]) -> Tool | None:
    for tool in tools:
        if tool["name"] == name:
            return tool
    if len(name) < 2:
        return None
    begins = [tool for tool in tools if tool["name"].startswith(name)]
    inside = [t for t in tools if any(word.startswith(name) for word in t["name"].split("_"))]
    for found in (begins, inside):
        if len(found) == 1:
            return found[0]
    if begins or inside:
        known = ", ".join(tool["name"] for tool in begins or inside)
        raise ReadingProblem(f"{name!r} could be {known}.")
    return None


def _arguments(tool: Tool, text: str, tools: Sequence[Tool]) -> dict[str, Any]:
    properties = tool["parameters"].get("properties", {})
    keys = [found for found in _KEY.finditer(text) if found[1] in properties]
    typed: dict[str, Any] = {}
    for place, found in enumerate(keys):
        end = keys[place + 1].start() if place + 1 < len(keys) else len(text)
        value = text[found.end() : end].strip()
        typed[found[1]] = _value(value, properties[found[1]])
    plain = text[: keys[0].start()].strip() if keys else text
    free = {name: schema for name, schema in properties.items() if name not in typed}
    placed = _placed(plain, free, tool["parameters"].get("required", ()), tools)
    arguments = {**placed, **typed}
    missing = [n for n in tool["parameters"].get("required", ()) if n not in arguments]
    if missing:
        raise ArgumentsMissing(tool, arguments, missing)
    return arguments


def _placed(
    text: str, free: Mapping[str, Tool], required: Sequence[str], tools: Sequence[Tool]
) -> dict[str, Any]:
    """Fill parameters in order: one word for an id or a number, the rest for a text."""
    arguments: dict[str, Any] = {}
    names = list(free)
    while text and names:
        name = names.pop(0)
        texts = [name, *(other for other in names if other in required)]
        if name == _PATH and names:
            part, _, text = text.partition(" ")
        elif _is_text(free[name]) and len(texts) > 1 and text.count(",") >= len(texts) - 1:
            part, _, text = text.partition(",")
        elif _is_text(free[name]) or _takes_all(free[name], names, required):
            part, text = text, ""
        else:
            part, _, text = text.partition(" ")
        inner = next((t for t in tools if t["name"] in arguments.values()), None)
        if free[name].get("type") == "object" and inner and not part.startswith("{"):
            arguments[name] = _arguments(inner, part, tools)
        else:
            arguments[name] = _value(part.strip(), free[name])
        text = text.strip()
    if text:
        raise ReadingProblem(f"{text[:40]!r} is more than the tool takes.")
    return arguments


def _is_text(schema: Tool) -> bool:
    kind = schema.get("type")
    return kind == "string" and "enum" not in schema and schema.get("maxLength", 999) > _ID_LENGTH


def _takes_all(schema: Tool, later: Sequence[str], required: Sequence[str]) -> bool:
    kinds = schema.get("type", "string")
    structured = isinstance(kinds, list) or kinds in ("array", "object")
    return structured and not any(name in required for name in later)


def _value(text: str, schema: Tool) -> Any:
    kind = schema.get("type", "string")
    if kind == "string":
        return text
    value = read_json(text)
    if kind == "array" and not isinstance(value, list):
        return [part for part in re.split(r"[,\s]+", text) if part]
    if "object" in kind and value is None and _KEY.search(text) and "," not in text:
        return _pairs(text)
    return text if value is None and text != "null" else value


def _pairs(text: str) -> dict[str, Any]:
    """Parse `key=value …` as an object."""
    found = list(_KEY.finditer(text))
    ends = [*(each.start() for each in found[1:]), len(text)]
    parts = {each[1]: text[each.end() : end].strip() for each, end in zip(found, ends, strict=True)}
    return {name: _value(value, {"type": "any"}) for name, value in parts.items()}
