"""Facts about a purchase as plain data, and evaluation of conditions on them.

The facts of purchased goods are part of the final state, so that a stored episode can be judged,
and its faults named, without the catalogue. Evaluating conditions on facts is also the generator's
second derivation of its answers; the first uses the catalogue's arrays.
"""

from collections.abc import Mapping
from typing import Any

from hexathlon.tasks.catalogue.constraint import Constraint
from hexathlon.tasks.catalogue.goods import CATEGORIES, category_code
from hexathlon.tasks.catalogue.grammar import Category
from hexathlon.tasks.catalogue.product import Product, Variant

__all__ = ["GROUPS", "category_of", "facts_of", "group_of", "holds_on"]

GROUPS = ("category", "attribute", "option", "price")
"""The four components into which ShopSimulator divides a purchase."""


def category_of(slug: str) -> Category:
    """Return a category by slug."""
    return CATEGORIES[category_code(slug)]


def group_of(constraint: Constraint) -> str:
    """Return the component of a purchase that a condition belongs to."""
    return constraint.kind if constraint.kind in GROUPS else "attribute"


def facts_of(product: Product, variant: Variant | None) -> dict[str, Any]:
    """Return, as JSON, all facts about one variant that conditions can refer to.

    Args:
        product: The product.
        variant: The variant; None leaves options and price out.
    """
    return {
        "category": product.category,
        "kind": product.kind,
        "brand": product.brand.en,
        "series": product.series.en,
        "attributes": dict(product.attributes),
        **(
            {}
            if variant is None
            else {"options": dict(variant.options), "price_cents": variant.price_cents}
        ),
        "rating_tenths": product.rating_tenths,
        "seller": product.seller.id,
        "days": product.shipping.days,
        "returns": product.returns.days,
    }


def holds_on(facts: Mapping[str, Any], constraint: Constraint) -> bool:
    """Whether the facts satisfy a condition."""
    wanted = constraint.value
    match constraint.kind:
        case "category":
            return bool(facts[constraint.name] == wanted)
        case "price":
            return _compare(facts["price_cents"], constraint.op, wanted)
        case "rating":
            return _compare(facts["rating_tenths"], constraint.op, wanted)
        case "seller":
            return bool(facts["seller"] == wanted)
        case "shipping":
            return _compare(facts["days"], constraint.op, wanted)
        case "returns":
            return _compare(facts["returns"], constraint.op, wanted)
        case "option":
            return bool(facts["options"].get(constraint.name) == wanted)
    if constraint.name in ("brand", "series"):
        return bool(facts[constraint.name] == wanted)
    value = facts["attributes"].get(constraint.name)
    if value is None or constraint.op == "==":
        return bool(value == wanted)
    ranks = category_of(facts["category"]).by_name[constraint.name].ranks
    if wanted not in ranks:  # a value of another category's attribute of this name
        return False
    return _compare(ranks[value], constraint.op, ranks[str(wanted)])


def _compare(value: Any, operator: str, wanted: Any) -> bool:
    if operator == "==":
        return bool(value == wanted)
    return bool(value <= wanted if operator == "<=" else value >= wanted)
