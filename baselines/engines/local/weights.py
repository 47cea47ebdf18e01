"""Weights of a local model: effective weights with adapters, and loading of a learner's weights."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from hexathlon.baselines.engines.errors import EngineError
from hexathlon.baselines.engines.weights import Weights

__all__ = ["effective_weight", "load_weights"]


def effective_weight(layer: Any) -> Tensor:
    """Return the weight of a linear layer, including the products of its active adapters."""
    weight: Tensor = layer.weight.detach()
    if not hasattr(layer, "get_delta_weight"):
        return weight
    for name in layer.active_adapters:
        weight = weight + layer.get_delta_weight(name).detach().to(weight.dtype)
    return weight


def load_weights(model: Any, weights: Weights) -> None:
    """Copy weights into a model; does nothing if they are the model itself.

    Raises:
        EngineError: If the weights have different shapes or cannot be read; nothing is copied then.
    """
    if weights.model is model:
        return
    if weights.folder is None:
        _copy(weights.model, model)
    else:
        _copy(_read(weights.folder, model), model)


def _copy(source: Any, target: Any) -> None:
    offered, own = dict(source.named_parameters()), dict(target.named_parameters())
    for name, weight in own.items():
        if name not in offered or offered[name].shape != weight.shape:
            shape = list(offered[name].shape) if name in offered else "nothing"
            raise EngineError(
                "the weights belong to a different model: expected shape "
                f"{list(weight.shape)} for {name}, got {shape}"
            )
    with torch.no_grad():
        for name, weight in own.items():
            weight.copy_(offered[name])


def _read(folder: Path, model: Any) -> Any:
    from transformers import AutoModelForCausalLM

    if not any(folder.glob("*.safetensors")):
        raise EngineError(f"{folder} has no safetensors: expected the weights of a checkpoint")
    try:
        return AutoModelForCausalLM.from_pretrained(
            str(folder), local_files_only=True, dtype=next(model.parameters()).dtype
        )
    except (OSError, ValueError, RuntimeError) as error:
        first = str(error).strip().splitlines()[0]
        raise EngineError(f"the weights in {folder} cannot be read: {first}") from None
