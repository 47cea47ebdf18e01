"""Addressable random numbers: a counter-based hash, identical for scalars and arrays.

A product is decoded alone, out of a million, in microseconds; seeding a numpy generator per product
would cost more than decoding it. `mix` is SplitMix64 (Steele, Lea and Flood, 2014) over a seed from
`hexathlon.tasks.seeding.derive_seed`; no state is kept between calls.
"""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

__all__ = ["Stream", "mix", "mix_array"]

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB
T = TypeVar("T")


def _scramble(word: int) -> int:
    word = ((word ^ (word >> 30)) * _FIRST) & _MASK
    word = ((word ^ (word >> 27)) * _SECOND) & _MASK
    return word ^ (word >> 31)


def mix(seed: int, *parts: int) -> int:
    """Return 64 bits that depend on the seed and on every part, in order."""
    word = _scramble((seed + _GOLDEN) & _MASK)
    for part in parts:
        word = _scramble((word + (part + 1) * _GOLDEN) & _MASK)
    return word


def mix_array(seed: int, stream: int, numbers: npt.NDArray[np.integer]) -> npt.NDArray[np.uint64]:
    """Return `mix(seed, stream, n)` for every n, as an array."""
    start = np.uint64(mix(seed, stream))
    words = start + (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(_GOLDEN)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(_FIRST)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(_SECOND)
    return words ^ (words >> np.uint64(31))


class Stream:
    """A sequence of draws at one address."""

    def __init__(self, seed: int, *parts: int) -> None:
        self._state = mix(seed, *parts)

    def word(self) -> int:
        """Return the next 64 bits."""
        self._state = (self._state + _GOLDEN) & _MASK
        return _scramble(self._state)

    def below(self, bound: int) -> int:
        """Return an integer in [0, bound); bounds are small, so the bias is below 2**-50."""
        return self.word() % bound

    def chance(self, percent: int) -> bool:
        """Return True with a probability of `percent` in 100."""
        return self.word() % 100 < percent

    def pick(self, items: Sequence[T]) -> T:
        """Return one of the items."""
        return items[self.word() % len(items)]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in a random order."""
        pool = list(items)
        for last in range(len(pool) - 1, 0, -1):
            other = self.word() % (last + 1)
            pool[last], pool[other] = pool[other], pool[last]
        return pool
