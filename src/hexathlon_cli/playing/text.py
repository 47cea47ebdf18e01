"""Text folding for terminals: aligned cells, lines wrapped by display columns."""

import textwrap
import unicodedata
from itertools import groupby

__all__ = ["aligned", "wrapped"]

_COLUMN = "  |  "
_CLOSING = "，。；：？！、）”"


def aligned(text: str) -> str:
    """Align the cells of neighbouring lines with the same number of cells."""
    lines = [line.split(_COLUMN) for line in text.split("\n")]
    rows: list[str] = []
    for count, group in groupby(lines, key=len):
        table = list(group)
        widths = [max(_columns(row[place]) for row in table) for place in range(count - 1)]
        for row in table:
            cells = [
                cell + " " * (width - _columns(cell))
                for cell, width in zip(row, widths, strict=False)
            ]
            rows.append(_COLUMN.join([*cells, row[-1]]))
    return "\n".join(rows)


def wrapped(text: str, width: int) -> str:
    """Wrap long lines between words, or between Chinese characters, which take two columns."""
    return "\n".join(_wrapped_line(line, width) for line in text.split("\n"))


def _wrapped_line(line: str, width: int) -> str:
    if _columns(line) <= width:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    if line.isascii():
        return textwrap.fill(line, width, subsequent_indent=indent, break_on_hyphens=False)
    rows, row = [], indent
    for piece in _pieces(line.lstrip()):
        if _columns(row + piece.rstrip()) > width and row.strip():
            rows.append(row.rstrip())
            row = indent + piece.lstrip()
        else:
            row += piece
    return "\n".join([*rows, row])


def _pieces(text: str) -> list[str]:
    """Split a text where a line may break: after blanks and wide characters.

    A closing mark stays with the text before it.
    """
    pieces = [""]
    for character in text:
        if character in _CLOSING and len(pieces) > 1:
            last = pieces.pop()
            pieces[-1] += last + character
            pieces.append("")
            continue
        pieces[-1] += character
        if character == " " or _columns(character) == 2:
            pieces.append("")
    return pieces


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
