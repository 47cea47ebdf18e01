"""Quick random draws for the initial content of sites."""

from collections.abc import Sequence
from typing import TypeVar

from hexathlon.tasks.seeding import generator_for

__all__ = ["DrawStream"]

_Item = TypeVar("_Item")
_BLOCK = 4096


class DrawStream:
    """A stream of draws, seeded by name; numbers are taken from blocks, since thousands are needed.

    Args:
        *key: Names and numbers of the stream.
    """

    def __init__(self, *key: str | int) -> None:
        self._rng = generator_for(*key)
        self._block: list[float] = []

    def unit(self) -> float:
        """Return a number in [0, 1)."""
        if not self._block:
            self._block = self._rng.random(_BLOCK).tolist()
        return self._block.pop()

    def chance(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self.unit() < probability

    def between(self, low: int, high: int) -> int:
        """Return an integer from `low` to `high`, inclusive."""
        return low + int(self.unit() * (high - low + 1))

    def pick(self, items: Sequence[_Item]) -> _Item:
        """Return one of several items."""
        return items[int(self.unit() * len(items))]

    def sample(self, items: Sequence[_Item], count: int) -> list[_Item]:
        """Return several distinct items in random order."""
        rest = list(items)
        return [rest.pop(int(self.unit() * len(rest))) for _ in range(min(count, len(rest)))]
