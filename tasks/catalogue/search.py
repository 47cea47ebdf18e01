"""Search over a catalogue: BM25 with filters, sorting, pages and facets.

A query's result is its best thousand products by BM25 (any word may match), with ties in catalogue
order. Sorting, pages and facets work inside that window. Their cost is therefore independent of the
number of matches, and paging or re-sorting does not search again. Without words, the window is the
first thousand products that pass the filters.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.catalogue.opening import open_index
from hexathlon.tasks.catalogue.store import Store
from hexathlon.tasks.catalogue.tokens import tokenize

if TYPE_CHECKING:
    import tantivy

__all__ = ["SORTS", "WINDOW", "Hit", "Range", "SearchEngine", "SearchPage", "Sort"]

WINDOW = 1_000
"""Maximum results per query."""
_LONGEST = 32
"""Maximum distinct words of a query that are looked up."""
_REMEMBERED = 256
Sort = Literal["relevance", "price", "-price", "-rating"]
SORTS: tuple[Sort, ...] = ("relevance", "price", "-price", "-rating")


class Range(NamedTuple):
    """Closed bounds on a number; None means unbounded."""

    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A line of a result page."""

    product_id: str
    title: str
    price_cents: int
    rating: float
    rating_count: int
    delivery_days: int


@dataclass(frozen=True)
class SearchPage:
    """A page of results."""

    hits: tuple[Hit, ...]
    total: int
    """Results in the window, at most `WINDOW`."""
    page: int
    pages: int
    count_facets: Any = field(repr=False, compare=False)

    @cached_property
    def facets(self) -> Mapping[str, Mapping[str, int]]:
        """Counts in the window by facet and value, largest first; computed on first access."""
        counted: Mapping[str, Mapping[str, int]] = self.count_facets()
        return counted


class SearchEngine:
    """Ranks product numbers; one index per language, opened on first search."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._index = lru_cache(maxsize=None)(self._open)
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._search)

    def window(
        self,
        query: str,
        language: Language,
        tags: tuple[str, ...] = (),
        price: Range = Range(),  # noqa: B008 - immutable
        rating: Range = Range(),  # noqa: B008 - immutable
    ) -> npt.NDArray[np.int64]:
        """Return the product numbers of a query's window, best first; read-only."""
        words = tuple(dict.fromkeys(tokenize(query)))[:_LONGEST]
        return self._remembered(words, language, tags, price, rating)

    def _search(
        self,
        words: tuple[str, ...],
        language: Language,
        tags: tuple[str, ...],
        price: Range,
        rating: Range,
    ) -> npt.NDArray[np.int64]:
        import tantivy

        searcher, schema = self._index(language)
        text = [tantivy.Query.term_query(schema, "text", word, "freq") for word in words]
        filters = [tantivy.Query.term_query(schema, "tag", tag, "basic") for tag in tags]
        for name, bounds in (("price", price), ("rating", rating)):
            if bounds != Range():
                filters.append(
                    tantivy.Query.range_query(
                        schema, name, tantivy.FieldType.Integer, bounds.low, bounds.high
                    )
                )
        query = _combine(text, filters)
        hits = searcher.search(query, WINDOW, count=False).hits
        found = np.fromiter((address.doc for _, address in hits), dtype=np.int64, count=len(hits))
        found.flags.writeable = False
        return found

    def _open(self, language: Language) -> "tuple[tantivy.Searcher, tantivy.Schema]":
        index = open_index(self._store.folder, language)
        return index.searcher(), index.schema

    def ordered(self, window: npt.NDArray[np.int64], sort: Sort) -> npt.NDArray[np.int64]:
        """Return a sorted window; ties in catalogue order.

        Raises:
            ValueError: If the order is unknown.
        """
        layout = self._store.layout
        if sort == "relevance":
            return window
        if sort == "price":
            keys = layout.least[window].astype(np.int64)
        elif sort == "-price":
            keys = -layout.least[window].astype(np.int64)
        elif sort == "-rating":
            keys = -layout.ratings[window].astype(np.int64)
        else:
            raise ValueError(f"no order {sort!r}; there are {', '.join(SORTS)}")
        return window[np.lexsort((window, keys))]


def _combine(text: "list[tantivy.Query]", filters: "list[tantivy.Query]") -> "tantivy.Query":
    """Combine any of the words with all of the filters; filters do not affect scores."""
    import tantivy

    query, occur = tantivy.Query, tantivy.Occur
    words = query.boolean_query([(occur.Should, part) for part in text])
    if not filters:
        return words if text else query.all_query()
    silent = [(occur.Must, query.const_score_query(part, 0.0)) for part in filters]
    return query.boolean_query([(occur.Must, words), *silent] if text else silent)
