"""Small models of the families that are computed without their Hugging Face forward."""

from typing import Any

import torch
import transformers

VOCABULARY = 97


def shape(**more: Any) -> dict[str, Any]:
    return {
        "vocab_size": VOCABULARY,
        "hidden_size": 48,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 512,
        **more,
    }


FAMILIES = {
    "llama": (transformers.LlamaConfig, {}),
    "llama3 rope": (
        transformers.LlamaConfig,
        {
            "rope_parameters": {
                "rope_type": "llama3",
                "rope_theta": 10000.0,
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 64,
            }
        },
    ),
    "biased": (transformers.LlamaConfig, {"attention_bias": True, "mlp_bias": True}),
    "qwen2": (transformers.Qwen2Config, {}),
    "qwen3": (transformers.Qwen3Config, {"head_dim": 16, "tie_word_embeddings": True}),
    "mistral": (transformers.MistralConfig, {"sliding_window": None}),
}


def model(name: str = "qwen3", seed: int = 0) -> Any:
    """Return an untrained model of a family, on the CPU."""
    kind, more = FAMILIES[name]
    torch.manual_seed(seed)
    made = transformers.AutoModelForCausalLM.from_config(
        kind(**shape(**more)), attn_implementation="sdpa"
    )
    with torch.no_grad():
        for weight in made.parameters():
            if weight.dim() > 1:
                weight.mul_(2.0)  # sharper than at the start, so that mistakes show
    return made.float().eval()
