"""Screenshots with set-of-marks: elements outlined, each with its number."""

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from hexathlon.envs.web.browser import Browser
from hexathlon.envs.web.chromium.session import ChromiumSession

__all__ = ["draw_marks", "window_image"]

_COLOURS = ("#c0392b", "#1f618d", "#1e8449", "#7d3c98", "#b9770e", "#117a65")

Box = tuple[float, float, float, float]
"""Left, top, width and height in pixels."""


def window_image(browser: Browser, *, marks: bool = False) -> NDArray[np.uint8]:
    """Return the window of a real browser as an array of height x width x 3.

    Args:
        browser: The browser.
        marks: Whether elements that can be acted on are outlined, with their numbers.
    """
    if not isinstance(browser, ChromiumSession):
        raise TypeError(f"{type(browser).__name__} has no window")
    picture = Image.open(io.BytesIO(browser.screenshot())).convert("RGB")
    if marks:
        draw_marks(picture, browser.boxes())
    return np.asarray(picture, dtype=np.uint8)


def draw_marks(picture: Any, boxes: dict[int, Box]) -> None:
    """Outline boxes on a picture and write their numbers beside them."""
    draw = ImageDraw.Draw(picture)
    for number, (left, top, width, height) in boxes.items():
        colour = _COLOURS[number % len(_COLOURS)]
        draw.rectangle((left, top, left + width, top + height), outline=colour, width=2)
        text = str(number)
        around = draw.textbbox((left, top), text)
        wide, high = around[2] - around[0] + 4, around[3] - around[1] + 4
        x = min(max(0, left), picture.width - wide)
        y = top - high if top >= high else min(top, picture.height - high)
        draw.rectangle((x, y, x + wide, y + high), fill=colour)
        draw.text((x + 2 - (around[0] - left), y + 2 - (around[1] - top)), text, fill="white")
