"""The processes that train one policy together, as one object that is passed to what needs them.

`Alone` is one process by itself; `hexathlon.baselines.distributed.collectives` has several.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from torch import Tensor

__all__ = ["ALONE", "Alone", "Ranks", "cut"]

T = TypeVar("T")


class Ranks(Protocol):
    """Processes in data parallel: each works on its share, and gradients are added up.

    Every rank calls the same methods in the same order.
    """

    @property
    def number(self) -> int:
        """This process's place, from 0."""
        ...

    @property
    def count(self) -> int:
        """How many processes there are."""
        ...

    @property
    def first(self) -> bool:
        """Whether this process is the one that writes and reports."""
        ...

    def share(self, items: Sequence[T]) -> list[T]:
        """Return what this rank works on: every N-th item, from its own number on."""
        ...

    def joined(self, mine: Sequence[T]) -> list[T]:
        """Return all ranks' items in the order that `share` took them from; every rank gets all."""
        ...

    def from_first(self, make: Callable[[], T]) -> T:
        """Return what the first rank makes, which no other rank has to make again."""
        ...

    def cuts(self, items: Sequence[T], count: int) -> list[Sequence[T]]:
        """Cut this rank's items into minibatches, as many on every rank."""
        ...

    def summed(self, counts: Tensor) -> list[float]:
        """Return counts added up over all ranks."""
        ...

    def sum_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Give every rank the sum of all ranks' gradients."""
        ...

    def summed_metrics(self, metrics: dict[str, float]) -> dict[str, float]:
        """Return metrics added up over all ranks; one that had nothing to learn may have none."""
        ...

    def gathered(self, values: Tensor) -> Tensor:
        """Return the values of all ranks, one after another."""
        ...

    def wait(self) -> None:
        """Wait until every rank has called this."""
        ...


class Alone:
    """One process by itself: nothing is sent, and every number stays as it is."""

    number = 0
    count = 1
    first = True

    def share(self, items: Sequence[T]) -> list[T]:
        """Return all items."""
        return list(items)

    def joined(self, mine: Sequence[T]) -> list[T]:
        """Return the items."""
        return list(mine)

    def from_first(self, make: Callable[[], T]) -> T:
        """Make it."""
        return make()

    def cuts(self, items: Sequence[T], count: int) -> list[Sequence[T]]:
        """Cut items into minibatches, none of them empty."""
        return [part for part in cut(items, count) if part]

    def summed(self, counts: Tensor) -> list[float]:
        """Return the counts."""
        values: list[float] = counts.tolist()
        return values

    def sum_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Leave gradients as they are."""

    def summed_metrics(self, metrics: dict[str, float]) -> dict[str, float]:
        """Return the metrics."""
        return metrics

    def gathered(self, values: Tensor) -> Tensor:
        """Return the values."""
        return values

    def wait(self) -> None:
        """Return at once."""


ALONE: Ranks = Alone()
"""The default wherever ranks are passed."""


def cut(items: Sequence[T], count: int) -> list[Sequence[T]]:
    """Cut items into `count` parts of about equal length; some are empty where items are few."""
    places = [round(number * len(items) / count) for number in range(count + 1)]
    return [items[start:end] for start, end in zip(places, places[1:], strict=False)]
