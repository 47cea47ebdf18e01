"""The structure of a category: its kinds of goods, attributes, options and their words.

A category is data. A product is a choice of codes, one per column; all texts about it are composed
of the category's words.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from hexathlon.tasks.bilingual import BilingualText

__all__ = ["Attribute", "AttributeValue", "Category", "GoodsKind", "Order", "Place"]

Place = Literal["title", "feature", "specification", "review", "option"]
"""Where a buyer can find a value: in the title and search, among the features on the item page,
only in the specification table, only in reviews, or by choosing it."""

Order = Literal["none", "more", "less"]
"""Whether requests mean "exactly" (`none`), "at least" (`more`) or "at most" (`less`)."""


@dataclass(frozen=True, slots=True)
class AttributeValue:
    """A value of an attribute, with the shop's and the shopper's words."""

    slug: str
    text: BilingualText
    """The shop's words in titles, features and tables; for a review attribute, the label."""
    asks_en: tuple[str, ...] = ()
    """The shopper's words: verb phrases that follow "one that ...". None contains the shop's key
    words, so that they cannot simply be typed into the search box."""
    asks_zh: tuple[str, ...] = ()
    """The same in Chinese, predicates that follow 要求 ..."""
    says_en: tuple[str, ...] = ()
    """Review sentences that reveal the value; only for review attributes."""
    says_zh: tuple[str, ...] = ()
    plain: BilingualText | None = None
    """A separate phrase in the shop's words, if the attribute's pattern does not fit."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A named property or option with its closed set of values."""

    name: str
    label: BilingualText
    place: Place
    values: tuple[AttributeValue, ...]
    order: Order = "none"
    """`more` and `less` require `values` in ascending order of the quantity."""
    plain: BilingualText = BilingualText("has {}", "{}")
    """The shopper's phrase in the shop's own words; `{}` is the value."""
    exact: BilingualText | None = None
    """The same for exactly this value of an ordered attribute, neither more nor less."""
    ranks: Mapping[str, int] = field(init=False, repr=False, compare=False)
    """Position of each value, by its slug."""

    def __post_init__(self) -> None:
        ranks = {value.slug: position for position, value in enumerate(self.values)}
        object.__setattr__(self, "ranks", ranks)

    def code(self, slug: str) -> int:
        """Return the position of a value.

        Raises:
            KeyError: If the attribute has no such value.
        """
        try:
            return self.ranks[slug]
        except KeyError:
            known = ", ".join(self.ranks)
            raise KeyError(f"{self.name} has no value {slug!r}; it has {known}") from None


@dataclass(frozen=True, slots=True)
class GoodsKind:
    """A kind of goods within a category."""

    slug: str
    text: BilingualText


@dataclass(frozen=True)
class Category:
    """A category, with everything that its products can be."""

    slug: str
    text: BilingualText
    department: BilingualText
    kinds: tuple[GoodsKind, ...]
    """At least two; sibling families differ only in the kind."""
    price_cents: tuple[int, int]
    """Minimum and maximum base price of a family."""
    attributes: tuple[Attribute, ...]
    options: tuple[Attribute, ...]
    """One or two, each with at least six values."""
    blurb: tuple[BilingualText, ...]
    """Sentences for descriptions; `{}` is the product name."""
    praise: tuple[BilingualText, ...]
    """Review sentences that reveal nothing about any attribute."""

    @cached_property
    def by_name(self) -> dict[str, Attribute]:
        """Attributes and options by name."""
        return {item.name: item for item in self.properties()}

    def properties(self) -> Iterator[Attribute]:
        """Attributes, then options, in the order of their columns."""
        yield from self.attributes
        yield from self.options

    def attribute(self, name: str) -> Attribute:
        """Return an attribute or option by name.

        Raises:
            KeyError: If the category has no attribute or option of this name.
        """
        try:
            return self.by_name[name]
        except KeyError:
            known = ", ".join(self.by_name)
            raise KeyError(f"{self.slug} has no attribute {name!r}; it has {known}") from None

    def kind(self, slug: str) -> GoodsKind:
        """Return a kind by slug.

        Raises:
            KeyError: If the category has no kind with this slug.
        """
        for kind in self.kinds:
            if kind.slug == slug:
                return kind
        raise KeyError(f"{self.slug} has no kind {slug!r}")
