"""Text metrics from a fixed table of advance widths.

Layout never asks the installed font: element bounds are then equal on every machine, whatever
draws the glyphs. Widths are those of a common sans-serif face; Chinese characters are square.
"""

from functools import lru_cache

__all__ = ["ellipsize", "text_width", "wrap"]

_ASCII = (
    26, 27, 40, 65, 55, 83, 70, 23, 30, 30, 55, 55, 25, 32, 27, 37, 55, 55, 55, 55, 55, 55, 55, 55,
    55, 55, 27, 27, 55, 55, 55, 43, 87, 61, 62, 60, 68, 53, 49, 69, 70, 34, 27, 58, 49, 87, 73, 74,
    58, 74, 59, 52, 52, 70, 57, 88, 55, 53, 54, 30, 37, 30, 53, 41, 58, 53, 59, 46, 59, 54, 33, 52,
    59, 26, 26, 50, 26, 90, 59, 58, 59, 59, 40, 45, 34, 59, 48, 75, 50, 49, 44, 35, 55, 35, 55,
)  # fmt: skip
"""Advance widths of U+0020 to U+007E, in hundredths of the font size."""

_WIDTHS = {chr(32 + place): width for place, width in enumerate(_ASCII)}
_WIDTHS |= {"–": 50, "·": 27, "×": 55, "€": 55, "£": 55, "¥": 55, "°": 43, "\u00a0": 26}
_LATIN, _WIDE = 56, 100
_ELLIPSIS = "…"


def _char_width(char: str) -> int:
    width = _WIDTHS.get(char)
    if width is None:
        width = _WIDTHS[char] = _LATIN if char < "\u0250" else _WIDE
    return width


@lru_cache(maxsize=65_536)
def text_width(text: str, size: int) -> int:
    """Return the width of a line of text, in pixels.

    Args:
        text: One line.
        size: Font size in pixels.
    """
    widths = _WIDTHS
    try:
        total = sum([widths[char] for char in text])
    except KeyError:
        total = sum([_char_width(char) for char in text])
    return (total * size + 99) // 100


@lru_cache(maxsize=65_536)
def ellipsize(text: str, size: int, width: int) -> str:
    """Return the beginning of a text that fits into a width, with `…` if it was cut."""
    if "\n" in text:
        text = text.partition("\n")[0] + _ELLIPSIS
    if text_width(text, size) <= width:
        return text
    room = width * 100 // size - _char_width(_ELLIPSIS)
    kept = 0
    for char in text:
        room -= _char_width(char)
        if room < 0:
            break
        kept += 1
    return text[:kept].rstrip() + _ELLIPSIS


@lru_cache(maxsize=16_384)
def wrap(text: str, size: int, width: int, most: int = 0) -> tuple[str, ...]:
    """Break a text into lines that fit into a width.

    Lines break at spaces, and between Chinese characters; a word that is too long breaks anywhere.

    Args:
        text: The text; its own line breaks are kept.
        size: Font size in pixels.
        width: Width of a line in pixels.
        most: Maximum number of lines, the last of which then ends with `…`; unlimited if 0.
    """
    lines: list[str] = []
    for paragraph in text.split("\n"):
        lines += _wrap_paragraph(paragraph, size, width)
    if most and len(lines) > most:
        rest = " ".join(lines[most - 1 :])
        lines = [*lines[: most - 1], ellipsize(rest, size, width)]
    return tuple(lines)


def _wrap_paragraph(text: str, size: int, width: int) -> list[str]:
    if text_width(text, size) <= width:
        return [text]
    room = max(width * 100 // size, _WIDE)
    lines: list[str] = []
    start = last = used = 0  # `last`: where the line may break, after its last space
    for place, char in enumerate(text):
        if char == " ":
            last = place + 1
        elif char >= "\u2e80":
            last = place
        used += _char_width(char)
        if used > room and char != " ":
            if last <= start:
                last = place
            lines.append(text[start:last].rstrip())
            start = last
            used = sum([_char_width(each) for each in text[start : place + 1]])
    lines.append(text[start:])
    return lines
