"""The columns of a product: the position of each code, and the meaning of its order.

Every product is a row of 17 small codes: ten attributes, two options, then price tier, rating tier,
seller, delivery and returns. The search for unique targets uses only these rows.
"""

from dataclasses import dataclass
from functools import cache

from hexathlon.tasks.catalogue.constraint import ConstraintKind
from hexathlon.tasks.catalogue.goods import CATEGORIES
from hexathlon.tasks.catalogue.grammar import Order

__all__ = [
    "ATTRIBUTES",
    "DELIVERY_DAYS",
    "FIRST_OPTION",
    "PRICE",
    "RATING",
    "RATING_FLOORS",
    "RETURNS",
    "RETURN_DAYS",
    "SELLER",
    "SHIPPING",
    "WIDTH",
    "CatalogueColumn",
    "columns_of",
]

ATTRIBUTES = 10
"""Maximum number of attributes of a category."""
FIRST_OPTION = 10
PRICE, RATING, SELLER, SHIPPING, RETURNS = 12, 13, 14, 15, 16
WIDTH = 17
DELIVERY_DAYS = (2, 4, 8)
RETURN_DAYS = (0, 14, 30)
RATING_FLOORS = (34, 40, 45)
"""Minimum rating of each tier, in tenths of a star."""


@dataclass(frozen=True, slots=True)
class CatalogueColumn:
    """One column of one category."""

    position: int
    name: str
    kind: ConstraintKind
    order: Order
    values: int
    """Number of codes. An option has four; each denotes a set of values on offer."""


_COMMERCE = (
    CatalogueColumn(PRICE, "price", "price", "less", 3),
    CatalogueColumn(RATING, "rating", "rating", "more", 3),
    CatalogueColumn(SELLER, "seller", "seller", "none", 3),
    CatalogueColumn(SHIPPING, "shipping", "shipping", "less", 3),
    CatalogueColumn(RETURNS, "returns", "returns", "more", 3),
)
_KIND_OF_PLACE: dict[str, ConstraintKind] = {
    "title": "attribute",
    "feature": "attribute",
    "specification": "specification",
    "review": "review",
}


@cache
def columns_of(category: int) -> tuple[CatalogueColumn, ...]:
    """Return the columns that the category uses, in order of position."""
    grammar = CATEGORIES[category]
    attributes = tuple(
        CatalogueColumn(i, item.name, _KIND_OF_PLACE[item.place], item.order, len(item.values))
        for i, item in enumerate(grammar.attributes)
    )
    options = tuple(
        CatalogueColumn(FIRST_OPTION + i, item.name, "option", "none", 4)
        for i, item in enumerate(grammar.options)
    )
    return attributes + options + _COMMERCE
