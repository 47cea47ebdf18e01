"""A product as the rest of the event sees it; long texts are written on first access."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from hexathlon.tasks.bilingual import BilingualText, Language

__all__ = [
    "Features",
    "Product",
    "Returns",
    "Review",
    "Seller",
    "Shipping",
    "Specification",
    "Variant",
    "Writer",
]

Features = Mapping[Language, tuple[str, ...]]
Specification = Mapping[Language, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class Seller:
    """A seller; the same names occur in many families."""

    id: str
    name: BilingualText


@dataclass(frozen=True, slots=True)
class Shipping:
    """How a product is shipped."""

    days: int
    """Days until delivery by standard shipping."""


@dataclass(frozen=True, slots=True)
class Returns:
    """A product's return conditions."""

    days: int
    """Days after delivery in which it may be returned; 0 means final sale."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One choice of values for all options."""

    id: str
    options: Mapping[str, str]
    """Option name -> value slug."""
    price_cents: int
    stock: int
    image: BilingualText
    """Description of this variant's picture."""


@dataclass(frozen=True, slots=True)
class Review:
    """A buyer's review."""

    author: BilingualText
    stars: int
    day: int
    """Day in the shop's calendar; 0 is the current day, earlier days are negative."""
    text: BilingualText


class Writer(Protocol):
    """Writes the texts and variants of a product from its codes."""

    def title(self, product: "Product") -> BilingualText:
        """Write the title line of search results."""

    def description(self, product: "Product") -> BilingualText:
        """Write the paragraph of the item page."""

    def features(self, product: "Product") -> Features:
        """Write the bullet points."""

    def specification(self, product: "Product") -> Specification:
        """Write the table."""

    def reviews(self, product: "Product") -> tuple[Review, ...]:
        """Write the reviews, newest first."""

    def variants(self, product: "Product") -> tuple[Variant, ...]:
        """List every combination of the options on offer."""


@dataclass(frozen=True)
class Product:
    """A product; texts are cached properties, written from the codes on first access."""

    id: str
    number: int
    """Position in the catalogue; never shown to an agent, since neighbours are related."""
    category: str
    kind: str
    family: int
    brand: BilingualText
    series: BilingualText
    attributes: Mapping[str, str]
    """Attribute name -> value slug, for all places; never shown directly."""
    options: Mapping[str, tuple[str, ...]]
    price_cents: int
    """Price of the cheapest variant."""
    seller: Seller
    rating_tenths: int
    """Mean rating in tenths of a star."""
    rating_count: int
    shipping: Shipping
    returns: Returns
    bundles: tuple[str, ...]
    """`<bundle id>/<part>`."""
    writer: Writer = field(repr=False, compare=False)
    """Writes the lazy texts."""

    @property
    def rating(self) -> float:
        """Mean rating in stars."""
        return self.rating_tenths / 10

    @cached_property
    def title(self) -> BilingualText:
        """One line with the title's attribute values."""
        return self.writer.title(self)

    @cached_property
    def description(self) -> BilingualText:
        """A paragraph without any deciding value from the specification or reviews."""
        return self.writer.description(self)

    @cached_property
    def features(self) -> Features:
        """Bullet points of the item page: values of title and features."""
        return self.writer.features(self)

    @cached_property
    def specification(self) -> Specification:
        """The table of (label, value): everything except review-only values."""
        return self.writer.specification(self)

    @cached_property
    def reviews(self) -> tuple[Review, ...]:
        """Reviews, newest first; at least two of them reveal each review-only value."""
        return self.writer.reviews(self)

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        """Every combination of the options on offer."""
        return self.writer.variants(self)

    def variant(self, variant_id: str) -> Variant:
        """Return a variant by id.

        Raises:
            KeyError: If the product has no such variant.
        """
        for variant in self.variants:
            if variant.id == variant_id:
                return variant
        raise KeyError(f"product {self.id} has no variant {variant_id!r}")
