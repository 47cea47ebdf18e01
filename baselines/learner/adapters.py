"""Low-rank adapters (LoRA, Hu et al. 2021) through peft: added, merged and saved.

Adapters are added to the model in place, so that everything that takes a Hugging Face model still
works; the base weights are frozen.
"""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from hexathlon.baselines.engines.local.weights import effective_weight

__all__ = ["AdapterConfig", "AdaptersMissing", "add_adapters", "merged", "save_adapters"]


class AdaptersMissing(ValueError):
    """Adapters need peft, which is not installed."""


@dataclass(frozen=True, slots=True)
class AdapterConfig:
    """Size and placement of the adapters."""

    rank: int = 16
    alpha: int = 32
    """The adapters' product is scaled by alpha / rank."""

    targets: tuple[str, ...] = (
        "q_proj",
        "k_proj",
        "v_proj",
        "o_proj",
        "gate_proj",
        "up_proj",
        "down_proj",
    )
    """Names of the linear layers that get an adapter."""


def add_adapters(model: Any, config: AdapterConfig, seed: int) -> None:
    """Add adapters to a model and freeze the rest; its outputs are unchanged at first.

    Raises:
        AdaptersMissing: If peft is not installed.
    """
    import torch

    try:
        from peft import LoraConfig, inject_adapter_in_model
    except ImportError:
        raise AdaptersMissing(
            "low-rank adapters need peft, which is not installed: pip install 'hexathlon[lora]'"
        ) from None
    settings = LoraConfig(
        r=config.rank,
        lora_alpha=config.alpha,
        target_modules=list(config.targets),
        task_type="CAUSAL_LM",
    )
    torch.manual_seed(seed)
    inject_adapter_in_model(settings, model)


def _adapted(model: nn.Module) -> Iterator[tuple[str, Any]]:
    for name, module in model.named_modules():
        if hasattr(module, "get_delta_weight"):
            yield name, module


def merged(model: Any) -> Any:
    """Return a copy of a model with its adapters merged; the model itself if it has none."""
    if not any(True for _ in _adapted(model)):
        return model
    plain = copy.deepcopy(model)
    for name, layer in list(_adapted(plain)):
        base = layer.get_base_layer()
        base.weight.data = effective_weight(layer)
        parent, _, last = name.rpartition(".")
        setattr(plain.get_submodule(parent), last, base)
    for name in ("peft_config", "_hf_peft_config_loaded"):
        if name in plain.__dict__:
            delattr(plain, name)
    plain.requires_grad_(True)
    return plain


def save_adapters(path: Path, model: Any, base: str) -> None:
    """Write only the adapters, in the format of peft and transformers.

    Args:
        path: Directory to write.
        model: A model with adapters.
        base: Name or directory of the checkpoint that they extend.
    """
    from peft import get_peft_model_state_dict
    from safetensors.torch import save_file

    path.mkdir(parents=True, exist_ok=True)
    state = get_peft_model_state_dict(model, save_embedding_layers=False)
    settings = copy.copy(next(iter(model.peft_config.values())))
    settings.base_model_name_or_path = base
    settings.inference_mode = True
    settings.save_pretrained(str(path))
    tensors = {f"base_model.model.{name}": value.contiguous() for name, value in state.items()}
    save_file(tensors, str(path / "adapter_model.safetensors"), metadata={"format": "pt"})
