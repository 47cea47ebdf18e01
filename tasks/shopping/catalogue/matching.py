"""Which products, and which of their variants, hold on a set of constraints.

Conditions on the product are decided on rows of codes, many rows at once; conditions on the
variant (options and price) exactly, on the few products that are left. `holds_on` reads the
decoded record and `row_mask` the codes: two ways to the same answer, and a test that they agree.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hexathlon.tasks.shopping.catalogue import columns as at
from hexathlon.tasks.shopping.catalogue.constraint import Constraint, Operator
from hexathlon.tasks.shopping.catalogue.goods import CATEGORIES, category_code
from hexathlon.tasks.shopping.catalogue.names import series_name
from hexathlon.tasks.shopping.catalogue.product import Product, Variant
from hexathlon.tasks.shopping.catalogue.records import Decoder, Header

__all__ = ["VARIANT_KINDS", "compare", "fewest_violations", "holds_on", "row_mask"]

VARIANT_KINDS = ("option", "price")
"""Constraints that depend on the variant chosen."""


def compare(left: Any, op: Operator, right: Any) -> Any:
    """Compare numbers or arrays."""
    if op == "==":
        return left == right
    return left <= right if op == "<=" else left >= right


def holds_on(product: Product, variant: Variant, constraint: Constraint) -> bool:
    """Whether a purchase of this variant holds on a constraint; read from the record alone."""
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
    """Return which products of a family hold on a constraint, by their rows of codes.

    What the family's category does not know holds nowhere. An option holds where it is offered, a
    price everywhere: which variant has it in stock, and for how much, the rows do not tell.
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
    """Return, for each variant in stock, the positions of the constraints that it breaks.

    Only the sets of least size are returned; an empty one means that the product can be bought so
    that everything holds.
    """
    broken = [
        tuple(i for i, c in enumerate(constraints) if not holds_on(product, variant, c))
        for variant in product.variants
        if variant.stock
    ]
    least = min((len(each) for each in broken), default=0)
    return sorted({each for each in broken if len(each) == least})
