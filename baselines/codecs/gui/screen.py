"""Coordinate spaces of GUI models, and the screen that their points refer to."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = [
    "AbsoluteSpace",
    "PixelPoint",
    "RelativeSpace",
    "ResizedSpace",
    "ScreenSize",
    "Space",
    "from_screen",
    "screen_of_tools",
    "smart_resize",
    "to_screen",
]

PixelPoint = tuple[int, int]

_MAX_ASPECT_RATIO = 200


@dataclass(frozen=True)
class ScreenSize:
    """A screen, and the image of it that the model is shown; sizes in pixels."""

    width: int
    height: int
    image: tuple[int, int]
    """Width and height of the screenshot, before the model's own resizing."""


class Space(Protocol):
    """A model's coordinate space."""

    def size(self, screen: ScreenSize) -> tuple[int, int]:
        """Return the width and height of the screen in the model's units."""
        ...


@dataclass(frozen=True)
class AbsoluteSpace:
    """Pixels of the screen."""

    def size(self, screen: ScreenSize) -> tuple[int, int]:
        """Return the screen's own size."""
        return screen.width, screen.height


@dataclass(frozen=True)
class RelativeSpace:
    """Shares of the screen, from 0 to `limit`."""

    limit: int

    def size(self, screen: ScreenSize) -> tuple[int, int]:
        """Return `limit` in both directions."""
        return self.limit, self.limit


@dataclass(frozen=True)
class ResizedSpace:
    """Pixels of the screenshot after the image processor has resized it."""

    factor: int
    min_pixels: int
    max_pixels: int

    def size(self, screen: ScreenSize) -> tuple[int, int]:
        """Return the size of the resized screenshot."""
        width, height = screen.image
        return smart_resize(width, height, self.factor, self.min_pixels, self.max_pixels)


def smart_resize(
    width: int, height: int, factor: int, min_pixels: int, max_pixels: int
) -> tuple[int, int]:
    """Return the size to which the image processors of Qwen2-VL and its successors resize.

    Both sides are multiples of `factor` and the area lies between the bounds, at nearly the same
    aspect ratio (Wang et al. 2024, Qwen2-VL; used unchanged by UI-TARS and GUI-Owl).

    Raises:
        ValueError: If one side is more than 200 times the other, which the processors reject.
    """
    if max(width, height) > _MAX_ASPECT_RATIO * min(width, height):
        raise ValueError(
            f"expected an aspect ratio of at most {_MAX_ASPECT_RATIO}, got {width} x {height}"
        )
    columns = max(factor, round(width / factor) * factor)
    rows = max(factor, round(height / factor) * factor)
    if columns * rows > max_pixels:
        scale = math.sqrt(width * height / max_pixels)
        columns = math.floor(width / scale / factor) * factor
        rows = math.floor(height / scale / factor) * factor
    elif columns * rows < min_pixels:
        scale = math.sqrt(min_pixels / (width * height))
        columns = math.ceil(width * scale / factor) * factor
        rows = math.ceil(height * scale / factor) * factor
    return max(columns, factor), max(rows, factor)


def to_screen(point: PixelPoint, space: Space, screen: ScreenSize) -> PixelPoint:
    """Convert a model's point to screen pixels; the far edge is the last pixel.

    Points outside the model's range stay outside the screen, so that they are refused.
    """
    limits = space.size(screen)
    sizes = (screen.width, screen.height)
    x, y = (
        min(round(value * size / limit), size - 1) if value <= limit else size + value - limit
        for value, size, limit in zip(point, sizes, limits, strict=True)
    )
    return x, y


def from_screen(point: PixelPoint, space: Space, screen: ScreenSize) -> PixelPoint:
    """Convert screen pixels to the nearest of the model's points."""
    limits = space.size(screen)
    sizes = (screen.width, screen.height)
    x, y = (
        round(value * limit / size) for value, size, limit in zip(point, sizes, limits, strict=True)
    )
    return x, y


def screen_of_tools(tools: Iterable[Mapping[str, Any]]) -> tuple[int, int] | None:
    """Return width and height of the screen from the largest `x` and `y` that a tool accepts."""
    for tool in tools:
        properties: Mapping[str, Any] = tool.get("parameters", {}).get("properties", {})
        edges: Sequence[Any] = [properties.get(key, {}).get("maximum") for key in ("x", "y")]
        if all(isinstance(edge, int) for edge in edges):
            return edges[0] + 1, edges[1] + 1
    return None
