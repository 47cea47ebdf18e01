"""Images as tokens: each square of a picture is one id that contains its pixels.

Ids of patches lie far above any vocabulary. Token trees, requests, caches and trainers treat them
as they treat words, and equal prompts are equal pictures. A model needs an encoder for them
(`hexathlon.baselines.engines.local.front`); no model samples them.

An id has 63 bits: a one, the square's row and column with six bits each, and 25 cells with two bits
each. A cell is the mean brightness of 3 x 3 pixels; dark pictures are inverted. Blank squares are
left out: the ids of the others contain their places.
"""

from typing import Any, Final

import numpy as np

from hexathlon.evaluators.content import Image

__all__ = ["BLANK", "CELLS", "FIRST_PATCH", "IMAGE_TOKEN", "LEVELS", "MOST_SQUARES", "SIDE",
           "cells_of", "patch_ids", "places_of"]  # fmt: skip

FIRST_PATCH: Final = 1 << 62
"""Ids from here on are patches."""

IMAGE_TOKEN: Final = "<|image|>"
"""Stands for a picture in a text; the tokenizer of a policy with an encoder has it."""

SIDE: Final = 15
"""Pixels of a square's side; pictures are padded to whole squares with their last pixels."""

CELLS: Final = 5
"""Cells of a square's side."""

LEVELS: Final = 4
"""Levels of brightness."""

MOST_SQUARES: Final = 64
"""Squares of a picture's side at most."""

_BITS = 2

BLANK: Final = (1 << _BITS * CELLS * CELLS) - 1
"""The cells of a blank square, as bits of an id."""


def patch_ids(image: Image) -> list[int]:
    """Return the ids of an image's squares that are not blank, row by row.

    A square is blank if all its cells have the highest level; most of a screen is.

    Raises:
        ValueError: If the image has more than 64 squares a side.
    """
    rgb = image.array().astype(np.int64)
    grey = (299 * rgb[..., 0] + 587 * rgb[..., 1] + 114 * rgb[..., 2]) // 1000
    grey = np.pad(grey, [(0, -length % SIDE) for length in grey.shape], mode="edge")
    rows, columns = (length // SIDE for length in grey.shape)
    if max(rows, columns) > MOST_SQUARES:
        raise ValueError(
            f"an image has at most {MOST_SQUARES * SIDE} pixels a side, got {image.width} x "
            f"{image.height}"
        )
    if grey.sum() < 128 * grey.size:
        grey = 255 - grey
    part = SIDE // CELLS
    cells = grey.reshape(rows * CELLS, part, columns * CELLS, part).sum((1, 3)) // part**2
    levels = cells * LEVELS // 256
    squares = levels.reshape(rows, CELLS, columns, CELLS).transpose(0, 2, 1, 3)
    shifts = _BITS * np.arange(CELLS * CELLS, dtype=np.int64)
    packed = (squares.reshape(rows, columns, -1) << shifts).sum(-1)
    place = (np.arange(rows)[:, None] << 56) + (np.arange(columns) << 50)
    ids: list[int] = (FIRST_PATCH + place + packed)[packed != BLANK].tolist()
    return ids


def cells_of(ids: Any) -> Any:
    """Return the levels of patches, `[..., 25]`; ids are an array or tensor of 64-bit integers."""
    shifts = range(0, _BITS * CELLS * CELLS, _BITS)
    return [(ids >> shift) & (LEVELS - 1) for shift in shifts]


def places_of(ids: Any) -> tuple[Any, Any]:
    """Return rows and columns of patches; ids are an array or tensor of 64-bit integers."""
    return (ids >> 56) & (MOST_SQUARES - 1), (ids >> 50) & (MOST_SQUARES - 1)
