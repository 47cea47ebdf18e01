"""Marks: outlines of elements with their numbers, drawn on a screenshot."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from hexathlon.tasks.gui.elements import UIElement

__all__ = ["marked"]

_COLOURS = ((214, 40, 57), (0, 119, 182), (56, 138, 52), (157, 78, 221), (230, 111, 0))


def marked(pixels: NDArray[np.uint8], elements: Sequence[UIElement]) -> NDArray[np.uint8]:
    """Return a copy of the screen in which all elements that react are outlined and numbered."""
    image = Image.fromarray(pixels.copy())
    pencil = ImageDraw.Draw(image)
    scale = max(1, image.width // 360)
    font = ImageFont.load_default(11 * scale)
    for element in elements:
        if not (element.clickable or element.long_clickable or element.editable):
            continue
        colour = _COLOURS[element.index % len(_COLOURS)]
        left, top, right, bottom = element.bounds
        pencil.rectangle((left, top, right - 1, bottom - 1), outline=colour, width=scale)
        text = str(element.index)
        wide = round(font.getlength(text)) + 4 * scale
        pencil.rectangle((left, top, left + wide, top + 13 * scale), fill=colour)
        pencil.text((left + 2 * scale, top), text, fill=(255, 255, 255), font=font)
    return np.asarray(image)
