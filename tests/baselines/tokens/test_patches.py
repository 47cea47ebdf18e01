"""Pictures as tokens: ids contain their pixels."""

import numpy as np
import pytest

from hexathlon.baselines.tokens.patches import FIRST_PATCH, cells_of, patch_ids, places_of
from hexathlon.evaluators.content import Image


def image(array: np.ndarray) -> Image:
    return Image.from_array(array.astype(np.uint8))


def levels(array: np.ndarray) -> np.ndarray:
    """Levels of brightness that the ids contain, as a picture of cells."""
    ids = np.array(patch_ids(image(array)), dtype=np.int64)
    rows, columns = places_of(ids)
    height, width = rows.max() + 1, columns.max() + 1
    cells = np.stack(cells_of(ids), -1).reshape(height, width, 5, 5)
    return cells.transpose(0, 2, 1, 3).reshape(5 * height, 5 * width)


def test_ids_contain_the_picture_in_cells_of_three_pixels() -> None:
    wanted = np.random.default_rng(3).integers(0, 4, (20, 10))
    wanted[0] = 3
    shades = np.repeat(np.repeat(wanted * 64 + 40, 3, 0), 3, 1)
    seen = levels(np.repeat(shades[..., None], 3, 2))
    bright = shades.mean() >= 128
    assert (seen == (wanted if bright else levels_inverted(wanted))).all()


def levels_inverted(wanted: np.ndarray) -> np.ndarray:
    return (255 - (wanted * 64 + 40)) * 4 // 256


def test_dark_pictures_are_inverted() -> None:
    bright = np.full((15, 15, 3), 240)
    bright[3:9, 3:9] = 10
    assert patch_ids(image(bright)) == patch_ids(image(255 - bright))


def test_places_and_count_follow_the_size() -> None:
    ids = np.array(patch_ids(image(np.full((31, 16, 3), 150))))
    rows, columns = places_of(ids)
    assert rows.tolist() == [0, 0, 1, 1, 2, 2] and columns.tolist() == [0, 1] * 3
    assert (ids >= FIRST_PATCH).all()


def test_blank_squares_are_left_out() -> None:
    page = np.full((45, 45, 3), 250)
    page[20:24, 35:40] = 90
    (square,) = patch_ids(image(page))
    assert places_of(square) == (1, 2) and min(cells_of(square)) == 1
    assert patch_ids(image(np.zeros((30, 15, 3)))) == []


def test_large_pictures_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 960 pixels a side, got 15 x 975"):
        patch_ids(image(np.zeros((975, 15, 3))))
