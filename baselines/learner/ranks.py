"""Sums over the ranks of a data-parallel run; with one process everything is as it came."""

from collections.abc import Iterable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

__all__ = ["gathered", "sum_gradients", "summed", "summed_metrics"]


def _alone() -> bool:
    return not (dist.is_available() and dist.is_initialized())


def summed(counts: Tensor) -> list[float]:
    """Return counts added up over all ranks."""
    if not _alone():
        dist.all_reduce(counts)
    found: list[float] = counts.tolist()
    return found


def sum_gradients(parameters: Iterable[Tensor]) -> None:
    """Give every rank the sum of all ranks' gradients."""
    if _alone():
        return
    for parameter in parameters:
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        dist.all_reduce(parameter.grad)


def summed_metrics(metrics: dict[str, float]) -> dict[str, float]:
    """Return metrics added up over all ranks."""
    if _alone():
        return metrics
    names = sorted(metrics)
    values = summed(torch.tensor([metrics[name] for name in names], dtype=torch.float64))
    return dict(zip(names, values, strict=True))


def gathered(values: Tensor) -> Tensor:
    """Return the values of all ranks, one after another."""
    if _alone():
        return values
    found: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(found, values)
    return torch.cat(found)
