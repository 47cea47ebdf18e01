"""A product as the rest of the event sees it; long texts are written when they are first read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from hexathlon.tasks.shopping.world.catalogue.text import Language, Text

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
    """Who sells; the same names return in many families."""

    id: str
    name: Text


@dataclass(frozen=True, slots=True)
class Shipping:
    """How a product travels."""

    days: int
    """Days until it is delivered by standard shipping."""


@dataclass(frozen=True, slots=True)
class Returns:
    """How a product goes back."""

    days: int
    """Days in which it may be returned after delivery; 0 is a final sale."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One choice of all options."""

    id: str
    options: Mapping[str, str]
    """Option name -> value slug."""
    price_cents: int
    stock: int
    image: Text
    """What the picture of this variant shows."""


@dataclass(frozen=True, slots=True)
class Review:
    """What a buyer wrote."""

    author: Text
    stars: int
    day: int
    """Day of the shop's calendar; 0 is the shop's today, earlier days are negative."""
    text: Text


class Writer(Protocol):
    """Writes the texts and variants of a product from its codes."""

    def title(self, product: "Product") -> Text:
        """Write the one line that search results show."""

    def description(self, product: "Product") -> Text:
        """Write the paragraph of the item page."""

    def features(self, product: "Product") -> Features:
        """Write the bullet points."""

    def specification(self, product: "Product") -> Specification:
        """Write the table."""

    def reviews(self, product: "Product") -> tuple[Review, ...]:
        """Write the reviews, newest first."""

    def variants(self, product: "Product") -> tuple[Variant, ...]:
        """Write every combination of the options offered."""


@dataclass(frozen=True)
class Product:
    """One product; the texts are cached properties, written from the codes on first use."""

    id: str
    number: int
    """Position in the catalogue; never shown to an agent, since neighbours are relatives."""
    category: str
    kind: str
    family: int
    brand: Text
    series: Text
    attributes: Mapping[str, str]
    """Attribute name -> value slug, all places; shown to nobody as it is."""
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
    """Writes the lazy parts."""

    @property
    def rating(self) -> float:
        """Mean rating in stars."""
        return self.rating_tenths / 10

    @cached_property
    def title(self) -> Text:
        """One line with the values that are told in the title."""
        return self.writer.title(self)

    @cached_property
    def description(self) -> Text:
        """A paragraph without any deciding value of specification or reviews."""
        return self.writer.description(self)

    @cached_property
    def features(self) -> Features:
        """Bullet points of the item page: title and feature values."""
        return self.writer.features(self)

    @cached_property
    def specification(self) -> Specification:
        """The table of (label, value): everything but what only reviews tell."""
        return self.writer.specification(self)

    @cached_property
    def reviews(self) -> tuple[Review, ...]:
        """Reviews, newest first; each review-only value is told by two of them at least."""
        return self.writer.reviews(self)

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        """Every combination of the options offered."""
        return self.writer.variants(self)

    def variant(self, variant_id: str) -> Variant:
        """Return a variant by id.

        Raises:
            KeyError: The product has no such variant.
        """
        for variant in self.variants:
            if variant.id == variant_id:
                return variant
        raise KeyError(f"product {self.id} has no variant {variant_id!r}")
