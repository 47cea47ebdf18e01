"""Glyphs: lines of text as masks, drawn with the best font that is installed.

No font is part of this package. Bounds never depend on the font: a line that is wider than its
metrics is squeezed into them. Pixels do depend on it, so `font_in_use` names the font in use.
"""

import os
from functools import cache, lru_cache
from pathlib import Path

from PIL import Image, ImageChops, ImageDraw, ImageFont

from hexathlon.tasks.gui.world.kit.metrics import text_width

__all__ = ["font_in_use", "text_mask"]

_FONTS = (
    "wqy-microhei.ttc",
    "NotoSansCJK-Regular.ttc",
    "NotoSansSC-Regular.otf",
    "DroidSansFallbackFull.ttf",
    "DroidSansFallback.ttf",
    "DejaVuSans.ttf",
    "LiberationSans-Regular.ttf",
)
"""Files to look for, those with Chinese characters first."""

_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.fonts", "~/.local/share/fonts",
            "/Library/Fonts", "/System/Library/Fonts")  # fmt: skip

_Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


@cache
def font_in_use() -> str:
    """Return the path of the font in use, or `Pillow` for that library's own font.

    The environment variable `HEXATHLON_FONT` names another file.
    """
    chosen = os.environ.get("HEXATHLON_FONT", "")
    if chosen:
        return chosen
    found: dict[str, str] = {}
    for folder in _FOLDERS:
        for path in sorted(Path(folder).expanduser().rglob("*.[to]t[fc]")):
            found.setdefault(path.name, str(path))
    return next((found[name] for name in _FONTS if name in found), "Pillow")


@lru_cache(maxsize=64)
def _font(size: int) -> _Font:
    path = font_in_use()
    if path == "Pillow":
        return ImageFont.load_default(size)
    return ImageFont.truetype(path, size, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=4096)
def text_mask(text: str, size: int, bold: bool) -> Image.Image:
    """Return a line of text as an `L` image, whose top is that of the line box.

    Args:
        text: One line.
        size: Font size in pixels.
        bold: Whether strokes are one pixel wider.
    """
    font = _font(size)
    room = text_width(text, size)
    actual = round(font.getlength(text))
    width, height = max(room, actual, 1) + 2, size * 7 // 5 + 1
    mask = Image.new("L", (width, height), 0)
    ImageDraw.Draw(mask).text((0, size * 102 // 100), text, fill=255, font=font, anchor="ls")
    if bold:
        mask = ImageChops.lighter(mask, ImageChops.offset(mask, max(1, size // 22), 0))
    if actual > room + 1:
        mask = mask.resize((max(room, 1), height), Image.Resampling.BILINEAR)
    return mask
