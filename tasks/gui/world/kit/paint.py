"""Paints scenes; only what differs from the last scene is painted again.

Operations, with colours as RGB and `clip` as None or the rows between which they are visible:
`("r", left, top, right, bottom, colour, radius, clip)` a rectangle, `("t", left, top, text, size,
colour, bold, clip)` a line of text, `("i", icon, left, top, size, colour, clip)` an icon,
`("p", left, top, right, bottom, picture, radius, clip)` a picture, `("l", points, width, colour,
clip)` a line, `("g", points, colour, clip)` a polygon, `("c", x, y, radius, colour, clip)` a disc,
and `("d", None)`, which darkens everything painted before.
"""

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from hexathlon.tasks.gui.world.kit.glyphs import text_mask
from hexathlon.tasks.gui.world.kit.icons import icon_mask
from hexathlon.tasks.gui.world.kit.looks import Colour
from hexathlon.tasks.gui.world.kit.pictures import draw_picture
from hexathlon.tasks.gui.world.kit.scene import PaintOp, ScreenScene

__all__ = ["ScreenPainter"]

_DARKER = 0.45
_Band = tuple[int, int]


class ScreenPainter:
    """Keeps the pixels of one screen.

    Args:
        size: Width and height in pixels.
    """

    def __init__(self, size: tuple[int, int]) -> None:
        self.width, self.height = size
        self._pixels: NDArray[np.uint8] = np.zeros((self.height, self.width, 3), np.uint8)
        self._ops: list[PaintOp] = []

    def paint(self, scene: ScreenScene) -> NDArray[np.uint8]:
        """Return the scene as pixels of shape (height, width, 3); the array is reused."""
        for band in self._dirty(scene.ops):
            self._repaint(scene.ops, band)
        self._ops = scene.ops
        return self._pixels

    def _dirty(self, ops: list[PaintOp]) -> list[_Band]:
        """Return the rows that differ from the last scene, as bands from top to bottom."""
        old = self._ops
        if old is ops:
            return []
        before, after = set(old), set(ops)
        if not old or [op for op in old if op in after] != [op for op in ops if op in before]:
            return [(0, self.height)]
        if ("d", None) in before ^ after:
            return [(0, self.height)]
        spans = sorted(self._rows(op) for op in before ^ after)
        bands: list[_Band] = []
        for top, bottom in spans:
            top, bottom = max(0, top), min(self.height, bottom)
            if top >= bottom:
                continue
            if bands and top <= bands[-1][1] + 8:
                bands[-1] = (bands[-1][0], max(bands[-1][1], bottom))
            else:
                bands.append((top, bottom))
        return bands

    def _rows(self, op: PaintOp) -> _Band:
        """Return the rows that an operation can change."""
        kind = op[0]
        if kind in ("r", "p"):
            top, bottom = op[2], op[4]
        elif kind == "t":
            top, bottom = op[2], op[2] + op[4] * 7 // 5 + 1
        elif kind == "i":
            top, bottom = op[3], op[3] + op[4]
        elif kind in ("l", "g"):
            rows, wide = op[1][1::2], op[2] if kind == "l" else 1
            top, bottom = min(rows) - wide, max(rows) + wide + 1
        elif kind == "c":
            top, bottom = op[2] - op[3], op[2] + op[3] + 1
        else:
            top, bottom = 0, self.height
        clip = op[-1]
        return (max(top, clip[0]), min(bottom, clip[1])) if clip else (top, bottom)

    def _repaint(self, ops: Iterable[PaintOp], band: _Band) -> None:
        top, bottom = band
        image = Image.new("RGB", (self.width, bottom - top))
        pencil = ImageDraw.Draw(image)
        inside = [op for op in ops if op[0] == "d" or _touches(self._rows(op), band)]
        dark = max((place for place, op in enumerate(inside) if op[0] == "d"), default=-1)
        for place, op in enumerate(inside):
            if op[0] == "d":
                continue
            clip = op[-1]
            if clip is None or (clip[0] <= top and clip[1] >= bottom):
                _apply(image, pencil, op, -top, dark=place < dark)
            else:
                self._apply_clipped(image, op, band, dark=place < dark)
        self._pixels[top:bottom] = np.asarray(image)

    def _apply_clipped(self, image: Image.Image, op: PaintOp, band: _Band, *, dark: bool) -> None:
        """Apply an operation to the rows of its clip only."""
        low, high = self._rows(op)
        low, high = max(low, band[0]), min(high, band[1])
        if low >= high:
            return
        part = image.crop((0, low - band[0], self.width, high - band[0]))
        _apply(part, ImageDraw.Draw(part), op, -low, dark=dark)
        image.paste(part, (0, low - band[0]))


def _touches(rows: _Band, band: _Band) -> bool:
    return rows[0] < band[1] and rows[1] > band[0]


def _apply(
    image: Image.Image, pencil: ImageDraw.ImageDraw, op: PaintOp, shift: int, *, dark: bool
) -> None:
    """Apply one operation, moved down by `shift` pixels."""
    kind = op[0]
    if kind == "r":
        _, left, top, right, bottom, colour, radius, _ = op
        ink = _dim(colour) if dark else colour
        _rectangle(image, pencil, (left, top + shift, right, bottom + shift), ink, radius)
    elif kind == "t":
        _, left, top, text, size, colour, bold, _ = op
        image.paste(_dim(colour) if dark else colour, (left, top + shift),
                    text_mask(text, size, bold))  # fmt: skip
    elif kind == "i":
        _, name, left, top, size, colour, _ = op
        image.paste(_dim(colour) if dark else colour, (left, top + shift), icon_mask(name, size))
    elif kind == "p":
        _, left, top, right, bottom, scene, radius, _ = op
        drawn = draw_picture(scene, right - left, bottom - top)
        if dark:
            drawn = drawn.point([int(value % 256 * _DARKER) for value in range(768)])
        mask = _round_mask(drawn.width, drawn.height, radius) if radius else None
        image.paste(drawn, (left, top + shift), mask)
    elif kind == "l":
        _, points, wide, colour, _ = op
        pencil.line(_moved(points, shift), _dim(colour) if dark else colour, wide, joint="curve")
    elif kind == "g":
        _, points, colour, _ = op
        pencil.polygon(_moved(points, shift), _dim(colour) if dark else colour)
    elif kind == "c":
        _, x, y, radius, colour, _ = op
        box = (x - radius, y + shift - radius, x + radius + 1, y + shift + radius + 1)
        _rectangle(image, pencil, box, _dim(colour) if dark else colour, radius)


def _moved(points: tuple[int, ...], shift: int) -> list[tuple[int, int]]:
    return [(x, y + shift) for x, y in zip(points[::2], points[1::2], strict=True)]


@lru_cache(maxsize=512)
def _dim(colour: Colour) -> Colour:
    red, green, blue = colour
    return int(red * _DARKER), int(green * _DARKER), int(blue * _DARKER)


def _rectangle(
    image: Image.Image, pencil: ImageDraw.ImageDraw, box: tuple[int, int, int, int], ink: Colour,
    radius: int,
) -> None:  # fmt: skip
    left, top, right, bottom = box
    radius = min(radius, (right - left) // 2, (bottom - top) // 2)
    if right <= left or bottom <= top:
        return
    if radius < 1:
        image.paste(ink, box)
        return
    image.paste(ink, (left + radius, top, right - radius, bottom))
    if bottom - top > 2 * radius:
        image.paste(ink, (left, top + radius, right, bottom - radius))
    corners = _corners(radius)
    image.paste(ink, (left, top), corners[0])
    image.paste(ink, (right - radius, top), corners[1])
    image.paste(ink, (left, bottom - radius), corners[2])
    image.paste(ink, (right - radius, bottom - radius), corners[3])


@lru_cache(maxsize=128)
def _corners(radius: int) -> tuple[Image.Image, ...]:
    """Return masks of the four quarters of a disc."""
    over = 4
    disc = Image.new("L", (2 * radius * over, 2 * radius * over), 0)
    ImageDraw.Draw(disc).ellipse((0, 0, disc.width - 1, disc.height - 1), fill=255)
    disc = disc.resize((2 * radius, 2 * radius), Image.Resampling.BOX)
    return tuple(
        disc.crop((x * radius, y * radius, (x + 1) * radius, (y + 1) * radius))
        for y in (0, 1)
        for x in (0, 1)
    )


@lru_cache(maxsize=64)
def _round_mask(width: int, height: int, radius: int) -> Image.Image:
    mask = Image.new("L", (width, height), 0)
    ImageDraw.Draw(mask).rounded_rectangle((0, 0, width - 1, height - 1), radius, fill=255)
    return mask
