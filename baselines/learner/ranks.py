"""Ranks: the data-parallel processes that train one policy, as one object.

`Alone` is a single process; `hexathlon.baselines.distributed.collectives` implements several.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from torch import Tensor

__all__ = ["ALONE", "Alone", "Ranks", "cut"]

T = TypeVar("T")


class Ranks(Protocol):
    """Data-parallel processes: each works on its share, and gradients are summed.

    Every rank calls the same methods in the same order.
    """

    @property
    def number(self) -> int:
        """Number of this process, from 0."""
        ...

    @property
    def count(self) -> int:
        """Number of processes."""
        ...

    @property
    def first(self) -> bool:
        """Whether this is rank 0, which writes and reports."""
        ...

    def share(self, items: Sequence[T]) -> list[T]:
        """Return this rank's share: every N-th item, starting at its own number."""
        ...

    def joined(self, mine: Sequence[T]) -> list[T]:
        """Return all ranks' items in the order before `share`; every rank gets all."""
        ...

    def from_first(self, make: Callable[[], T]) -> T:
        """Return the first rank's result of `make`; the others do not call it."""
        ...

    def cuts(self, items: Sequence[T], count: int) -> list[Sequence[T]]:
        """Cut this rank's items into minibatches, the same number on every rank."""
        ...

    def summed(self, counts: Tensor) -> list[float]:
        """Return the sums of counts over all ranks."""
        ...

    def sum_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Give every rank the sum of all ranks' gradients."""
        ...

    def summed_metrics(self, metrics: dict[str, float]) -> dict[str, float]:
        """Return the sums of metrics over all ranks; a rank without examples may have none."""
        ...

    def gathered(self, values: Tensor) -> Tensor:
        """Return the concatenated values of all ranks."""
        ...

    def wait(self) -> None:
        """Wait until every rank has called this method."""
        ...


class Alone:
    """A single process: nothing is exchanged."""

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
        """Return the result of `make`."""
        return make()

    def cuts(self, items: Sequence[T], count: int) -> list[Sequence[T]]:
        """Cut items into minibatches, without empty ones."""
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
        """Return immediately."""


ALONE: Ranks = Alone()
"""The default of every `ranks` parameter."""


def cut(items: Sequence[T], count: int) -> list[Sequence[T]]:
    """Cut items into `count` parts of about equal length, some empty where items are few."""
    places = [round(number * len(items) / count) for number in range(count + 1)]
    return [items[start:end] for start, end in zip(places, places[1:], strict=False)]
