"""Shared code of the GUI dialects: fitting to a screen, scaling of points, conversion to text."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar, Self

from hexathlon.baselines.codecs.base import (
    DialectCall,
    WireMessage,
    format_calls,
    parse_calls,
    without_thoughts,
)
from hexathlon.baselines.codecs.gui.adapting import ToolForms
from hexathlon.baselines.codecs.gui.screen import (
    AbsoluteSpace,
    PixelPoint,
    ScreenSize,
    Space,
    from_screen,
    screen_of_tools,
    to_screen,
)

__all__ = ["GuiCodec", "unspoken"]

_PAIRS = (("x", "y"), ("to_x", "to_y"))
_FAR = 1_000_000
_DESKTOP_TOOLS = frozenset({"type_text", "press_keys", "right_click"})


class GuiCodec(ABC):
    """A dialect of GUI actions; subclasses read and write its text in the model's own units.

    A codec from the registry does not know the screen: points keep the model's numbers, and the
    tools are the phone's. `fitted` and `seeing` return a copy that knows more.
    """

    name: ClassVar[str]
    native: ClassVar[bool] = False
    stop: ClassVar[tuple[str, ...]] = ()
    space: ClassVar[Space] = AbsoluteSpace()
    """Coordinate space of the model's points."""

    example: ClassVar[str]
    """One action in the dialect, quoted when a turn could not be read."""

    def __init__(self) -> None:
        self.desktop = False
        """Whether the tools are the desktop's, not the phone's."""
        self.forms = ToolForms()
        """The tools' names for the dialect's arguments."""
        self.size: tuple[int, int] | None = None
        """Width and height of the screen in pixels, from the tools."""
        self.image: tuple[int, int] | None = None
        """Width and height of the screenshots in pixels."""

    @property
    def screen(self) -> ScreenSize | None:
        """The screen; None if neither tools nor screenshots give its size."""
        size = self.size or self.image
        return None if size is None else ScreenSize(*size, self.image or size)

    def fitted(self, tools: Sequence[Mapping[str, Any]]) -> Self:
        """Return a codec for an episode with these tools."""
        codec = copy.copy(self)
        codec.desktop = any(tool.get("name") in _DESKTOP_TOOLS for tool in tools)
        codec.forms = ToolForms.of(tools)
        codec.size = screen_of_tools(tools) or self.size
        return codec

    def seeing(self, width: int, height: int) -> Self:
        """Return a codec for screenshots of this size in pixels."""
        if self.image == (width, height):
            return self
        codec = copy.copy(self)
        codec.image = (width, height)
        return codec

    # Codec -------------------------------------------------------------------------------------

    def system_prompt(self, prompt: str, tools: Sequence[Mapping[str, Any]]) -> str:
        """Append the dialect's action space and, as JSON, the tools that it cannot express."""
        if not tools:
            return prompt
        return prompt + self.fitted(tools).preamble(tools)

    def encode(self, action: str) -> WireMessage:
        """Encode calls in the dialect, or as canonical JSON if it cannot; prose is unchanged.

        Points are rounded to the model's units.
        """
        calls = parse_calls(action) or []
        text = action
        if calls and _plain(calls):
            scaled = [self._scaled(self.forms.from_tools(call), from_screen) for call in calls]
            written = self.write(scaled)
            if written is not None and _same(self.read(written), scaled):
                text = written
        return {"role": "assistant", "content": text}

    def decode(self, message: WireMessage) -> str:
        """Convert a reply to a canonical action; anything that is not an action is prose."""
        text = without_thoughts(str(message.get("content") or ""))
        if parse_calls(text) is not None:
            return text
        calls = self.read(text)
        if not calls:
            return self.unread(text)
        return format_calls([self.forms.to_tools(self._scaled(each, to_screen)) for each in calls])

    def answer(self, message: WireMessage, observations: Sequence[str]) -> list[WireMessage]:
        """Return the observations as a user message; after an unreadable turn, with an example."""
        parts = list(observations)
        calls = parse_calls(self.decode(message))
        if calls is None or any(isinstance(call.arguments, str) for call in calls):
            parts.append(f"The turn has no readable action. Example:\n{self.example}")
        return [{"role": "user", "content": "\n\n".join(parts)}]

    # For dialects ------------------------------------------------------------------------------

    @abstractmethod
    def read(self, text: str) -> list[DialectCall]:
        """Parse a reply into calls of our tools with points in the model's units.

        Empty if the text has no action. Arguments that cannot be parsed are kept verbatim.
        """

    @abstractmethod
    def write(self, calls: Sequence[DialectCall]) -> str | None:
        """Write calls in the dialect; None if the dialect cannot express them."""

    @abstractmethod
    def preamble(self, tools: Sequence[Mapping[str, Any]]) -> str:
        """Return the part of the system prompt that describes the tools in the dialect."""

    def unread(self, text: str) -> str:
        """Return the action of a reply in which `read` found none: the text itself."""
        return text

    def _scaled(
        self, call: DialectCall, convert: Callable[[PixelPoint, Space, ScreenSize], PixelPoint]
    ) -> DialectCall:
        screen = self.screen
        if screen is None or isinstance(call.arguments, str):
            return call
        arguments = dict(call.arguments)
        for keys in _PAIRS:
            x, y = (arguments.get(key) for key in keys)
            if isinstance(x, int) and isinstance(y, int) and _is_count(x) and _is_count(y):
                arguments[keys[0]], arguments[keys[1]] = convert((x, y), self.space, screen)
        return DialectCall(call.name, arguments)


def unspoken(
    tools: Sequence[Mapping[str, Any]], spoken: Mapping[str, Collection[str]]
) -> list[Mapping[str, Any]]:
    """Return the tools that a dialect cannot express in full.

    Args:
        tools: The episode's tools.
        spoken: The dialect's tools with the arguments that it can express.
    """
    return [
        tool
        for tool in tools
        if tool["name"] not in spoken
        or (tool["name"] == "status" and set(_properties(tool)) - set(spoken["status"]))
    ]


def _properties(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    properties: Mapping[str, Any] = tool["parameters"].get("properties", {})
    return properties


def _same(first: Sequence[DialectCall], second: Sequence[DialectCall]) -> bool:
    """Whether calls are equal as JSON, where 1, 1.0 and true differ."""
    return format_calls(first) == format_calls(second)


def _is_count(value: int) -> bool:
    return not isinstance(value, bool) and 0 <= value < _FAR


def _plain(calls: Sequence[DialectCall]) -> bool:
    """Whether all arguments are objects."""
    return not any(isinstance(call.arguments, str) for call in calls)
