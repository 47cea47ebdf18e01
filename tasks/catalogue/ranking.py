"""A digest of the search library's ranking, which decides which purchases count as giveaways."""

import hashlib
from functools import cache

__all__ = ["ranking_digest"]

_WORDS = ("lamp", "desk", "steel", "red", "oak", "mini", "warm", "grey", "soft", "pro", "eco")
_PRODUCTS = 120


@cache
def ranking_digest() -> str:
    """Return a SHA-256 (hex) of fixed searches in a small in-memory index.

    The digest is equal for all tantivy releases that rank alike.
    """
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
    index = tantivy.Index(builder.build())
    writer = index.writer(heap_size=15_000_000, num_threads=1)
    for number in range(_PRODUCTS):
        writer.add_document(tantivy.Document(text=_text_of(number)))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    ranked = []
    for start in range(len(_WORDS)):
        terms = [
            tantivy.Query.term_query(index.schema, "text", word, "freq")
            for word in (_WORDS[start:] + _WORDS)[: 1 + start % 4]
        ]
        query = tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in terms])
        hits = index.searcher().search(query, _PRODUCTS, count=False).hits
        ranked.append([address.doc for _, address in hits])
    return hashlib.sha256(repr(ranked).encode()).hexdigest()


def _text_of(number: int) -> str:
    """Return some of the words, in different numbers and frequencies per product."""
    count = 3 + number % 9
    return " ".join(_WORDS[(number * step + step * step) % len(_WORDS)] for step in range(count))
