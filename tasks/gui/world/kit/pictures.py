"""Pictures drawn from data: photographs, documents, covers and charts.

A scene is `(kind, seed, …)`. What can be read off a picture (a number on a receipt, the colour of a
car) is an argument of the scene, and not part of the tree of elements.
"""

import colorsys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageEnhance, ImageOps

from hexathlon.tasks.gui.world.kit.glyphs import text_mask
from hexathlon.tasks.gui.world.kit.metrics import ellipsize, text_width
from hexathlon.tasks.seeding import generator_for

__all__ = ["PICTURE_KINDS", "draw_picture"]

_Pencil = ImageDraw.ImageDraw
_Rng = np.random.Generator
_Painter = Callable[[Image.Image, _Pencil, _Rng, tuple[Any, ...]], None]


@lru_cache(maxsize=96)
def draw_picture(scene: tuple[Any, ...], width: int, height: int) -> Image.Image:
    """Draw a scene.

    Args:
        scene: Kind, seed and arguments; `("edited", scene, edits)` is an edited picture.
        width: In pixels.
        height: In pixels.

    Raises:
        ValueError: If the kind is unknown.
    """
    width, height = max(width, 1), max(height, 1)
    kind = scene[0]
    if kind == "edited":
        return _edited(draw_picture(_tuple(scene[1]), width, height), scene[2])
    painter = _KINDS.get(kind)
    if painter is None:
        raise ValueError(f"unknown kind of picture {kind!r}; known: {', '.join(_KINDS)}")
    image = Image.new("RGB", (width, height), (230, 230, 230))
    painter(image, ImageDraw.Draw(image), generator_for("picture", *map(str, scene[:2])), scene[2:])
    return image


def _tuple(scene: Any) -> tuple[Any, ...]:
    return tuple(_tuple(each) if isinstance(each, list | tuple) else each for each in scene)


def _colour(rng: _Rng, low: float = 0.45, high: float = 0.85) -> tuple[int, int, int]:
    red, green, blue = colorsys.hsv_to_rgb(rng.random(), 0.35 + 0.4 * rng.random(),
                                           low + (high - low) * rng.random())  # fmt: skip
    return int(red * 255), int(green * 255), int(blue * 255)


def _shade(colour: tuple[int, int, int], factor: float) -> tuple[int, int, int]:
    red, green, blue = (min(255, int(part * factor)) for part in colour)
    return red, green, blue


def _sky(image: Image.Image, pencil: _Pencil, top: Any, low: Any, until: int) -> None:
    for y in range(until):
        part = y / max(1, until)
        mixed = tuple(int(a + (b - a) * part) for a, b in zip(top, low, strict=True))
        pencil.line((0, y, image.width, y), fill=mixed)


def _landscape(image: Image.Image, pencil: _Pencil, rng: _Rng, rest: tuple[Any, ...]) -> None:
    width, height = image.size
    sky = _colour(rng, 0.7, 0.95)
    _sky(image, pencil, _shade(sky, 0.8), _shade(sky, 1.2), height)
    x, y, size = rng.random() * width, height * (0.12 + 0.2 * rng.random()), width * 0.07
    pencil.ellipse((x - size, y - size, x + size, y + size), fill=(255, 240, 200))
    ground = _colour(rng, 0.35, 0.6)
    for layer in range(3):
        base = height * (0.45 + 0.17 * layer)
        points = [(0.0, float(height))]
        for step in range(9):
            points.append((width * step / 8, base + height * 0.14 * (rng.random() - 0.5)))
        points.append((float(width), float(height)))
        pencil.polygon(points, fill=_shade(ground, 1.25 - 0.3 * layer))


def _portrait(image: Image.Image, pencil: _Pencil, rng: _Rng, rest: tuple[Any, ...]) -> None:
    width, height = image.size
    image.paste(_colour(rng, 0.6, 0.9), (0, 0, width, height))
    skin = ((241, 205, 174), (214, 164, 120), (160, 110, 75), (110, 72, 50))[int(rng.integers(4))]
    cx, side = width / 2, min(width, height)
    shirt, hair = _colour(rng, 0.3, 0.7), _shade(_colour(rng, 0.15, 0.45), 0.8)
    pencil.ellipse((cx - side * 0.42, height - side * 0.3, cx + side * 0.42, height + side * 0.5),
                   fill=shirt)  # fmt: skip
    top = height - side * 0.82
    pencil.ellipse((cx - side * 0.25, top - side * 0.05, cx + side * 0.25, top + side * 0.5),
                   fill=hair)  # fmt: skip
    pencil.rectangle((cx - side * 0.08, top + side * 0.4, cx + side * 0.08, top + side * 0.6),
                     fill=_shade(skin, 0.9))  # fmt: skip
    pencil.ellipse((cx - side * 0.2, top + side * 0.05, cx + side * 0.2, top + side * 0.52),
                   fill=skin)  # fmt: skip
    dot = side * 0.02
    for sign in (-1, 1):
        x, y = cx + sign * side * 0.08, top + side * 0.27
        pencil.ellipse((x - dot, y - dot, x + dot, y + dot), fill=(40, 30, 30))
    pencil.arc((cx - side * 0.08, top + side * 0.32, cx + side * 0.08, top + side * 0.44), 20, 160,
               fill=(150, 60, 60), width=max(1, round(side * 0.015)))  # fmt: skip


def _food(image: Image.Image, pencil: _Pencil, rng: _Rng, rest: tuple[Any, ...]) -> None:
    width, height = image.size
    image.paste(_shade(_colour(rng, 0.35, 0.55), 0.9), (0, 0, width, height))
    side = min(width, height) * 0.44
    cx, cy = width / 2, height / 2
    pencil.ellipse((cx - side, cy - side, cx + side, cy + side), fill=(245, 245, 240))
    pencil.ellipse((cx - side * 0.8, cy - side * 0.8, cx + side * 0.8, cy + side * 0.8),
                   fill=(228, 228, 222))  # fmt: skip
    for _ in range(14):
        angle, far = rng.random() * 6.283, rng.random() * side * 0.6
        x, y = cx + far * np.cos(angle), cy + far * np.sin(angle)
        size = side * (0.1 + 0.14 * rng.random())
        pencil.ellipse((x - size, y - size, x + size, y + size), fill=_colour(rng, 0.5, 0.9))


def _city(image: Image.Image, pencil: _Pencil, rng: _Rng, rest: tuple[Any, ...]) -> None:
    width, height = image.size
    sky = _colour(rng, 0.55, 0.9)
    _sky(image, pencil, sky, _shade(sky, 1.25), height)
    x = 0.0
    while x < width:
        wide, tall = width * (0.08 + 0.1 * rng.random()), height * (0.3 + 0.5 * rng.random())
        wall = _shade(_colour(rng, 0.3, 0.6), 0.9)
        pencil.rectangle((x, height - tall, x + wide, height), fill=wall)
        step = max(3.0, width * 0.03)
        for row in range(int(tall / step) - 1):
            for column in range(int(wide / step)):
                if rng.random() < 0.5:
                    left, top = x + column * step + 2, height - tall + row * step + 2
                    pencil.rectangle((left, top, left + step * 0.4, top + step * 0.5),
                                     fill=(250, 230, 150))  # fmt: skip
        x += wide + width * 0.01


def _pattern(image: Image.Image, pencil: _Pencil, rng: _Rng, rest: tuple[Any, ...]) -> None:
    """A cover: coloured shapes, and its first argument as text."""
    width, height = image.size
    image.paste(_colour(rng, 0.4, 0.8), (0, 0, width, height))
    for _ in range(6):
        x, y = rng.random() * width, rng.random() * height
        size = width * (0.08 + 0.25 * rng.random())
        if rng.random() < 0.5:
            pencil.ellipse((x - size, y - size, x + size, y + size), fill=_colour(rng))
        else:
            pencil.rectangle((x - size, y - size * 0.4, x + size, y + size * 0.4),
                             fill=_colour(rng))  # fmt: skip
    if rest:
        _write(image, str(rest[0]), width * 0.06, height * 0.78, width * 0.09, (255, 255, 255))


def _document(image: Image.Image, pencil: _Pencil, rng: _Rng, rest: tuple[Any, ...]) -> None:
    """A page: a title and lines, given as arguments, on paper."""
    width, height = image.size
    image.paste((252, 251, 247), (0, 0, width, height))
    size, y = width * 0.055, height * 0.06
    for place, line in enumerate(rest):
        _write(image, str(line), width * 0.08, y, size * (1.25 if place == 0 else 1), (40, 40, 44))
        y += size * (2.2 if place == 0 else 1.55)
    if not rest:
        while y < height * 0.9:
            pencil.rectangle((width * 0.08, y, width * (0.5 + 0.4 * rng.random()), y + size * 0.35),
                             fill=(205, 205, 208))  # fmt: skip
            y += size


def _sign(image: Image.Image, pencil: _Pencil, rng: _Rng, rest: tuple[Any, ...]) -> None:
    """A sign in a street, with its first argument in large letters."""
    _city(image, pencil, rng, ())
    width, height = image.size
    top = height * 0.3
    pencil.rectangle((width * 0.47, top, width * 0.53, height), fill=(90, 90, 96))
    pencil.rounded_rectangle((width * 0.14, top, width * 0.86, top + height * 0.3),
                             width * 0.02, fill=(22, 92, 160))  # fmt: skip
    text = str(rest[0]) if rest else "?"
    size = min(width * 0.11, height * 0.2)
    room = min(text_width(text, round(size)), width * 0.68)
    _write(image, text, (width - room) / 2, top + height * 0.08, size, (255, 255, 255))


def _product(image: Image.Image, pencil: _Pencil, rng: _Rng, rest: tuple[Any, ...]) -> None:
    """A product in its box; the arguments are printed on the box."""
    width, height = image.size
    side = min(width, height)
    image.paste((247, 246, 243), (0, 0, width, height))
    tone = _colour(rng, 0.35, 0.75)
    wide, tall = side * (0.5 + 0.25 * rng.random()), side * (0.5 + 0.3 * rng.random())
    left, top = (width - wide) / 2, (height - tall) / 2
    edge = side * 0.06
    pencil.polygon(((left, top), (left + edge, top - edge), (left + wide + edge, top - edge),
                    (left + wide + edge, top + tall - edge), (left + wide, top + tall),
                    (left + wide, top)), fill=_shade(tone, 0.7))  # fmt: skip
    pencil.rectangle((left, top, left + wide, top + tall), fill=tone)
    band = top + tall * (0.55 + 0.2 * rng.random())
    pencil.rectangle((left, band, left + wide, band + tall * 0.1), fill=_shade(tone, 1.35))
    for line, text in enumerate(rest):
        size = side * (0.075 if line == 0 else 0.055)
        size = min(size, size * wide * 0.86 / max(1, text_width(str(text), max(5, round(size)))))
        _write(image, str(text), left + wide * 0.07, top + side * (0.05 + 0.11 * line), size,
               (255, 255, 255))  # fmt: skip


def _receipt(image: Image.Image, pencil: _Pencil, rng: _Rng, rest: tuple[Any, ...]) -> None:
    """A narrow slip of paper on a table, with the arguments as its lines."""
    width, height = image.size
    image.paste(_shade(_colour(rng, 0.35, 0.55), 0.8), (0, 0, width, height))
    wide, tall = min(width * 0.9, height * 0.72), height * 0.9
    left, top = (width - wide) / 2, height * 0.05
    pencil.rectangle((left, top, left + wide, top + tall), fill=(250, 249, 244))
    longest = max((text_width(str(line), 20) for line in rest), default=20)
    size = min(20 * wide * 0.84 / longest, tall * 0.8 / (1.5 * max(1, len(rest))))
    y = top + tall * 0.07
    for line in rest:
        _write(image, str(line), left + wide * 0.08, y, size, (40, 40, 44))
        y += size * 1.5


def _write(
    image: Image.Image, text: str, x: float, y: float, size: float, colour: tuple[int, int, int]
) -> None:
    pixels = max(5, round(size))
    text = ellipsize(text, pixels, max(1, image.width - round(x)))
    image.paste(colour, (round(x), round(y)), text_mask(text, pixels, False))


def _edited(image: Image.Image, edits: Any) -> Image.Image:
    """Apply pairs of `rotate`, `crop`, `flip`, `brightness`, `contrast` or `grey` and a value."""
    width, height = image.size
    for name, value in edits:
        if name == "rotate":
            image = image.rotate(-int(value), expand=True)
        elif name == "flip":
            image = ImageOps.mirror(image) if value else image
        elif name == "grey":
            image = ImageOps.grayscale(image).convert("RGB") if value else image
        elif name == "brightness":
            image = ImageEnhance.Brightness(image).enhance(1 + int(value) / 100)
        elif name == "contrast":
            image = ImageEnhance.Contrast(image).enhance(1 + int(value) / 100)
        elif name == "crop":
            wide, tall = (int(part) for part in str(value).split(":"))
            image = ImageOps.fit(image, _inside(image.size, wide / tall))
        else:
            raise ValueError(f"unknown edit {name!r} of a picture")
    return ImageOps.pad(image, (width, height), color=(20, 20, 22))


def _inside(size: tuple[int, int], ratio: float) -> tuple[int, int]:
    width, height = size
    if width / height > ratio:
        return max(1, round(height * ratio)), height
    return width, max(1, round(width / ratio))


_KINDS: dict[str, _Painter] = {
    "landscape": _landscape, "portrait": _portrait, "food": _food, "city": _city,
    "pattern": _pattern, "document": _document, "receipt": _receipt, "sign": _sign,
    "product": _product,
}  # fmt: skip
PICTURE_KINDS = tuple(_KINDS)
"""Kinds of scenes."""
