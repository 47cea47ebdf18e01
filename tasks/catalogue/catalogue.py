"""A catalogue: products, families, constraints and search over one open store."""

import threading
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import hexathlon.tasks.catalogue.phrases as phrases
from hexathlon.tasks.bilingual import BilingualText, Language
from hexathlon.tasks.catalogue.constraint import Constraint
from hexathlon.tasks.catalogue.deals import draw_bundles, draw_coupons, draw_rates
from hexathlon.tasks.catalogue.families import Design, Families
from hexathlon.tasks.catalogue.goods import category_code
from hexathlon.tasks.catalogue.matching import (
    constraint_on,
    fewest_violations,
    holds_on,
    row_mask,
)
from hexathlon.tasks.catalogue.money import Bundle, CartLine, Coupon, Rules
from hexathlon.tasks.catalogue.names import SERIES, series_name
from hexathlon.tasks.catalogue.records import Header
from hexathlon.tasks.catalogue.search import Hit, SearchEngine, SearchPage, Sort
from hexathlon.tasks.catalogue.shelf import facet_counts, read_filters
from hexathlon.tasks.catalogue.store import Store, cache_folder, open_store

__all__ = ["Catalogue", "Design", "open_catalogue"]


class Catalogue(Families):
    """A read-only catalogue, shared across the process; pickles by its address."""

    def __init__(self, store: Store, cache: Path | None = None) -> None:
        super().__init__(store)
        self._cache = cache
        self._engine = SearchEngine(store)

    def __reduce__(self) -> tuple[Any, ...]:
        return open_catalogue, (self.seed, self.size, self._cache)

    # Constraints

    def constraints_of(self, product_id: str, axes: Sequence[str]) -> tuple[Constraint, ...]:
        """Return the product's constraints on the given axes, in the weakest usual form.

        `axes` are names from `axes`, or `category`, `kind`, `brand` and `series`. Ordered values
        become "at least" or "at most", the price a bound that separates its tier from the next.
        """
        number = self.number(product_id)
        product = self._product_at(number)
        header = self._header(product.family)
        row = self._layout.codes[number].tolist()
        return tuple(constraint_on(axis, product, header, row, self._decoder) for axis in axes)

    def satisfies(
        self, product_id: str, variant_id: str, constraints: Sequence[Constraint]
    ) -> bool:
        """Whether buying this variant satisfies every constraint; stock is ignored."""
        return not self.violations(product_id, variant_id, constraints)

    def violations(
        self, product_id: str, variant_id: str, constraints: Sequence[Constraint]
    ) -> tuple[int, ...]:
        """Return the positions of the constraints that buying this variant would violate."""
        product = self.product(product_id)
        variant = product.variant(variant_id)
        return tuple(
            i for i, each in enumerate(constraints) if not holds_on(product, variant, each)
        )

    def matches(self, family: int, constraints: Sequence[Constraint]) -> list[str]:
        """Return a family's products with an in-stock variant that satisfies all constraints."""
        return [
            self._product_at(number).id
            for number in self._candidates(self._header(family), constraints, 0)
            if fewest_violations(self._product_at(number), constraints) == [()]
        ]

    def unique_target(self, family: int, constraints: Sequence[Constraint]) -> str | None:
        """Return the only product of a family that satisfies all constraints, or None."""
        found = self.matches(family, constraints)
        return found[0] if len(found) == 1 else None

    def near_misses(self, family: int, constraints: Sequence[Constraint]) -> dict[int, list[str]]:
        """Return, by position of the constraint, the products that violate only that one.

        For constraints on category or kind, these are products of the sibling family.
        """
        missed: dict[int, list[str]] = {i: [] for i in range(len(constraints))}
        for each in (family, self.sibling(family)):
            for number in self._candidates(self._header(each), constraints, 1):
                product = self._product_at(number)
                for broken in fewest_violations(product, constraints):
                    if len(broken) == 1:
                        missed[broken[0]].append(product.id)
        return missed

    def matching(self, constraints: Sequence[Constraint]) -> list[str]:
        """Return all products with an in-stock variant that satisfies all constraints.

        Families are checked one by one; a constraint on category, brand or series limits the work.
        """
        found: list[str] = []
        for family in self._families_for(constraints):
            found.extend(self.matches(family, constraints))
        return found

    def _families_for(self, constraints: Sequence[Constraint]) -> list[int]:
        table = self._layout.families
        mask = np.ones(len(table), dtype=bool)
        for each in constraints:
            if each.kind == "category" and each.name == "category":
                mask &= table["category"] == category_code(str(each.value))
            elif each.name == "brand":
                names = [brand.en for brand in self.brands]
                mask &= table["brand"] == (names.index(str(each.value)))
            elif each.name == "series":
                names = [series_name(i).en for i in range(SERIES)]
                mask &= table["series"] == names.index(str(each.value))
        return np.flatnonzero(mask).tolist()

    def _candidates(
        self, header: Header, constraints: Sequence[Constraint], broken: int
    ) -> list[int]:
        """Return numbers of the family's products that violate at most `broken` constraints."""
        count: npt.NDArray[np.int64] = np.zeros(header.size, dtype=np.int64)
        for each in constraints:
            count += ~row_mask(self._decoder, header, each)
        return (header.first + np.flatnonzero(count <= broken)).tolist()

    # Words

    def phrases_for(
        self, constraint: Constraint, language: Language, category: str, *, gap: bool = True
    ) -> tuple[str, ...]:
        """Return a shopper's ways to phrase a constraint on goods of the category."""
        return phrases.phrases_for(
            constraint, language, self.category(category), self._names(), gap=gap
        )

    def slot_name(self, constraint: Constraint, language: Language, category: str) -> str:
        """Return a clerk's name for the subject of a constraint."""
        return phrases.slot_name(constraint, language, self.category(category))

    def _names(self) -> Mapping[str, BilingualText]:
        names = {seller.id: seller.name for seller in self.sellers}
        names.update({brand.en: brand for brand in self.brands})
        names.update({series_name(i).en: series_name(i) for i in range(SERIES)})
        return names

    # Money

    @property
    def coupons(self) -> tuple[Coupon, ...]:
        """All coupons of the shop."""
        return draw_coupons(self._decoder.noise)

    @property
    def bundles(self) -> tuple[Bundle, ...]:
        """All bundles of the shop."""
        return draw_bundles(self._decoder.noise, self.family_count)

    def rules(self, *, today: int = 0, first_order: bool = False) -> Rules:
        """Return the shop's price rules on a day, including all bundles."""
        return Rules(
            shipping=draw_rates(self._decoder.noise),
            bundles={bundle.id: bundle for bundle in self.bundles},
            today=today,
            first_order=first_order,
        )

    def cart_line(self, product_id: str, variant_id: str, quantity: int = 1) -> CartLine:
        """Return a cart line at the variant's price.

        Raises:
            KeyError: If the product or variant does not exist.
        """
        product = self.product(product_id)
        variant = product.variant(variant_id)
        return CartLine(
            product_id, variant_id, quantity, variant.price_cents, product.category,
            product.brand.en, product.seller.id, product.bundles,
        )  # fmt: skip

    # Search

    def search(
        self,
        query: str,
        *,
        language: Language,
        category: str | None = None,
        filters: Mapping[str, str | int | float] | None = None,
        sort: Sort = "relevance",
        page: int = 1,
        per_page: int = 10,
    ) -> SearchPage:
        """Search titles, features, options and categories.

        Args:
            query: Words, any of which may match; empty to browse.
            language: Language of the words and of the returned titles.
            category: Slug of the category to restrict the search to.
            filters: `brand`, `seller`, `price_min`, `price_max` (cents), `rating_min` (stars),
                `delivery_max` (days) and, with a category, its title and feature attributes and
                options by name, each with a value's slug.
            sort: Order within the window of results.
            page: From 1; a page past the end is empty.
            per_page: 1 to 100.

        Raises:
            ValueError: If a category, filter, order or page number is unknown or out of range; the
                message lists the valid ones.
        """
        if page < 1 or not 1 <= per_page <= 100:
            raise ValueError(f"page is 1 or more and per_page 1 to 100, not {page} and {per_page}")
        tags, price, rating = read_filters(self._decoder, category, filters or {})
        window = self._engine.window(query, language, tags, price, rating)
        ranked = self._engine.ordered(window, sort)
        shown = ranked[(page - 1) * per_page : page * per_page].tolist()
        return SearchPage(
            hits=tuple(self._hit(number, language) for number in shown),
            total=len(window),
            page=page,
            pages=-(-len(window) // per_page),
            count_facets=partial(facet_counts, self._decoder, window, language),
        )

    def rank(
        self, product_id: str, query: str, *, language: Language, category: str | None = None
    ) -> int | None:
        """Return the rank (from 1) of a product in a query's window, or None outside it."""
        tags, price, rating = read_filters(self._decoder, category, {})
        window = self._engine.window(query, language, tags, price, rating)
        place = np.flatnonzero(window == self.number(product_id))
        return int(place[0]) + 1 if len(place) else None

    def _hit(self, number: int, language: Language) -> Hit:
        product = self._product_at(number)
        return Hit(
            product.id,
            product.title[language],
            product.price_cents,
            product.rating,
            product.rating_count,
            product.shipping.days,
        )


_opened: dict[tuple[int, int, Path], Catalogue] = {}
_opening = threading.Lock()


def open_catalogue(seed: int, size: int, cache: Path | None = None) -> Catalogue:
    """Open a catalogue, building it on the first use of (seed, size) on this machine.

    Callers in one process that ask for the same catalogue share one object.
    """
    key = (seed, size, cache_folder(cache))
    with _opening:
        if key not in _opened:
            _opened[key] = Catalogue(open_store(*key), cache)
        return _opened[key]
