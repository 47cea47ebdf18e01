"""Evaluation of constraints on products and their variants.

Conditions on the product are evaluated on rows of codes, many rows at once; conditions on the
variant (options and price) exactly, on the few remaining products. `holds_on` reads the decoded
record and `row_mask` the codes: two independent implementations, and a test that they agree.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import hexathlon.tasks.catalogue.columns as at
from hexathlon.tasks.catalogue.constraint import Constraint, Operator
from hexathlon.tasks.catalogue.goods import CATEGORIES, category_code
from hexathlon.tasks.catalogue.names import series_name
from hexathlon.tasks.catalogue.product import Product, Variant
from hexathlon.tasks.catalogue.records import Decoder, Header

__all__ = ["compare", "constraint_on", "fewest_violations", "holds_on", "row_mask"]


def compare(left: Any, op: Operator, right: Any) -> Any:
    """Compare numbers or arrays with an operator."""
    if op == "==":
        return left == right
    return left <= right if op == "<=" else left >= right


def holds_on(product: Product, variant: Variant, constraint: Constraint) -> bool:
    """Whether a purchase of this variant satisfies a constraint, decided from the record alone."""
    kind, name, op, value = constraint.kind, constraint.name, constraint.op, constraint.value
    if kind == "option":
        return variant.options.get(name) == value
    if kind == "price":
        return bool(compare(variant.price_cents, op, value))
    if kind == "category":
        return (product.category if name == "category" else product.kind) == value
    if kind == "seller":
        return product.seller.id == value
    numbers = {
        "rating": product.rating_tenths,
        "shipping": product.shipping.days,
        "returns": product.returns.days,
    }
    if kind in numbers:
        return bool(compare(numbers[kind], op, value))
    if name in ("brand", "series"):
        return (product.brand if name == "brand" else product.series).en == value
    if name not in product.attributes:
        return False
    item = CATEGORIES[category_code(product.category)].attribute(name)
    return bool(compare(item.code(product.attributes[name]), op, item.code(str(value))))


def row_mask(decoder: Decoder, header: Header, constraint: Constraint) -> npt.NDArray[np.bool_]:
    """Return which products of a family satisfy a constraint, by their rows of codes.

    A condition unknown to the family's category is never satisfied. An option is satisfied where it
    is offered, a price everywhere: the rows do not say which variant is in stock, or its price.
    """
    rows = slice(header.first, header.first + header.size)
    codes = decoder.layout.codes[rows]
    kind, op, value = constraint.kind, constraint.op, constraint.value
    if kind == "category":
        known = header.grammar.slug if constraint.name == "category" else header.kind
        return np.full(header.size, known == value)
    if kind == "price":
        return np.ones(header.size, dtype=bool)
    if kind == "rating":
        return np.asarray(compare(decoder.layout.ratings[rows], op, value))
    if kind == "seller":
        own = np.array([decoder.sellers[number].id == value for number in header.sellers])
        return np.asarray(own[codes[:, at.SELLER]])
    if kind in ("shipping", "returns"):
        days, column = (
            (at.DELIVERY_DAYS, at.SHIPPING) if kind == "shipping" else (at.RETURN_DAYS, at.RETURNS)
        )
        return np.asarray(compare(np.array(days)[codes[:, column]], op, value))
    return _named_mask(decoder, header, constraint, codes)


def _named_mask(
    decoder: Decoder, header: Header, constraint: Constraint, codes: npt.NDArray[np.uint8]
) -> npt.NDArray[np.bool_]:
    name, value = constraint.name, str(constraint.value)
    if name == "brand":
        return np.full(len(codes), decoder.brands[header.brand].en == value)
    if name == "series":
        return np.full(len(codes), series_name(header.series).en == value)
    grammar = header.grammar
    item = grammar.by_name.get(name)
    if item is None or (item.place == "option") != (constraint.kind == "option"):
        return np.zeros(len(codes), dtype=bool)
    if constraint.kind == "option":
        position = [option.name for option in grammar.options].index(name)
        offers = np.array([value in header.offered(position, code) for code in range(4)])
        return np.asarray(offers[codes[:, at.FIRST_OPTION + position]])
    position = [attribute.name for attribute in grammar.attributes].index(name)
    return np.asarray(compare(codes[:, position], constraint.op, item.code(value)))


def fewest_violations(product: Product, constraints: Sequence[Constraint]) -> list[tuple[int, ...]]:
    """Return, for each variant in stock, the positions of the constraints that it violates.

    Only the smallest sets are returned; an empty set means that some variant satisfies everything.
    """
    broken = [
        tuple(i for i, c in enumerate(constraints) if not holds_on(product, variant, c))
        for variant in product.variants
        if variant.stock
    ]
    least = min((len(each) for each in broken), default=0)
    return sorted({each for each in broken if len(each) == least})


def constraint_on(
    axis: str, product: Product, header: Header, row: Sequence[int], decoder: Decoder
) -> Constraint:
    """Return the constraint that a product satisfies on an axis, in the weakest usual form.

    Raises:
        KeyError: If the product's family has no such axis.
    """
    if axis in ("category", "kind"):
        value = product.category if axis == "category" else product.kind
        return Constraint("category", axis, "==", value)
    if axis in ("brand", "series"):
        name = product.brand if axis == "brand" else product.series
        return Constraint("attribute", axis, "==", name.en)
    for column in at.columns_of(header.code):
        if column.name == axis:
            return _told(column, header, row[column.position], decoder)
    raise KeyError(f"family {product.family} has no axis {axis!r}")


def _told(column: at.CatalogueColumn, header: Header, code: int, decoder: Decoder) -> Constraint:
    """Return the meaning of a column's code as a constraint."""
    if column.kind == "price":
        if code == 2:
            return Constraint("price", "price", ">=", header.bounds[1])
        return Constraint("price", "price", "<=", header.bounds[code])
    if column.kind == "rating":
        return Constraint("rating", "rating", ">=", at.RATING_FLOORS[code])
    if column.kind == "seller":
        return Constraint("seller", "seller", "==", decoder.sellers[header.sellers[code]].id)
    if column.kind == "shipping":
        return Constraint("shipping", "days", "<=", at.DELIVERY_DAYS[code])
    if column.kind == "returns":
        return Constraint("returns", "days", ">=", at.RETURN_DAYS[code])
    if column.kind == "option":
        value = header.distinct(column.position - at.FIRST_OPTION, code)
        return Constraint("option", column.name, "==", value)
    slug = header.grammar.attributes[column.position].values[code].slug
    op = {"none": "==", "more": ">=", "less": "<="}[column.order]
    return Constraint(column.kind, column.name, op, slug)  # type: ignore[arg-type]
