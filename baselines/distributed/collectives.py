"""Exchanges between rank processes over torch.distributed."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, zip_longest
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from hexathlon.baselines.learner.ranks import cut

__all__ = ["DistributedRanks"]

T = TypeVar("T")

_NONE = object()


class DistributedRanks:
    """The ranks of torch's process group, which must exist; its timeout applies to every call."""

    def __init__(self) -> None:
        self.number = dist.get_rank()
        self.count = dist.get_world_size()

    @property
    def first(self) -> bool:
        """Whether this is rank 0, which writes and reports."""
        return self.number == 0

    def share(self, items: Sequence[T]) -> list[T]:
        """Return this rank's share: every N-th item, starting at its own number."""
        return list(items[self.number :: self.count])

    def joined(self, mine: Sequence[T]) -> list[T]:
        """Return all ranks' items in the order before `share`."""
        shares: list[list[Any]] = self._from_all(list(mine))
        rounds = chain.from_iterable(zip_longest(*shares, fillvalue=_NONE))
        return [item for item in rounds if item is not _NONE]

    def from_first(self, make: Callable[[], T]) -> T:
        """Return the first rank's result of `make`; the others do not call it."""
        results: list[Any] = [make() if self.first else None]
        dist.broadcast_object_list(results)
        result: T = results[0]
        return result

    def cuts(self, items: Sequence[T], count: int) -> list[Sequence[T]]:
        """Cut this rank's items into `count` minibatches; some may be empty."""
        return cut(items, count)

    def summed(self, counts: Tensor) -> list[float]:
        """Return the sums of counts over all ranks."""
        dist.all_reduce(counts)
        values: list[float] = counts.tolist()
        return values

    def sum_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Give every rank the sum of all ranks' gradients."""
        trained = list(parameters)
        for parameter in trained:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        gradients = [parameter.grad for parameter in trained if parameter.grad is not None]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        dist.all_reduce(flat)
        parts = torch.split(flat, [gradient.numel() for gradient in gradients])
        for gradient, part in zip(gradients, parts, strict=True):
            gradient.copy_(part.view_as(gradient))

    def summed_metrics(self, metrics: dict[str, float]) -> dict[str, float]:
        """Return the sums of metrics over all ranks; a rank without examples may have none."""
        rows = self._from_all(metrics)
        names = sorted({name for row in rows for name in row})
        return {name: math.fsum(row.get(name, 0.0) for row in rows) for name in names}

    def gathered(self, values: Tensor) -> Tensor:
        """Return the concatenated values of all ranks."""
        return torch.cat(self._from_all(values))

    def wait(self) -> None:
        """Wait until every rank has called this method."""
        dist.barrier()

    def _from_all(self, mine: T) -> list[T]:
        """Return the objects of all ranks, by rank."""
        objects: list[Any] = [None] * self.count
        dist.all_gather_object(objects, mine)
        return objects
