"""A catalogue of generated goods, with search, constraints and prices, for shops of any event.

Independent of carts, orders and tasks.
"""

from hexathlon.tasks.catalogue.catalogue import Catalogue, Design, open_catalogue
from hexathlon.tasks.catalogue.constraint import Constraint, ConstraintKind, Operator
from hexathlon.tasks.catalogue.grammar import (
    Attribute,
    AttributeValue,
    Category,
    GoodsKind,
)
from hexathlon.tasks.catalogue.money import (
    Address,
    Bundle,
    CartLine,
    Coupon,
    PriceBreakdown,
    Rules,
    ShippingRate,
    price_cart,
)
from hexathlon.tasks.catalogue.product import (
    Product,
    Returns,
    Review,
    Seller,
    Shipping,
    Variant,
)
from hexathlon.tasks.catalogue.search import SORTS, WINDOW, Hit, SearchPage, Sort
from hexathlon.tasks.catalogue.shelf import COMMON_FILTERS

__all__ = [
    "COMMON_FILTERS",
    "SORTS",
    "WINDOW",
    "Address",
    "Attribute",
    "AttributeValue",
    "Bundle",
    "CartLine",
    "Catalogue",
    "Category",
    "Constraint",
    "ConstraintKind",
    "Coupon",
    "Design",
    "GoodsKind",
    "Hit",
    "Operator",
    "PriceBreakdown",
    "Product",
    "Returns",
    "Review",
    "Rules",
    "SearchPage",
    "Seller",
    "Shipping",
    "ShippingRate",
    "Sort",
    "Variant",
    "open_catalogue",
    "price_cart",
]
