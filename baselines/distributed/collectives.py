"""Several processes that train together over torch.distributed."""

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
    """The ranks of torch's process group, which must exist; its deadline applies to every call."""

    def __init__(self) -> None:
        self.number = dist.get_rank()
        self.count = dist.get_world_size()

    @property
    def first(self) -> bool:
        """Whether this process is the one that writes and reports."""
        return self.number == 0

    def share(self, items: Sequence[T]) -> list[T]:
        """Return what this rank works on: every N-th item, from its own number on."""
        return list(items[self.number :: self.count])

    def joined(self, mine: Sequence[T]) -> list[T]:
        """Return all ranks' items in the order that `share` took them from."""
        every: list[list[Any]] = self._every(list(mine))
        rounds = chain.from_iterable(zip_longest(*every, fillvalue=_NONE))
        return [item for item in rounds if item is not _NONE]

    def from_first(self, make: Callable[[], T]) -> T:
        """Return what the first rank makes."""
        made: list[Any] = [make() if self.first else None]
        dist.broadcast_object_list(made)
        value: T = made[0]
        return value

    def cuts(self, items: Sequence[T], count: int) -> list[Sequence[T]]:
        """Cut this rank's items into `count` minibatches; some may be empty."""
        return cut(items, count)

    def summed(self, counts: Tensor) -> list[float]:
        """Return counts added up over all ranks."""
        dist.all_reduce(counts)
        values: list[float] = counts.tolist()
        return values

    def sum_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Give every rank the sum of all ranks' gradients."""
        every = list(parameters)
        for parameter in every:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        gradients = [parameter.grad for parameter in every if parameter.grad is not None]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        dist.all_reduce(flat)
        parts = torch.split(flat, [gradient.numel() for gradient in gradients])
        for gradient, part in zip(gradients, parts, strict=True):
            gradient.copy_(part.view_as(gradient))

    def summed_metrics(self, metrics: dict[str, float]) -> dict[str, float]:
        """Return metrics added up over all ranks; one that had nothing to learn may have none."""
        every = self._every(metrics)
        names = sorted({name for one in every for name in one})
        return {name: math.fsum(one.get(name, 0.0) for one in every) for name in names}

    def gathered(self, values: Tensor) -> Tensor:
        """Return the values of all ranks, one after another."""
        return torch.cat(self._every(values))

    def wait(self) -> None:
        """Wait until every rank has called this."""
        dist.barrier()

    def _every(self, mine: T) -> list[T]:
        every: list[Any] = [None] * self.count
        dist.all_gather_object(every, mine)
        return every
