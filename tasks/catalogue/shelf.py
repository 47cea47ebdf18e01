"""Filters and facets: conversion of filters to tags and ranges, and counts by facet."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

import hexathlon.tasks.catalogue.columns as at
from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.catalogue.goods import CATEGORIES, category_code
from hexathlon.tasks.catalogue.index import tags_of
from hexathlon.tasks.catalogue.records import Decoder
from hexathlon.tasks.catalogue.search import Range

__all__ = ["COMMON_FILTERS", "facet_counts", "read_filters"]

COMMON_FILTERS = ("brand", "seller", "price_min", "price_max", "rating_min", "delivery_max")
_PRICE_STEPS = (2_500, 5_000, 10_000, 20_000)
"""Edges of the price facet, in cents."""


def read_filters(
    decoder: Decoder, category: str | None, filters: Mapping[str, str | int | float]
) -> tuple[tuple[str, ...], Range, Range]:
    """Return (tags, price range, rating range in tenths).

    Raises:
        ValueError: If a name or value is unknown; the message lists the valid ones.
    """
    tags: list[str] = []
    if category is not None:
        tags.append(f"c{_category(category)}")
    for name in sorted(filters):
        if name in ("price_min", "price_max", "rating_min"):
            continue
        tags.append(_tag(decoder, category, name, filters[name]))
    price = Range(_whole(filters, "price_min"), _whole(filters, "price_max"))
    stars = filters.get("rating_min")
    rating = Range(None if stars is None else round(_number("rating_min", stars) * 10))
    return tuple(tags), price, rating


def _category(slug: str) -> int:
    try:
        return category_code(slug)
    except KeyError as error:
        raise ValueError(error.args[0]) from None


def _number(name: str, value: str | int | float) -> float:
    try:
        number = float(value)
    except ValueError:
        raise ValueError(f"filter {name!r} needs a number, not {value!r}") from None
    if not 0 <= number < 1e12:
        raise ValueError(f"filter {name!r} needs a number from 0 on, not {value!r}")
    return number


def _whole(filters: Mapping[str, str | int | float], name: str) -> int | None:
    return int(_number(name, filters[name])) if name in filters else None


def _tag(decoder: Decoder, category: str | None, name: str, value: str | int | float) -> str:
    if name == "brand":
        names = [brand for brand in decoder.brands]
        for i, brand in enumerate(names):
            if str(value).casefold() in (brand.en.casefold(), brand.zh):
                return f"b{i}"
        raise ValueError(f"no brand {value!r}")
    if name == "seller":
        for i, seller in enumerate(decoder.sellers):
            if value in (seller.id, seller.name.en, seller.name.zh):
                return f"s{i}"
        raise ValueError(f"no seller {value!r}")
    if name == "delivery_max":
        fitting = [days for days in at.DELIVERY_DAYS if days <= _number(name, value)]
        return f"u{max(fitting)}" if fitting else "none"
    return _attribute_tag(category, name, value)


def _attribute_tag(category: str | None, name: str, value: str | int | float) -> str:
    if category is None:
        raise ValueError(
            f"no filter {name!r} without a category; there are {', '.join(COMMON_FILTERS)}"
        )
    code = _category(category)
    grammar = CATEGORIES[code]
    shown = [item.name for item in grammar.properties() if item.place in _SHOWN]
    if name not in shown:
        known = ", ".join((*COMMON_FILTERS, *shown))
        raise ValueError(f"no filter {name!r} in {category}; there are {known}")
    item = grammar.attribute(name)
    try:
        chosen = item.code(str(value))
    except KeyError as error:
        raise ValueError(error.args[0]) from None
    if item.place == "option":
        return tags_of(code, at.FIRST_OPTION + grammar.options.index(item), chosen)
    return tags_of(code, grammar.attributes.index(item), chosen)


_SHOWN = ("title", "feature", "option")


def facet_counts(
    decoder: Decoder, window: npt.NDArray[np.int64], language: Language
) -> Mapping[str, Mapping[str, int]]:
    """Count the products of a window by category, brand, price, rating and delivery.

    If most of the window is in one category, its title and feature attributes are counted too.
    """
    if not len(window):
        return {}
    layout = decoder.layout
    firsts = decoder.firsts
    headers = layout.families[np.searchsorted(firsts, window, side="right") - 1]
    codes = layout.codes[window]
    facets = {
        "category": _counts(headers["category"], [item.slug for item in CATEGORIES]),
        "brand": _counts(headers["brand"], [brand[language] for brand in decoder.brands]),
        "price": _counts(
            np.searchsorted(_PRICE_STEPS, layout.least[window], side="right"), _price_labels()
        ),
        "rating": _counts(codes[:, at.RATING], [f"{low / 10:g}+" for low in at.RATING_FLOORS]),
        "delivery": _counts(codes[:, at.SHIPPING], [f"{days}" for days in at.DELIVERY_DAYS]),
    }
    common = int(np.bincount(headers["category"]).argmax())
    members = headers["category"] == common
    if 2 * int(members.sum()) > len(window):
        for i, item in enumerate(CATEGORIES[common].attributes):
            if item.place in _SHOWN:
                slugs = [value.slug for value in item.values]
                facets[item.name] = _counts(codes[members, i], slugs)
    return facets


def _counts(codes: npt.NDArray[np.integer], names: list[str]) -> dict[str, int]:
    counted = np.bincount(codes.astype(np.int64), minlength=len(names)).tolist()
    present = [i for i in range(len(names)) if counted[i]]
    return {names[i]: counted[i] for i in sorted(present, key=lambda i: (-counted[i], i))}


def _price_labels() -> list[str]:
    edges = [0, *_PRICE_STEPS]
    return [f"{low}-{high - 1}" for low, high in zip(edges, edges[1:], strict=False)] + [
        f"{edges[-1]}+"
    ]
