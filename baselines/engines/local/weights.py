"""A local model's weights: what a layer multiplies by, and how others are copied in."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from hexathlon.baselines.engines.errors import EngineError
from hexathlon.baselines.engines.weights import Weights

__all__ = ["effective_weight", "take_over"]


def effective_weight(layer: Any) -> Tensor:
    """Return a linear layer's weight with its adapters' products added, if it has any."""
    weight: Tensor = layer.weight.detach()
    if not hasattr(layer, "get_delta_weight"):
        return weight
    for name in layer.active_adapters:
        weight = weight + layer.get_delta_weight(name).detach().to(weight.dtype)
    return weight


def take_over(model: Any, weights: Weights) -> None:
    """Give a model the parameters that are offered; its own, changed in place, stay where they are.

    Raises:
        EngineError: If they are not of a model of the same shape; nothing was copied then.
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
            came = list(offered[name].shape) if name in offered else "nothing"
            raise EngineError(
                f"the weights offered are of another model: {name} is {list(weight.shape)} here, "
                f"and {came} came"
            )
    with torch.no_grad():
        for name, weight in own.items():
            weight.copy_(offered[name])


def _read(folder: Path, model: Any) -> Any:
    from transformers import AutoModelForCausalLM

    if not any(folder.glob("*.safetensors")):
        raise EngineError(f"{folder} holds no safetensors; expected a checkpoint's weights")
    try:
        return AutoModelForCausalLM.from_pretrained(
            str(folder), local_files_only=True, dtype=next(model.parameters()).dtype
        )
    except (OSError, ValueError, RuntimeError) as error:
        first = str(error).strip().splitlines()[0]
        raise EngineError(f"the weights in {folder} cannot be read: {first}") from None
