"""The search index: tantivy, one segment per language, document number = product number.

A single segment, filled in order by one thread, makes ranking a pure function of the catalogue:
equal scores keep catalogue order, and documents need no stored field. Only titles, features,
options and the category are indexed; specifications and reviews cannot be searched.
"""

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np
import numpy.typing as npt

import hexathlon.tasks.catalogue.columns as at
from hexathlon.tasks.bilingual import BilingualText, Language
from hexathlon.tasks.catalogue.goods import CATEGORIES
from hexathlon.tasks.catalogue.grammar import Category
from hexathlon.tasks.catalogue.layout import Layout, catalogue_seed
from hexathlon.tasks.catalogue.names import brands, series_name
from hexathlon.tasks.catalogue.tokens import tokenize

__all__ = ["build_index", "documents", "index_version", "tags_of"]

_FORMAT = "1"
"""Incremented when the indexed content or its format changes."""
_HEAP_PER_PRODUCT = 1_000


def index_version() -> str:
    """Return our format and the library's release, which determine bytes and ranking."""
    major, minor, *_ = version("tantivy").split(".")
    return f"{_FORMAT}.{major}.{minor}"


def build_index(folder: Path, layout: Layout, seed: int, language: Language) -> None:
    """Write the index of one language into `folder`.

    Raises:
        RuntimeError: If the library splits the index, which would make ranking nondeterministic.
    """
    import tantivy

    path = folder / f"index-{language}"
    path.mkdir()
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
    builder.add_text_field("tag", tokenizer_name="whitespace", index_option="basic")
    builder.add_integer_field("price", fast=True)
    builder.add_integer_field("rating", fast=True)
    index = tantivy.Index(builder.build(), path=str(path))
    heap = max(50_000_000, len(layout.codes) * _HEAP_PER_PRODUCT)
    writer = index.writer(heap_size=min(heap, 3_900_000_000), num_threads=1)
    prices, ratings = layout.least.tolist(), layout.ratings.tolist()
    for number, (text, tag) in enumerate(documents(layout, seed, language)):
        writer.add_document(
            tantivy.Document(text=text, tag=tag, price=prices[number], rating=ratings[number])
        )
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    segments = index.searcher().num_segments
    if segments != 1:
        raise RuntimeError(f"the search index has {segments} segments instead of one")
    for file in path.iterdir():
        file.chmod(0o644)  # the library makes some of them readable by the owner only


def tags_of(category: int, attribute: int, code: int) -> str:
    """Return the filter tag of an attribute or option value."""
    return f"a{category}.{attribute}.{code}"


def documents(layout: Layout, seed: int, language: Language) -> Iterator[tuple[str, str]]:
    """Yield (tokens, tags) of every product in order."""
    noise = catalogue_seed(seed)
    houses = brands(noise)
    for family in layout.families:
        code = int(family["category"])
        grammar = CATEGORIES[code]
        kind = int(family["kind"])
        names = [houses[family["brand"]], series_name(int(family["series"])),
                 grammar.kinds[kind].text, grammar.text]  # fmt: skip
        head = _tokens(names, language)
        tag = f"c{code} b{family['brand']} k{code}.{kind}"
        writer = _Rows(grammar, code, language, family["palette"], family["sellers"])
        first = int(family["first"])
        for row in layout.codes[first : first + int(family["size"])].tolist():
            text, tags = writer.write(tuple(row))
            yield f"{head} {text}", f"{tag} {tags}"


class _Rows:
    """Produces the tokens and tags of one family's rows, computing each part once."""

    def __init__(
        self,
        grammar: Category,
        code: int,
        language: Language,
        palette: npt.NDArray[np.uint8],
        sellers: npt.NDArray[np.uint8],
    ) -> None:
        self._parts: list[tuple[int, list[tuple[str, str]]]] = []
        for i, item in enumerate(grammar.attributes):
            if item.place in ("title", "feature"):
                told = [
                    (_tokens([value.text], language), tags_of(code, i, j))
                    for j, value in enumerate(item.values)
                ]
                self._parts.append((i, told))
        for i, option in enumerate(grammar.options):
            offers = []
            for own in range(4):
                values = sorted((int(palette[i][own]), int(palette[i][4]), int(palette[i][5])))
                words = _tokens([option.values[value].text for value in values], language)
                tags = " ".join(tags_of(code, at.FIRST_OPTION + i, value) for value in values)
                offers.append((words, tags))
            self._parts.append((at.FIRST_OPTION + i, offers))
        self._parts.append((at.SELLER, [("", f"s{shop}") for shop in sellers]))
        self._parts.append((at.SHIPPING, [("", _delivery(days)) for days in at.DELIVERY_DAYS]))

    def write(self, row: tuple[int, ...]) -> tuple[str, str]:
        chosen = [told[row[position]] for position, told in self._parts]
        return " ".join(words for words, _ in chosen if words), " ".join(tag for _, tag in chosen)


def _delivery(days: int) -> str:
    """Return tags for a delivery time, one for each bound that it meets."""
    return " ".join(f"u{bound}" for bound in at.DELIVERY_DAYS if bound >= days)


def _tokens(texts: list[BilingualText], language: Language) -> str:
    return " ".join(token for text in texts for token in tokenize(text[language]))
