"""The shape of a category: its kinds of goods, attributes, options and their words.

A category is data. Everything that a product of it can be is a choice of codes, one per column;
everything that is said about it is put together from the words that stand here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from hexathlon.tasks.shopping.world.catalogue.text import Text

__all__ = ["Attribute", "Category", "Kind", "Order", "Place", "Value"]

Place = Literal["title", "feature", "specification", "review", "option"]
"""Where a buyer can learn a value: in the title and search, among the features on the item page,
only in the specification table, only in reviews, or by choosing it."""

Order = Literal["none", "more", "less"]
"""Whether requests say "exactly", "at least" or "at most"."""


@dataclass(frozen=True, slots=True)
class Value:
    """One value of an attribute, with the words of shop and of shopper."""

    slug: str
    text: Text
    """The shop's words: in titles, features and tables. For a review attribute, the label."""
    asks_en: tuple[str, ...] = ()
    """The shopper's words, verb phrases that follow "one that ..."; none shares the shop's key
    words, so that they cannot simply be typed into the search box."""
    asks_zh: tuple[str, ...] = ()
    """The same in Chinese, predicates that follow 要求 ..."""
    says_en: tuple[str, ...] = ()
    """Review sentences that give the value away; only for review attributes."""
    says_zh: tuple[str, ...] = ()
    plain: Text | None = None
    """A phrase of its own in the shop's words, where the attribute's pattern does not fit."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A named property or option with its closed set of values."""

    name: str
    label: Text
    place: Place
    values: tuple[Value, ...]
    order: Order = "none"
    """`more` and `less` need `values` in ascending order of the quantity."""
    plain: Text = Text("has {}", "{}")
    """How a shopper names a value in the shop's own words; `{}` is the value."""
    exact: Text | None = None
    """The same for just this value of an ordered attribute, neither more nor less."""

    def code(self, slug: str) -> int:
        """Return the position of a value.

        Raises:
            KeyError: The attribute has no such value.
        """
        for position, value in enumerate(self.values):
            if value.slug == slug:
                return position
        known = ", ".join(value.slug for value in self.values)
        raise KeyError(f"{self.name} has no value {slug!r}; it has {known}")


@dataclass(frozen=True, slots=True)
class Kind:
    """What a thing is called within its category."""

    slug: str
    text: Text


@dataclass(frozen=True)
class Category:
    """A category with everything that its products can be."""

    slug: str
    text: Text
    department: Text
    kinds: tuple[Kind, ...]
    """Two at least: sibling families differ in nothing else."""
    price_cents: tuple[int, int]
    """Least and greatest base price of a family."""
    attributes: tuple[Attribute, ...]
    options: tuple[Attribute, ...]
    """One or two, each with six values at least."""
    blurb: tuple[Text, ...]
    """Sentences for descriptions; `{}` is the name of the product."""
    praise: tuple[Text, ...]
    """Review sentences that tell nothing about any attribute."""

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
            KeyError: The category has none of this name.
        """
        try:
            return self.by_name[name]
        except KeyError:
            known = ", ".join(self.by_name)
            raise KeyError(f"{self.slug} has no attribute {name!r}; it has {known}") from None

    def kind(self, slug: str) -> Kind:
        """Return a kind by slug.

        Raises:
            KeyError: The category has none of this name.
        """
        for kind in self.kinds:
            if kind.slug == slug:
                return kind
        raise KeyError(f"{self.slug} has no kind {slug!r}")
