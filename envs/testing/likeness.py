"""Similarity of texts by shared words, weighted by rarity."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

__all__ = ["Texts", "words_of"]

_WORD = re.compile(r"\w+")
_WIDTH = 4_096
"""Number of hash buckets for words."""


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, in order; a Chinese character is a word."""
    return [word for each in _WORD.findall(text.lower()) for word in _split(each)]


class Texts:
    """Texts that can be compared with others.

    Args:
        texts: The texts; a word's rarity among them is its weight.
        least: Minimum share of the texts with a word; rarer words are ignored.
    """

    def __init__(self, texts: Sequence[str], least: float = 0.0) -> None:
        words = [set(words_of(text)) for text in texts]
        counts = Counter(word for each in words for word in each)
        fewest = least * len(texts)
        self._known = {word: count for word, count in counts.items() if count >= fewest}
        self._vectors = np.stack([self._vector(each) for each in words])

    def nearest(self, text: str) -> int:
        """Return the position of the text most similar to this one."""
        return int(np.argmax(self._vectors @ self._vector(set(words_of(text)))))

    def nearest_others(self, count: int) -> list[list[int]]:
        """Return, for each of the texts, the positions of the most similar other ones, in order."""
        likeness = self._vectors @ self._vectors.T
        np.fill_diagonal(likeness, -1.0)
        most = min(count, len(likeness) - 1)
        nearest: list[list[int]] = np.argsort(-likeness, axis=1, kind="stable")[:, :most].tolist()
        return nearest

    def _vector(self, words: set[str]) -> NDArray[np.float32]:
        vector = np.zeros(_WIDTH, np.float32)
        for word in sorted(words):
            if word in self._known:  # other words cannot match
                vector[crc32(word.encode()) % _WIDTH] += 1.0 / math.sqrt(self._known[word])
        length = float(np.linalg.norm(vector))
        return vector / length if length else vector


def _split(word: str) -> list[str]:
    return list(word) if any("\u4e00" <= letter <= "\u9fff" for letter in word) else [word]
