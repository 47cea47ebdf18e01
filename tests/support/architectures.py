"""Tiny random checkpoints of many architectures, for tests of the learner."""

from typing import Any

import torch

VOCABULARY = 61

_COMMON = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 16,
    "max_position_embeddings": 128,
    "tie_word_embeddings": False,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_EXPERTS = {
    "num_experts": 4,
    "num_local_experts": 4,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 16,
    "shared_expert_intermediate_size": 16,
    "n_shared_experts": 1,
    "n_group": 1,
    "topk_group": 1,
    "first_k_dense_replace": 1,
}
_LATENT = {
    "q_lora_rank": 8,
    "kv_lora_rank": 8,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 8,
    "v_head_dim": 8,
    "head_dim": 8,
    "num_key_value_heads": 2,
}
_SETTINGS: dict[str, dict[str, Any]] = {
    "cohere": {"logit_scale": 0.25},
    "deepseek_v3": {**_EXPERTS, **_LATENT},
    "gemma2": {"query_pre_attn_scalar": 16, "final_logit_softcapping": 1.0},
    "glm4_moe": _EXPERTS,
    "granite": {"logits_scaling": 4.0},
    "lfm2": {"layer_types": ["conv", "full_attention"]},
    "mixtral": _EXPERTS,
    "olmoe": _EXPERTS,
    "qwen2_moe": _EXPERTS,
    "qwen3_moe": _EXPERTS,
    "qwen3_next": {
        **_EXPERTS,
        "layer_types": ["linear_attention", "full_attention"],
        "linear_num_value_heads": 2,
        "linear_num_key_heads": 2,
        "linear_key_head_dim": 8,
        "linear_value_head_dim": 8,
    },
}


def tiny(kind: str) -> Any:
    """Return a model of a type with random weights, in evaluation mode."""
    from transformers import CONFIG_MAPPING, AutoModelForCausalLM

    config = CONFIG_MAPPING[kind](**{**_COMMON, **_SETTINGS.get(kind, {})})
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa")
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))  # also to biases and norms
    return model.eval()
