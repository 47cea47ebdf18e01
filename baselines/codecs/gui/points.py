"""Points as GUI models write them: text with two numbers, or with the four of a box."""

import math
import re
from collections.abc import Sequence
from typing import Any

from hexathlon.baselines.codecs.gui.screen import PixelPoint

__all__ = ["point_of_list", "point_of_text"]

_NUMBER = r"-?\d+(?:\.\d+)?"
_POINT = re.compile(
    r"\s*(?:<\|box_start\|>|<point>|<bbox>)?\s*[(\[]?\s*"
    rf"({_NUMBER}(?:\s*[,\s]\s*{_NUMBER})+)"
    r"\s*[)\]]?\s*(?:<\|box_end\|>|</point>|</bbox>)?\s*"
)
_LIMIT = 1e6


def point_of_text(text: Any) -> PixelPoint | None:
    """Read `(x,y)`, `[x, y]`, `<point>x y</point>` and boxes of four numbers; a box is its centre.

    Returns:
        The point, rounded to whole units; None if the text is anything else.
    """
    match = _POINT.fullmatch(text) if isinstance(text, str) and len(text) <= 200 else None
    return point_of_list([float(part) for part in re.findall(_NUMBER, match[1])]) if match else None


def point_of_list(values: Any) -> PixelPoint | None:
    """Read `[x, y]` or the box `[left, top, right, bottom]`; None if it is anything else."""
    if not isinstance(values, Sequence) or isinstance(values, str) or len(values) not in (2, 4):
        return None
    if not all(type(value) in (int, float) and _bounded(value) for value in values):
        return None
    if len(values) == 4:
        values = [(values[0] + values[2]) / 2, (values[1] + values[3]) / 2]
    return round(values[0]), round(values[1])


def _bounded(value: float) -> bool:
    return math.isfinite(value) and 0 <= value < _LIMIT
