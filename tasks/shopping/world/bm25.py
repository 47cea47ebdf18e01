"""A small in-memory BM25 index for product files that users bring (up to some 10⁵ items).

The generated catalogue has its own search engine; this one needs only the standard library.
Parameters are pyserini's defaults, k1 = 0.9 and b = 0.4, as used by WebShop.
"""

import heapq
import math
import re
from collections import Counter
from collections.abc import Iterable

__all__ = ["Bm25"]

_WORD = re.compile(r"\w+")
_K1, _B = 0.9, 0.4


class Bm25:
    """An index over texts; results are positions in insertion order."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._postings: dict[str, list[tuple[int, int]]] = {}
        self._lengths: list[int] = []
        for position, text in enumerate(texts):
            words = _words(text)
            self._lengths.append(len(words))
            for word, count in Counter(words).items():
                self._postings.setdefault(word, []).append((position, count))
        self._mean = sum(self._lengths) / max(len(self._lengths), 1) or 1.0

    def search(self, query: str, count: int) -> list[int]:
        """Return the positions of the best texts, best first; ties go to the earlier text."""
        scores: dict[int, float] = {}
        total = len(self._lengths)
        for word in dict.fromkeys(_words(query)):
            postings = self._postings.get(word, ())
            weight = math.log(1 + (total - len(postings) + 0.5) / (len(postings) + 0.5))
            for position, times in postings:
                norm = 1 - _B + _B * self._lengths[position] / self._mean
                gain = weight * times * (_K1 + 1) / (times + _K1 * norm)
                scores[position] = scores.get(position, 0.0) + gain
        best = heapq.nsmallest(count, scores.items(), key=lambda item: (-item[1], item[0]))
        return [position for position, _ in best]


def _words(text: str) -> list[str]:
    return [_stem(word) for word in _WORD.findall(text.lower())]


def _stem(word: str) -> str:
    """Strip the plural, the part of Porter's stemmer that matters for product names."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
