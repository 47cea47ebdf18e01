"""Parallelism: the placement of parameters, gradients and optimiser states on ranks.

`Replicated`, the default, keeps all of it on every rank and sums gradients after the backward pass.
`hexathlon.baselines.distributed.sharding` spreads it over the ranks.
"""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor

from hexathlon.baselines.learner.ranks import Ranks

__all__ = ["Parallelism", "Replicated"]

T = TypeVar("T")


class Parallelism(Protocol):
    """Places a model on the ranks and runs it there.

    Every rank calls the same methods in the same order.
    """

    sharded: bool
    """Whether a forward pass exchanges parameters, so that every rank must take part in it."""

    def placed(self, model: Any, *, whole: bool = True) -> Any:
        """Return the model to train or to score with.

        Args:
            model: The model as a whole.
            whole: Whether `model` is needed afterwards; otherwise its memory may be freed.
        """
        ...

    def evaluate(self, model: Any, function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """Return `function(model, *args, **kwargs)`, with the model's parameters available.

        Args:
            model: A result of `placed`.
            function: Calls the model or parts of it.
            args: Further arguments.
            kwargs: Further arguments.
        """
        ...

    def passes(self, count: int) -> int:
        """Return the number of forward passes that every rank makes, given this rank's parts."""
        ...

    def reduce(self, parameters: Sequence[Tensor]) -> None:
        """Complete the gradients after the backward passes of a step: sums over all ranks."""
        ...

    def all_finite(self, gradients: Sequence[Tensor]) -> bool:
        """Return whether the gradients are finite, on all ranks."""
        ...

    def gather(self, placed: Any, model: Any) -> None:
        """Copy the trained parameters to the model that `placed` was called with."""
        ...

    def save(self, folder: Path, placed: Any, optimisers: Any) -> None:
        """Write parameters and optimiser states to a directory; every rank calls this."""
        ...

    def load(self, folder: Path, placed: Any, optimisers: Any) -> None:
        """Read what `save` has written; if sharded, even by a different number of ranks.

        Raises:
            Exception: If a file is missing or damaged, or belongs to another model.
        """
        ...


class Replicated:
    """Keeps all parameters on every rank.

    Args:
        ranks: The processes that train together.
    """

    sharded = False

    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks

    def placed(self, model: Any, *, whole: bool = True) -> Any:
        """Return the model itself."""
        return model

    def evaluate(self, model: Any, function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """Call the function."""
        return function(model, *args, **kwargs)

    def passes(self, count: int) -> int:
        """Return this rank's number: passes are independent."""
        return count

    def reduce(self, parameters: Sequence[Tensor]) -> None:
        """Sum the gradients over all ranks."""
        self._ranks.sum_gradients(parameters)

    def all_finite(self, gradients: Sequence[Tensor]) -> bool:
        """Return whether this rank's gradients are finite, which are those of all ranks."""
        # A sum is finite only if all its terms are; it takes one pass over them instead of four.
        return all(math.isfinite(float(gradient.sum())) for gradient in gradients)

    def gather(self, placed: Any, model: Any) -> None:
        """Do nothing: both are the same model."""

    def save(self, folder: Path, placed: Any, optimisers: Any) -> None:
        """Write safetensors and the optimisers' states, on rank 0 alone."""
        from safetensors.torch import save_file

        if not self._ranks.first:
            return
        tensors = {name: value.contiguous() for name, value in placed.state_dict().items()}
        save_file(tensors, str(folder / "model.safetensors"))
        torch.save(optimisers.state(), str(folder / "optimiser.pt"))

    def load(self, folder: Path, placed: Any, optimisers: Any) -> None:
        """Read safetensors and the optimisers' states."""
        from safetensors.torch import load_file

        placed.load_state_dict(load_file(str(folder / "model.safetensors")))
        optimisers.load(torch.load(str(folder / "optimiser.pt"), weights_only=True))
