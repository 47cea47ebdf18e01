"""The arguments of an episode's `swipe` and `scroll`, which differ between sets of tools."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hexathlon.baselines.codecs.base import DialectCall

__all__ = ["ToolForms"]

_END = ("to_x", "to_y")


@dataclass(frozen=True)
class ToolForms:
    """The tools' names for the dialects' `to_x`, `to_y` and `x`, `y`."""

    end: tuple[str, str] = _END
    """Names of the coordinates at which a swipe ends."""

    directed: bool = False
    """Whether a swipe needs its direction even if it names its end."""

    scrolls_at: bool = True
    """Whether a scroll can name a point; if not, the point is left out."""

    @staticmethod
    def of(tools: Sequence[Mapping[str, Any]]) -> "ToolForms":
        """Return the forms of an episode's tools."""
        schemas = {tool.get("name"): tool.get("parameters", {}) for tool in tools}
        swipe, scroll = schemas.get("swipe", {}), schemas.get("scroll")
        named = swipe.get("properties", {})
        return ToolForms(
            end=("x2", "y2") if "x2" in named and "to_x" not in named else _END,
            directed="direction" in swipe.get("required", ()),
            scrolls_at=scroll is None or "x" in scroll.get("properties", {}),
        )

    def to_tools(self, call: DialectCall) -> DialectCall:
        """Convert a dialect's call to the tools' arguments."""
        if isinstance(call.arguments, str):
            return call
        if call.name == "scroll" and not self.scrolls_at:
            kept = {key: value for key, value in call.arguments.items() if key not in ("x", "y")}
            return call._replace(arguments=kept)
        if call.name != "swipe" or not set(_END) <= call.arguments.keys():
            return call
        names = dict(zip(_END, self.end, strict=True))
        arguments = {names.get(key, key): value for key, value in call.arguments.items()}
        if self.directed and "direction" not in arguments:
            arguments["direction"] = _direction(call.arguments)
        return call._replace(arguments=arguments)

    def from_tools(self, call: DialectCall) -> DialectCall:
        """Convert a tool's call to the dialects' arguments."""
        if isinstance(call.arguments, str) or call.name != "swipe":
            return call
        if not set(self.end) <= call.arguments.keys():
            return call
        names = dict(zip(self.end, _END, strict=True))
        arguments = {names.get(key, key): value for key, value in call.arguments.items()}
        if self.directed:
            arguments.pop("direction", None)
        return call._replace(arguments=arguments)


def _direction(arguments: Mapping[str, Any]) -> str:
    """Return the direction of the finger; up if undetermined."""
    try:
        across = arguments["to_x"] - arguments["x"]
        down = arguments["to_y"] - arguments["y"]
    except (KeyError, TypeError):
        return "up"
    if abs(across) > abs(down):
        return "right" if across > 0 else "left"
    return "down" if down > 0 else "up"
