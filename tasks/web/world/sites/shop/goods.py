"""Goods of the catalogue as rows of the shop's tables, family by family."""

import json
from functools import lru_cache
from typing import NamedTuple

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.catalogue import Catalogue, Product, open_catalogue
from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.task import Split

__all__ = ["HYGIENE", "GoodsRow", "family_count", "family_rows"]

_SIZE = 2_000
_REVIEWS = 6

HYGIENE = ("face_creams", "tea")
"""Categories whose goods cannot be returned once they are opened."""


class GoodsRow(NamedTuple):
    """A product with its variants and reviews, in one language."""

    product: tuple[str | int, ...]
    """Columns of `products` from `id` to `price`."""

    variants: tuple[tuple[str, str, int], ...]
    """Id, options and price in cents of every variant."""

    reviews: tuple[tuple[str, int, int, str], ...]
    """Author, stars, day (0 is today, earlier days are negative) and text."""


def family_count(split: Split) -> int:
    """Return the number of families of goods that a split's shops choose from."""
    return _catalogue(split).family_count


@lru_cache(maxsize=512)
def family_rows(split: Split, language: Language, family: int) -> tuple[GoodsRow, ...]:
    """Return the goods of one family."""
    catalogue = _catalogue(split)
    return tuple(
        _row(catalogue, catalogue.product(each), language) for each in catalogue.family(family)
    )


def _catalogue(split: Split) -> Catalogue:
    return open_catalogue(derive_seed("web shop", split) % 1_000_000, _SIZE)


def _row(catalogue: Catalogue, item: Product, language: Language) -> GoodsRow:
    category = catalogue.category(item.category)
    variants = []
    for variant in item.variants:
        labels = [
            next(
                value.text[language]
                for value in category.attribute(name).values
                if value.slug == slug
            )
            for name, slug in variant.options.items()
        ]
        variants.append((variant.id, ", ".join(labels), variant.price_cents))
    product = (
        item.id, item.title[language], item.brand[language], item.series[language], item.category,
        category.kind(item.kind).text[language], category.department[language],
        item.description[language], "\n".join(item.features[language]),
        json.dumps([list(pair) for pair in item.specification[language]], ensure_ascii=False),
        item.seller.name[language], item.rating_tenths, item.rating_count, item.shipping.days,
        item.returns.days, item.price_cents,
    )  # fmt: skip
    reviews = tuple(
        (review.author[language], review.stars, review.day, review.text[language])
        for review in item.reviews[:_REVIEWS]
    )
    return GoodsRow(product, tuple(variants), reviews)
