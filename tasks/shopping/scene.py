"""The scene of a template: a catalogue, a random stream, and wishes with a unique answer.

A wish is a target that a family was built around, with conditions that single out one variant. It
is derived twice: from the catalogue's arrays (`matches`, `near_misses`), and by testing every
variant of the family and its sibling on plain facts. A wish is rejected if the two derivations
disagree, if more than one variant matches, or if a condition is redundant.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, TypeVar

import numpy as np

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.catalogue import Catalogue, Constraint, Product, Variant
from hexathlon.tasks.shopping.bounds import equal_bounds, restated
from hexathlon.tasks.shopping.rewording import askable, reworded, terms
from hexathlon.tasks.shopping.world.facts import category_of, facts_of, holds_on
from hexathlon.tasks.shopping.world.fitting import can_exist
from hexathlon.tasks.shopping.world.subjects import subject_of
from hexathlon.tasks.shopping.world.wording import round_money
from hexathlon.tasks.task import Level, Split

__all__ = ["HEAD", "ShoppingScene", "WantedVariant", "answering"]

_T = TypeVar("_T")

HEAD = ("kind", "brand", "series")
"""Properties that every request names, except deliberately hard ones."""

_DEGREES: Mapping[Level, tuple[int, ...]] = {
    "tiny": (2,),
    "easy": (2, 3),
    "medium": (4, 5),
}

_FEWEST_DAYS = 8
"""Smallest return period, in days, that a request states instead of the target's own."""

_ENOUGH = 6
"""Minimum number of targets to choose from; with fewer, more axes are allowed."""
_MOST_AXES = 9


class _Listed(NamedTuple):
    family: int
    product_id: str
    axes: tuple[str, ...]
    kinds: frozenset[str]
    category: str


@dataclass(frozen=True)
class WantedVariant:
    """A variant and the conditions that only it satisfies."""

    family: int
    product: Product
    variant: Variant
    head: tuple[Constraint, ...]
    details: tuple[Constraint, ...]
    """Each one is necessary: some other product of the family fails on it alone."""

    near: tuple[tuple[int, Product, Variant], ...]
    """(position among the details, product, variant) of products that fail on that detail alone."""

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Head and details combined."""
        return (*self.head, *self.details)

    def with_detail(self, position: int, constraint: Constraint) -> tuple[Constraint, ...]:
        """Return all conditions, with one detail replaced."""
        details = list(self.details)
        details[position] = constraint
        return (*self.head, *details)


@dataclass(frozen=True)
class ShoppingScene:
    """The resources of a template."""

    catalogue: Catalogue
    rng: np.random.Generator
    language: Language
    level: Level
    split: Split
    side: int
    """Which of the two twins to generate, 0 or 1."""

    @property
    def gap(self) -> bool:
        """Whether requests use the shopper's own words rather than the shop's."""
        return self.level == "medium"

    def say(self, en: str, zh: str) -> str:
        """Return the text in the scene's language."""
        return zh if self.language == "zh" else en

    def pick(self, items: Sequence[_T]) -> _T:
        """Return one of the items."""
        return items[int(self.rng.integers(len(items)))]

    def span(self, low: int, high: int, step: int = 1) -> int:
        """Return a number between `low` and `high`, both included."""
        return low + step * int(self.rng.integers((high - low) // step + 1))

    def chance(self, share: float) -> bool:
        """Return True in this share of draws."""
        return bool(self.rng.random() < share)

    def phrase(self, constraint: Constraint, category: str, *, gap: bool | None = None) -> str:
        """Return one phrasing of a condition."""
        wide = self.gap if gap is None else gap
        phrase = self.pick(self._phrases(constraint, category, wide))
        # The target's own number would single it out among pages that state other numbers.
        others = equal_bounds(constraint, category_of(category)) if self.gap else ()
        if constraint.kind == "returns":
            others = tuple(number for number in others if int(number) >= _FEWEST_DAYS)
        elif others and constraint.op == ">=":
            least = float(constraint.value) / 2  # nobody asks for a rim of 2 cm at least
            others = tuple(number for number in others if float(number) >= least)
        return restated(phrase, constraint, self.pick(others)) if others else phrase

    def _phrases(self, constraint: Constraint, category: str, gap: bool) -> Sequence[str]:
        kind, value, language = constraint.kind, constraint.value, self.language
        match kind:
            case "price":
                return terms(kind, language, round_money(int(value), language))
            case "rating":
                return terms(kind, language, f"{int(value) / 10:g}")
            case "seller":
                return terms(kind, language, self.seller(str(value)))
            case "shipping" | "returns":
                return terms(kind, language, str(value))
        said = self.catalogue.phrases_for(constraint, language, category, gap=gap)
        return reworded(constraint, language, category, said)

    def seller(self, key: str) -> str:
        """Return the name of a seller."""
        return next(s.name[self.language] for s in self.catalogue.sellers if s.id == key)

    def slot(self, constraint: Constraint, category: str) -> str:
        """Return a clerk's name for the subject of a condition."""
        own = subject_of(category, constraint.name, self.language)
        return own or self.catalogue.slot_name(constraint, self.language, category)

    def wish(
        self,
        *,
        kinds: Sequence[str] = (),
        degrees: Sequence[int] = (),
        names: Sequence[str] = (),
        head: Sequence[str] = HEAD,
        category: str | None = None,
        stock: int = 1,
        tries: int = 12,
    ) -> WantedVariant | None:
        """Return a unique wish, or None if none was found.

        Args:
            kinds: Kinds of condition, each of which must be among the details.
            degrees: Numbers of axes to choose from; by default the level's, and more if the
                catalogue has too few of them.
            names: Names of details that must all be present.
            head: Properties that the request names beside the details.
            category: Restricts the search to one category.
            stock: Minimum stock of the variant.
            tries: Maximum number of targets examined.
        """
        wanted = tuple(degrees) or _DEGREES[self.level]
        fitting: list[_Listed] = []
        while len(fitting) < _ENOUGH and max(wanted) < _MOST_AXES:
            fitting = [
                listed
                for listed in _listed(self.catalogue)
                if len(listed.axes) in wanted
                and listed.kinds.issuperset(kinds)
                and set(names) <= set(listed.axes)
                and (category is None or listed.category == category)
            ]
            wanted = (*wanted, max(wanted) + 1)
        for _ in range(tries if fitting else 0):
            family, product_id, names_, *_ = self.pick(fitting)
            axes = self.catalogue.constraints_of(product_id, names_)
            made = self._made(family, product_id, axes, head, stock)
            if made is not None:
                return made
        return None

    def wish_in(self, family: int, *, stock: int = 1) -> WantedVariant | None:
        """Return a unique wish of one family, or None."""
        designs = self.catalogue.designs(family)
        order = self.rng.permutation(len(designs)).tolist()
        wanted = _DEGREES[self.level]
        order.sort(key=lambda place: min(abs(len(designs[place].axes) - n) for n in wanted))
        for design in (designs[place] for place in order):
            product = self.catalogue.product(design.product_id)
            if not askable(product, design.axes):
                continue
            axes = self.catalogue.constraints_of(design.product_id, design.axes)
            made = self._made(family, design.product_id, axes, HEAD, stock)
            if made is not None:
                return made
        return None

    def _made(
        self,
        family: int,
        product_id: str,
        axes: Sequence[Constraint],
        head: Sequence[str],
        stock: int,
    ) -> WantedVariant | None:
        product = self.catalogue.product(product_id)
        named = self.catalogue.constraints_of(product_id, head)
        fitting = [
            variant
            for variant in product.variants
            if variant.stock >= stock and self.catalogue.satisfies(product_id, variant.id, axes)
        ]
        members = map(self.catalogue.product, self.catalogue.family(family))
        if not fitting or any(_at_least(each) for each in axes) or not all(map(can_exist, members)):
            return None
        variant = self.pick(fitting)
        told = {constraint.name for constraint in axes if constraint.kind == "option"}
        rest = [
            Constraint("option", option.name, "==", variant.options[option.name])
            for option in category_of(product.category).options
            if option.name not in told
        ]
        wish = WantedVariant(family, product, variant, named, (*axes, *rest), ())
        if self.catalogue.matches(family, wish.constraints) != [product_id]:
            return None
        if answering(self.catalogue, family, wish.constraints) != [variant.id]:
            return None
        near = tuple(self._near(wish, stock))
        if {position for position, _, _ in near} != set(range(len(wish.details))):
            return None
        return replace(wish, near=near)

    def _near(self, wish: WantedVariant, stock: int) -> Iterator[tuple[int, Product, Variant]]:
        """Yield, for every detail, an in-stock variant that fails on it alone."""
        constraints, shift = wish.constraints, len(wish.head)
        missed = self.catalogue.near_misses(wish.family, constraints)
        for position in range(len(wish.details)):
            # For an option, the near miss is another variant of the target itself.
            for product_id in (*missed[position + shift], wish.product.id):
                found = self._failing(product_id, constraints, position + shift, stock)
                if found is not None:
                    yield position, *found
                    break

    def _failing(
        self, product_id: str, constraints: Sequence[Constraint], position: int, stock: int
    ) -> tuple[Product, Variant] | None:
        product = self.catalogue.product(product_id)
        for variant in product.variants:
            broken = self.catalogue.violations(product_id, variant.id, constraints)
            if variant.stock >= stock and broken == (position,):
                return product, variant
        return None


@lru_cache(maxsize=64)
def _listed(catalogue: Catalogue) -> tuple[_Listed, ...]:
    """Return every designed target of a catalogue, with the kinds of its conditions."""
    return tuple(
        _Listed(
            family,
            design.product_id,
            design.axes,
            frozenset(
                constraint.kind
                for constraint in catalogue.constraints_of(design.product_id, design.axes)
            ),
            catalogue.product(design.product_id).category,
        )
        for family in range(catalogue.family_count)
        for design in catalogue.designs(family)
        if askable(catalogue.product(design.product_id), design.axes)
        and not any(map(_at_least, catalogue.constraints_of(design.product_id, design.axes)))
    )


def _at_least(constraint: Constraint) -> bool:
    """Whether it demands a price from below, which no customer does."""
    return constraint.kind == "price" and constraint.op == ">="


def answering(
    catalogue: Catalogue,
    family: int,
    constraints: Sequence[Constraint],
    *,
    in_stock: bool = True,
) -> list[str]:
    """Return every variant of a family and its sibling that satisfies all conditions.

    This is the second derivation: it uses plain facts of every variant, not the catalogue's arrays.
    """
    goods = [c for c in constraints if c.kind not in ("option", "price")]
    chosen = [c for c in constraints if c.kind in ("option", "price")]
    found = []
    for each in (family, catalogue.sibling(family)):
        for product_id in catalogue.family(each):
            product = catalogue.product(product_id)
            facts = facts_of(product, None)
            if not all(holds_on(facts, c) for c in goods):
                continue
            for variant in product.variants:
                facts = facts_of(product, variant)
                if (variant.stock or not in_stock) and all(holds_on(facts, c) for c in chosen):
                    found.append(variant.id)
    return found
