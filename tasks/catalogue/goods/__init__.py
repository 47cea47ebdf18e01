"""The categories of the catalogue, as data: one text file for each.

Independent of the products, prices and language of a shop.
"""

from pathlib import Path

from hexathlon.tasks.catalogue.goods.notation import read_category
from hexathlon.tasks.catalogue.grammar import Category

__all__ = ["CATEGORIES", "category_code"]

_FOLDER = Path(__file__).parent

CATEGORIES: tuple[Category, ...] = tuple(
    read_category(path.read_text(encoding="utf-8")) for path in sorted(_FOLDER.glob("*.txt"))
)
"""Sorted by slug; a category's code is its position."""

_CODES = {category.slug: code for code, category in enumerate(CATEGORIES)}


def category_code(slug: str) -> int:
    """Return the position of a category.

    Raises:
        KeyError: If the category does not exist.
    """
    if slug not in _CODES:
        raise KeyError(f"no category {slug!r}; there are {', '.join(_CODES)}")
    return _CODES[slug]
