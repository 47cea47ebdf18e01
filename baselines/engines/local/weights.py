"""What a linear layer multiplies by, low-rank adapters included."""

from typing import Any

from torch import Tensor

__all__ = ["effective_weight"]


def effective_weight(layer: Any) -> Tensor:
    """Return a linear layer's weight with its adapters' products added, if it has any."""
    weight: Tensor = layer.weight.detach()
    if not hasattr(layer, "get_delta_weight"):
        return weight
    for name in layer.active_adapters:
        weight = weight + layer.get_delta_weight(name).detach().to(weight.dtype)
    return weight
