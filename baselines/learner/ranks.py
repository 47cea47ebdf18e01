"""Sums over the ranks of a data-parallel run; with one process everything is as it came."""

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, zip_longest
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

__all__ = [
    "alone",
    "cuts",
    "first",
    "from_first",
    "gathered",
    "joined",
    "rank",
    "share",
    "sum_gradients",
    "summed",
    "summed_metrics",
    "wait",
]

T = TypeVar("T")

_NONE = object()


def alone() -> bool:
    """Whether this process trains by itself."""
    return not (dist.is_available() and dist.is_initialized())


def summed(counts: Tensor) -> list[float]:
    """Return counts added up over all ranks."""
    if not alone():
        dist.all_reduce(counts)
    found: list[float] = counts.tolist()
    return found


def sum_gradients(parameters: Iterable[Tensor]) -> None:
    """Give every rank the sum of all ranks' gradients."""
    if alone():
        return
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


def summed_metrics(metrics: dict[str, float]) -> dict[str, float]:
    """Return metrics added up over all ranks; one that had nothing to learn may have none."""
    if alone():
        return metrics
    found: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(found, metrics)
    names = sorted({name for one in found for name in one})
    return {name: math.fsum(one.get(name, 0.0) for one in found) for name in names}


def gathered(values: Tensor) -> Tensor:
    """Return the values of all ranks, one after another."""
    if alone():
        return values
    found: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(found, values)
    return torch.cat(found)


def rank() -> int | None:
    """Return this process's number among several, None where it is alone."""
    return None if alone() else dist.get_rank()


def first() -> bool:
    """Whether this process is the one that writes and reports."""
    return alone() or dist.get_rank() == 0


def from_first(make: Callable[[], T]) -> T:
    """Return what the first rank makes, which no other rank has to make again."""
    if alone():
        return make()
    made: list[Any] = [make() if first() else None]
    dist.broadcast_object_list(made)
    found: T = made[0]
    return found


def share(items: Sequence[T]) -> list[T]:
    """Return what this rank works on: every N-th item, from its own number on."""
    return list(items) if alone() else list(items[dist.get_rank() :: dist.get_world_size()])


def joined(mine: Sequence[T]) -> list[T]:
    """Return all ranks' items in the order that `share` took them from; every rank gets all."""
    if alone():
        return list(mine)
    found: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(found, list(mine))
    rounds = chain.from_iterable(zip_longest(*found, fillvalue=_NONE))
    return [item for item in rounds if item is not _NONE]


def cuts(items: Sequence[T], count: int) -> list[Sequence[T]]:
    """Cut a rank's items into minibatches, as many on every rank; alone, none is empty."""
    places = [round(number * len(items) / count) for number in range(count + 1)]
    parts = [items[start:end] for start, end in zip(places, places[1:], strict=False)]
    return [part for part in parts if part] if alone() else parts


def wait() -> None:
    """Wait until every rank is here; the process group's deadline applies."""
    if not alone():
        dist.barrier()
