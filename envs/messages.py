"""Chat messages and the canonical text form of tool calls.

The canonical form is a JSON object `{"name": …, "arguments": {…}}`, or a JSON list of them for
several calls in one turn. Any other text is prose. The dialects that models emit are translated
into this form by `hexathlon.baselines`, not here.
"""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypedDict, cast, overload

from hexathlon.evaluators.content import Content, Image, Text, described, joined, parts_of

__all__ = [
    "MAX_CALLS",
    "Action",
    "Message",
    "ParsedCall",
    "ToolCall",
    "Transcript",
    "TranscriptEntry",
    "assistant_message",
    "cut_content",
    "cut_middle",
    "last_image",
    "make_message",
    "parse_message",
    "parse_text",
    "rendered",
    "scrub",
    "with_image",
]


class ToolCall(TypedDict):
    """One tool call inside a message."""

    id: str
    name: str
    arguments: str
    """JSON text of an object."""


class Message(TypedDict):
    """One chat message; every key is always present."""

    role: str
    content: Content
    """A str, or a tuple of parts if there are images or files."""

    tool_calls: tuple[ToolCall, ...]
    tool_call_id: str


class ParsedCall(NamedTuple):
    """One parsed tool call, or the reason why it cannot be run."""

    id: str
    name: str
    arguments: dict[str, Any]
    problem: str = ""
    """The fault of the call, as text for the agent; empty if it can be run."""


class Action(NamedTuple):
    """A parsed assistant turn: prose, tool calls, or both."""

    text: str
    calls: tuple[ParsedCall, ...]


MAX_CALLS = 16
"""Maximum number of tool calls in one turn; a turn with more runs none of them."""

MAX_DEPTH = 64
"""Maximum nesting depth of objects and lists in one turn."""

_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)
_FORM = 'Call a tool with JSON such as {"name": "tool", "arguments": {"key": "value"}}.'
_KEYS = frozenset(("name", "arguments", "id"))
_DECODER = json.JSONDecoder()


def parse_text(text: str) -> Action:
    """Parse an assistant turn in canonical text form; never raises."""
    stripped = text.strip()
    if not stripped or stripped[0] not in "{[":
        return Action(text, ())
    try:
        data, end = _read_json(stripped)
    except ValueError:
        return Action("", (ParsedCall("", "", {}, f"the turn is not valid JSON. {_FORM}"),))
    if end != len(stripped):
        problem = f"the turn is not valid JSON: something follows its end. {_FORM}"
        return Action("", (ParsedCall("", "", {}, problem),))
    if not isinstance(data, list):
        return Action("", (_call(data, "call_0"),))
    if not data:
        return Action("", (ParsedCall("", "", {}, f"the list of calls is empty. {_FORM}"),))
    if len(data) > MAX_CALLS:
        return Action("", (_too_many(len(data)),))
    return Action("", tuple([_call(item, f"call_{i}") for i, item in enumerate(data)]))


def _read_json(text: str) -> tuple[Any, int]:
    """Return the first JSON value of a text and the offset of its end.

    The recursion limit and the error messages of the standard decoder differ between versions of
    Python and would reach observations; so depth is bounded here and its messages are not shown.

    Raises:
        ValueError: If the text is not JSON, or nested deeper than `MAX_DEPTH`.
    """
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(text) > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH}")
    return _DECODER.raw_decode(text)


def _depth(text: str) -> int:
    """Return the maximum bracket depth, ignoring strings."""
    opened = deepest = 0
    for token in _BRACKETS.findall(text):
        if token in "[{":
            opened += 1
            deepest = max(deepest, opened)
        elif token in "]}":
            opened -= 1
    return deepest


def _too_many(count: int) -> ParsedCall:
    return ParsedCall("", "", {}, f"the turn has {count} calls, at most {MAX_CALLS} are run")


def _call(item: Any, call_id: str) -> ParsedCall:
    if not isinstance(item, dict) or not isinstance(item.get("name"), str):
        return ParsedCall(call_id, "", {}, f'a call needs a "name". {_FORM}')
    arguments = item.get("arguments", {})
    if isinstance(arguments, str):  # OpenAI's form: arguments as JSON text
        return _decode(call_id, item["name"], arguments)
    if not isinstance(arguments, dict):
        return ParsedCall(call_id, item["name"], {}, f'"arguments" must be an object. {_FORM}')
    if not item.keys() <= _KEYS:
        unknown = min(item.keys() - _KEYS)
        return ParsedCall(call_id, item["name"], {}, f"a call has no key {unknown!r}. {_FORM}")
    return ParsedCall(call_id, item["name"], arguments)


def _decode(call_id: str, name: str, text: str) -> ParsedCall:
    stripped = text.strip() or "{}"
    try:
        arguments, end = _read_json(stripped)
        if end != len(stripped):
            raise ValueError("something follows the arguments")
    except ValueError:
        return ParsedCall(
            call_id, name, {}, f"the arguments of {name!r} are not valid JSON. {_FORM}"
        )
    if not isinstance(arguments, dict):
        return ParsedCall(
            call_id, name, {}, f"the arguments of {name!r} must be an object. {_FORM}"
        )
    return ParsedCall(call_id, name, arguments)


def parse_message(message: Any) -> Action:
    """Parse an assistant turn in message form; never raises."""
    if not isinstance(message, dict) or message.get("role") != "assistant":
        problem = 'the action must be a message whose role is "assistant"'
        return Action("", (ParsedCall("", "", {}, problem),))
    text, calls = _said(message)
    if len(calls) > MAX_CALLS:
        return Action("", (_too_many(len(calls)),))
    parsed = []
    for position, call in enumerate(calls):
        call_id = str(call.get("id") or f"call_{position}") if isinstance(call, dict) else ""
        if isinstance(call, dict) and isinstance(call.get("function"), dict):
            call = call["function"]  # OpenAI's form
        if not isinstance(call, dict) or not isinstance(call.get("name"), str):
            parsed.append(ParsedCall(f"call_{position}", "", {}, 'a tool call needs a "name"'))
            continue
        arguments = call.get("arguments", "{}")
        if isinstance(arguments, dict):
            parsed.append(ParsedCall(call_id, call["name"], arguments))
        else:
            parsed.append(_decode(call_id, call["name"], str(arguments)))
    return Action(text, tuple(parsed))


def _said(message: dict[str, Any]) -> tuple[str, Sequence[Any]]:
    """Return the text and the calls of a message, whose content may be a list of blocks.

    Blocks of type `tool_use` are Anthropic's form of calls; blocks other than text are skipped.
    """
    calls = message.get("tool_calls") or ()
    calls = list(calls) if isinstance(calls, (tuple, list)) else [calls]
    content = message.get("content") or ""
    if not isinstance(content, (tuple, list)):
        return str(content), calls
    blocks = [block for block in content if isinstance(block, dict)]
    texts = [str(block.get("text") or "") for block in blocks if block.get("type") == "text"]
    for block in blocks:
        if block.get("type") == "tool_use":
            given = {"id": block.get("id"), "name": block.get("name")}
            calls.append({**given, "arguments": block.get("input") or {}})
    return "\n".join(texts), calls


def assistant_message(action: Action) -> Message:
    """Return the message that a parsed turn represents."""
    calls = tuple(
        ToolCall(id=call.id, name=call.name, arguments=json.dumps(call.arguments))
        for call in action.calls
    )
    return Message(role="assistant", content=action.text, tool_calls=calls, tool_call_id="")


TranscriptEntry = Message | Action | str | tuple[str]
"""A message, a parsed assistant turn, the prose of an assistant turn, or a user's text."""


class Transcript(Sequence[Message]):
    """The messages of an episode; entries in another form are converted to messages on access.

    Attributes:
        entries: In order; turns of prose and their answers are stored as texts, since most
            messages are never read.
    """

    __slots__ = ("entries",)

    def __init__(self, entries: Iterable[TranscriptEntry]) -> None:
        self.entries = list(entries)

    def frozen(self) -> tuple[Message | Action, ...]:
        """Return the entries; texts are converted to messages and turns."""
        for index, entry in enumerate(self.entries):
            if isinstance(entry, str):
                self.entries[index] = Action(entry, ())
            elif not isinstance(entry, (dict, Action)):
                self._message(index)
        return cast("tuple[Message | Action, ...]", tuple(self.entries))

    def __len__(self) -> int:
        return len(self.entries)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Message, ...]: ...
    def __getitem__(self, index: int | slice) -> Message | tuple[Message, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self.entries))))
        return self._message(index)

    def _message(self, index: int) -> Message:
        entry = self.entries[index]
        if isinstance(entry, dict):
            return entry
        if isinstance(entry, str):
            return assistant_message(Action(entry, ()))
        if isinstance(entry, Action):
            return assistant_message(entry)
        message = self.entries[index] = make_message("user", entry[0])
        return message


def scrub(text: str) -> str:
    """Replace lone surrogates, which no encoding can represent, by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def cut_middle(text: str, limit: int) -> tuple[str, int]:
    """Cut the middle out of an overlong text, leaving a marker with the number of characters cut.

    Returns:
        The text, at most `limit` characters long, and the number of characters cut.
    """
    if len(text) <= limit:
        return text, 0
    room = limit - 60
    head = room - room // 3
    cut = len(text) - room
    return f"{text[:head]}\n[… {cut:,} characters cut …]\n{text[len(text) - room // 3 :]}", cut


def cut_content(content: Content, limit: int) -> tuple[Content, int]:
    """Scrub and truncate the text of content; images and files do not count towards the limit.

    Text parts that are too long together get an equal share of the limit each.

    Returns:
        The content and the number of characters cut.

    Raises:
        ContentError: If it is neither a str nor a tuple of parts, or has too many of them.
    """
    if isinstance(content, str):
        return cut_middle(scrub(content), limit)
    parts = parts_of(content)
    texts = [scrub(part.text) for part in parts if isinstance(part, Text)]
    if sum(map(len, texts)) > limit:
        share = max(limit // len(texts), 200)
        results = [cut_middle(text, share) for text in texts]
    else:
        results = [(text, 0) for text in texts]
    rest = iter(results)
    kept = [Text(next(rest)[0]) if isinstance(part, Text) else part for part in parts]
    return tuple(kept), sum(count for _, count in results)


def make_message(role: str, content: Content, call_id: str = "") -> Message:
    """Return a message without tool calls."""
    return {"role": role, "content": content, "tool_calls": (), "tool_call_id": call_id}


def with_image(content: Content, image: Image) -> Content:
    """Return content with an image appended."""
    return joined([content, (image,)])


def last_image(messages: Sequence[Message]) -> Image | None:
    """Return the last image in the messages."""
    for message in reversed(messages):
        content = message["content"]
        for part in () if isinstance(content, str) else reversed(content):
            if isinstance(part, Image):
                return part
    return None


def rendered(message: Message) -> str:
    """Return a message as text under a heading with its role."""
    calls = [f"{call['name']} {call['arguments']}" for call in message["tool_calls"]]
    return "\n".join(filter(None, [f"[{message['role']}]", described(message["content"]), *calls]))
