"""The categories of the catalogue, as data: one module for each department."""

from hexathlon.tasks.shopping.catalogue.goods import electronics
from hexathlon.tasks.shopping.catalogue.grammar import Category

__all__ = ["CATEGORIES", "category_code"]

CATEGORIES: tuple[Category, ...] = (*electronics.CATEGORIES,)
"""In a fixed order: a category's code is its position here."""

_CODES = {category.slug: code for code, category in enumerate(CATEGORIES)}


def category_code(slug: str) -> int:
    """Return the position of a category.

    Raises:
        KeyError: There is no such category.
    """
    if slug not in _CODES:
        raise KeyError(f"no category {slug!r}; there are {', '.join(_CODES)}")
    return _CODES[slug]
