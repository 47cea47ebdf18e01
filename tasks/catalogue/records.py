"""The decoder of an open store: from a row of codes to a product.

Decoding reads one row and one family header; long texts are written on demand.
"""

from functools import lru_cache, partial

import numpy as np

import hexathlon.tasks.catalogue.columns as at
from hexathlon.tasks.catalogue.coding import Coder
from hexathlon.tasks.catalogue.deals import bundle_parts
from hexathlon.tasks.catalogue.goods import CATEGORIES
from hexathlon.tasks.catalogue.grammar import Category
from hexathlon.tasks.catalogue.layout import Layout, catalogue_seed
from hexathlon.tasks.catalogue.names import brands, sellers, series_name
from hexathlon.tasks.catalogue.noise import mix
from hexathlon.tasks.catalogue.pricing import surcharges
from hexathlon.tasks.catalogue.product import Product, Returns, Seller, Shipping
from hexathlon.tasks.catalogue.writing import ProductWriter

__all__ = ["Decoder", "Header"]


class Header:
    """A family's header as plain numbers, read from the array once."""

    def __init__(self, layout: Layout, family: int) -> None:
        record = layout.families[family]
        self.family = family
        self.first = int(record["first"])
        self.size = int(record["size"])
        self.code = int(record["category"])
        self.grammar: Category = CATEGORIES[self.code]
        self.kind = self.grammar.kinds[int(record["kind"])].slug
        self.brand = int(record["brand"])
        self.series = int(record["series"])
        self.base = int(record["base"])
        self.bounds: tuple[int, ...] = tuple(record["bounds"].tolist())
        self.axes = int(record["axes"])
        self.sellers: list[int] = record["sellers"].tolist()
        self.palette: list[list[int]] = record["palette"].tolist()
        self.star_first = int(record["star_first"])
        self.stars = int(record["stars"])
        self.surcharges = {
            option.name: surcharges(option, self.base) for option in self.grammar.options
        }

    def distinct(self, option: int, code: int) -> str:
        """Return the value that only products with this code offer."""
        return self.grammar.options[option].values[self.palette[option][code]].slug

    def offered(self, option: int, code: int) -> tuple[str, ...]:
        """Return the values that products with this code offer, in the option's own order."""
        palette = self.palette[option]
        values = self.grammar.options[option].values
        return tuple(values[i].slug for i in sorted((palette[code], palette[4], palette[5])))


class Decoder:
    """Decodes the products of one catalogue."""

    def __init__(self, layout: Layout, seed: int) -> None:
        self.layout = layout
        self.noise = catalogue_seed(seed)
        self.coder = Coder(self.noise)
        self.brands = brands(self.noise)
        self.sellers = tuple(Seller(slug, name) for slug, name in sellers(self.noise))
        self.firsts = layout.families["first"].astype(np.int64)
        self._bundles = bundle_parts(self.noise, len(layout.families))
        self.header = lru_cache(maxsize=2_048)(partial(Header, layout))
        """Return the header of a family by its number."""

    def family_of(self, number: int) -> int:
        """Return the family of a product number."""
        return int(np.searchsorted(self.firsts, number, side="right")) - 1

    def decode(self, number: int) -> Product:
        """Return the product with a number in [0, size)."""
        header = self.header(self.family_of(number))
        row = self.layout.codes[number].tolist()
        grammar = header.grammar
        distinct = {
            option.name: header.distinct(i, row[at.FIRST_OPTION + i])
            for i, option in enumerate(grammar.options)
        }
        return Product(
            id=self.coder.encode(number),
            number=number,
            category=grammar.slug,
            kind=header.kind,
            family=header.family,
            brand=self.brands[header.brand],
            series=series_name(header.series),
            attributes={
                item.name: item.values[row[i]].slug for i, item in enumerate(grammar.attributes)
            },
            options={
                item.name: header.offered(i, row[at.FIRST_OPTION + i])
                for i, item in enumerate(grammar.options)
            },
            price_cents=int(self.layout.least[number]),
            seller=self.sellers[header.sellers[row[at.SELLER]]],
            rating_tenths=int(self.layout.ratings[number]),
            rating_count=3 + mix(self.noise, 33, number) % 997,
            shipping=Shipping(at.DELIVERY_DAYS[row[at.SHIPPING]]),
            returns=Returns(at.RETURN_DAYS[row[at.RETURNS]]),
            bundles=self._bundles.get(header.family, ()),
            writer=ProductWriter(grammar, self.noise, header.surcharges, distinct),
        )
