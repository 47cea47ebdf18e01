"""The products of an open store by id and number, and their families."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

import hexathlon.tasks.catalogue.columns as at
from hexathlon.tasks.bilingual import BilingualText
from hexathlon.tasks.catalogue.goods import CATEGORIES, category_code
from hexathlon.tasks.catalogue.grammar import Category
from hexathlon.tasks.catalogue.product import Product, Seller
from hexathlon.tasks.catalogue.records import Decoder, Header
from hexathlon.tasks.catalogue.store import Store

__all__ = ["Design", "Families"]

_KEPT_PRODUCTS = 1_024


@dataclass(frozen=True, slots=True)
class Design:
    """A target around which a family was built."""

    product_id: str
    axes: tuple[str, ...]
    """Axis names for `Catalogue.constraints_of`. Within the family, only this product satisfies all
    of them, and each is violated alone by some other product."""


class Families:
    """The contents of a catalogue, without queries."""

    def __init__(self, store: Store) -> None:
        self.seed = store.seed
        self.size = store.size
        self.categories: Mapping[str, Category] = {item.slug: item for item in CATEGORIES}
        self._layout = store.layout
        self._decoder = Decoder(store.layout, store.seed)
        self._product_at = lru_cache(maxsize=_KEPT_PRODUCTS)(self._decoder.decode)

    # Products

    def number(self, product_id: str) -> int:
        """Return the number of a product.

        Raises:
            KeyError: If the product does not exist.
        """
        number = self._decoder.coder.decode(product_id)
        if number is None or number >= self.size:
            raise KeyError(f"no product {product_id!r}")
        return number

    def product(self, product_id: str) -> Product:
        """Return a product by id.

        Raises:
            KeyError: If the product does not exist.
        """
        return self._product_at(self.number(product_id))

    def product_at(self, number: int) -> Product:
        """Return a product by number, in [0, size)."""
        if not 0 <= number < self.size:
            raise IndexError(f"the catalogue has products 0 to {self.size - 1}, not {number}")
        return self._product_at(number)

    @property
    def sellers(self) -> tuple[Seller, ...]:
        """All sellers of the catalogue."""
        return self._decoder.sellers

    @property
    def brands(self) -> tuple[BilingualText, ...]:
        """All brands of the catalogue."""
        return self._decoder.brands

    def category(self, slug: str) -> Category:
        """Return the grammar of a category.

        Raises:
            KeyError: If the category does not exist.
        """
        return CATEGORIES[category_code(slug)]

    # Families

    @property
    def family_count(self) -> int:
        """Number of families."""
        return len(self._layout.families)

    def families(self, category: str) -> list[int]:
        """Return the families of a category, ascending."""
        of = self._layout.families["category"]
        return np.flatnonzero(of == category_code(category)).tolist()

    def family(self, family: int) -> list[str]:
        """Return the product ids of a family, in catalogue order."""
        header = self._header(family)
        encode = self._decoder.coder.encode
        return [encode(number) for number in range(header.first, header.first + header.size)]

    def sibling(self, family: int) -> int:
        """Return the family that differs from this one only in the kind of goods."""
        self._header(family)
        return family ^ 1

    def axes(self, family: int) -> tuple[str, ...]:
        """Return the names of the axes along which a family varies."""
        header = self._header(family)
        return _axis_names(header, header.axes)

    def designs(self, family: int) -> tuple[Design, ...]:
        """Return the targets around which the family was built."""
        header = self._header(family)
        stars = self._layout.stars[header.star_first : header.star_first + header.stars]
        return tuple(
            Design(self._decoder.coder.encode(number), _axis_names(header, axes))
            for number, axes in stars.tolist()
        )

    def _header(self, family: int) -> Header:
        if not 0 <= family < self.family_count:
            raise IndexError(f"the catalogue has families 0 to {self.family_count - 1}")
        return self._decoder.header(family)


def _axis_names(header: Header, axes: int) -> tuple[str, ...]:
    return tuple(c.name for c in at.columns_of(header.code) if axes >> c.position & 1)
