"""Small random draws of Python values, and dates some days or months away."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import TypeVar

import numpy as np

__all__ = ["ValueDraw", "months_before", "shifted"]

Item = TypeVar("Item")


class ValueDraw:
    """A generator with draws of Python values."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def below(self, end: int) -> int:
        """Return a number from 0 to `end` - 1."""
        return int(self.rng.integers(end))

    def between(self, first: int, last: int) -> int:
        """Return a number from `first` to `last`."""
        return int(self.rng.integers(first, last + 1))

    def chance(self, share: float) -> bool:
        """Return True for a share of the draws."""
        return bool(self.rng.random() < share)

    def pick(self, items: Sequence[Item]) -> Item:
        """Return one of the items."""
        return items[self.below(len(items))]

    def sample(self, items: Sequence[Item], number: int) -> list[Item]:
        """Return different items in random order, all of them if there are fewer."""
        order = self.rng.permutation(len(items)).tolist()
        return [items[place] for place in order[:number]]


def shifted(day: str, days: int) -> str:
    """Return the date some days later, or earlier if negative."""
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()


def months_before(day: str, months: int) -> str:
    """Return the first day of the month that lies some months before a date's month."""
    number = int(day[:4]) * 12 + int(day[5:7]) - 1 - months
    return f"{number // 12:04d}-{number % 12 + 1:02d}-01"
