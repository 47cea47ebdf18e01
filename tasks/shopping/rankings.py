"""Rankings of near-identical goods by surface features, without reading the request's conditions.

A shopper can rank a family by the words that pages share with the request, drop what the number
filters exclude, or choose the item that most others resemble. The source rejects purchases whose
target stands out in any of these rankings.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.catalogue import Catalogue, Constraint, Product
from hexathlon.tasks.catalogue.tokens import tokenize
from hexathlon.tasks.shopping.world.facts import category_of
from hexathlon.tasks.shopping.world.wording import offered_text

__all__ = ["Shelf", "chance_of_first", "open_shelf"]

RankingScores = npt.NDArray[np.float64]
_WORD = re.compile(r"[a-z0-9.]+|[\u4e00-\u9fff]")
_PARTS = ("page", "specification", "reviews")
_TEXTS: Mapping[str, tuple[str, ...]] = {
    "page": ("page",),
    "specification": ("specification",),
    "reviews": ("reviews",),
    "page and specification": ("page", "specification"),
    "everything": _PARTS,
}
_RESEMBLING = 2
"""Maximum number of differences between items that resemble each other."""


@dataclass(frozen=True)
class Shelf:
    """The items of a family: their words, and how many properties differ between any two."""

    products: tuple[Product, ...]
    words: Mapping[str, tuple[frozenset[str], ...]]
    """Words of each item, by part of its pages."""

    distances: npt.NDArray[np.int64]
    """(items, items)."""

    def by_words(self, request: str) -> Iterator[tuple[str, RankingScores]]:
        """Yield scores by shared words: their number, rare words weighted more, and the share."""
        said = sorted(_words(request))
        has = {
            part: np.array([[word in own for word in said] for own in self.words[part]])
            for part in _PARTS
        }
        for name, parts in _TEXTS.items():
            shared = np.logical_or.reduce([has[part] for part in parts])
            sizes = self._sizes[name]
            count = shared.sum(axis=1).astype(float)
            rarity = np.log((len(shared) + 1) / np.maximum(shared.sum(axis=0), 1))
            yield f"{name}: number", count
            yield f"{name}: rare words", np.round(shared @ rarity, 6)
            yield f"{name}: share", np.round(count / (len(said) + sizes - count), 9)

    @cached_property
    def _sizes(self) -> Mapping[str, npt.NDArray[np.int64]]:
        """Number of words of each item, by text."""
        return {
            name: np.array([len(frozenset[str]().union(*own))
                            for own in zip(*(self.words[part] for part in parts), strict=True)])
            for name, parts in _TEXTS.items()
        }  # fmt: skip

    def by_resemblance(self, kept: npt.NDArray[np.bool_]) -> Iterator[tuple[str, RankingScores]]:
        """Yield scores by resemblance to the items kept by a filter."""
        beside = self.distances[:, kept]
        yield "least mean distance", -beside.sum(axis=1).astype(float)
        for most in range(1, _RESEMBLING + 1):
            yield f"most items within {most}", (beside <= most).sum(axis=1).astype(float)

    def kept_by(self, conditions: Sequence[Constraint]) -> npt.NDArray[np.bool_]:
        """Return which items remain after filters by price, rating, delivery and return period."""
        return np.array([all(_passes(item, c) for c in conditions) for item in self.products])

    def rankings(
        self, request: str, conditions: Sequence[Constraint]
    ) -> Iterator[tuple[str, RankingScores]]:
        """Yield all rankings by name; an item that a filter excludes scores minus infinity."""
        kept = self.kept_by(conditions)
        everything = np.ones(len(kept), dtype=bool)
        ranked = list(self.by_words(request))
        for name, scores in ranked:
            yield name, scores
            yield f"{name}, filtered", np.where(kept, scores, -np.inf)
        for name, scores in self.by_resemblance(everything):
            yield name, scores
        for name, scores in self.by_resemblance(kept):
            yield f"{name}, filtered", np.where(kept, scores, -np.inf)


def chance_of_first(scores: RankingScores, position: int) -> float:
    """Return the probability that the best item, with ties drawn at random, is this one.

    >>> chance_of_first(np.array([2.0, 2.0, 1.0]), 0), chance_of_first(np.array([2.0, 1.0]), 1)
    (0.5, 0.0)
    """
    best = scores.max()
    if scores[position] < best or not np.isfinite(best):
        return 0.0
    return 1.0 / float((scores == best).sum())


@lru_cache(maxsize=256)
def open_shelf(catalogue: Catalogue, family: int, language: Language) -> Shelf:
    """Return the shelf of a family."""
    products = tuple(catalogue.product(product_id) for product_id in catalogue.family(family))
    columns = zip(*(_compared(product) for product in products), strict=True)
    codes = np.array([np.unique(column, return_inverse=True)[1] for column in columns])
    words = {
        "page": tuple(_page_words(product, language) for product in products),
        "specification": tuple(
            _words_of(f"{label}: {value}" for label, value in product.specification[language])
            for product in products
        ),
        "reviews": tuple(
            _words_of(review.text[language] for review in product.reviews) for product in products
        ),
    }
    distances = (codes[:, :, None] != codes[:, None, :]).sum(axis=0)
    return Shelf(products, words, distances)


def _page_words(product: Product, language: Language) -> frozenset[str]:
    days = (str(product.shipping.days), str(product.returns.days))
    lines = (
        product.title[language],
        category_of(product.category).text[language],
        product.seller.name[language],
        *product.features[language],
        offered_text(product, language),
        *days,
    )
    return _words_of(lines)


def _words_of(lines: Iterator[str] | Sequence[str]) -> frozenset[str]:
    return frozenset[str]().union(*map(_words, lines))


@lru_cache(maxsize=32_768)
def _words(text: str) -> frozenset[str]:
    """Return words and numbers, single Chinese characters, and the tokens of the search index."""
    return frozenset((*_WORD.findall(text.casefold()), *tokenize(text)))


def _compared(product: Product) -> tuple[str, ...]:
    """Return the properties by which items of a family are compared."""
    values = [value for _, value in sorted(product.attributes.items())]
    values += ["/".join(offered) for _, offered in sorted(product.options.items())]
    return (*values, product.seller.id, str(product.shipping.days), str(product.returns.days))


def _passes(product: Product, condition: Constraint) -> bool:
    numbers = {
        "price": product.price_cents,
        "rating": product.rating_tenths,
        "shipping": product.shipping.days,
        "returns": product.returns.days,
    }
    number = numbers.get(condition.kind)
    if number is None:
        return True
    bound = int(condition.value)
    return number <= bound if condition.op == "<=" else number >= bound
